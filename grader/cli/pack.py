"""`grader pack`: the course's own hand-ins as archives, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.course import find
from grader.cli.echo import echo
from grader.errors import CourseError, ExitCode, UsageError
from grader.files import obstacle, write_whole


@click.command("pack")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--check", is_flag=True, help="Write nothing; end with 4 if an archive is stale.")
@click.pass_context
def command(context: click.Context, patterns: tuple[str, ...], check: bool) -> int:
    """Pack tests/submissions/NAME/ as submissions/NAME.tar.gz, for all whose names match a PATTERN.

    Only what is not yet what its sources say is written. Nothing in an archive tells when, where and by
    whom it was made, so that packing again changes nothing.

    Exit codes: 0 packed, 2 usage, 4 the sources are wrong, or with --check an archive is stale.
    """
    return pack(find(context).folder, patterns, check=check)


def pack(course: Path, patterns: tuple[str, ...] = (), *, check: bool = False) -> int:
    """Write stale archives of a course and say so, or only name them and return 4 if there are any.

    Raises:
        UsageError: no hand-in matches.
        CourseError: there are none, their sources are wrong, or an archive cannot be written.
    """
    from fnmatch import fnmatchcase

    from grader.config.problem import suggestion
    from grader.packing.hand_ins import orphans, sources_in, stale
    from grader.trials import ARCHIVES, SOURCES

    archives, known = course / ARCHIVES, sources_in(course / SOURCES)
    if not known and not check:
        raise CourseError(f"{SOURCES}: has no hand-ins; make a folder there with expected.yaml and files/")
    names = [source.name for source in known]
    sources = [s for s in known if not patterns or any(fnmatchcase(s.name, one) for one in patterns)]
    if patterns and not sources:
        asked = " ".join(patterns)
        raise UsageError(f"{asked}: no hand-in is called so; {suggestion(asked, names)}")
    outdated = stale(sources, archives)
    for name, content in outdated.items():
        if not check:
            _write(archives / name, content)
        echo(f"{ARCHIVES}/{name}: {'stale; run grader pack' if check else 'written'}")
    left = orphans(known, archives) if not patterns else ()
    for name in left:
        echo(f"{ARCHIVES}/{name}: has no source; remove it or add its sources")
    return ExitCode.COURSE if check and (outdated or left) else ExitCode.GRADED


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise obstacle(path, error, kind=CourseError) from None
