"""A new course, file by file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from grader.scaffold.layout import filled

FOLDERS = ("assignments", "rubrics", "submissions", "tests/submissions", "received")
CI: Mapping[str, tuple[str, str]] = {
    "github": (".github/workflows/grade.yml", "ci/github.yml"),
    "gitlab": (".gitlab-ci.yml", "ci/gitlab-ci.yml"),
}
"""By service: the path of its workflow file in a course, and that of the template."""


def course_files(*, title: str, time_zone: str, ci: str = "") -> dict[str, str]:
    """Render the files of a new course, by path; `title` is printable, and `ci` one of `CI` or empty."""
    files = {
        "course.yaml": filled("course/course.yaml.template", title=quoted(title), time_zone=time_zone),
        "roster.csv": filled("course/roster.csv"),
        "README.md": filled("course/README.md.template", heading=" ".join(title.split())),
        ".gitignore": filled("course/gitignore"),
        ".pre-commit-config.yaml": filled("course/pre-commit-config.yaml"),
    }
    return files | (workflow_file(ci) if ci else {})


def workflow_file(ci: str) -> dict[str, str]:
    """Render the workflow file for one of `CI`, by path."""
    path, template = CI[ci]
    return {path: filled(template)}


def quoted(text: str) -> str:
    """Return a printable text as YAML and Python both read it."""
    return json.dumps(text, ensure_ascii=False)
