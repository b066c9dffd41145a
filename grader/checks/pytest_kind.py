"""Whether the tests of an existing file pass, each of them run by pytest in a process of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.collected_names import collected_names
from grader.checks.junit_results import Result, Unreadable, read_results
from grader.config.problem import suggestion
from grader.contracts.call import Call, InputCase
from grader.contracts.check import CheckKind
from grader.errors import CourseError, NotObservedError, UnimportableError
from grader.extras import ANY_PIP, install_command
from grader.harness.device_errors import must_need_no_gpu
from grader.harness.missing import lacked_module
from grader.harness.server_spec import RUN_TESTS
from grader.installed import MISSPELT_NAME, nearest
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext, Subject

PRINTED_AT_LEAST = 1000
"""Characters that are kept of what one test printed, however many tests print."""
NOT_RUN = "not run: the tests before it took the time that all of them have together"
WEIGHT = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
"""Of several results of one test the heaviest counts."""
NO_RESULT = {"2": "the program interrupted pytest", "4": "not collected", "5": "not collected"}
"""What it means that a test has no result, by the exit status of pytest."""


_FRAME = re.compile(r"^(\S+\.py):\d+: in ", re.MULTILINE)
"""The lines with the files of a traceback as pytest writes it."""


class Pytest(CheckKind):
    """Run the tests of a file, each in a process of its own: a crash or a hang ends one test and no other.

    The file is one of the course's (`given/`), and lies over whatever the student has in its place; nothing
    that was handed in configures pytest. Which tests there are is found out with the reference. A test may
    take as long as the assignment's limits give to a call, and random numbers begin alike before each.

    Tests share a process with the program that they test, so a student who wants to can make them pass.
    Where points hang on it, compare the same calls from outside of the program with `matches_reference`:
    this kind is for courses that have tests and nothing else.
    """

    name: ClassVar[str] = "pytest"
    asks_reference: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The file of tests, below the assignment's given/.")
        pythonpath: tuple[str, ...] = option(
            "Folders of the submission to import from, beside its top one.", default=()
        )
        budget_s: float = option(
            "Seconds of tests after which no further one begins.", above=0, default=300.0
        )
        tests: Mapping[str, float] = option(
            "What each test weighs, by name, all others nothing; if left out, all weigh the same. What a "
            "class or a test with parameters weighs is shared among what is in it.",
            judges=True,
            default_factory=dict,
        )
        credit: Literal["all", "per_case"] = option(
            "Whether all tests that weigh something must pass, or each earns its share.",
            judges=True,
            default="per_case",
        )

        def __post_init__(self) -> None:
            """Refuse weights that are none."""
            if self.tests and (min(self.tests.values()) < 0 or not any(self.tests.values())):
                refuse(["tests: a weight is 0 or more, and one of them at least is more"], self)

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield a file of tests that is not there, and names that belong to none of its tests."""
        folder = Path(assignment, "given")
        if not (folder / options.file).is_file():
            names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
            near = nearest(options.file, names, MISSPELT_NAME)
            advice = f"did you mean {near}?" if near else "a file of tests is the course's own"
            yield "file", f"given/{options.file} is not there; {advice}"
            return
        names_there = collected_names(folder / options.file)
        if names_there is None:
            return
        for name in (key.partition("[")[0] for key in options.tests):
            if name not in names_there:
                # the method of a class by its own name is the likeliest slip
                whole = next((other for other in sorted(names_there) if other.endswith(f"::{name}")), "")
                tests = [other for other in names_there if "test" in other.lower()]
                advice = f"write {whole}" if whole else suggestion(name, tests)
                yield "tests", f"given/{options.file} has no {name}; {advice}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Collect with the reference and with the submission, then run test after test."""
        if find_spec("pytest") is None:
            advice = install_command("pytest", pip=ANY_PIP)
            raise NotObservedError(f"pytest: is not installed where grader is; {advice}")
        tests, waits = _existing(options, context)
        if waits:
            return Observation(item=context.item, outcome=Outcome.NOT_OBSERVED, note=waits, seed=context.seed)
        first = _run(context.subject(RUN_TESTS), options)
        outcome, note = _collected(options, first)
        if missing := _without_file(options, context, first):
            return missing
        if first.results and not context.devices:
            must_need_no_gpu(Call(outcome=outcome, note=f"{options.file}: {first.results[0].message}"))
        runs = dict(_runs(options, context, tests)) if outcome is Outcome.OBSERVED else {}
        if any(run.is_shared for run in (first, *runs.values())) and _run(_tests(context), options).is_shared:
            raise CourseError("rubric: tests cannot share their processes; take `group` away from this item")
        return Observation(
            item=context.item,
            outcome=outcome,
            note=note,
            cases=tuple(_controlled(options, context, test, run) for test, run in runs.items()),
            output=_joined({name: run.output for name, run in runs.items()}, context.limits.output_kb * 1024)
            or first.output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """The weight of the tests that pass; open if one that weighs something skipped itself."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        weights, unknown = _weights(options.tests, [case.name for case in observation.cases])
        if unknown:
            reason = f"the rubric names tests that {options.file} does not have: {', '.join(unknown)}"
            return Award(fraction=0.0, reason=reason, undecided=True)
        counting = [case for case in observation.cases if weights[case.name]]
        unseen = [case for case in counting if _unseen(case)]
        wrong = [case for case in counting if not _unseen(case) and not case.agrees.get("passed")]
        passing = len(counting) - len(unseen) - len(wrong)
        differences = (f"{case.name}: {case.note}" for case in (*wrong[:1], *unseen[:1]))
        reason = "; ".join((f"{passing} of {len(counting)} tests pass", *differences))
        if wrong and options.credit == "all":
            return Award(fraction=0.0, reason=reason)
        if unseen:
            return Award(fraction=0.0, reason=f"{reason}; a person must look", undecided=True)
        lost = sum(weights[case.name] for case in wrong)
        return Award(fraction=1 - lost / sum(weights[case.name] for case in counting), reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The outcome of one child."""

    call: Call
    answer: Mapping[str, Any] = field(default_factory=dict)
    """What `run_tests` answered."""
    results: tuple[Result, ...] = ()
    output: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether something ran in its process before, as the process itself reports."""
        return self.answer.get("fresh") is False


def _run(child: AbstractContextManager[Subject], options: Pytest.Options, test: str = "") -> _Run:
    """Run one test in a child, or without its name collect all of them."""
    with child as subject:
        case = InputCase(name=test, args=(options.file, test, list(options.pythonpath)))
        call = subject.call("main", case)
        output = subject.output
    call = replace(call, note=call.note.removeprefix("main(): "))
    answer = call.value if type(call.value) is dict else {}
    try:
        results = read_results(answer["junit"]) if answer.get("junit") else ()
    except Unreadable as error:
        note = f"what pytest reported cannot be read: {error}"
        return _Run(call=replace(call, outcome=Outcome.REFUSED, note=note), output=output)
    return _Run(call=call, answer=answer, results=results, output=output)


def _tests(context: CheckContext) -> AbstractContextManager[Subject]:
    """A process of the reference's, which nothing of a student reaches."""
    return context.reference(RUN_TESTS)


def _existing(options: Pytest.Options, context: CheckContext) -> tuple[list[str], str]:
    """The tests of the file, found out where nothing of a student runs; or why they cannot be run here."""
    run = _run(_tests(context), options)
    skipped = [result for result in run.results if result.status == "skipped"]
    if skipped:
        return [], f"{options.file} skips itself on this machine: {skipped[0].message}"
    if run.answer.get("there") is False:
        raise CourseError(f"given/{options.file}: is not there; a file of tests is the course's own")
    outcome, note = _collected(options, run)
    if outcome is not Outcome.OBSERVED:
        where, why = f"given/{options.file}", f"with the reference: {note}"
        if module := lacked_module(note):
            raise UnimportableError(where, module, why)
        raise CourseError(f"{where}: {why}")
    return run.answer["tests"], ""


def _collected(options: Pytest.Options, run: _Run) -> tuple[Outcome, str]:
    """How collecting went."""
    if run.call.outcome is not Outcome.OBSERVED:
        return run.call.outcome, f"importing {options.file}: {run.call.note}"
    if run.results:
        what = "skips itself" if run.results[0].status == "skipped" else "could not be imported"
        return Outcome.CRASHED, f"{options.file} {what}: {run.results[0].message}"
    if run.answer.get("status") != 0:
        return Outcome.REFUSED, f"{options.file}: {_without_result(run)}"
    return Outcome.OBSERVED, ""


def _without_file(options: Pytest.Options, context: CheckContext, run: _Run) -> Observation | None:
    """Return the observation of a file that the tests import where they begin and nobody handed in, if any.

    What a file of the submission imports in vain is another matter: the last line of the traceback is there.
    """
    details = run.results[0].details if run.results else ""
    module = lacked_module(details)
    importing = _FRAME.findall(details)
    if not module or not importing or importing[-1] != options.file:
        return None
    path = f"{module.replace('.', '/')}.py"
    for folder in (*options.pythonpath, "."):
        file = PurePosixPath(folder, path).as_posix()
        with suppress(CourseError):  # nobody is asked for a file there
            return None if file in context.files else context.missing(file)
    return None


def _runs(options: Pytest.Options, context: CheckContext, tests: Iterable[str]) -> Iterator[tuple[str, _Run]]:
    """Each test in a child of its own, for as long as there is time."""
    left_s = options.budget_s
    for test in tests:
        run = _Run(call=Call(outcome=Outcome.TIMED_OUT, note=NOT_RUN))
        if left_s > 0:
            run = _run(context.subject(RUN_TESTS), options, test)
        left_s -= run.call.wall_s
        yield test, run


def _controlled(options: Pytest.Options, context: CheckContext, test: str, run: _Run) -> Case:
    """Judge a test, and where it seems to skip itself, have the reference skip it as well.

    Where a test skipped itself is the word of the program's process.
    """
    case = _case(options, context.files, test, run)
    if not _unseen(case) or case.outcome is not Outcome.OBSERVED:
        return case
    control = _case(options, (), test, _run(_tests(context), options, test))
    if not control.agrees:
        return case
    return replace(case, agrees={"passed": False}, note=f"{case.note} (with the reference it does not)")


def _case(options: Pytest.Options, files: Iterable[str], test: str, run: _Run) -> Case:
    case = Case(
        name=test,
        outcome=run.call.outcome,
        called=f"pytest {options.file}::{test}",
        note=run.call.note,
        quantities={"wall_s": Quantity(value=run.call.wall_s, unit="s")} if run.call.wall_s else {},
    )
    if case.outcome is not Outcome.OBSERVED:
        return case
    result = max(run.results, key=lambda each: WEIGHT[each.status], default=None)
    if result is None or (result.status == "passed" and run.answer.get("status") != 0):
        return replace(case, outcome=Outcome.REFUSED, note=_without_result(run))
    if result.status == "passed":
        return replace(case, agrees={"passed": True})
    note, agrees = result.message or result.status, {"passed": False}
    if result.status == "skipped":
        place = result.details.partition(":")[0]
        if place == options.file or place not in files:
            note, agrees = f"skipped itself: {note}", {}  # for a reason of the course
        else:
            note = f"the program skipped it: {note}"
    return replace(case, agrees=agrees, returned=result.details, note=note)


def _without_result(run: _Run) -> str:
    status = str(run.answer.get("status"))[:10]
    return NO_RESULT.get(status, f"no result; pytest ended with status {status}")


def _unseen(case: Case) -> bool:
    """Whether it is not known if the test passes: it skipped itself, or a machine failed."""
    return case.outcome is Outcome.NOT_OBSERVED or (case.outcome is Outcome.OBSERVED and not case.agrees)


def _weights(by_key: Mapping[str, float], names: list[str]) -> tuple[dict[str, float], list[str]]:
    """Return the weight of each test, and the names that belong to no test."""
    if not by_key:
        return dict.fromkeys(names, 1.0), []
    meant = {name: next((key for key in _keys(name) if key in by_key), "") for name in names}
    sharing = Counter(meant.values())
    weights = {name: by_key.get(key, 0.0) / sharing[key] for name, key in meant.items()}
    return weights, [key for key in by_key if key not in sharing]


def _keys(name: str) -> Iterator[str]:
    """Under which names a rubric may mean a test: its own, that without parameters, those of its classes."""
    yield name
    name = name.partition("[")[0]
    while name:
        yield name
        name = name.rpartition("::")[0]


def _joined(printed: Mapping[str, str], characters: int) -> str:
    """Join the printed texts of tests, of each the head and the tail."""
    spoken = {test: output for test, output in printed.items() if output}
    half = max(PRINTED_AT_LEAST, characters // max(1, len(spoken))) // 2
    parts = []
    for test, output in spoken.items():
        left_out = len(output) - 2 * half
        shortened = f"{output[:half]}\n… {left_out} characters left out …\n{output[-half:]}"
        parts.append(f"{test}:\n{shortened if left_out > 0 else output}".rstrip("\n"))
    return "\n\n".join(parts)
