"""Where a process stands is read from what faulthandler writes."""

import faulthandler
import threading

import pytest

from grader.subject.ranks.stacks import main_thread, place

DUMP = """\
Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

Current thread 0x00007f02 (most recent call first):
  File "/python/site0/torch/distributed/distributed_c10d.py", line 3252 in all_reduce
  File "/python/site0/torch/distributed/c10d_logger.py", line 83 in wrapper
  File "/tmp/run/a folder/work.py", line 2 in reduce
  File "/tmp/run/drive.py", line 17 in <module>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work.py").write_text("import torch\n    dist.all_reduce(total)  # all of them\n")
    return tmp_path


def test_the_thread_that_is_asked_for_is_taken(folder):
    frames = main_thread(DUMP, 0x7F02)
    assert [function for _, _, function in frames] == ["all_reduce", "wrapper", "reduce", "<module>"]
    assert frames[2] == ("/tmp/run/a folder/work.py", 2, "reduce")
    assert main_thread(DUMP, 0x7F01)[0][2] == "wait"


def test_without_it_the_last_one_is_taken_and_without_any_none():
    assert main_thread(DUMP, 0xBAD)[0][2] == "all_reduce"
    assert main_thread("", 1) == []
    assert main_thread("junk\n  File junk\nThread 0xzz", 1) == []


def test_what_faulthandler_writes_is_read(tmp_path):
    with (tmp_path / "dump").open("w") as file:
        faulthandler.dump_traceback(file)
    frames = main_thread((tmp_path / "dump").read_text(), threading.get_ident())
    assert frames[0][0] == __file__
    assert frames[0][2] == "test_what_faulthandler_writes_is_read"


def test_the_place_is_the_programs_innermost_line_and_the_call_that_it_made(folder):
    frames = [
        ("/lib/distributed_c10d.py", 9, "all_reduce"),
        ("/lib/c10d_logger.py", 8, "wrapper"),
        (f"{folder}/work.py", 2, "reduce"),
        (f"{folder}/drive.py", 17, "<module>"),
    ]
    assert place(frames, str(folder)) == {
        "file": "work.py",
        "line": 2,
        "function": "reduce",
        "source": "dist.all_reduce(total)  # all of them",
        "called": "all_reduce",
    }


def test_a_call_into_compiled_code_leaves_the_line_alone(folder):
    found = place([(f"{folder}/work.py", 2, "reduce")], str(folder))
    assert (found["line"], found["called"]) == (2, "")


def test_a_stack_without_a_line_of_the_program_tells_what_runs():
    found = place([("/lib/a.py", 1, "inner_of_a"), ("<frozen importlib>", 2, "load")], "/tmp/run")
    assert (found["file"], found["called"]) == ("", "inner_of_a")


def test_a_line_that_cannot_be_read_is_no_error(folder):
    assert place([(f"{folder}/gone.py", 3, "f")], str(folder))["source"] == ""
    assert place([(f"{folder}/work.py", 99, "f")], str(folder))["source"] == ""
