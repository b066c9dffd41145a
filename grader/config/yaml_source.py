"""Strict YAML as plain data with the position of every value: YAML 1.2 scalars, no duplicate keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from grader.config.problem import KeyPath, Position, Problem
from grader.files import show_path

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_NODES = 50_000
"""Counted after aliases are expanded, so that nine lines cannot become a billion values."""

LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Only its events are used: composing nodes recurses in C, and 100 000 brackets end the process."""

UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

LIKE_SPACE = re.compile("[\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]")
"""Characters that editors show as a space, or not at all, and that are a part of a text in YAML."""

CONSTANTS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBERS = (
    (re.compile(r"[-+]?[0-9]{1,300}"), int),
    (re.compile(r"0o[0-7]{1,100}|0x[0-9a-fA-F]{1,100}"), lambda text: int(text, 0)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), lambda text: float(text.replace(".", ""))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """The data of a file with the position of each value."""

    name: str
    """The file's name in messages."""
    content: bytes = b""
    data: Any = None
    """Dictionaries with text keys, lists, text, numbers, booleans and None."""
    values: Mapping[KeyPath, Position] = field(default_factory=dict)
    keys: Mapping[KeyPath, Position] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    is_empty: bool = False
    """Whether it has nothing but comments, which is a problem, too."""

    def position(self, path: KeyPath) -> Position | None:
        """Return the position of a path's key, else of its value, else of the nearest enclosing path."""
        for end in range(len(path), -1, -1):
            position_of = self.keys.get(path[:end]) or self.values.get(path[:end])
            if position_of:
                return position_of
        return None

    def lines(self, problems: Iterable[Problem]) -> tuple[str, ...]:
        """Format each problem as `file:line:column: path: message`, in the order of the file."""
        first: dict[str | Problem, Problem] = {}
        for problem in problems:
            first.setdefault(problem.message if problem.once else problem, problem)
        placed = {(p.position or self.position(p.path) or (), str(p)): None for p in first.values()}
        return tuple(
            ":".join((self.name, *map(str, position))) + f": {text}"
            for position, text in sorted(placed, key=lambda entry: entry[0])
        )


class UnreadableYaml(Exception):
    """A problem after which the file cannot be read further."""

    def __init__(self, message: str, mark: Any = None) -> None:
        super().__init__(message)
        self.problem = Problem(path=(), message=message, position=_position(mark) if mark else None)


def read_yaml(path: Path) -> YamlDocument:
    """Read a file. Never fails: errors, a missing file included, are in `problems`."""
    name = show_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _failed(name, f"cannot be read ({error.strerror}); check its name and its permissions")
    return parse_yaml(content, name)


def parse_yaml(content: bytes, name: str) -> YamlDocument:
    """Read the bytes of a file. Never fails: errors are in `problems`."""
    try:
        tree = _Tree(_events(_text(content)))
        data = tree.build(0, ())[0] if tree.events else None
    except UnreadableYaml as error:
        return YamlDocument(name=name, content=content, problems=(error.problem,))
    if not tree.events:
        return replace(_failed(name, "is empty; write at least its required keys"), is_empty=True)
    return YamlDocument(
        name=name,
        content=content,
        data=data,
        values=tree.values,
        keys=tree.keys,
        problems=tuple(tree.problems),
    )


def _failed(name: str, message: str) -> YamlDocument:
    return YamlDocument(name=name, problems=(Problem(path=(), message=message),))


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _text(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise UnreadableYaml(f"is larger than {MAX_BYTES >> 20} MiB; no file of a course is")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableYaml(f"line {line} is not UTF-8; save the file as UTF-8") from None
    if bad := UNPRINTABLE.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        raise UnreadableYaml(f"line {line} holds the control character {bad.group()!r}; remove it")
    return text


def _events(text: str) -> list[Any]:
    """Return the events of the only document, without the frame around it."""
    events: list[Any] = []
    depth = documents = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise UnreadableYaml("a second document starts here; keep one", event.start_mark)
            if not isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                continue
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH or len(events) > 2 * MAX_NODES:
                raise _oversized(event)
            events.append(event)
    except yaml.MarkedYAMLError as error:
        complaint = ", ".join(part for part in (error.context, error.problem) if part)
        advice = _advice(complaint, text, error.problem_mark)
        raise UnreadableYaml(f"not YAML ({complaint}); {advice}", error.problem_mark) from None
    except yaml.YAMLError as error:
        raise UnreadableYaml(f"not YAML ({error})") from None
    return events


_NEAR = 3
"""The number of lines, up to that of a complaint, in which its cause is looked for."""
_CHECK = "check indentation, quotes, brackets and colons"
_ADVICE = {
    "mapping values are not allowed": f"put a text with a colon in it in quotes, or {_CHECK}",
    "that cannot start any token": "put a text that begins with it in quotes",
    "while scanning an alias": f"put a text that begins with * in quotes, or {_CHECK}",
    "while scanning an anchor": f"put a text that begins with & in quotes, or {_CHECK}",
}
"""By part of a complaint of the parser: what to do."""


def _advice(complaint: str, text: str, mark: Any) -> str:
    """Return what to do about a complaint of the parser at a place of the text."""
    until = text.splitlines()[: mark.line + 1] if mark else []
    if any(line[mark.column : mark.column + 1] == "\t" for line in until[-1:]):
        return "indent with spaces, not with tabs"
    # the parser takes what it begins for a part of the text before it
    for number, line in [*enumerate(until, start=1)][-_NEAR:]:
        if space := LIKE_SPACE.search(line.lstrip(" -")[:1]):
            return f"line {number} begins with U+{ord(space[0]):04X}, which looks like a space; write spaces"
    return next((words for part, words in _ADVICE.items() if part in complaint), _CHECK)


def _oversized(event: Any) -> UnreadableYaml:
    message = f"more than {MAX_DEPTH} levels or {MAX_NODES} values, aliases counted; make it smaller"
    return UnreadableYaml(message, event.start_mark)


class _Tree:
    """Builder of plain data from events; an alias copies the value of its anchor."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events
        self.values: dict[KeyPath, Position] = {}
        self.keys: dict[KeyPath, Position] = {}
        self.problems: list[Problem] = []
        self.nodes = 0
        self.targets: dict[int, int] = {}
        anchors: dict[str, int] = {}
        for index, event in enumerate(events):
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise UnreadableYaml(f"no anchor &{event.anchor} before this alias", event.start_mark)
                self.targets[index] = anchors[event.anchor]
            elif anchor := getattr(event, "anchor", None):
                anchors[anchor] = index

    def build(self, index: int, path: KeyPath) -> tuple[Any, int]:
        """Return the value whose events start at `index`, and the index behind it."""
        event = self.events[index]
        self.nodes += 1
        if self.nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise _oversized(event)
        if index in self.targets:
            value, _ = self.build(self.targets[index], path)
            self.values[path] = _position(event.start_mark)
            return value, index + 1
        self.values[path] = _position(event.start_mark)
        if event.tag is not None:
            self.wrong(path, f"the tag {event.tag} is not understood here; remove it", event)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(index + 1, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(index + 1, path)
        if not event.implicit[0]:
            return event.value, index + 1
        if (space := LIKE_SPACE.search(event.value)) and not isinstance(_scalar(event.value.strip()), str):
            self.wrong(path, f"ends with U+{ord(space[0]):04X}, which looks like a space; remove it", event)
        return _scalar(event.value), index + 1

    def sequence(self, index: int, path: KeyPath) -> tuple[list[Any], int]:
        """Return the items of a list, up to its end."""
        items: list[Any] = []
        while not isinstance(self.events[index], yaml.SequenceEndEvent):
            value, index = self.build(index, (*path, len(items)))
            items.append(value)
        return items, index + 1

    def mapping(self, index: int, path: KeyPath) -> tuple[dict[str, Any], int]:
        """Return the entries of a mapping, up to its end; a key that cannot be is reported and left out."""
        entries: dict[str, Any] = {}
        undashed = False
        """Whether another entry of the list above seems to have begun without its dash."""
        while not isinstance(self.events[index], yaml.MappingEndEvent):
            event = self.events[index]
            before = len(self.problems)
            key, index = self.build(index, (*path, "?"))
            repeated = isinstance(key, str) and key in entries
            if len(self.problems) == before and (message := self.objection(key, event, path, entries)):
                begins_entry = repeated and path and isinstance(path[-1], int) and key == next(iter(entries))
                advice = ", or begin another entry of the list with a dash" if begins_entry else ""
                if not undashed:
                    self.wrong((*path, key) if isinstance(key, str) else path, message + advice, event)
                undashed = undashed or bool(begins_entry)
            accepted = len(self.problems) == before and not repeated
            if accepted:
                self.keys[*path, key] = _position(event.start_mark)
            value, index = self.build(index, (*path, key if accepted else "?"))
            if accepted:
                entries[key] = value
        return entries, index + 1

    def objection(self, key: Any, event: Any, path: KeyPath, entries: Mapping[str, Any]) -> str:
        """Return an error message for an invalid key of the mapping; empty for a valid one."""
        if key == "<<" and event.implicit[0]:
            return "merge keys are not understood here; write the keys out"
        if not isinstance(key, str):
            return "a key must be text; put it in quotes"
        if event.implicit[0] and (space := LIKE_SPACE.search(key)):
            return (
                f"holds U+{ord(space[0]):04X}, which looks like a space; write a space, or put it in quotes"
            )
        if key in entries:
            first = self.keys[*path, key].line
            return f"given twice, first in line {first}; keep one"
        return ""

    def wrong(self, path: KeyPath, message: str, event: Any) -> None:
        """Report a problem at an event."""
        self.problems.append(Problem(path=path, message=message, position=_position(event.start_mark)))


def _scalar(text: str) -> Any:
    """Decode a plain scalar by the core schema of YAML 1.2: `no` is text, `012` is 12, `1e3` a number."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    for pattern, convert in NUMBERS:
        if pattern.fullmatch(text):
            return convert(text)
    return text
