"""A script runs as it would alone, and what CUPTI recorded of it is added up."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.cuda.profile import demangler, profile, read_profile
from grader.errors import NotObservedError, UsageError
from grader.model.profile import Profile, ProfileRow, added, tables_of
from tests.cuda.played_cupti import FILES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Write a script, and profile it where CUPTI is played."""
    for name, text in FILES.items():
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}:{ROOT}")
    folder = tmp_path / "work"
    folder.mkdir()
    return Script(folder)


@dataclass
class Script:
    """A script in a folder of its own, profiled when it is called."""

    folder: Path

    def __call__(self, text, *arguments):
        (self.folder / "script.py").write_text(text)
        return profile([str(self.folder / "script.py"), *arguments])


def rows(of):
    return [(row.device, row.name, row.count, round(row.seconds * 1e9)) for row in of]


def test_kernels_copies_and_calls_are_added_up_by_name(script):
    measured, status = script("pass")
    assert status == 0
    assert rows(measured.kernels) == [(0, "void at::native::add<float>(float)", 2, 800), (1, "scale", 1, 200)]
    assert rows(measured.copies) == [(0, "memcpy HTOD", 1, 50), (0, "memset", 1, 10)]
    assert [row.bytes for row in measured.copies] == [64, 8]


def test_what_the_runtime_asks_of_the_driver_is_part_of_its_call(script):
    measured, _ = script("pass")
    assert sorted(rows(measured.api)) == [
        (None, "cuLaunchKernelEx", 2, 80),
        (None, "cudaLaunchKernel", 1, 90),
        (None, "cudaMalloc", 1, 600),
    ]


def test_a_script_has_its_own_arguments_name_and_folder(script, monkeypatch):
    monkeypatch.chdir(script.folder)  # where `python -m` would look first
    (script.folder / "beside.py").write_text("VALUE = 3\n")
    (script.folder / "json.py").write_text(
        "raise SystemExit('a module of the script in the place of ours')\n"
    )
    text = """
import sys, beside
assert __name__ == "__main__" and __file__ == sys.argv[0]
raise SystemExit(beside.VALUE + len(sys.argv))
"""
    assert script(text, "--an-option", "x")[1] == 6


@pytest.mark.parametrize(
    ("text", "status"), [("raise SystemExit('no')", 1), ("raise SystemExit", 0), ("1 / 0", 1), ("exit(7)", 7)]
)
def test_a_script_that_fails_has_its_status_and_its_profile(script, text, status):
    measured, ended = script(text)
    assert ended == status
    assert measured.kernels


def test_a_forked_process_that_ends_by_itself_writes_no_second_profile(script):
    text = "import os\nif os.fork() == 0:\n    raise SystemExit(0)\nos.wait()"
    measured, status = script(text)
    assert (status, len(measured.kernels)) == (0, 2)


def test_a_script_that_is_ended_from_outside_has_no_profile(script):
    with pytest.raises(NotObservedError, match="ended without a profile"):
        script("import os\nos._exit(0)")


