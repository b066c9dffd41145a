"""Tries of families and oracles, each in a fork of this process: what they change or end stays there."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

from grader.config.decode import keys_of
from grader.config.facts import parameters_of
from grader.config.problem import KeyPath, Problem, Remark
from grader.config.yaml_source import YamlDocument
from grader.contracts.call import InputCase
from grader.contracts.check import CheckKind
from grader.coursesyntax import lost_cases, lost_returns
from grader.errors import CourseError, NotObservedError, PackageError
from grader.files import show_path
from grader.harness.course_forks import in_fork, unpassable
from grader.harness.course_functions import EXPECTED, INPUTS, NO_YIELD, CourseFunctions, signature_of, unfit
from grader.harness.student_process import ARGUMENTS_BYTES
from grader.model.options import InputsName, values_of
from grader.model.rubric import Item
from grader.selftest.tolerances import overridden, try_tolerances

SEED = "0" * 32
"""Of the families that are tried: a mistake shows with every seed, or needs a test of its own."""
OTHER_SEED = "1" * 32
"""Of families that may give the same for every seed."""
WITHIN_S = 60.0
"""Seconds in which a family must have given its cases, and an oracle its answer."""
_NO_REFERENCE = ": ModuleNotFoundError: No module named 'reference'"
"""Ends the line on each oracle of a file that imports the reference, which `declared` names once."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Part of the default `repr` of an object."""
_OF = "of"
"""The option that names the function under test."""
INPUTS_KEY = "inputs"
"""The option that names the family of a kind with `one_case`."""

_Use = Literal["compared", "distributions", "any"]
"""What a kind takes an oracle's answer for: a value, nested distributions of random results, or its own."""


def try_functions(
    folder: Path, rubric: tuple[Item, ...], kinds: Mapping[str, CheckKind], document: YamlDocument
) -> Iterator[str]:
    """Yield problems and remarks on the families and oracles that a rubric's items name, each tried once.

    Items whose options are wrong name none. The document is the rubric's, for its lines.
    """
    numbered = [(index, item) for index, item in enumerate(rubric) if item.options is not None]
    items = [item for _, item in numbered]
    functions = CourseFunctions(folder, within_s=WITHIN_S)
    families = dict.fromkeys(name for item in items for name in _families_of(item))
    single = {values_of(item.options).get(INPUTS_KEY) for item in items if kinds[item.check].one_case}
    trials = [partial(_try_family, functions, name, name in single) for name in families]
    named: dict[tuple[str, str, str, _Use], str] = {}
    tolerances: list[partial[Iterator[str]]] = []
    for index, item in numbered:
        if names := _functions_of(item):
            line, *_ = document.position(("items", index, _OF)) or (1,)
            place = f"{document.name}:{line}: item {item.id}"
            use = _use_of(kinds[item.check])
            named.setdefault((*names, use), place)
            key, dtypes = overridden(item.options)
            if dtypes and use == "compared":
                path = ("items", index, key)
                of_item = (functions, _families_of(item), names[1], dtypes)
                tolerances.append(partial(try_tolerances, *of_item, (SEED, folder), _at(document, path)))
    for (family, oracle, function, use), place in named.items():
        trials.append(partial(_try_oracle, functions, family, oracle, use))
        trials.append(partial(_try_parameters, functions, family, function, folder, place))
    lost = "makes a case that no family gives; write yield before it"
    lines = {f"{show_path(folder / INPUTS)}:{line}: {lost}": None for line in lost_cases(folder / INPUTS)}
    named_already = (_NO_REFERENCE, NO_YIELD) if lines else (_NO_REFERENCE,)
    lost = "returns a value behind yields, which is lost; write yield, or yield from for several cases"
    for line, function in lost_returns(folder / INPUTS):
        lines[f"{show_path(folder / INPUTS)}:{line}: {function}: {lost}"] = None
    for trial in (*trials, *tolerances):
        try:  # in a fork, for a function of the course may end its process
            lines |= dict.fromkeys(in_fork(partial(_lines_of, trial), _place_of(trial, folder)))
        except PackageError as error:  # another machine may have it
            lines |= dict.fromkeys(map(Remark, error.problems))
        except (CourseError, NotObservedError) as error:
            lines |= dict.fromkeys(p for p in error.problems if not p.endswith(named_already))
    yield from lines


def _at(document: YamlDocument, path: KeyPath) -> Callable[[str, str], tuple[str, ...]]:
    """Return a function that gives lines on a key below a path of the document."""
    return lambda key, message: document.lines([Problem(path=(*path, key), message=message)])


def _lines_of(trial: Callable[[], Iterator[str]]) -> list[str]:
    return [*trial()]


