"""`examples/lectern`: its own tests hold, in place and installed by pip into an environment of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "lectern"


def run(*command, cwd, **environment):
    """Run a command outside every course."""
    return subprocess.run(
        [*map(str, command)],
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_its_own_tests_hold_in_place(tmp_path):
    tests = shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    quick = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not OneByOne", "-W", "error", tests)
    done = run(sys.executable, *quick, cwd=tmp_path, PYTHONPATH=f"{EXAMPLE}{os.pathsep}{ROOT}")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^[4-9]\d passed", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_pip_installs_it_beside_grader_and_its_own_tests_hold(tmp_path):
    unwanted = shutil.ignore_patterns(".*", "*.egg-info", "build", "results", "__pycache__", "submissions")
    clone = shutil.copytree(ROOT, tmp_path / "clone", ignore=unwanted)
    venv.create(tmp_path / "venv", with_pip=True)
    bin_folder = tmp_path / "venv" / "bin"
    example = f"{clone / 'examples' / 'lectern'}[test]"
    installed = run(
        bin_folder / "pip", "install", "-q", "-c", clone / "constraints.txt", clone, example, cwd=clone
    )
    assert installed.returncode == 0, installed.stderr
    listed = run(bin_folder / "grader", "--course", clone, "plugins", cwd=tmp_path)
    assert re.search(rf"{tmp_path}/venv/\S+/lectern/plugin.py", listed.stdout), listed.stdout
    tests = shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    done = run(bin_folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
