"""`grader pack`: reproducible archives of the course's own submissions."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.course import find
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json
from grader.errors import CourseError, ExitCode, UsageError
from grader.files import obstacle, write_whole


@click.command("pack")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--check", is_flag=True, help="Write nothing; end with 4 if an archive is stale.")
@SUMS_AS_JSON
@click.pass_context
def command(context: click.Context, patterns: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Pack tests/submissions/NAME/ as submissions/NAME.tar.gz, for all whose names match a PATTERN.

    Only what is not yet what its sources say is written. Nothing in an archive tells when, where and by
    whom it was made, so that packing again changes nothing.

    Exit codes: 0 packed, 2 usage, 4 the sources are wrong, or with --check an archive is stale.
    """
    return pack(find(context).folder, patterns, check=check, as_json=as_json)


def pack(course: Path, patterns: tuple[str, ...] = (), *, check: bool = False, as_json: bool = False) -> int:
    """Write the stale archives of a course, or with `check` only name them and return 4 if there are any.

    Raises:
        UsageError: no submission matches.
        CourseError: there are none, their sources are wrong, or an archive cannot be written.
    """
    from grader.config.problem import suggestion
    from grader.packing.sources import EXPECTED
    from grader.packing.submissions import orphans, sources_in, stale, without_expectation
    from grader.selftest.cases import ARCHIVES
    from grader.selftest.expectations import SOURCES

    archives, sources = course / ARCHIVES, sources_in(course / SOURCES)
    lacking = [name for name in without_expectation(course / SOURCES) if _matches(name, patterns)]
    if lacking and not check:
        missing = f"has no {EXPECTED}; say there what it must earn"
        raise CourseError(*(f"{SOURCES}/{name}: {missing}" for name in lacking))
    if not sources and not check:
        raise CourseError(f"{SOURCES}: has no submissions; make a folder there with expected.yaml and files/")
    names = [source.name for source in sources]
    chosen = [source for source in sources if _matches(source.name, patterns)]
    if patterns and not chosen:
        name = " ".join(patterns)
        raise UsageError(f"{name}: there is no submission of that name; {suggestion(name, names)}")
    outdated = stale(chosen, archives)
    for name, content in () if check else outdated.items():
        _write(archives / name, content)
    changed = [f"{ARCHIVES}/{name}" for name in outdated]
    left = [f"{ARCHIVES}/{name}" for name in orphans(sources, archives)] if not patterns else []
    if as_json:
        echo_json({"stale" if check else "written": changed, "without_source": left})
    else:
        for name in changed:
            echo(f"{name}: {'stale; run grader pack' if check else 'written'}")
        for name in left:
            echo(f"{name}: has no source; remove it or add its sources")
    return ExitCode.COURSE if check and (outdated or left) else ExitCode.GRADED


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise obstacle(path, error, kind=CourseError) from None


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    from fnmatch import fnmatchcase

    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
