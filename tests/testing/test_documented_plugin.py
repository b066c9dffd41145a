"""The exporter of docs/how-to/own-exporter.md, installed as it stands there: its command and its tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "own-exporter.md"
FILES = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(), re.DOTALL))
GRADER = str(Path(sys.executable).with_name("grader"))


@pytest.fixture
def site(tmp_path):
    """The distribution as an installer would lay it down."""
    folder = tmp_path / "site"
    info = folder / "lectern-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lectern\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[grader]\nlectern = lectern.plugin\n")
    for name, code in FILES.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)
    return folder


def run(*command, site, cwd):
    """Outside every course."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPATH": str(site)}
    return subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )


def test_it_is_listed_with_our_own_and_explains_itself(site, tmp_path):
    done = run(GRADER, "export", "--help", site=site, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    listed = re.findall(r"^  ([a-z]+) ", done.stdout.partition("Commands:")[2], re.MULTILINE)
    assert listed == ["csv", "json", "backup", "canvas", "moodle", "gradescope", "lectern"]
    done = run(GRADER, "export", "lectern", "--help", site=site, cwd=tmp_path)
    assert "into the table that Lectern gives out" in " ".join(done.stdout.split())


def test_its_own_tests_hold_every_promise(site, tmp_path):
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", site=site, cwd=site)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^2\d passed in", done.stdout, re.MULTILINE)


def test_a_mistake_in_it_is_told_with_what_was_seen_and_what_should_be(site):
    file = site / "lectern" / "worksheet.py"
    file.write_text(file.read_text().replace("rules)\n", "rules.__class__(overwrite=True))\n"))
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", site=site, cwd=site)
    assert done.returncode == 1
    assert "test_a_grade_that_is_there_is_left_and_named" in done.stdout
    assert re.search(r"^E +\+ ann,10.00,7$", done.stdout, re.MULTILINE)
