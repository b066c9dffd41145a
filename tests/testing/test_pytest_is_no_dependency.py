"""The kits need pytest, grader does not: who installs grader alone gets none."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import grader

PACKAGE = Path(grader.__file__).parent
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_pytest_is_imported_by_the_kits_and_by_what_runs_a_students_tests_alone():
    importing = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] in {"pytest", "_pytest"} for name in names):
                importing.add(file.relative_to(PACKAGE).as_posix())
    names = ("__init__", "checks", "engines", "results", "sandboxes", "worksheets")
    kits = {f"testing/{name}.py" for name in names}
    assert importing == kits | {"subject/tools/run_tests.py"}


def test_pytest_is_no_base_dependency():
    base = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    assert not any(name.startswith("pytest") for name in base)
