"""The files that a course and an assignment begin with."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

import pytest

from grader.scaffold import assignment, course, layout
from grader.scaffold.assignment import assignment_files, names
from grader.scaffold.course import CI, course_files

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted(
    path.relative_to(layout.TEMPLATES).as_posix() for path in layout.TEMPLATES.rglob("*") if path.is_file()
)


def test_every_template_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["grader.scaffold"]
    assert len(TEMPLATES) > 12
    for name in TEMPLATES:
        path = PurePosixPath("templates", name)
        assert any(
            path.match(one) and len(path.parts) == len(PurePosixPath(one).parts) for one in patterns
        ), name


def test_every_template_is_used(monkeypatch):
    used: set[str] = set()

    def noted(template: str, **values: str) -> str:
        used.add(template)
        return layout.filled(template, **values)

    monkeypatch.setattr(course, "filled", noted)
    monkeypatch.setattr(assignment, "filled", noted)
    for ci in CI:
        course_files(title="A course", time_zone="UTC", ci=ci)
    assignment_files(names("vectors"))
    assert used == set(TEMPLATES)


@pytest.mark.parametrize("named", [names("vectors"), names("hw_1", "a_long_module_name.and_a_function")])
def test_python_files_compile_and_no_line_is_too_long(named):
    files = assignment_files(named) | course_files(title="A course", time_zone="UTC")
    for path, text in files.items():
        assert text.endswith("\n"), path
        assert "@@" not in text, path
        if path.endswith(".py"):
            compile(text, path, "exec")
            assert max(map(len, text.splitlines())) <= 110, path


def test_files_that_cannot_be_written_leave_nothing_behind(tmp_path):
    (tmp_path / "b").write_text("a file where a folder is needed")
    with pytest.raises(layout.UsageError, match="cannot be written"):
        layout.lay_out(tmp_path, {"a/one.txt": "1", "b/two.txt": "2"})
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["b"]
    assert (tmp_path / "b").read_text() == "a file where a folder is needed"


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path):
    (tmp_path / "one.txt").symlink_to(tmp_path / "elsewhere.txt")
    with pytest.raises(layout.UsageError, match=r"one.txt: cannot be written \(File exists\)"):
        layout.lay_out(tmp_path, {"one.txt": "1"})
    assert not (tmp_path / "elsewhere.txt").exists()
