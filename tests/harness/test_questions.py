"""A function among the arguments stays outside; the program asks for its values, and may ask for anything."""

from __future__ import annotations

import json
import os
import re
import sys
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.contracts.call import InputCase
from grader.errors import CourseError
from grader.files import show_path
from grader.harness import course_forks
from grader.harness.course_forks import in_fork
from grader.harness.questions import ANSWER_BYTES, Launches, answered
from grader.machine import time_limit
from grader.model.assignment import Limits
from grader.model.observation import Outcome


def case(*args, **kwargs) -> InputCase:
    return InputCase(name="a case", args=args, kwargs=kwargs)


class Secret:
    """Says whether a number is below a secret one."""

    def __init__(self, secret):
        self.secret = secret
        self.questions = []

    def __call__(self, number):
        self.questions.append(number)
        return number < self.secret


def test_a_program_gets_a_function_s_values_and_not_what_they_come_from(any_classroom):
    code = """
        import gc
        def search(below, high):
            low = 0
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if below(middle) else (low, middle)
            held = [v for o in gc.get_objects() if isinstance(o, dict) for v in o.values() if type(v) is int]
            return low, 739_391 in held
    """
    secret = Secret(739_391 + 1)
    with any_classroom.submit(code) as subject:
        call = subject.call("search", case(secret, high=10**6))
    assert call.value == (739_391, False)
    assert secret.questions == [], "it was asked in a fork, and is as it was"
    assert call.changed_inputs == ()


def test_several_functions_are_told_apart_also_by_keyword_and_in_threads(classroom):
    code = """
        from concurrent.futures import ThreadPoolExecutor
        def ask(double, *, half):
            with ThreadPoolExecutor(4) as pool:
                return list(pool.map(double, range(50))), half(5), double("ab")
    """
    with classroom.submit(code) as subject:
        call = subject.call("ask", case(lambda x: 2 * x, half=lambda x: x / 2))
    assert call.value == ([2 * n for n in range(50)], 2.5, "abab")


def test_what_a_function_does_not_take_is_an_error_in_the_program(classroom):
    code = """
        def ask(function, *args):
            try:
                return function(*args)
            except ValueError as error:
                return str(error)
    """
    with classroom.submit(code) as subject:
        assert subject.call("ask", case(len, 1)).value == "TypeError: object of type 'int' has no len()"
        assert subject.call("ask", case(len, "x" * 5000)).value.startswith("longer than 4096 bytes")
        assert subject.call("ask", case(lambda: float("nan"))).value.startswith("ValueError: Out of range")
        assert subject.call("ask", case(lambda: "x" * 5000)).value.startswith(
            "ValueError: the answer is longer than"
        )
        assert subject.call("ask", case(lambda: 3)).value == 3


def test_a_thread_that_goes_on_asking_takes_no_message_of_the_next_call(classroom):
    code = """
        import threading

        def ask(function):
            threading.Thread(target=go_on, args=(function,), daemon=True).start()
            return [function() for _ in range(50)]

        def go_on(function):
            while True:
                try:
                    function()
                except ValueError as error:
                    if str(error) != "the call is over":
                        raise
    """
    with classroom.submit(code) as subject:
        for answer in range(5):
            call = subject.call("ask", case(lambda answer=answer: answer))
            assert (call.note, call.value) == ("", 50 * [answer])


ATTACKS = {
    "asks_without_end": """
    while True:
        function()
    """,
    "reads_no_answers": """
    questions = function._questions
    Question = sys.modules[type(questions).__module__].Question
    while True:
        questions._calls.send(Question(questions.nonce, b"[0]").pack())
    """,
    "asks_with_another_nonce": """
    function._questions.nonce = bytes(8)
    function()
    """,
    "asks_for_a_long_error": """
    questions = function._questions
    Question = sys.modules[type(questions).__module__].Question
    questions._calls.send(Question(questions.nonce, '["😀😀😀"]'.replace("😀", "😀" * 300).encode()).pack())
    while True:
        pass
    """,
}


@pytest.mark.parametrize("question", ["", "!", "[]"])
def test_no_question_gets_a_function_s_state(classroom, question):
    code = f"""
        import json, sys
        def ask(function):
            questions = function._questions
            Question = sys.modules[type(questions).__module__].Question
            questions._calls.send(Question(questions.nonce, {question.encode()!r}).pack())
            answer = Question.read(questions._calls.recv(), questions.nonce)
            return list(json.loads(answer.text)), function(1)
    """
    with classroom.submit(code) as subject:
        subject.after_calls.needed = True
        assert subject.call("ask", case(Secret(2))).value == (["error"], True)


