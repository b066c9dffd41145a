"""A reader who follows a page literally: writes its files and types its commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
FILE = re.compile(
    r"`((?:(?:assignments|rubrics|tests)/[\w./]+|course|roster)\.(?:py|yaml|csv|cpp)|[\w/]+/Makefile)`"
)
BLOCK = re.compile(r"([^\n]*(?:\n[^\n]+)*)\n\n```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILES = ("python", "yaml", "csv", "cpp", "make")
"""Languages of blocks that are a whole file, or are added to one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of commands, or the text of a file."""

    number: int
    """The number in the heading, 0 if it has none."""
    heading: str
    file: str = ""
    text: str
    added: bool = False


def steps(page: str, until: str = "") -> Iterator[Step]:
    """Yield what a page has its reader do, up to the heading `until`."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if until:
        text, heading, _ = text.partition(f"\n{until}\n")
        assert heading, f"{page} has no heading {until}"
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        numbered = re.match(r"## (\d+)\.", heading)
        number = int(numbered[1]) if numbered else 0
        for paragraph, language, block in BLOCK.findall(section):
            if language == "sh":
                for line in block.splitlines():
                    yield Step(number=number, heading=heading, text=line)
            elif language in FILES:
                files = list(dict.fromkeys(FILE.findall(paragraph)))
                assert len(files) == 1, f"{heading}: which file is this? {paragraph}"
                added = "*added at the end*" in paragraph.lower()
                yield Step(number=number, heading=heading, file=files[0], text=block, added=added)
            else:
                assert language in ("", "console"), f"{heading}: nobody tries a block of {language}"


class Reader:
    """Types what a page says, somewhere on a machine where grader is installed."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder
        self.folder = folder
        programs = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
        }

    def types(self, command: str) -> subprocess.CompletedProcess[str]:
        """Type a line in the folder where the last one ended."""
        here = self.folder / "cwd"
        done = subprocess.run(
            ["bash", "-euc", f"trap 'pwd > {here}' EXIT\n{command}"],
            cwd=self.cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.cwd = Path(here.read_text().strip())
        return done

    def writes(self, step: Step) -> None:
        """Write a file, or add to it."""
        path = self.cwd / step.file
        assert path.is_file() or not step.added, f"{step.heading}: {step.file} is not there"
        before = path.read_text() if step.added else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(before + step.text)