def test_a_missing_package_is_named_in_one_line(script, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    blocked = "import sys\nsys.modules['cupti'] = None\n"
    (script.folder / "sitecustomize.py").write_text(blocked)
    monkeypatch.setenv("PYTHONPATH", f"{script.folder}:{ROOT}")
    with pytest.raises(NotObservedError) as error:
        script("open(__file__ + '.ran', 'w')")
    (line,) = error.value.problems
    assert "cupti-python" in line
    assert "install" in line
    assert not (script.folder / "script.py.ran").exists()


def test_a_missing_driver_is_named_in_one_line():
    plain = {"missing": "", "problem": "CUDA driver is not found (libcuda.so.1: …)"}
    with pytest.raises(NotObservedError, match="no NVIDIA driver is found"):
        read_profile(plain, ["script.py"])


@pytest.mark.parametrize("command", [["no_such_script.py"], ["./no_such_program"]])
def test_a_program_that_is_not_there_is_an_error_of_usage(command, monkeypatch):
    monkeypatch.setattr("grader.cuda.profile.driver", object)
    monkeypatch.setattr("grader.cuda.profile.built_library", lambda: "x.so")
    with pytest.raises(UsageError, match="no_such"):
        profile(command)


def test_without_a_driver_no_program_is_started(monkeypatch, tmp_path):
    monkeypatch.setattr("grader.cuda.profile.driver", lambda: None)
    with pytest.raises(NotObservedError, match="no NVIDIA driver is found"):
        profile(["touch", str(tmp_path / "ran")])
    assert not (tmp_path / "ran").exists()


def test_a_program_that_uses_no_gpu_has_no_profile(monkeypatch):
    monkeypatch.setattr("grader.cuda.profile.driver", object)
    monkeypatch.setattr("grader.cuda.profile.built_library", lambda: "x.so")
    with pytest.raises(NotObservedError, match="nothing was recorded"):
        profile(["true"])


def test_processes_of_one_program_are_added_up():
    def one(seconds, device=0):
        row = ProfileRow(name="add", device=device, count=1, seconds=seconds)
        return Profile(program="x", wall_s=seconds, kernels=(row,), devices={device: "H200"})

    whole = added([one(1.0), one(2.0), one(4.0, device=1)])
    assert [(row.device, row.count, row.seconds) for row in whole.kernels] == [(1, 1, 4.0), (0, 2, 3.0)]
    assert [table.title for table in tables_of(whole)] == [
        "Kernels on cuda:0 (H200)",
        "Kernels on cuda:1 (H200)",
    ]


def test_shares_of_a_table_add_up_to_one():
    kernels = tuple(
        ProfileRow(name=name, device=0, count=1, seconds=s) for name, s in (("a", 1.0), ("b", 3.0))
    )
    (table,) = tables_of(Profile(program="x", wall_s=9.0, kernels=kernels))
    assert [(row.name, share, running) for row, share, running in table.shares()] == [
        ("b", 0.75, 0.75),
        ("a", 0.25, 1.0),
    ]


def test_symbols_are_written_as_in_the_source_and_other_names_stay():
    readable = demangler()
    assert readable("_ZN2at6native3addIfEEvT_") == "void at::native::add<float>(float)"
    assert readable("volta_sgemm_128x64") == "volta_sgemm_128x64"


def test_the_tables_that_are_printed_can_be_read_in_a_report(script, monkeypatch):
    from grader.matching.profile_lists import profile_lists

    run = [sys.executable, "-m", "grader", "profile", str(script.folder / "script.py")]
    (script.folder / "script.py").write_text("print('New Inference')")
    output = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert output.startswith("New Inference\n")
    lists = profile_lists(output)
    assert [(one.section, len(one.rows)) for one in lists] == [
        ("kernels", 1),
        ("kernels", 1),
        ("copies", 2),
        ("api", 3),
    ]
    assert lists[0].rows[0].name == "void at::native::add<float>(float)"
    assert lists[3].rows[-1].running == 100.0


def test_json_alone_is_on_standard_output_and_a_page_is_written(script, tmp_path):
    (script.folder / "script.py").write_text("print('New Inference')")
    page = tmp_path / "pages" / "profile.html"
    run = [
        sys.executable,
        "-m",
        "grader",
        "profile",
        "--json",
        "--html",
        str(page),
        str(script.folder / "script.py"),
    ]
    ended = subprocess.run(run, capture_output=True, text=True, check=True)
    measured = json.loads(ended.stdout)
    assert "New Inference" in ended.stderr
    assert [table["title"] for table in measured["tables"]][-1] == "API calls of the host"
    assert "void at::native::add&lt;float&gt;(float)" in page.read_text()


def test_a_script_that_leaves_the_work_to_other_processes_is_told_how_to_record_them():
    from grader.cli.profile import lines_of

    alone, whole = (Profile(program="mp.py --n 2", wall_s=1.0, children=each) for each in (False, True))
    assert list(lines_of(alone))[1].endswith("grader profile -- python mp.py --n 2")
    assert list(lines_of(whole))[1] == "It ran no kernel on any GPU."
