"""The keys of a rubric file, declared once for reading and for the JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from grader.config.codec import to_plain
from grader.config.decode import Key, keys_of, reader
from grader.config.problem import KeyPath, suggestion
from grader.config.type_words import quoted
from grader.config.units import Duration, Share
from grader.contracts.check import CheckKind
from grader.errors import CourseError
from grader.model.job import GPU
from grader.model.options import option
from grader.model.rubric import Attempts, OnFlag, Simulated, Visibility

SCHEMA = 1
DEVICES = frozenset({GPU})
"""The kinds of devices that an item may need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LateKeys:
    """Keys of `late:`."""

    grace: Duration = option("How long after the deadline nothing is taken off.", default=Duration(0.0))
    per_day: Share = option("What each started day takes off the total.", default=Share(0.0))
    at_most: Duration | None = option(
        "What comes later than this after the grace earns nothing.", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricKeys:
    """Keys of a rubric file."""

    schema: int = option("The version of this format: 1.")
    assignment: str = option("A folder below `assignments/`.")
    points: float = option("The total; must equal the sum of the items, without bonus and penalties.")
    items: tuple[Any, ...] = option(
        "What is checked, in the order of the report; a student's page begins with what lost points."
    )
    due: datetime | None = option("The deadline, with its offset from UTC.", default=None)
    late: LateKeys = option("What lateness costs.", default_factory=LateKeys)
    attempts: Attempts = option(
        "Which of a student's or team's submissions counts: the newest, or the best grade.",
        default="newest",
    )
    floor: float = option("Penalties take nothing from a total as low as this.", default=0.0)
    at_most: float | None = option("The total is never more than this, whatever the bonus.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKeys:
    """Keys of every item, beside the options of its check."""

    id: str = option("A short name, unique in the file: lower-case letters, digits and . _ -")
    title: str = option("One sentence that a student reads.")
    points: float = option("What it is worth, 0 or more; of a penalty, the most that it takes.")
    check: str = option("The kind of check.")
    needs: tuple[str, ...] = option("Items that must have earned everything before.", default=())
    uses: tuple[str, ...] = option("Items whose observations are judged with this one's.", default=())
    visible: Visibility = option("When the student sees it.", default="always")
    hint: str = option(
        "What a student reads when points are lost, but where nothing looked at the code: a file that is "
        "called or compiled is missing, or no call gave a result, be it that the course's driver failed on "
        "what a function returned.",
        default="",
    )
    bonus: bool = option("Its points come on top of the total.", default=False)
    penalty: bool = option("It earns nothing; what is wrong takes points away.", default=False)
    simulated: Simulated = option("Whether what a simulator shows earns points.", default="informs")
    on_flag: OnFlag = option("Whether a flag holds the grade until a person has looked.", default="notes")
    devices: Mapping[str, int] = option("What it needs, such as {gpu: 1}.", default_factory=dict)
    group: str = option("Items of one group may share a child of the student's program.", default="")


def item_keys(kind: CheckKind) -> Mapping[str, Key]:
    """Return the keys of an item with a check of this kind.

    Raises:
        CourseError: an option is called like a key that every item has.
    """
    common, options = keys_of(ItemKeys), keys_of(kind.Options)
    if taken := sorted(common.keys() & options.keys()):
        raise CourseError(f"check kind {kind.name}: every item has a key {taken[0]}; rename the option")
    return {**common, **options}


def device_objections(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield path and message of devices that are of no known kind, or fewer than one of theirs."""
    for index, values in enumerate(items):
        for name, count in values.get("devices", {}).items():
            path = ("items", index, "devices", name)
            if name not in DEVICES:
                yield path, f"no kind of device is called {quoted(name)}; {suggestion(name, DEVICES)}"
            elif count < 1:
                yield path, f"must be 1 or more, got {count}; leave it out if none is needed"


def gpu_objection(kind: CheckKind, options: Any, devices: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the key `devices`, with a message, if it gives fewer GPUs than the options need."""
    needed, given = kind.gpus_needed(options), devices.get(GPU, 0)
    if given < needed:
        gpus = "1 GPU" if needed == 1 else f"{needed} GPUs"
        message = f"{kind.name} needs {gpus} at least for these options, got {given}"
        yield "devices", f"{message}; write devices: {{gpu: {needed}}}"


def options_objection(options: Any) -> str:
    """Return what of a plugin's class `Options` no file could give; empty if its keys can be read and stored.

    The message begins with what follows the name of the class.
    """
    if not is_dataclass(options):
        return ": is no dataclass; write @dataclass(frozen=True, slots=True, kw_only=True) above it"
    kind: Any = options  # is_dataclass narrows it to what mypy cannot hash
    try:
        keys = keys_of(kind)
    except (NameError, TypeError) as error:
        return f": {error}; correct its types"
    for field in fields(options):
        key = keys[field.name]
        try:
            reader(key.kind, key.above)
        except (TypeError, ValueError):
            return f".{field.name}: {_spelled(key.kind)} cannot be read from YAML; {_READABLE}"
        try:
            to_plain(field.default_factory() if field.default_factory is not MISSING else field.default)
        except TypeError as error:
            if field.default is not MISSING or field.default_factory is not MISSING:
                return f".{field.name}: its default: {error}; give one that YAML has"
    return ""


def _spelled(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


_READABLE = (
    "use str, bool, int, float, a Literal, tuple[T, ...], Mapping[str, T], a dataclass of these, or | None"
)