def _place_of(trial: partial[Iterator[str]], folder: Path) -> str:
    """Return the file and the function that a trial calls last."""
    names = trial.args[1:]
    file = INPUTS if trial.func is _try_family else EXPECTED
    return f"{show_path(folder / file)}: {names[0] if file == INPUTS else names[1]}"


def _families_of(item: Item) -> list[str]:
    """Return the families that the options of an item name."""
    values = values_of(item.options)
    keys: Any = type(item.options)
    return [values[name] for name, key in keys_of(keys).items() if key.kind is InputsName and values[name]]


def _functions_of(item: Item) -> tuple[str, str, str] | None:
    """Return family, oracle and function of an item whose oracle takes the family's arguments."""
    like = next((key for key in fields(item.options) if key.metadata.get("like")), None)
    families = _families_of(item)
    if like is None or not families:
        return None
    values = values_of(item.options)
    function: str = values[like.metadata["like"]]
    return families[0], values[like.name] or function.rpartition(".")[2], function


def _use_of(kind: CheckKind) -> _Use:
    """Return what a kind takes an oracle's answer for; one that is not built in may take any answer."""
    if not type(kind).__module__.startswith("grader.checks."):
        return "any"
    return "distributions" if kind.name == "properties" else "compared"


def _try_family(functions: CourseFunctions, family: str, single: bool) -> Iterator[str]:
    where = f"{functions.place_of(INPUTS, family)}: {family}:"
    cases, again = functions.draw(family, SEED, 0), functions.draw(family, SEED, 0)
    for case in cases:
        if not case.name.strip():
            yield f"{where} a case has an empty name; students read it, so give one"
        size_mb = sum(map(_bytes_of, (*case.args, *case.kwargs.values()))) >> 20
        if size_mb > ARGUMENTS_BYTES >> 20:
            yield (
                f"{where} case {case.name!r} has arguments of {size_mb} MiB; {ARGUMENTS_BYTES >> 20} MiB fit "
                "into one call"
            )
    if single and len(cases) != 1:
        yield f"{where} gives {len(cases)} cases; a family whose calls are timed gives one"
    names = [case.name for case in cases]
    if double := next((name for name in names if names.count(name) > 1), None):
        yield f"{where} two cases are called {double!r}; give each its own name"
    for case, other in zip(cases, again, strict=False):
        if not _same([case.name, case.args, case.kwargs], [other.name, other.args, other.kwargs]):
            yield f"{where} case {case.name!r} is not the same for the same seed; draw everything from rng"
            return
    if len(cases) != len(again):
        numbers = f"{len(cases)} cases, then {len(again)}"
        yield f"{where} gives {numbers}, for the same seed; draw everything from rng"
        return
    if any(_size(value) > 1 for case in cases for value in (*case.args, *case.kwargs.values())):
        others = functions.draw(family, OTHER_SEED, 0)
        values, other_values = ([[case.args, case.kwargs] for case in drawn] for drawn in (cases, others))
        if _same(values, other_values):
            constant = "gives the same for every seed, so that each run and each student has these inputs"
            yield Remark(f"{where} {constant}; draw from rng, unless they are meant to be constant")


def _try_oracle(functions: CourseFunctions, family: str, oracle: str, use: _Use) -> Iterator[str]:
    answer = functions.expected(oracle)
    place = functions.place(EXPECTED, inspect.unwrap(answer))
    if inspect.iscoroutinefunction(inspect.unwrap(answer)):
        yield f"{place}: {oracle}: is a coroutine; write def in place of async def"
        return
    # Drawn twice, for functions among the arguments may count their calls.
    cases, again = functions.draw(family, SEED, 0), functions.draw(family, SEED, 0)
    for number, case in enumerate(cases):
        called = f"{oracle} of {place}"
        if line := functions.misnamed(called, signature_of(answer), case.kwargs, family):
            yield line
            return
        repeated = again[number] if _calls_back(case) and number < len(again) else case
        try:
            problem = next(_oracle_problems(answer, case, repeated, family=family, use=use), "")
        except CourseError as error:
            yield from (f"{line.rstrip(': ')}, for case {case.name!r} of {family}" for line in error.problems)
            return
        if problem:
            yield f"{place}: {oracle}: {problem}"
            return


