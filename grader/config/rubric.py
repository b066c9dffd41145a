"""Reads rubric files, checks them against the assignment and reports all errors at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from grader.config.accepted import unaccepted_options
from grader.config.built import unbuilt
from grader.config.codec import digest_bytes
from grader.config.decode import AllowedNames, DecodeState, keys_of, read_keys
from grader.config.facts import AssignmentFacts, read_facts
from grader.config.item_references import reference_objections
from grader.config.problem import KeyPath, closest, suggestion
from grader.config.rubric_keys import (
    SCHEMA,
    ItemKeys,
    LateKeys,
    RubricKeys,
    device_objections,
    gpu_objection,
    item_keys,
)
from grader.config.type_words import quoted
from grader.config.yaml_source import YamlDocument, read_yaml
from grader.contracts.check import CheckKind
from grader.errors import CourseError
from grader.model.assignment import Assignment
from grader.model.options import FunctionName, InputsName, OracleName, UsedItem, WrongValuesError
from grader.model.rubric import Counts, Item, LatePolicy, Rubric

ITEM_ID = re.compile(r"[a-z0-9_.-]+")
DAY_S = 86_400.0


def load_rubric(
    path: Path,
    *,
    kinds: Mapping[str, CheckKind],
    assignments: Mapping[str, Path],
    declared: Mapping[str, Assignment] | None = None,
) -> Rubric:
    """Load a rubric, for check kinds by name, and folders of assignments and what these declare by name.

    Raises:
        CourseError: with every problem of the file, each as `file:line:column: path: message`.
    """
    rubric, problems = read_rubric(path, kinds=kinds, assignments=assignments, declared=declared)
    if problems or rubric is None:
        raise CourseError(*problems)
    return rubric


def read_rubric(
    path: Path,
    *,
    kinds: Mapping[str, CheckKind],
    assignments: Mapping[str, Path],
    declared: Mapping[str, Assignment] | None = None,
) -> tuple[Rubric | None, tuple[str, ...]]:
    """Read a rubric with every problem of the file, one line each.

    Where it has problems the rubric is for further checks alone: what is wrong is empty there, the options
    of an item are None, and without an assignment there is no rubric.
    """
    draft = _Draft(read_yaml(path), kinds, assignments, declared or {})
    return draft.rubric(path.stem) if draft.facts else None, draft.lines()


def check_rubric(
    path: Path,
    *,
    kinds: Mapping[str, CheckKind],
    assignments: Mapping[str, Path],
    declared: Mapping[str, Assignment] | None = None,
) -> tuple[str, ...]:
    """Return every problem of a rubric file, one line each; none if `load_rubric` takes it."""
    return read_rubric(path, kinds=kinds, assignments=assignments, declared=declared)[1]


class _Draft:
    """A rubric while it is validated."""

    def __init__(
        self,
        document: YamlDocument,
        kinds: Mapping[str, CheckKind],
        assignments: Mapping[str, Path],
        declared: Mapping[str, Assignment],
    ) -> None:
        self.document = document
        self.kinds = kinds
        self.reading = DecodeState()
        self.reading.problems.extend(document.problems)
        self.facts: AssignmentFacts | None = None
        self.top: dict[str, Any] = {}
        self.items: list[dict[str, Any]] = []
        self.options: list[Any] = []
        """The options of each item's check; None where they are wrong."""
        if document.data is None and document.problems:
            return
        if not self.same_schema():
            return
        self.top = read_keys(keys_of(RubricKeys), document.data, (), self.reading)
        self.find_assignment(assignments)
        self.read_items()
        self.check_ids()
        for path, message in (*reference_objections(self.items), *device_objections(self.items)):
            self.reading.wrong(path, message)
        self.check_submitted_files(assignments, declared)
        self.check_builds(assignments, declared)
        self.check_deadline()
        self.check_points()
        self.complete_options()
        self.ask_kinds(assignments)
        self.check_default_oracles()

    def lines(self) -> tuple[str, ...]:
        """Return all problems, each on a line."""
        facts = self.facts.problems if self.facts else ()
        return (*self.document.lines(self.reading.problems), *facts)

    def rubric(self, name: str) -> Rubric:
        """Build the rubric, of what has no problems."""
        late = self.top.get("late", LateKeys())
        return Rubric(
            name=name,
            assignment=self.top["assignment"],
            points=self.top.get("points", 0.0),
            items=tuple(map(self.item, self.items, self.options)),
            attempts=self.top.get("attempts", "newest"),
            floor=self.top.get("floor", 0.0),
            at_most=self.top.get("at_most"),
            due=self.top.get("due"),
            late=LatePolicy(
                grace_s=late.grace,
                per_day=late.per_day,
                at_most_days=None if late.at_most is None else late.at_most / DAY_S,
            ),
            digest=digest_bytes(self.document.content),
        )

    def item(self, values: Mapping[str, Any], options: Any) -> Item:
        """Build an item from its flat keys and the options of its check."""
        common = {
            name: value for name, value in _common_keys(values).items() if name not in ("bonus", "penalty")
        }
        absent = {"id": "", "title": "", "points": 0.0, "check": ""}
        return Item(**{**absent, **common}, counts=_counts(values), options=options)

    def complete_options(self) -> None:
        """Replace the options of each item by those with what follows from the items of the same kind."""
        drafts = [*self.options]
        for index, (values, options) in enumerate(zip(self.items, drafts, strict=True)):
            if options is None or values.get("points", -1.0) < 0:
                continue
            check = values["check"]
            others = [
                draft
                for draft, other in zip(drafts, self.items, strict=True)
                if draft is not None and other["check"] == check
            ]
            try:
                self.options[index] = self.kinds[check].complete(options, others, points=values["points"])
            except ValueError as error:
                self.reading.refused(("items", index), error)

    def options_of(self, index: int) -> Any:
        """Return the options of an item's check; None if its keys or their values do not allow any."""
        values = self.items[index]
        kind = self.kinds[values["check"]]
        keys = keys_of(kind.Options)
        paths = (problem.path for problem in self.reading.problems)
        for key in (str(path[2]) if path[2:] else "" for path in paths if path[:2] == ("items", index)):
            meant = key if key in item_keys(kind) else closest(key, item_keys(kind))
            if meant not in keys_of(ItemKeys):  # an option is wrong, or may be meant by an unknown key
                return None
        try:
            return kind.Options(**{name: values[name] for name in keys if name in values})
        except ValueError as error:  # of its __post_init__
            self.reading.refused(("items", index), error)
            return error.values if isinstance(error, WrongValuesError) else None

    def same_schema(self) -> bool:
        """Tell whether the file has the schema of this version; otherwise the rest is not checked."""
        data = self.document.data
        schema = data.get("schema", SCHEMA) if isinstance(data, Mapping) else SCHEMA
        if type(schema) is not int or schema == SCHEMA:
            return True
        advice = "update grader" if schema > SCHEMA else f"write {SCHEMA}"
        self.reading.wrong(("schema",), f"this grader reads {SCHEMA}, got {schema}; {advice}")
        return False

    def find_assignment(self, assignments: Mapping[str, Path]) -> None:
        """Read the facts of the assignment, against which names are checked."""
        name = self.top.get("assignment")
        if name is None:
            return
        if name in assignments:
            self.facts = read_facts(assignments[name])
        else:
            message = f"no assignment is called {quoted(name)}; {suggestion(name, assignments)}"
            self.reading.wrong(("assignment",), message)

    def read_items(self) -> None:
        """Read each item by the keys of its own kind of check."""
        allowed = _allowed_names(self.facts)
        for index, data in enumerate(self.top.get("items", ())):
            path = ("items", index)
            names = {**allowed, UsedItem: _used(data)}
            reading = DecodeState(allowed=names, problems=self.reading.problems, advise=self.kinds_with)
            name = data.get("check") if isinstance(data, Mapping) else None
            if isinstance(name, str) and name not in self.kinds:
                message = f"no kind of check is called {quoted(name)}; {suggestion(name, self.kinds)}"
                reading.wrong((*path, "check"), message)
            if isinstance(name, str) and name in self.kinds:
                values = read_keys(item_keys(self.kinds[name]), data, path, reading)
            else:
                # Without a kind its option keys cannot be checked, so they are neither right nor wrong.
                values = read_keys(keys_of(ItemKeys), self.without_options(data, path), path, reading)
            self.items.append(values)
            checked = values.get("check") in self.kinds
            self.options.append(self.options_of(index) if checked else None)

    def without_options(self, data: Any, path: KeyPath) -> Any:
        """Return the keys of an item that are no kind's options; unknown ones if they are a slip for one."""
        if not isinstance(data, Mapping):
            return data
        slips = [key for key in data if closest(key, keys_of(ItemKeys)) not in {None, *data}]
        taken = {*keys_of(ItemKeys), *(key for key in slips if not self.kinds_with((*path, key)))}
        return {key: value for key, value in data.items() if key in taken}

    def kinds_with(self, path: KeyPath) -> str:
        """Return the advice on a key of an item that other kinds of checks have; empty if none has it."""
        having = []
        for name in sorted(self.kinds) if len(path) == len(("items", 0, "key")) else ():
            with suppress(CourseError):  # a kind that cannot be imported is told where an item names it
                having += [name] if path[-1] in keys_of(self.kinds[name].Options) else []
        return f"it belongs to {', '.join(having)}; take it out, or name another check" if having else ""

    def check_ids(self) -> None:
        """Check that ids are well formed and unique."""
        first: dict[str, int] = {}
        for index, values in enumerate(self.items):
            name = values.get("id")
            if name is None:
                continue
            path = ("items", index, "id")
            if not ITEM_ID.fullmatch(name):
                message = f"must be of lower-case letters, digits and . _ - only, got {quoted(name)}"
                self.reading.wrong(path, message)
            if first.setdefault(name, index) != index:
                message = f"{quoted(name)} is the id of items[{first[name]}] too; give each its own"
                self.reading.wrong(path, message)

    def check_default_oracles(self) -> None:
        """Check that `expected.py` has the oracle of each item that leaves its name out."""
        if self.facts is None or self.facts.oracles is None:
            return
        misspelt = {each.path for each in self.reading.problems}
        for index, values in enumerate(self.items):
            kind = self.kinds.get(values.get("check", ""))
            for key in fields(kind.Options) if kind else ():
                function = values.get(key.metadata.get("like", ""), "").rpartition(".")[2]
                named = values.get(key.name) or ("items", index, key.name) in misspelt
                if function and not named and function not in self.facts.oracles:
                    message = f"expected.py has no {function}; write it there, or name another by {key.name}"
                    message += f"; {suggestion(function, self.facts.oracles)}"
                    self.reading.wrong(("items", index, key.metadata["like"]), message)
                    self.options[index] = None

    def check_submitted_files(
        self, assignments: Mapping[str, Path], declared: Mapping[str, Assignment]
    ) -> None:
        """Check that files can be handed in, and that the assignment says how what is checked is built."""
        name = self.top.get("assignment", "")
        assignment, folder = declared.get(name), assignments.get(name)
        if assignment is None or folder is None:
            return
        for index, values in enumerate(self.items):
            kind = self.kinds.get(values.get("check", ""))
            if kind is None:
                continue
            if kind.builds and assignment.build is None:
                message = "assignment.py does not say how it is built; give it a build=Build(…)"
                self.reading.wrong(("items", index, "check"), message)
            refused = self._refused_keys(index)
            for path, message in unaccepted_options(kind.Options, values, assignment, folder):
                if path[0] not in refused:
                    self.reading.wrong(("items", index, *path), message)

    def _refused_keys(self, index: int) -> frozenset[str]:
        """Return the keys of an item whose values its own kind refuses: `key: message` on the whole item."""
        messages = (each.message for each in self.reading.problems if each.path == ("items", index))
        return frozenset(message.partition(":")[0] for message in messages)

    def check_builds(self, assignments: Mapping[str, Path], declared: Mapping[str, Assignment]) -> None:
        """Check that an item needs the build if the file that it calls cannot be imported without."""
        name = self.top.get("assignment", "")
        if name in declared and name in assignments:
            unknown = {each.path[1] for each in self.reading.problems if each.path[2:3] == ("needs",)}
            for path, message in unbuilt(self.items, self.kinds, declared[name], assignments[name]):
                if path[1] not in unknown:  # it may need the build
                    self.reading.wrong(path, message)

    def ask_kinds(self, assignments: Mapping[str, Path]) -> None:
        """Add the objections of each item's kind to keys that have no other problem."""
        folder = assignments.get(self.top.get("assignment", ""))
        wrong = {problem.path[:3] for problem in self.reading.problems}
        for index, (values, options) in enumerate(zip(self.items, self.options, strict=True)):
            if options is None or folder is None:
                continue
            kind = self.kinds[values["check"]]
            needing = gpu_objection(kind, options, values.get("devices", {}))
            for key, message in (*needing, *kind.objections(options, str(folder))):
                if ("items", index, key) not in wrong:
                    self.reading.wrong(("items", index, key), message)

    def check_deadline(self) -> None:
        """Check that there is a deadline where something depends on it."""
        wrong = any(problem.path == ("due",) for problem in self.reading.problems)
        if wrong or self.top.get("due") is not None:
            return
        for index, values in enumerate(self.items):
            if values.get("visible") == "after_due":
                message = "would never be shown, because the rubric has no due; give one, or write never"
                self.reading.wrong(("items", index, "visible"), message)
        if "late" in self.top:
            message = "nothing is ever late, because the rubric has no due; give one, or take late out"
            self.reading.wrong(("late",), message)

    def check_points(self) -> None:
        """Check points: none negative, one way of counting per item, and the right sum."""
        each = [values["points"] for values in self.items if "points" in values]
        for index, values in enumerate(self.items):
            if values.get("points", 0.0) < 0:
                message = f"must be 0 or more, got {values['points']:g}"
                self.reading.wrong(("items", index, "points"), message)
            if values.get("bonus") and values.get("penalty"):
                message = "an item cannot be a bonus and a penalty; take one of these out"
                self.reading.wrong(("items", index, "penalty"), message)
        floor, at_most = self.top.get("floor", 0.0), self.top.get("at_most")
        if at_most is not None and at_most <= floor:
            message = f"must be more than the floor, {floor:g}, got {at_most:g}"
            self.reading.wrong(("at_most",), message)
        total = self.top.get("points")
        if total is None or "items" not in self.top:
            return
        if not self.top["items"]:
            self.reading.wrong(("items",), "is empty; write at least one item")
        if len(each) < len(self.items) or any(points < 0 for points in each):
            return  # A sum over wrong numbers would be one more line about the same mistake.
        earning = [values["points"] for values in self.items if _counts(values) == "earns"]
        earned = sum(earning)
        if not math.isclose(total, earned, abs_tol=1e-9):
            others = "" if len(earning) == len(each) else " that are no bonus and no penalty"
            message = f"must equal the sum of the items{others}, {earned:.12g}, got {total:.12g}"
            self.reading.wrong(("points",), message)


