"""Archives of the course's own submissions: builds them and finds stale ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.errors import CourseError
from grader.files import show_path
from grader.packing.archives import FORMATS, contents, same
from grader.packing.sources import EXPECTED, expected, files_of


def sources_in(folder: Path) -> tuple[Path, ...]:
    """Return the folders of all submissions below `tests/submissions`, by name."""
    return tuple(sorted(file.parent for file in folder.glob(f"*/{EXPECTED}")))


def without_expectation(folder: Path) -> tuple[str, ...]:
    """Return the names of folders that hold what a student hands in, and do not say what it must earn."""
    sources = sources_in(folder)
    return tuple(sorted(files.parent.name for files in folder.glob("*/files") if files.parent not in sources))


def build(source: Path) -> tuple[str, bytes]:
    """Build the archive of one submission; return its file name and bytes.

    Raises:
        CourseError: its folder does not say what it consists of, or asks for an unknown kind of archive.
    """
    suffix = str(expected(source).get("archive", "tar.gz"))
    if suffix not in FORMATS:
        kinds = ", ".join(FORMATS)
        raise CourseError(f"{show_path(source / EXPECTED)}: archive: {suffix}: must be one of {kinds}")
    return f"{source.name}.{suffix}", FORMATS[suffix](files_of(source))


def stale(sources: Iterable[Path], archives: Path) -> dict[str, bytes]:
    """Return the right bytes of each archive that differs from its sources, by name.

    Raises:
        CourseError: sources are wrong, with every one of them.
    """
    outdated: dict[str, bytes] = {}
    problems: list[str] = []
    for source in sources:
        try:
            name, content = build(source)
        except CourseError as error:
            problems += error.problems
            continue
        archive = archives / name
        if not same(archive.read_bytes() if archive.is_file() else b"", content):
            outdated[name] = content
    if problems:
        raise CourseError(*dict.fromkeys(problems))
    return outdated


def outdated(source: Path, archive: Path) -> bool:
    """Tell whether an archive exists and differs from its source; False if either cannot be read."""
    try:
        return archive.is_file() and contents(archive.read_bytes()) not in (None, files_of(source))
    except (CourseError, OSError):
        return False


def orphans(sources: Iterable[Path], archives: Path) -> tuple[str, ...]:
    """Return the names of archives that no source builds."""
    built = {f"{source.name}.{expected(source).get('archive', 'tar.gz')}" for source in sources}
    return tuple(
        sorted(path.name for path in archives.glob("*") if path.is_file() and path.name not in built)
    )
