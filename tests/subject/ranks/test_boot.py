"""Which rank a process is: as torchrun or spawn says, or by the order in which the program starts them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.subject import ranks
from grader.subject.ranks.boot import index_of

SOURCES = Path(ranks.__file__).parent


@pytest.mark.parametrize(
    ("module", "args", "identity", "name"),
    [
        ("torch.multiprocessing.spawn", (print, 1, (), "file"), (5,), "1"),
        ("__main__", (), (1,), "0"),
        ("__main__", (), (2,), "1"),
        ("__main__", (), (3,), ""),
        ("__main__", (), (1, 1), ""),
    ],
    ids=["spawn tells", "first", "second", "one too many", "a process of a rank"],
)
def test_a_process_of_multiprocessing_is_the_rank_that_it_is(monkeypatch, module, args, identity, name):
    monkeypatch.setenv("RANKS_COUNT", "2")
    target = SimpleNamespace(__module__=module)
    assert index_of(SimpleNamespace(_target=target, _args=args, _identity=identity)) == name


@pytest.fixture
def python(tmp_path):
    """Run code in a Python process that is booted, and read what it recorded."""
    boot = tmp_path / "python"
    boot.mkdir()
    (boot / "sitecustomize.py").write_text((SOURCES / "boot.py").read_text())
    (boot / "grader_ranks.py").write_text((SOURCES / "grader_ranks.py").read_text())
    records = tmp_path / "records"
    (records / "inputs").mkdir(parents=True)

    def run(code, **variables):
        variables = {
            "RANKS_FOLDER": str(records),
            "RANKS_COUNT": "2",
            "RANKS_LAUNCHER": "torchrun",
            **variables,
        }
        path = ":".join([str(boot), *(p for p in sys.path if p.endswith("site-packages"))])
        environment = {**os.environ, "PYTHONPATH": path, **variables}
        done = subprocess.run(
            [sys.executable, "-c", code], check=False, env=environment, capture_output=True, text=True
        )
        return done.stderr, records

    return run


def test_a_rank_of_torchrun_prints_into_files_of_its_own_and_notes_its_end(python):
    _, records = python("import sys; print('out'); print('err', file=sys.stderr)", RANK="1")
    assert (records / "1.out").read_text() == "out\n"
    assert (records / "1.err").read_text() == "err\n"
    end = json.loads((records / "1.end").read_text())
    assert (end["status"], end["error"]) == (None, None)


def test_what_ended_it_is_noted_with_its_frames(python):
    _, records = python("def f():\n    raise ValueError('oh')\nf()", RANK="0")
    error = json.loads((records / "0.end").read_text())["error"]
    assert (error["type"], error["text"]) == ("ValueError", "oh")
    assert error["frames"] == [["<string>", 2, "f"], ["<string>", 3, "<module>"]]
    assert "ValueError: oh" in (records / "0.err").read_text()


def test_a_process_that_a_rank_starts_is_not_that_rank(python):
    code = (
        "import os, subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)']); print(os.getpid())"
    )
    _, records = python(code, RANK="0")
    record = json.loads((records / "0.process").read_text())
    assert (records / "0.out").read_text() == f"1\n{record['pid']}\n"


def test_a_fork_of_a_rank_does_not_note_its_end(python):
    code = "import os, sys\nif os.fork() == 0: raise SystemExit\nos.wait(); os._exit(0)"
    _, records = python(code, RANK="0")
    assert not (records / "0.end").exists()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_of_multiprocessing_are_ranks_and_their_statuses_are_kept(python, tmp_path, start):
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, os, sys\n"
        "def work(n):\n    print(n)\n    sys.exit(n)\n"
        "if __name__ == '__main__':\n"
        f"    context = multiprocessing.get_context({start!r})\n"
        "    started = [context.Process(target=work, args=(4 + n,)) for n in range(2)]\n"
        "    for one in started: one.start()\n"
        "    for one in started: one.join()\n"
    )
    code = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    _, records = python(code, RANKS_LAUNCHER="spawn")
    assert json.loads((records / "statuses").read_text()) == {"0": 4, "1": 5}
    assert [(records / f"{n}.out").read_text() for n in range(2)] == ["4\n", "5\n"]
    assert json.loads((records / "1.end").read_text())["status"] == 5


def test_an_exit_status_that_stands_for_an_exception_is_told_as_the_exception(python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, sys\n"
        "def work():\n"
        "    try: raise ValueError('oh')\n"
        "    except ValueError: sys.exit(1)\n"
        "one = multiprocessing.get_context('fork').Process(target=work)\n"
        "one.start()\n"
        "one.join()\n"
    )
    code = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    _, records = python(code, RANKS_LAUNCHER="spawn")
    end = json.loads((records / "0.end").read_text())
    assert (end["status"], end["error"]["type"]) == (1, "ValueError")
    assert end["error"]["frames"][0] == [str(program), 3, "work"]


def test_without_the_variable_nothing_is_done(python):
    _, records = python("print(1)", RANKS_FOLDER="", RANK="0")
    assert not (records / "0.process").exists()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("report(x='text')", "TypeError: report(): x: is not numbers but <U4"),
        ("report(x=object())", "TypeError: report(): x: is not numbers but object"),
    ],
)
def test_only_numbers_are_reported(python, call, said):
    _, records = python(f"from grader_ranks import report; {call}", RANK="0")
    assert said in (records / "0.err").read_text()
    assert list((records / "0.values").glob("*.npy")) == []


def test_a_process_that_is_no_rank_reports_nothing(python):
    said, _ = python("from grader_ranks import report; report(x=1)", RANK="")
    assert "none of the ranks that were started" in said
