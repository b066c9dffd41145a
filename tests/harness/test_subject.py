"""A child answers calls faithfully, and whatever it does ends in an outcome."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from grader.contracts.call import InputCase, OpaqueValue
from grader.errors import NotObservedError
from grader.harness.student_process import StudentProcess
from grader.model.assignment import Limits
from grader.model.observation import Outcome


def case(*args, **kwargs) -> InputCase:
    return InputCase(name="a case", args=args, kwargs=kwargs)


def test_arrays_go_there_and_back_unchanged(any_classroom):
    with any_classroom.submit("def echo(*args): return list(args)") as subject:
        sent = [
            np.arange(12, dtype=np.int32).reshape(3, 4),
            np.array([], dtype=np.float64),
            np.array(3.5),
            np.array([1 + 2j]),
            np.array([True, False]),
            np.float32(0.1),
        ]
        came = subject.call("echo", case(*sent)).value
    assert [(type(a), a.dtype, a.shape) for a in came] == [(type(a), a.dtype, a.shape) for a in sent]
    assert all(np.array_equal(a, b) for a, b in zip(came, sent, strict=True))


def test_plain_values_keep_their_exact_types(classroom):
    sent = (
        1,
        1.5,
        True,
        None,
        "text\x00\ud800",
        (1, [2, (3,)]),
        {"a": [0.1] * 50},
        float("inf"),
        2**80,
        -1,
        2j,
    )
    with classroom.submit("def echo(*args): return args") as subject:
        came = subject.call("echo", case(*sent)).value
    assert came == sent
    assert [type(v) for v in came] == [type(v) for v in sent]
    assert type(came[6]["a"]) is list


def test_containers_of_other_types_come_back_as_plain_ones(classroom):
    code = """
        from collections import OrderedDict, defaultdict, deque, namedtuple
        Batch = namedtuple("Batch", "data labels")
        class Batches(list): pass
        def mixed():
            counts = defaultdict(int, a=1)
            return [Batch([1], (2,)), Batches([3]), OrderedDict(b=4), counts, deque([5, 6]), range(3)]
    """
    with classroom.submit(code) as subject:
        value = subject.call("mixed", case()).value
    assert value == [([1], (2,)), [3], {"b": 4}, {"a": 1}, [5, 6], [0, 1, 2]]
    assert [type(v) for v in value] == [tuple, list, dict, dict, list, list]


def test_a_value_with_opinions_of_its_own_comes_back_as_a_foreign_name(classroom):
    code = """
        import numpy as np
        class Evil(np.ndarray):
            def __eq__(self, other): return True
        class Float(float): pass
        def evil(): return [np.zeros(3).view(Evil), Float(1.0), object(), np.array([{}])]
    """
    with classroom.submit(code) as subject:
        value = subject.call("evil", case()).value
    assert value == [
        OpaqueValue(type_name="work.Evil"),
        OpaqueValue(type_name="work.Float"),
        OpaqueValue(type_name="object"),
        OpaqueValue(type_name="numpy.ndarray of dtype object"),
    ]


def test_inputs_changed_in_place_are_noticed(any_classroom):
    code = """
        def change(a, b, c, d): b[0] += 1; c.append(1); d["k"][0] = 2
    """
    arrays = case(np.zeros(3), np.zeros(3), [1, 2], d={"k": [1]})
    with any_classroom.submit(code) as subject:
        assert subject.call("change", arrays).changed_inputs == ("argument 2", "argument 3", "d")


def test_an_input_array_inside_a_list_that_is_changed_is_noticed(classroom):
    with classroom.submit("def change(a): a[1][0] = 7") as subject:
        assert subject.call("change", case([np.zeros(2), np.zeros(2)])).changed_inputs == ("argument 1",)


@pytest.mark.parametrize(
    "change",
    [
        "a.shape = (3, 2)",
        "a.dtype = 'i8'",
        "a.strides = (0, 0)",
        "a.flags.writeable = False",
        "c[0].shape = (2, 2)",
        "d['k'] = d.pop('k')",
    ],
)
def test_the_form_of_an_array_and_the_order_of_a_dict_are_changed_in_place_as_well(classroom, change):
    arguments = case(np.zeros((2, 3)), [np.zeros(4)], {"k": 1, "l": 2})
    with classroom.submit(f"def change(a, c, d): {change}") as subject:
        name = {"a": "argument 1", "c": "argument 2", "d": "argument 3"}[change[0]]
        assert subject.call("change", arguments).changed_inputs == (name,)


def test_a_list_that_is_written_anew_with_equal_numbers_is_as_it_was(classroom):
    with classroom.submit("def change(a): a[:] = [x * 1.0 for x in a]") as subject:
        assert subject.call("change", case([1.5, 2.5])).changed_inputs == ()


def test_a_missing_function_is_refused_with_the_name_that_is_nearly_right(classroom):
    with classroom.submit("def sigmiod(x): return x") as subject:
        call = subject.call("sigmoid", case(1))
    assert call.outcome is Outcome.REFUSED
    assert call.note == "there is no function sigmoid(); did you mean sigmiod()?"


def test_a_function_is_called_by_its_name_without_the_module(classroom):
    with classroom.submit("def f(): return 1") as subject:
        for call in (lambda: subject.call("work.f", case()), lambda: subject.burst("work.f", [case()])):
            with pytest.raises(ValueError, match=r"takes 'f', without the module, got 'work\.f'"):
                call()
        assert subject.call("f", case()).value == 1


def test_what_is_asked_for_by_its_own_name_is_not_suggested(classroom):
    with classroom.submit("def random_weights(x): return x\ndef zeros_wights(x): return x") as subject:
        subject.others = lambda: {"random_weights", "zeros_weights"}
        assert subject.call("zeros_weights", case(1)).note.endswith("; did you mean zeros_wights()?")
        subject.others = lambda: {"random_weights", "zeros_wights"}
        assert subject.call("zeros_weights", case(1)).note == "there is no function zeros_weights()"


def test_a_value_in_place_of_a_function_is_told(classroom):
    with classroom.submit("forward = [1]\ndef forwards(x): return x") as subject:
        note = subject.call("forward", case(1)).note
    assert note == "there is no function forward(); that is a value of type list"


def test_a_function_inside_of_a_class_is_found_there(classroom):
    with classroom.submit("class Net:\n    def forward(self, x): return x\nforwards = print") as subject:
        note = subject.call("forward", case(1)).note
    assert note == "there is no function forward(); class Net has one: it must stand outside of it"


def test_an_exception_is_a_crash_with_the_students_frames_only(classroom):
    with classroom.submit("def f(x):\n    return 1 / x\n") as subject:
        call = subject.call("f", case(0))
        assert call.outcome is Outcome.CRASHED
        assert call.note == "f(): ZeroDivisionError: division by zero"
        assert "work.py" in call.traceback
        assert "_grader_subject" not in call.traceback
        assert subject.alive
        assert subject.call("f", case(2)).value == 0.5


def test_an_exception_without_words_is_told_with_its_place_and_line(classroom):
    with classroom.submit("def f(x):\n    y = x + 1\n    assert x > y\n") as subject:
        assert subject.call("f", case(0)).note == "f(): AssertionError in work.py:3 (assert x > y)"


def test_colours_of_a_terminal_are_left_out(classroom):
    with classroom.submit("def f(x): raise TypeError('\\x1b[1m\\x1b[31mno match\\x1b[0m for x')") as subject:
        assert subject.call("f", case(0)).note == "f(): TypeError: no match for x"


@pytest.mark.parametrize(
    ("body", "outcome", "note"),
    [
        ("import os; os._exit(0)", Outcome.CRASHED, "f(): the program ended itself (exit status 0)"),
        ("import sys; sys.exit(0)", Outcome.CRASHED, "f(): the program ended itself (sys.exit(0))"),
        ("import ctypes; ctypes.string_at(0)", Outcome.CRASHED, "f(): the program was ended by signal 11"),
        (
            "import numpy as np; return np.ones(9 * 2**20)",
            Outcome.REFUSED,
            "f(): returned something too large",
        ),
        ("x = []; x.append(x); return x", Outcome.REFUSED, "f(): returned something too large"),
        (
            "return [None] * 400_001",
            Outcome.REFUSED,
            "400,000 single values, 16 MiB of text or 32 levels of nesting)",
        ),
        ("import numpy as np; np.ones(2**40)", Outcome.OUT_OF_MEMORY, "f(): MemoryError"),
        ("return b'x' * 2**33", Outcome.OUT_OF_MEMORY, "f(): MemoryError"),
        (
            'raise RuntimeError("DefaultCPUAllocator: can\'t allocate memory: 9 bytes.")',
            Outcome.OUT_OF_MEMORY,
            "f(): RuntimeError: DefaultCPUAllocator: can't allocate memory: 9 bytes; 2048 MiB are allowed",
        ),
        (
            "raise OSError(12, 'Cannot allocate memory')",
            Outcome.OUT_OF_MEMORY,
            "f(): OSError: [Errno 12] Cannot allocate memory; 2048 MiB are allowed",
        ),
        (
            "raise AttributeError('/built/lib/libpar.so: undefined symbol: scan')",
            Outcome.CRASHED,
            'f(): libpar.so has no function scan; its name must be exact, and in C++ it needs extern "C" '
            "and the parameters that are asked for",
        ),
        (
            "raise OSError('/built/lib/libpar.so: undefined symbol: omp_get_max_threads')",
            Outcome.CRASHED,
            "f(): libpar.so uses omp_get_max_threads(): it is OpenMP's, which is not linked here",
        ),
        *(
            (
                f"raise OSError('/built/lib/libpar.so: undefined symbol: {symbol}')",
                Outcome.CRASHED,
                f"f(): libpar.so uses {name}(), which is defined nowhere; name, parameters and extern",
            )
            for symbol, name in (
                ("scan", "scan"),
                ("_Z6helperPd", "helper"),
                ("_ZN3net5layerE3dim", "net::layer"),
                ("_ZNK3net7forwardEv", "net::forward"),
                ("_Z99x", "x"),
                ("_ZTV3Net", "_ZTV3Net"),
            )
        ),
        ("raise KeyboardInterrupt", Outcome.CRASHED, "f(): KeyboardInterrupt"),
    ],
)
def test_every_way_to_end_has_an_outcome(classroom, body, outcome, note):
    with classroom.submit(f"def f(): {body}") as subject:
        call = subject.call("f", case())
    assert call.outcome is outcome
    assert note in call.note
    assert call.value is None


@pytest.mark.parametrize(
    ("printed", "outcome", "note"),
    [
        (
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            Outcome.OUT_OF_MEMORY,
            "ran out of memory (std::bad_alloc); 2048 MiB are allowed",
        ),
        (
            "terminate called after throwing an instance of 'X'\n  what():  y\n",
            Outcome.CRASHED,
            "gave up (SIGABRT): terminate called after throwing an instance of 'X' what():  y",
        ),
        (
            "terminate called without an active exception\n",
            Outcome.CRASHED,
            "gave up (SIGABRT): terminate called without an active exception; "
            "a std::thread that was not joined ends so",
        ),
        (
            "terminate called after throwing an instance of 'std::system_error'\n"
            "  what():  Resource temporarily unavailable\n",
            Outcome.CRASHED,
            "gave up (SIGABRT): terminate called after throwing an instance of 'std::system_error' "
            "what():  Resource temporarily unavailable; 256 processes and threads at once are allowed",
        ),
        (
            "scan.cpp:7: int scan(): Assertion `n > 0' failed.\nanother line\n",
            Outcome.CRASHED,
            "gave up (SIGABRT): scan.cpp:7: int scan(): Assertion `n > 0' failed.",
        ),
        ("", Outcome.CRASHED, "was ended by signal 6 (SIGABRT: it gave up, as after a failed assertion or"),
    ],
)
def test_who_gives_up_is_quoted(classroom, printed, outcome, note):
    code = f"import os\ndef f():\n    os.write(2, {printed.encode()!r})\n    os.abort()\n"
    with classroom.submit(code) as subject:
        call = subject.call("f", case())
    assert call.outcome is outcome
    assert call.note.startswith(f"f(): the program {note}")


def test_what_a_sanitizer_of_a_library_says_is_quoted(classroom):
    printed = "a.cpp:3:4: runtime error: division by zero\n"
    code = f"import os\ndef f():\n    os.write(2, {printed.encode()!r})\n    os._exit(1)\n"
    with classroom.submit(code) as subject:
        note = subject.call("f", case()).note
    assert note == f"f(): the program ended itself (exit status 1): {printed.strip()}"


def test_an_endless_loop_is_ended_from_outside_even_if_it_swallows_everything(any_classroom):
    code = """
        import signal
        def f():
            for s in range(1, 64):
                try: signal.signal(s, signal.SIG_IGN)
                except (OSError, ValueError): pass
            while True:
                try:
                    while True: pass
                except BaseException: pass
    """
    limits = Limits(call_wall_s=0.2)
    with any_classroom.submit(code, limits) as subject:
        call = subject.call("f", case())
        assert call.outcome is Outcome.TIMED_OUT
        assert call.note == "f(): the program did not end within 0.2 s of its own time"
        assert not subject.alive
        assert subject.call("f", case()).outcome is Outcome.TIMED_OUT


def test_a_file_that_ends_the_program_at_import_has_not_been_imported(classroom):
    with classroom.submit("print('passed'); import os; os._exit(0)") as subject:
        assert subject.imported.outcome is Outcome.CRASHED
        assert subject.imported.note == "importing work.py: the program ended itself (exit status 0)"


def test_a_workspace_that_the_students_user_cannot_read_is_our_fault_and_not_a_crash(classroom):
    server = classroom.server()
    classroom.workspace.chmod(0o000)
    with pytest.raises(NotObservedError, match=r"set-up: .*Permission denied"):
        StudentProcess(server, "submission", Limits())
    classroom.workspace.chmod(0o755)


def test_why_a_child_failed_is_told_also_if_its_pid_1_has_ended_by_then(classroom, monkeypatch):
    def too_late(pid):
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.001)
        raise ProcessLookupError

    server = classroom.server()
    classroom.workspace.chmod(0o000)
    monkeypatch.setattr(os, "pidfd_open", too_late)
    with pytest.raises(NotObservedError, match=r"set-up: .*Permission denied"):
        StudentProcess(server, "submission", Limits())
    classroom.workspace.chmod(0o755)


def test_a_syntax_error_is_quoted_with_its_line(classroom):
    with classroom.submit("def f(:\n  pass\n") as subject:
        assert subject.imported.outcome is Outcome.CRASHED
        assert subject.imported.note == "work.py:1: invalid syntax"
        assert "    def f(:\n" in subject.imported.traceback


def test_output_is_kept_head_and_tail_and_never_holds_anything_up(classroom):
    code = """
        def f():
            print("first")
            for _ in range(20000): print("x" * 100)
            print("last")
    """
    with classroom.submit(code) as subject:
        assert subject.call("f", case()).outcome is Outcome.OBSERVED
        output = subject.output
    assert output.startswith("first\n")
    assert output.endswith("last\n")
    assert "bytes left out" in output
    assert len(output) < 70_000


def test_the_clock_is_ours_and_the_cpu_time_tells_work_from_waiting(classroom):
    code = """
        import time
        def wait(): time.sleep(0.3)
        def work():
            end = time.process_time() + 0.3
            while time.process_time() < end: pass
    """
    with classroom.submit(code) as subject:
        wait, work = subject.call("wait", case()), subject.call("work", case())
    assert wait.wall_s > 0.3
    assert wait.cpu_s < 0.1
    assert work.wall_s >= work.cpu_s > 0.29


def test_who_holds_too_much_of_a_gpu_is_told_of_handles_too(classroom, monkeypatch):
    with classroom.submit("def learn(): return 1") as subject:
        monkeypatch.setattr(subject, "_devices", lambda: 20_000 * 2**20)
        call = subject.call("learn", case())
        assert not subject.alive
    assert call.outcome is Outcome.OUT_OF_MEMORY
    assert call.note == (
        "learn(): 20000 MiB of the GPU's memory are taken after the call; 16384 MiB are allowed; free what a "
        "call allocates, and make a library's handle (cublasCreate) once, not in every call"
    )


NOTEBOOK = b'{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": []}], "nbformat": 4}'
"""A notebook whose JSON is valid Python, so that importing it does nothing."""
NOT_UTF_8 = "is not written in UTF-8; save it as UTF-8"
NO_NOTEBOOK = "is a Jupyter notebook (JSON), not Python; export it (File, Download as .py)"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = 1\n".encode("utf-16"), f"1: {NOT_UTF_8}"),
        ("x = 1\ny = 2  # f\xfcr\n".encode("cp1252"), f"2: {NOT_UTF_8}"),
        (NOTEBOOK, f"1: {NO_NOTEBOOK}"),
        (NOTEBOOK.replace(b"[]", b"null"), f"1: {NO_NOTEBOOK}"),
    ],
)
@pytest.mark.parametrize("imported", ["import nets", "try:\n    import nets\nexcept NameError: pass"])
def test_a_file_that_is_no_python_text_is_named_with_what_to_do(classroom, content, problem, imported):
    (classroom.workspace / "nets.py").write_bytes(content)
    with classroom.submit(imported) as subject:
        assert subject.imported.outcome is Outcome.CRASHED
        assert subject.imported.note == f"nets.py:{problem}"


def test_a_file_that_declares_another_encoding_is_imported(classroom):
    (classroom.workspace / "nets.py").write_bytes("# coding: cp1252\nx = 1  # f\xfcr\n".encode("cp1252"))
    with classroom.submit("import nets\ndef f(): return nets.x") as subject:
        assert subject.call("f", case()).outcome is Outcome.OBSERVED


@pytest.mark.parametrize("function", ["exit", "quit"])
def test_exit_and_quit_are_defined_as_in_any_python(classroom, function):
    with classroom.submit(f"def f(): {function}(3)\ndef g(): {function}()") as subject:
        call = subject.call("f", case())
        assert (call.outcome, call.note) == (Outcome.CRASHED, "f(): the program ended itself (sys.exit(3))")
        assert subject.call("g", case()).note == "g(): the program ended itself (sys.exit())"


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("x = 1\n\ndef softmax(x)\n    return x\n", "nets.py:3: expected ':'"),
        ("def f():\nreturn 1\n", "nets.py:2: expected an indented block after function definition on line 1"),
        ("if 1:\n\tx = 1\n        y = 1\n", "nets.py:3: inconsistent use of tabs and spaces in indentation"),
        ("raise SyntaxError('mine')\n", "SyntaxError: mine"),
        ("exec('x = (')\n", "<string>:1: '(' was never closed"),
    ],
)
def test_a_syntax_error_is_told_with_the_students_file_and_line(classroom, source, note):
    (classroom.workspace / "nets.py").write_text(source)
    with classroom.submit("import nets") as subject:
        assert subject.imported.outcome is Outcome.CRASHED
        assert subject.imported.note == note
        assert "\n" not in subject.imported.note
        if note.startswith("nets.py"):
            assert f'nets.py", line {note[8]}\n' in subject.imported.traceback


PRINTING = """
    import ctypes, os, time
    libc = ctypes.CDLL(None)
    def say(text): libc.printf(b"%s", text.encode())
    def refuse(): say("refused"); raise ValueError
    def lock(): libc.flockfile(ctypes.c_void_p.in_dll(libc, "stdout"))
    def close(): say("closed"); libc.fclose(ctypes.c_void_p.in_dll(libc, "stdout"))
    def forget():
        ctypes.c_void_p.in_dll(libc, "stdout").value = None
    def silent(value): return value
    def leave(): say("left"); libc.exit(3)
