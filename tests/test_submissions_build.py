"""The archives in submissions/ are what their sources say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grader.packing.pdf import pdf
from grader.packing.submissions import orphans, sources_in, stale

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sources_in(ROOT / "tests" / "submissions")
ARCHIVES = ROOT / "submissions"


def test_the_archives_of_this_repository_are_what_their_sources_say():
    assert sorted(stale(SOURCES, ARCHIVES)) == []
    assert orphans(SOURCES, ARCHIVES) == ()


def test_the_script_packs_this_repository_from_anywhere(tmp_path):
    script = ROOT / "scripts" / "build_submissions.py"
    done = subprocess.run(
        [sys.executable, script, "--check", "alice"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_report_of_the_reference_is_what_its_text_says():
    folder = ROOT / "assignments" / "cdp_hw1" / "reference"
    assert (folder / "hw1.pdf").read_bytes() == pdf((folder / "hw1.txt").read_text())
