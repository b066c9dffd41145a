"""Settings of engines: a site's file says what its cluster is like, and `course.yaml` what a course needs.

The site's file is that of GRADER_SITE, or else `~/.config/grader/site.yaml` or `/etc/grader/site.yaml`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.config.course import FILE as COURSE_FILE
from grader.config.decode import decode
from grader.config.problem import Problem, suggestion
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError, UsageError
from grader.files import is_file

VARIABLE = "GRADER_SITE"
KEY = "engines"


def engine_options(course: Path | None, engine: str, kinds: Mapping[str, type]) -> Any:
    """Return the settings of one engine: the course's, and the site's where the course has none.

    Args:
        course: the course's folder; None for the site's alone.
        engine: the engine's name.
        kinds: the dataclass of each engine's settings, by name.

    Raises:
        CourseError, UsageError: a file is wrong; with every problem of that file.
    """
    merged: dict[str, Any] = {}
    for file, error in _files(course):
        document = read_yaml(file)
        if document.is_empty and error is UsageError:  # no key of a site's file is required
            continue
        problems = [*document.problems]
        if not problems:  # what cannot be read has no keys that could be wrong
            problems += _site_problems(document.data) if error is UsageError else ()
            problems += engine_problems(document.data, kinds)
        if problems:
            raise error(*document.lines(problems))
        settings: Any = document.data.get(KEY) or {}
        merged = _merged(merged, settings.get(engine) or {})
    options: Any
    options, mistakes = decode(kinds[engine], merged)
    if options is None:  # each file is right, and both together are not
        raise UsageError(*(f"{KEY}: {engine}: {mistake}" for mistake in mistakes))
    return options


def _site_problems(data: Any) -> Iterator[Problem]:
    """Yield the keys of a site's file that nobody reads."""
    for key in data if isinstance(data, Mapping) else ():
        if key != KEY:
            yield Problem(path=(key,), message=f"unknown key; {suggestion(str(key), [KEY])}")


def engine_problems(data: Any, kinds: Mapping[str, type]) -> Iterator[Problem]:
    """Yield what is wrong with the settings of engines in the data of a file."""
    if not isinstance(data, Mapping):
        yield Problem(path=(), message="must be a mapping")
        return
    settings = data.get(KEY) or {}
    if not isinstance(settings, Mapping):
        yield Problem(path=(KEY,), message="must be a mapping of engines to their settings")
        return
    for name, keys in settings.items():
        if name not in kinds:
            message = f"there is no engine of that name; {suggestion(str(name), kinds)}"
            yield Problem(path=(KEY, name), message=message)
        elif keys is not None:
            for mistake in decode(kinds[name], keys)[1]:
                yield Problem(path=(KEY, name, *mistake.path), message=mistake.message)


def site_file() -> Path | None:
    """Return the site's file; None if there is none.

    Raises:
        UsageError: GRADER_SITE names one that is not there.
    """
    if explicit := os.environ.get(VARIABLE):
        if not is_file(Path(explicit)):
            raise UsageError(f"{VARIABLE}={explicit}: there is no such file; unset it, or name another one")
        return Path(explicit)
    of_user = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "grader" / "site.yaml"
    return next((file for file in (of_user, Path("/etc/grader/site.yaml")) if is_file(file)), None)


def _files(course: Path | None) -> Iterator[tuple[Path, type[CourseError] | type[UsageError]]]:
    if file := site_file():
        yield file, UsageError
    if course is not None and is_file(course / COURSE_FILE):
        yield course / COURSE_FILE, CourseError


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings key by key, mappings in them likewise; any other value replaces the one below."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