def test_a_fork_waits_for_no_threads_of_torch(monkeypatch):
    torch = SimpleNamespace(threads=4)
    torch.set_num_threads = lambda number: setattr(torch, "threads", number)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert (in_fork(lambda: torch.threads, "expected.py:1"), torch.threads) == (1, 4)


class Noted:
    """Notes what it is asked, in a form that does not leave its process.

    What is asked can be so too: how deep lists may be nested for `pickle`, the interpreter's limit says.
    """

    def __init__(self):
        self.asked = []

    def __call__(self, value):
        self.asked.append(lambda: value)


ASKS = """
    def ask(function):
        value = 3
        try:
            function(value)
        except ValueError as error:
            return str(error)
"""


@pytest.mark.parametrize(
    ("function", "why"), [(os._exit, "ended its process"), (Noted(), "cannot be pickled")]
)
@pytest.mark.parametrize("needed", [True, False])
def test_whoever_hides_what_a_function_was_asked_has_failed_where_an_oracle_needs_it(
    classroom, function, why, needed
):
    with classroom.submit(ASKS) as subject:
        subject.after_calls.needed = needed
        call = subject.call("ask", case(function))
        again = subject.burst("ask", [case(function)]).calls[0] if subject.alive else call
    expected = Outcome.CRASHED if needed else Outcome.OBSERVED
    assert (call.outcome, again.outcome) == (expected, expected)
    assert (why in call.note) is needed


def test_a_program_that_asks_for_what_takes_for_ever_runs_into_its_limit(classroom, monkeypatch):
    monkeypatch.setattr("grader.harness.student_process.others_at_work", lambda cores: False)
    code = "def ask(function):\n    return function(1)\n"
    with classroom.submit(code, limits=Limits(call_wall_s=0.5)) as subject:
        call = subject.call("ask", case(lambda step: sum(1 for _ in iter(lambda: step, 0))))
    # a program that was kept waiting for a core has longer, and the function's limit comes first
    is_answered = "the function gave no value within 0.5 s" in call.note
    assert call.outcome is (Outcome.CRASHED if is_answered else Outcome.TIMED_OUT)


@pytest.mark.parametrize("name", ATTACKS)
def test_who_asks_without_end_runs_into_its_limit(classroom, name, monkeypatch):
    # whoever uses these cores as well would be to blame
    monkeypatch.setattr("grader.harness.student_process.others_at_work", lambda cores: False)
    code = f"import sys\n\ndef ask(function):\n{ATTACKS[name]}"
    with classroom.submit(code, limits=Limits(call_wall_s=0.5)) as subject:
        assert subject.call("ask", case(lambda: 1)).outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize(
    "question",
    [
        b"",
        b"[]",
        b"[1]",
        b"[-1]",
        b"[true, 1]",
        b"[[]]",
        b"{}",
        b"[" * 4000,
        b"9" * 4000,
        b"[0, 1, 2]",
        b"\xff",
        json.dumps(["\N{GRINNING FACE}" * 900], ensure_ascii=False).encode(),
    ],
)
def test_no_question_makes_the_worker_fail(question):
    answer = answered({0: len}, question)
    assert "error" in json.loads(answer)
    assert len(answer) <= ANSWER_BYTES


@pytest.mark.parametrize(
    ("proof", "skip", "answers"),
    [
        ("", 0, ["later", "later", "later", "", ""]),
        ("note", 0, ["note"]),
        ("exchange", 0, ["later", "exchange"]),
        ("exchange", 1, ["later", "later", "later", "exchange"]),
        ("exchange", 9, ["later", "later", "later", "exchange"]),
    ],
)
def test_that_nothing_is_done_shows_at_the_last_launch_that_gets_inputs(proof, skip, answers):
    launches = Launches(proof, (1, 3), skip)
    assert [launches(number) for number in range(len(answers))] == answers
    assert launches.count == len(answers)


def test_as_long_as_no_launches_are_known_the_first_one_is_told():
    assert [Launches(proof, (), 0)(0) for proof in ("", "note", "exchange")] == ["", "note", "exchange"]


def test_an_oracle_that_stays_in_compiled_code_ends_with_its_line(monkeypatch):
    monkeypatch.setattr(time_limit, "COMPILED_TIMES", 2.0)

    def oracle():
        return sum(repeat(0))

    line = oracle.__code__.co_firstlineno + 1
    place = re.escape(show_path(Path(__file__)))
    message = f"^{place}:{line}: oracle: has not ended in its time, and stays in compiled code; make"

    def limited():
        with time_limit.time_limit(0.05):
            return oracle()

    with pytest.raises(CourseError, match=message):
        course_forks.in_fork(limited, "expected.py:1")
