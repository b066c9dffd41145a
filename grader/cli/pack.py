"""`grader pack`: reproducible archives of the course's own submissions, and of what students get."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.course import find
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, tell_line
from grader.errors import CourseError, ExitCode, UsageError
from grader.files import obstacle, write_whole

if TYPE_CHECKING:
    from grader.config.course import Course

HANDOUTS = "handouts"
"""The folder of the archives for students."""


@click.command("pack")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--handout", is_flag=True, help="Pack what students get of each assignment.")
@click.option("--given", is_flag=True, help="With --handout: the files of given/ as well.")
@click.option("--check", is_flag=True, help="Write nothing; end with 4 if an archive is stale.")
@SUMS_AS_JSON
@click.pass_context
def command(
    context: click.Context, patterns: tuple[str, ...], handout: bool, given: bool, check: bool, as_json: bool
) -> int:
    """Pack tests/submissions/NAME/ as submissions/NAME.tar.gz, for all whose names match a PATTERN.

    With --handout pack handout.md and starter/ of each assignment as handouts/NAME.zip: what students get,
    and nothing of the reference, the oracle, the inputs or the rubric.

    Only what is not yet what its sources say is written. Nothing in an archive tells when, where and by
    whom it was made, so that packing again changes nothing.

    Exit codes: 0 packed, 2 usage, 4 the sources are wrong, or with --check an archive is stale.
    """
    course = find(context)
    if handout:
        return pack_handouts(course, patterns, with_given=given, check=check, as_json=as_json)
    if given:
        raise UsageError("--given: goes with --handout")
    return pack(course.folder, patterns, check=check, as_json=as_json)


def pack_handouts(
    course: Course, patterns: tuple[str, ...], *, with_given: bool, check: bool, as_json: bool
) -> int:
    """Write the stale hand-outs of a course, or with `check` only name them and return 4 if there are any.

    What a hand-out may lack is remarked, but for `check`.

    Raises:
        UsageError: no assignment matches.
        CourseError: there are none, one has nothing to hand out, or an archive cannot be written.
    """
    from grader.config.problem import suggestion
    from grader.packing.archives import same, zip_file
    from grader.packing.handouts import handout_files, handout_remarks
    from grader.scaffold.assignment import example_lines

    folders = {
        file.parent.name: file.parent for file in sorted(course.folder.glob("assignments/*/assignment.py"))
    }
    if not folders:
        raise CourseError("assignments: has no assignments; grader new NAME begins one")
    chosen = [name for name in folders if _matches(name, patterns)]
    if not chosen:
        name = " ".join(patterns)
        raise UsageError(f"{name}: there is no assignment of that name; {suggestion(name, folders)}")
    problems: list[str] = []
    contents: dict[str, dict[str, bytes]] = {}
    for name in chosen:
        try:
            contents[name] = handout_files(folders[name], with_given=with_given)
        except CourseError as error:
            problems += error.problems
    if problems:
        raise CourseError(*problems)
    changed: dict[str, str] = {}
    now = datetime.now(UTC)
    rubrics, examples = sorted(course.folder.glob("rubrics/*.yaml")), example_lines()
    for name, files in contents.items():
        for line in () if check else handout_remarks(folders[name], files, rubrics, examples, now):
            tell_line(line)
        archive, packed = course.folder / HANDOUTS / f"{name}.zip", zip_file(files)
        if same(archive.read_bytes() if archive.is_file() else b"", packed):
            continue
        if not check:
            _write(archive, packed)
        names = ", ".join(file.removeprefix(f"{name}/") for file in files)
        state = "stale; run grader pack --handout" if check else f"written with {names}"
        changed[f"{HANDOUTS}/{archive.name}"] = state
    if as_json:
        echo_json({"stale" if check else "written": [*changed]})
    else:
        for archive_name, state in changed.items():
            echo(f"{archive_name}: {state}")
    return ExitCode.COURSE if check and changed else ExitCode.GRADED


def pack(course: Path, patterns: tuple[str, ...] = (), *, check: bool = False, as_json: bool = False) -> int:
    """Write the stale archives of a course, or with `check` only name them and return 4 if there are any.

    What lies beside the files of a submission by mistake is remarked, but for `check`.

    Raises:
        UsageError: no submission matches.
        CourseError: there are none, their sources are wrong, or an archive cannot be written.
    """
    from grader.config.problem import suggestion
    from grader.packing.sources import EXPECTED, not_packed
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
    for line in () if check else chain.from_iterable(map(not_packed, chosen)):
        tell_line(line)
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