def _allowed_names(facts: AssignmentFacts | None) -> Mapping[Any, AllowedNames]:
    """Return the names that options may take, by type; files that could not be read allow any name."""
    if facts is None:
        return {}
    sources: dict[Any, tuple[str, frozenset[str] | None, Callable[[str], str | None]]] = {
        FunctionName: ("function of the reference", facts.functions, facts.misplaced),
        InputsName: ("family of inputs.py", facts.inputs, facts.no_families.get),
        OracleName: ("function of expected.py", facts.oracles, lambda _: None),
    }
    absent = {FunctionName: facts.absent_file}
    return {
        kind: AllowedNames(what=what, names=names, advice=advice, absent=absent.get(kind, lambda _: ""))
        for kind, (what, names, advice) in sources.items()
        if names is not None
    }


def _used(data: Any) -> AllowedNames:
    uses = data.get("uses") if isinstance(data, Mapping) else None
    names = [name for name in uses if isinstance(name, str)] if isinstance(uses, list) else []
    return AllowedNames(what="item in uses", names=frozenset(names))


def _common_keys(data: Any) -> Any:
    """Return the keys of an item without its check's options."""
    if not isinstance(data, Mapping):
        return data
    return {key: value for key, value in data.items() if key in keys_of(ItemKeys)}


def _counts(values: Mapping[str, Any]) -> Counts:
    if values.get("penalty"):
        return "penalty"
    return "bonus" if values.get("bonus") else "earns"
