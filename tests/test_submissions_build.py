"""The archives in submissions/ are what their sources say."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from html import unescape
from pathlib import Path

import pypdfium2

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


def test_the_report_of_the_reference_says_what_its_figures_give():
    html = runpy.run_path(str(ROOT / "scripts" / "cdp_hw1_report.py"))["html"]()
    pictures = html.count('<div class="screen">')
    unprinted = r'<style>.*?</style>|<title>.*?</title>|<div class="screen">.*?</div>|<[^>]*>'
    words = re.sub(unprinted, "", html, flags=re.DOTALL)
    with pypdfium2.PdfDocument(ROOT / "assignments" / "cdp_hw1" / "reference" / "hw1.pdf") as report:
        pages = [page.get_textpage().get_text_bounded() for page in report]
        images = [image for page in report for image in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE])]
    # A hyphen at which a line was broken is another character to pdfium.
    printed, expected = (re.sub(r"[\s\ufffe\x02-]", "", text) for text in ("".join(pages), unescape(words)))
    assert printed == expected
    assert len(images) == pictures == 2