"""


def test_what_a_library_prints_in_c_is_shown_after_the_call(any_classroom):
    with any_classroom.submit(PRINTING) as subject:
        assert subject.call("say", case("no end")).outcome is Outcome.OBSERVED
        assert subject.output == "no end"
        assert subject.call("refuse", case()).outcome is Outcome.CRASHED
        assert subject.output == "no endrefused"
        assert subject.call("say", case("; last")).outcome is Outcome.OBSERVED
        subject.call("leave", case())
        assert subject.output == "no endrefused; lastleft"


def test_a_program_that_does_away_with_its_standard_output_is_called_on(classroom):
    with classroom.submit(PRINTING) as subject:
        assert subject.call("close", case()).outcome is Outcome.OBSERVED
        assert subject.call("forget", case()).outcome is Outcome.OBSERVED
        assert subject.call("silent", case(1)).value == 1
        assert subject.output == "closed"


def test_a_thread_that_keeps_its_standard_output_keeps_nobody_waiting(classroom):
    keep = """
    import threading
    def keep():
        thread = threading.Thread(target=lock)
        thread.start()
        thread.join()
"""
    with classroom.submit(PRINTING + keep) as subject:
        assert subject.call("keep", case()).outcome is Outcome.OBSERVED
        assert subject.call("silent", case(1)).value == 1
