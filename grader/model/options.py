"""Declaration of the YAML keys that a check kind accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any, NewType, get_args, get_type_hints

FunctionName = NewType("FunctionName", str)
"""`module.function` of the submission; the reference must have it."""
ModuleName = NewType("ModuleName", str)
"""A file of the course or of the submission, without `.py`."""
InputsName = NewType("InputsName", str)
"""A family of inputs: a function of the assignment's `inputs.py` that takes `rng`."""
OracleName = NewType("OracleName", str)
"""A function of the assignment's `expected.py`."""
SubmittedFile = NewType("SubmittedFile", str)
"""A file that students hand in, or a pattern of such files; the assignment must accept one that fits."""
ProgramFile = NewType("ProgramFile", str)
"""A file that is run: one that students hand in, or one of `given/`."""
UsedItem = NewType("UsedItem", str)
"""An item that `uses` of the same item names."""


def files_named(options: Any) -> frozenset[str]:
    """Return `work.py` for each option that names a file of Python, or a function in one."""
    named = {
        str(getattr(options, name)): kind
        for name, kind in get_type_hints(type(options)).items()
        if kind in (FunctionName, ModuleName, SubmittedFile, ProgramFile)
    }
    modules = (FunctionName, ModuleName)
    files = (
        f"{name.partition('.')[0]}.py" if kind in modules else name for name, kind in named.items() if name
    )
    return frozenset(file for file in files if file.endswith(".py"))


def programs_named(options: Any) -> tuple[str, ...]:
    """Return the files that the options of an item name as programs to run, in the order of the keys."""
    files: list[str] = []
    for name, kind in get_type_hints(type(options)).items():
        if kind is ProgramFile:
            files.append(getattr(options, name))
        elif ProgramFile in get_args(kind):  # a tuple of them
            files += getattr(options, name)
    return tuple(filter(None, files))


class WrongValuesError(ValueError):
    """Problems of values that do not go together, all of them at once."""

    def __init__(self, *problems: str, values: Any = None) -> None:
        """`values` is the object that has them, if further checks may look at it nevertheless."""
        self.problems = problems
        self.values = values
        super().__init__("; ".join(problems))


def refuse(problems: Iterable[str], values: Any = None) -> None:
    """Refuse values with all of their problems, if there are any.

    Raises:
        WrongValuesError: there are some.
    """
    if messages := tuple(problems):
        raise WrongValuesError(*messages, values=values)


def try_each(*checks: Callable[[], object]) -> None:
    """Run every check, and raise the problems of all that fail.

    Raises:
        WrongValuesError: some raised ValueError.
    """
    problems: list[str] = []
    for check in checks:
        try:
            check()
        except ValueError as error:
            problems += problems_of(error)
    refuse(problems)


def problems_of(error: ValueError) -> tuple[str, ...]:
    """Return the problems that an error of a `__post_init__` names, each a sentence."""
    return error.problems if isinstance(error, WrongValuesError) else (str(error),)


def option(
    doc: str,
    *,
    judges: bool = False,
    above: float | None = None,
    like: str = "",
    secret: bool = False,
    example: str = "",
    **default: Any,
) -> Any:
    """Declare a field of an `Options` dataclass.

    `doc` goes into the JSON schema. `judges=True` marks a key that changes only what is earned, never
    what is measured: changing it re-scores stored evidence, changing any other makes it stale.
    `above` is a bound that a number must exceed. `like` names another key, whose value is `module.function`:
    an oracle that is left out is the one with that function's name. `secret=True` keeps the value, such as a
    model answer, from students until their grades are final and published; it needs a default, which stands
    in its place. `example` is a whole value in YAML, for whoever gives one that is no list or no mapping.
    `default` or `default_factory` as for dataclasses.
    """
    metadata = {
        "doc": doc,
        "judges": judges,
        "above": above,
        "like": like,
        "secret": secret,
        "example": example,
    }
    return field(metadata=metadata, **default)


def without_secrets(options: Any) -> Any:
    """Return options whose secret values are their defaults."""
    keys = fields(options) if is_dataclass(options) else ()
    secrets = {key.name: _default(key) for key in keys if key.metadata.get("secret")}
    return replace(options, **secrets) if secrets else options


def _default(key: Field[Any]) -> Any:
    return key.default_factory() if key.default_factory is not MISSING else key.default


def values_of(options: Any) -> dict[str, Any]:
    """Return the values of all keys, by name."""
    return {key.name: getattr(options, key.name) for key in fields(options)}


def measuring(options: Any) -> dict[str, Any]:
    """Return the values of the measuring keys, by name."""
    judging = {key.name for key in fields(options) if key.metadata.get("judges")}
    return {name: value for name, value in values_of(options).items() if name not in judging}


def judging_digest(options: Any) -> str:
    """Return a digest of the values of the judging keys."""
    measured = measuring(options)
    judging = {name: value for name, value in values_of(options).items() if name not in measured}
    return sha256(repr(_in_order(judging)).encode()).hexdigest()[:16]


def _in_order(value: Any) -> Any:
    """Return a value with its mappings sorted, whose order in a rubric means nothing."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _in_order(each)) for key, each in value.items())
    return value


def required(key: Field[Any]) -> bool:
    """Tell whether a rubric must give this key."""
    return key.default is MISSING and key.default_factory is MISSING
