"""The project's own course: its references, its submissions, and references that are wrong on purpose."""

from __future__ import annotations

import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest

from grader.config.course import load_course
from grader.config.yaml_source import read_yaml
from grader.cuda.gpus import gpus
from grader.model.job import GPU
from grader.model.rubric import Rubric
from grader.plugins import Plugins
from grader.selftest.cases import Role, Selection, SelfTestCase, cases_of, reference_case, starter_case
from grader.selftest.compare import Verdict, verify
from grader.worker.devices import Devices

pytestmark = pytest.mark.usefixtures("forked_workers")
ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PLUGINS = Plugins(ROOT)
CASES = {case.name: case for case in cases_of(COURSE, PLUGINS, Selection())}
RUBRICS = {case.rubric.name: case.rubric for case in CASES.values() if case.rubric}
BUILT = {name for name, rubric in RUBRICS.items() if any(item.check == "build" for item in rubric.items)}
"""Rubrics under which every submission is compiled, which takes its time."""
TIMED = {
    name
    for name, rubric in RUBRICS.items()
    if any(getattr(PLUGINS.checks[item.check], "timed", False) for item in rubric.items)
}
"""Rubrics with items that want a quiet machine, and wait for one."""
SLOW = [pytest.mark.slow]


def accepts(rubric: Rubric) -> tuple[str, ...]:
    """The files that submissions under a rubric may hold."""
    return PLUGINS.assignments[rubric.assignment].accepts


def verdict_of(case: SelfTestCase, out: Path) -> Verdict:
    (verdict,) = verify(COURSE, PLUGINS, [case], out)
    return verdict


def told(verdict: Verdict) -> list[str]:
    return [str(deviation) for deviation in verdict.deviations]


def marked(name: str, rubric: Rubric | None):
    """A name for parametrize, slow where every submission is compiled or timed."""
    return pytest.param(name, marks=SLOW if rubric and rubric.name in BUILT | TIMED else [])


def quick():
    """What every run of the tests grades; what is timed needs a quiet machine, and `grader verify` has it."""
    return [
        marked(name, case.rubric)
        for name, case in CASES.items()
        if case.quick and not (case.role is Role.REFERENCE and case.rubric.name in TIMED)
    ]


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", quick())
def test_a_submission_or_reference_earns_exactly_what_it_must(name, tmp_path):
    assert told(verdict_of(CASES[name], tmp_path)) == []


def wrong_references():
    """Each as the files that it lays over the right reference; the whole homework takes its time."""
    for file in sorted((ROOT / "tests" / "references").glob("*/*/expected.yaml")):
        said = read_yaml(file).data
        rubric = said.get("rubric")
        marks = [] if rubric and rubric not in BUILT else SLOW
        marks = [pytest.mark.gpu] if said.get("gpu") else marks
        yield pytest.param(file.parent / "files", said, id=file.parent.name, marks=marks)


def lacking_for_torch(count):
    """Why a program of torch has not so many GPUs here, real or virtual; empty if it has."""
    devices = Devices("a wrong reference", retire=lambda: None, say=print, waits=print)
    return devices.lacking({GPU: count}, simulates=True, torch=True) if count else ""


@pytest.mark.quick(1)
@pytest.mark.parametrize(("files", "said"), list(wrong_references()))
def test_a_reference_that_is_wrong_on_purpose_fails_exactly_where_it_says(files, said, tmp_path):
    if lacking := lacking_for_torch(said.get("gpus", 0)):
        pytest.skip(lacking)
    rubric = RUBRICS[said.get("rubric", said["assignment"])]
    folder = shutil.copytree(PLUGINS.assignment_folders[rubric.assignment] / "reference", tmp_path / "wrong")
    if files.is_dir():
        shutil.copytree(files, folder, dirs_exist_ok=True)
    for file, replaced in said.get("changes", {}).items():
        text = (folder / file).read_text()
        assert {old: text.count(old) for old in replaced} == dict.fromkeys(replaced, 1)
        for old, new in replaced.items():
            text = text.replace(old, new)
        (folder / file).write_text(text)
    verdict = verdict_of(reference_case(folder, rubric), tmp_path)
    fails = {*said["fails"], *(said.get("fails_on_gpu", ()) if gpus() else ())}
    assert {deviation.item for deviation in verdict.deviations} == fails, told(verdict)


@pytest.mark.parametrize("name", [marked(name, rubric) for name, rubric in RUBRICS.items()])
def test_the_starter_as_it_is_given_out_earns_nothing(name, tmp_path):
    rubric = RUBRICS[name]
    starter = PLUGINS.assignment_folders[rubric.assignment] / "starter"
    verdict = verdict_of(starter_case(starter, rubric), tmp_path)
    if not any(fnmatch(path.name, accepted) for path in starter.rglob("*") for accepted in accepts(rubric)):
        assert verdict.points is None  # what is handed in is not begun there
        return
    assert {line.item: line.points for line in verdict.lines} == {item.id: 0 for item in rubric.items}


@pytest.mark.parametrize("name", sorted({case.rubric.name for case in CASES.values() if case.total}))
def test_every_item_is_lost_by_a_submission_that_earns_others_and_earned_by_another(name):
    cases = [case for case in CASES.values() if case.rubric is RUBRICS[name] and case.role is Role.SUBMISSION]
    earned = [case.earns for case in cases if case.total]
    possible = {item.id: item.points for item in RUBRICS[name].items}
    # what needs a device or a person is lost here only by who fails what it needs
    decided = {item for item in possible if all(earns[item] != "pending" for earns in earned)}
    if len(decided) == 1:  # there are no others that could be earned
        earned = [case.earns for case in cases]
    assert {item for earns in earned for item in decided if earns[item] == 0} == decided
    assert {item for earns in earned for item in decided if earns[item] == possible[item]} == decided
