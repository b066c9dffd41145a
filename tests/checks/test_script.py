"""A program is run with the course's files beside it; what it prints is its claim, how it ends is seen."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from grader.checks.printed import last_number
from grader.checks.script import Script
from grader.contracts.call import Call
from grader.errors import NotObservedError
from grader.model.observation import Observation, Outcome, Quantity

OPTIONS = Script.Options(
    file="main.py", wall_s=10.0, numbers={"accuracy": "Test Accuracy: {}%"}, at_least={"accuracy": 95.0}
)
COURSE = {"reference/main.py": "", "given/network.py": "GIVEN = 'course'", "given/data/x.txt": "42"}


def observe(real_context, code, options=OPTIONS, **files):
    return Script().observe(options, real_context({"main.py": code, **files}, COURSE))


def award(observation, options=OPTIONS):
    return Script().award(options, observation, {})


def test_a_program_that_prints_what_is_wanted_earns(real_context):
    observation = observe(
        real_context, "print('Epoch 1'); print('Test Accuracy: 12%'); print('Test Accuracy:  96.5 %')"
    )
    assert observation.outcome is Outcome.OBSERVED
    assert observation.quantities["accuracy"] == Quantity(value=96.5, taken_by="subject")
    assert award(observation).fraction == 1.0


@pytest.mark.parametrize(
    ("printed", "shown"), [("100", "100"), ("96.50", "96.5"), ("1234567", "1234567"), ("1e15", "1e+15")]
)
def test_a_whole_number_is_told_without_a_point(printed, shown):
    numbers = {"accuracy": "Accuracy: {}"}
    value = last_number(numbers["accuracy"], f"Accuracy: {printed}")
    quantities = {"exit_status": Quantity(value=0), "accuracy": Quantity(value=value, taken_by="subject")}
    observation = Observation(item="i", outcome=Outcome.OBSERVED, quantities=quantities)
    options = replace(OPTIONS, numbers=numbers, at_least={})
    assert award(observation, options).reason == f"ran to its end: accuracy {shown}"


def test_the_courses_files_win_over_files_of_their_names_and_the_folder_can_be_written(real_context):
    code = """
        import network, pathlib
        pathlib.Path("plot.txt").write_text("x")
        print(network.GIVEN, pathlib.Path("data/x.txt").read_text(), __name__)
    """
    files = {"network.py": "GIVEN = 'student'"}
    observation = observe(real_context, code, replace(OPTIONS, numbers={}, at_least={}), **files)
    assert observation.output == "course 42 __main__\n"
    assert award(observation, replace(OPTIONS, numbers={}, at_least={})).reason == "ran to its end"


def test_a_notebook_that_is_called_as_the_program_is_told_as_one(real_context):
    observation = observe(real_context, '{"cells": [], "nbformat": 4}')
    problem = "is a Jupyter notebook (JSON), not Python; export it (File, Download as .py)"
    assert (observation.outcome, observation.note) == (Outcome.CRASHED, f"main.py:1: {problem}")


def test_programs_that_it_starts_are_looked_for_first(real_context):
    there = replace(OPTIONS, programs=("sh",))
    assert award(observe(real_context, "print('Test Accuracy: 99%')", there)).fraction == 1.0


def test_where_a_program_that_it_starts_is_missing_the_item_stays_open(real_context):
    with pytest.raises(NotObservedError, match=r"^no-such-tool is not on this machine"):
        observe(real_context, "print('Test Accuracy: 99%')", replace(OPTIONS, programs=("no-such-tool",)))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('Test Accuracy: 94.9%')", "accuracy is 94.9, less than 95"),
        ("print('done')", "printed no number of the form “Test Accuracy: …%”"),
        ("print('Test Accuracy: nan%')", "printed no number of the form “Test Accuracy: …%”"),
        ("print('Test Accuracy: 99%'); raise SystemExit(3)", "ended with status 3 instead of 0"),
        (
            "print('Test Accuracy: 99%'); raise SystemExit(-11)",
            "ended with the status of a program that was ended by signal 11 (SIGSEGV: it accessed memory "
            "that is not its own), instead of 0",
        ),
        (
            "print('Test Accuracy: 99%\\nSUMMARY: AddressSanitizer: leak /tmp/build/a.c:1 in f'); exit(1)",
            "ended with status 1 instead of 0: AddressSanitizer: leak a.c:1 in f",
        ),
        ("print('Test Accuracy: 99%'); raise SystemExit('oh')", "ended with status 1 instead of 0"),
    ],
)
def test_what_is_missing_is_said(real_context, code, reason):
    result = award(observe(real_context, code))
    assert result.fraction == 0.0
    assert result.reason == reason


@pytest.mark.parametrize(
    ("code", "outcome", "note"),
    [
        ("\n1 / 0", Outcome.CRASHED, "main.py: ZeroDivisionError: division by zero (main.py:2)"),
        ("print(", Outcome.CRASHED, "main.py:1: '(' was never closed"),
        ("import os; os._exit(0)", Outcome.CRASHED, "main.py: the program ended itself (exit status 0)"),
        (
            "while True: pass",
            Outcome.TIMED_OUT,
            "main.py: the program did not end within 1 s of its own time",
        ),
    ],
)
def test_a_program_that_does_not_come_to_its_end_has_an_outcome(real_context, code, outcome, note):
    observation = observe(real_context, code, replace(OPTIONS, wall_s=1.0))
    assert observation.outcome is outcome
    assert observation.note.startswith(note)


def test_the_courses_program_names_the_file_on_which_it_fails(real_context):
    program = "row = {open('times.csv').read(): 1}\nprint(row['size'])\n"
    course = {**COURSE, "given/check.py": program, "reference/times.csv": "size"}
    context = real_context({"main.py": "", "times.csv": "n;s"}, course)
    observation = Script().observe(replace(OPTIONS, file="check.py"), context)
    assert observation.note == (
        "check.py: KeyError: 'size'; check.py is the course's, and names your times.csv: "
        "given/check.py:2: print(row[...])"
    )


def test_a_missing_program_is_the_students(real_context):
    context = real_context({"other.py": ""}, COURSE)
    observation = Script().observe(OPTIONS, context)
    assert observation.outcome is Outcome.CRASHED
    assert "main.py" in observation.note


@pytest.mark.parametrize(
    ("text", "output", "number"),
    [
        ("{}", "at 3 and 4.5e1", 45.0),
        ("speed {}", "speed 1 speed:2 speed\t\n 3.", 3.0),
        ("speed: {}GB", "speed:  1 GB speed: 2MB", 1.0),
        ("{} GB", "7GB 8  GB 9MB", 8.0),
        ("ratio (a  b) {}.", "ratio (a\nb) 3.. ratio (a b) .5.", 0.5),
        ("{}% of all", "9 % of  all", 9.0),
        ("no {}", "no number", None),
        ("speed {} GB", "speed" + " " * 60_000 + "9" * 60_000, None),
        ("{} GB", "9" * 120_000, None),
        ("{} GB", "9." * 60_000, None),
    ],
    ids=range(10),
)
def test_a_number_is_found_between_words_in_time_that_grows_with_the_output(text, output, number):
    begun = time.process_time()
    assert last_number(text, output) == number
    assert time.process_time() - begun < 20  # some 0.1 s; of what is tried again for each, hours


@pytest.mark.parametrize("digits", [20, 4000])
def test_no_report_meets_an_endless_status(real_context, digits):
    observation = observe(real_context, f"print('Test Accuracy: 99%'); raise SystemExit(10**{digits})")
    assert award(observation).reason == "ended with status 255 instead of 0"


def test_a_bound_of_a_number_that_is_not_read_is_refused():
    with pytest.raises(ValueError, match="loss: is not among the numbers"):
        Script.Options(file="main.py", at_most={"loss": 1.0})
    with pytest.raises(ValueError, match=r"must hold \{\} once"):
        Script.Options(file="main.py", numbers={"loss": "Loss"})


def test_other_bounds_are_judged_on_the_same_evidence():
    stored = Observation(
        item="i",
        outcome=Outcome.OBSERVED,
        quantities={"exit_status": Quantity(value=0), "accuracy": Quantity(value=93.0)},
    )
    assert award(stored).fraction == 0.0
    assert award(stored, replace(OPTIONS, at_least={"accuracy": 90.0})).fraction == 1.0
    assert award(stored, replace(OPTIONS, at_least={}, at_most={"accuracy": 90.0})).fraction == 0.0


@pytest.mark.parametrize("value", [True, None, 0.0, [0], {"0": 0}, np.zeros(1)], ids=str)
def test_a_status_that_is_no_number_is_that_of_no_right_program(value):
    """It comes out of the program's process, and goes into the record."""
    call = Call(outcome=Outcome.OBSERVED, value=value, wall_s=1.0)
    context = SimpleNamespace(item="i", seed="5eed", run=lambda *_: SimpleNamespace(call=call, output=""))
    options = Script.Options(file="program.py")
    observation = Script().observe(options, context)
    assert observation.quantities["exit_status"].value is None
    assert Script().award(options, observation, {}).fraction == 0
