"""Builds submissions/ from tests/submissions: what `grader pack` does, wherever it is called."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.cli.main import main

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    sys.argv = ["grader", "--course", str(ROOT), "pack", *sys.argv[1:]]
    main()
