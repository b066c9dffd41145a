from dataclasses import replace

import pytest

from grader.config.points_file import PointsGiven, judged
from grader.model.evidence import WorkerRun
from grader.model.observation import Case, Fault, Observation, Outcome
from grader.reports.html import Html
from grader.reports.junit import JUnit
from grader.reports.score_json import ScoreJson
from grader.scoring.host_paths import HostPaths
from grader.scoring.redact import NOT_OBSERVED, staff_view, student_view
from tests.scoring.test_redact import KINDS, NOW, item, marked, seen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('File "/home/prof/course/given/d.py", line 3', 'File "…/given/d.py", line 3'),
        ("/home/prof/.venv/lib/numpy/x.py", "…/.venv/lib/numpy/x.py"),
        ("file:///home/prof/x", "file://…/x"),
        ("in /home/prof: nothing", "in …: nothing"),
        ("/home/professor/x", "/home/professor/x"),
        ("/workspace/home/prof/x", "/workspace/home/prof/x"),
        ("/workspace/nets.py", "/workspace/nets.py"),
    ],
)
def test_only_private_folders_are_cut(text, shown):
    assert HostPaths(["/home/prof", "/home/prof/course/", "/"]).cut(text) == shown


def test_texts_are_cut_wherever_they_stand():
    case = Case(name="/root/a", outcome=Outcome.CRASHED, inputs=[{"/root/b": ("/root/c", 1)}])
    cut = HostPaths(["/root"]).cut((case,))
    assert cut == (Case(name="…/a", outcome=Outcome.CRASHED, inputs=[{"…/b": ("…/c", 1)}]),)
    assert HostPaths([]).cut((case,)) == (case,)


def both(observation):
    return marked([item("a")], [observation])


@pytest.mark.parametrize("fault", Fault)
def test_the_words_of_a_fault_are_for_staff(fault):
    words = "/srv/course/assignments/hw/inputs.py:2: vectors: FileNotFoundError: secrets.npy"
    observation = Observation(item="a", outcome=Outcome.NOT_OBSERVED, note=words, fault=fault)
    rubric, evidence, card = both(observation)
    assert words in ScoreJson().render(staff_view(rubric, evidence, card, kinds=KINDS))
    view = student_view(rubric, evidence, card, kinds=KINDS, now=NOW)
    assert view.scorecard.lines[0].reason == NOT_OBSERVED[fault]
    for report in (Html(), ScoreJson()):
        assert "inputs.py" not in report.render(view)
        assert "secrets" not in report.render(view)


def test_what_a_reference_printed_is_for_staff_also_after_a_person_has_given_points():
    failed = Observation(
        item="a", outcome=Outcome.NOT_OBSERVED, note="n", fault=Fault.COURSE, output="secrets"
    )
    given = PointsGiven(
        item="a", points=1, possible=4, by="Ada", at="2025-01-01T00:00:00+00:00", submission=""
    )
    for observation in (failed, judged(failed, given)):
        rubric, evidence, card = both(observation)
        assert "secrets" in Html().render(staff_view(rubric, evidence, card, kinds=KINDS))
        view = student_view(rubric, evidence, card, kinds=KINDS, now=NOW)
        for report in (Html(), ScoreJson(), JUnit()):
            assert "secrets" not in report.render(view)


def test_no_report_of_a_student_names_a_folder_of_the_machine():
    rubric, evidence, card = both(seen("a", share=0.5, also="/srv/results/hw/a/workspace/hw.py"))
    view = student_view(rubric, evidence, card, kinds=KINDS, now=NOW, host_folders=["/srv/results"])
    for report in (Html(), ScoreJson()):
        text = report.render(view)
        assert "/srv" not in text
        assert "…/hw/a/workspace/hw.py" in text


def test_what_a_student_reads_of_the_machine_names_no_folder_of_it():
    rubric, evidence, card = both(seen("a"))
    environment = {"sandbox_error": "bubblewrap: /srv/results/bin/bwrap: no such file", "cores": 2}
    run = WorkerRun(id="0", started_at="now", isolation="landlock", environment=environment)
    view = student_view(
        rubric, replace(evidence, runs=(run,)), card, kinds=KINDS, now=NOW, host_folders=["/srv/results"]
    )
    assert view.evidence.runs[0].environment["sandbox_error"] == "bubblewrap: …/bin/bwrap: no such file"
    assert "/srv" not in ScoreJson().render(view)
