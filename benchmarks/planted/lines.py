"""A file of JSON lines that a stopped command continues: what it holds is not done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Lines:
    """The lines of one file; each is on the disk once it was appended."""

    def __init__(self, file: Path) -> None:
        """Read what is there; a last line that was cut off is left out, and cut off whole."""
        self._file = file
        self.all: list[Line] = []
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        whole, _, torn = text.rpartition("\n")
        self.all += map(json.loads, whole.splitlines())
        if torn:
            file.write_text(f"{whole}\n" if whole else "", encoding="utf-8")

    def append(self, line: Line) -> None:
        """Add one."""
        self.all.append(line)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def holds(self, told: Line) -> bool:
        """Whether a line says all of this, and perhaps more."""
        return any(told.items() <= line.items() for line in self.all)