def _oracle_problems(
    answer: Callable[..., Any], case: InputCase, repeated: InputCase, *, family: str, use: _Use
) -> Iterator[str]:
    """Yield what is wrong about an oracle's answer to a case; what comes after the first problem is void."""
    from grader.harness.compare import compare
    from grader.harness.distributions import require_distributions

    where = f"case {case.name!r} of {family}"
    if why := unfit(answer, case.args, case.kwargs, where):
        yield why
    args, kwargs = deepcopy(case.args), deepcopy(case.kwargs)
    result = answer(*args, **kwargs)
    if not _same([args, kwargs], [case.args, case.kwargs]):
        yield f"writes into {where}; copy the argument first"
    if result is None:
        yield f"returns None for {where}; is a return missing?"
    if why := unpassable(result):
        yield f"{where}: {why}"
    if _has_nan(result) and not any(map(_has_nan, (*case.args, *case.kwargs.values()))):
        yield f"gives nan for {where}, which holds none"
    try:
        if use == "compared":
            compare(result, result)
        elif use == "distributions":
            require_distributions(result)
    except CourseError as error:
        yield f"gives {error.problems[0].removeprefix('expected.py: an oracle gave ')}"
    if not _agree(answer(*deepcopy(repeated.args), **deepcopy(repeated.kwargs)), result):
        yield (
            f"answers {where} differently when it is asked again; give its generator a fixed seed, as "
            "default_rng(0), or draw in inputs.py from rng"
        )


def _calls_back(case: InputCase) -> bool:
    """Tell whether a function is among the arguments."""
    return any(map(callable, (*case.args, *case.kwargs.values())))


def _agree(value: Any, other: Any) -> bool:
    """Tell whether two answers of an oracle are the same, but for what rounding in another order does."""
    from grader.harness.compare import compare

    try:
        return compare(value, other).agrees
    except CourseError:  # nothing that is compared, such as a distribution
        return _same(value, other)


def _try_parameters(
    functions: CourseFunctions, family: str, function: str, folder: Path, named_by: str
) -> Iterator[str]:
    """Yield the first case that a function of the reference, or of `given/`, cannot be called with.

    `named_by` is the line of the rubric and the item that name the function.
    """
    parameters = parameters_of(folder, function)
    if parameters is None:
        return
    place, signature = parameters
    for case in functions.draw(family, SEED, 0):
        try:
            signature.bind(*case.args, **case.kwargs)
        except TypeError as error:
            unfit_case = f"cannot take case {case.name!r} of {family} in inputs.py ({error})"
            if driver := _driver_of(folder, function, case):
                yield f"{named_by}: {function} ({place}) {unfit_case}, and {driver}"
                return
            line = functions.misnamed(f"{function} of {place}", signature, case.kwargs, family)
            advice = f"correct the function, the case, or the item's {_OF} ({named_by})"
            yield line or f"{place}: {unfit_case}; {advice}"
            return


def _driver_of(folder: Path, function: str, case: InputCase) -> str:
    """Name the function of another file of `given/` that has this name and takes a case; empty for none."""
    module, _, name = function.rpartition(".")
    for file in sorted((folder / "given").glob("*.py")):
        driver = f"{file.stem}.{name}"
        if file.stem == module or (parameters := parameters_of(folder, driver)) is None:
            continue
        place, signature = parameters
        with suppress(TypeError):
            signature.bind(*case.args, **case.kwargs)
            return f"{driver} ({place}) can; did you mean {_OF}: {driver}?"
    return ""


def _same(value: Any, other: Any) -> bool:
    """Tell whether two arguments are equal, element by element; functions always are."""
    import numpy as np

    if callable(value) and callable(other):
        return True
    if type(value) is not type(other):
        return False
    if isinstance(value, np.ndarray):
        same: bool = (value.dtype, value.shape) == (other.dtype, other.shape)
        return same and value.tobytes() == other.tobytes()
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(_same, value, other))
    if isinstance(value, Mapping):
        return value.keys() == other.keys() and all(_same(value[key], other[key]) for key in value)
    return _ADDRESS.sub("", repr(value)) == _ADDRESS.sub("", repr(other))  # nan equals itself here


def _bytes_of(value: Any) -> int:
    """Return the bytes of an array, or of those in a list or a dictionary."""
    if isinstance(value, list | tuple):
        return sum(map(_bytes_of, value))
    if isinstance(value, Mapping):
        return sum(map(_bytes_of, value.values()))
    return int(getattr(value, "nbytes", 0))


def _size(value: Any) -> int:
    """Return how many numbers an array has, or the largest one in a list or a dictionary."""
    if isinstance(value, list | tuple):
        return max(map(_size, value), default=0)
    if isinstance(value, Mapping):
        return max(map(_size, value.values()), default=0)
    return int(getattr(value, "size", 0))


def _has_nan(value: Any) -> bool:
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, list | tuple):
        return any(map(_has_nan, value))
    return isinstance(value, Mapping) and any(map(_has_nan, value.values()))
