"""The course: a folder with `course.yaml`, and the search for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, TypeAlias

from grader.config.decode import DecodeState, keys_of, read_keys
from grader.config.extensions import Extensions, ReadExtensions, read_extensions
from grader.config.problem import Problem, suggestion
from grader.config.roster import read_roster
from grader.config.type_words import quoted
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError, UsageError
from grader.extras import install_command
from grader.files import is_file, show_path
from grader.model.options import option
from grader.model.roster import Roster

FILE = "course.yaml"
VARIABLE = "GRADER_COURSE"
PlatformKeys: TypeAlias = Callable[[Path], Mapping[str, type]]
"""Returns, for a course's folder, the dataclass of a platform's keys by the name of the platform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseKeys:
    """Keys of `course.yaml`."""

    title: str = option("The course, as students know it.")
    time_zone: str = option(
        "The IANA name of the time zone that dates are shown in; JSON has UTC.", default="UTC"
    )
    min_isolation: str = option(
        "The weakest sandbox that may run a submission; empty for any but `process`.", default=""
    )
    extensions: Any = option(
        "More time: by student or team, then by assignment; or the name of a CSV file that says so.",
        default_factory=dict,
    )
    roster: str = option(
        "A CSV file beside it: the students, and their ids on learning platforms.", default=""
    )
    engines: Any = option(
        "Settings of engines, by the name that `--engine` takes; they go before those of the site.",
        default_factory=dict,
    )


def keys_with(platforms: Mapping[str, type]) -> type[CourseKeys]:
    """Return `CourseKeys` with a key for each platform."""
    reserved = keys_of(CourseKeys)
    more = [
        (name, options | None, option((options.__doc__ or "").partition("\n\n")[0], default=None))
        for name, options in platforms.items()
        if name not in reserved
    ]
    return make_dataclass("CourseKeys", more, bases=(CourseKeys,), frozen=True, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A folder of assignments and rubrics, with their common settings."""

    folder: Path
    """Absolute."""
    title: str
    time_zone: str = "UTC"
    min_isolation: str = ""
    extensions: Extensions = field(default_factory=dict)
    """As they are written; `extensions_of` has them by the names of submissions."""
    extension_places: Mapping[str, str] = field(default_factory=dict)
    """By student or team, the line of the CSV file that has the extension, if one does."""
    roster: Roster = field(default_factory=Roster)
    """Without students if the course names none."""
    tables: tuple[Path, ...] = ()
    """The files that `course.yaml` names: the roster and the list of extensions."""
    platforms: Mapping[str, Any] = field(default_factory=dict)
    """By name, the options of the learning platforms that the course is on."""

    @property
    def zone(self) -> tzinfo:
        """The time zone of the course."""
        if self.time_zone == "UTC":
            return UTC
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.time_zone)

    def extensions_of(self, assignment: str) -> Mapping[str, float]:
        """Return the extensions of an assignment in seconds, by student, or by team as `alice+bob`.

        A team may be named by its name on the roster or by its members in any order; the longest counts.
        """
        extensions: dict[str, float] = {}
        for who, by_assignment in self.extensions.items():
            if assignment in by_assignment:
                party = self.roster.party(who)
                extensions[party] = max(extensions.get(party, 0.0), by_assignment[assignment])
        return extensions

    def nobody(self, who: str) -> str:
        """Return why an extension's name is that of nobody on the roster; empty if it is, or without one."""
        names = {name for entry in self.roster.students for name in (entry.student, entry.team) if name}
        if not names or who in names:
            return ""
        if not all(member in names for member in who.split("+")):
            return f"nobody on the roster is called so; {suggestion(who, names)}"
        message = self.roster.other_team(who.split("+"))
        return f"{message}; name the team, or each student alone" if message else ""

    def extensions_for_nobody(self, assignment: str | None = None) -> tuple[str, ...]:
        """Return a line for each extension whose name is not on the roster; none without a roster.

        With an assignment, only those of it.
        """
        lines: list[str] = []
        problems: list[Problem] = []
        for who, by_assignment in self.extensions.items():
            message = self.nobody(who) if assignment in (None, *by_assignment) else ""
            if not message:
                continue
            if place := self.extension_places.get(who):
                lines.append(f"{place}: student: {quoted(who)}: {message}")
            else:
                problems.append(Problem(path=("extensions", who), message=message))
        return (*(read_yaml(self.folder / FILE).lines(problems) if problems else ()), *lines)

    def rubric_path(self, name: str) -> Path:
        """Return the path of a rubric, whether it exists or not."""
        return self.folder / "rubrics" / f"{name}.yaml"

    def rubrics(self) -> tuple[Path, ...]:
        """Return all rubric files, by name.

        Raises:
            CourseError: a file has the suffix .yml, under which no rubric is looked for.
        """
        folder = self.folder / "rubrics"
        if misnamed := sorted(folder.glob("*.yml")):
            raise CourseError(*map(suffix_objection, misnamed))
        return tuple(sorted(folder.glob("*.yaml")))

    def rubric_for(self, assignment: str, named: str | None = None) -> Path:
        """Find a rubric by file or by name, or else the one named like the assignment.

        Raises:
            UsageError: there is no such rubric.
            CourseError: none is named, and the assignment has none of its own.
        """
        if named is None:
            path = self.rubric_path(assignment)
            if is_file(path.with_suffix(".yml")):
                raise CourseError(suffix_objection(path.with_suffix(".yml")))
            if not is_file(path):
                grading = self._rubrics_that_grade(assignment)
                names = " or ".join(other.stem for other in grading)
                rename = f"{show_path(grading[0])} grades it; rename that, or " if len(grading) == 1 else ""
                advice = f"{rename}give --rubric {names}" if names else "write one, or name one by --rubric"
                raise CourseError(f"{show_path(path)}: there is no rubric for {assignment}; {advice}")
            return path
        for path in (self.rubric_path(named), Path(named)):
            if is_file(path):
                return path
        names = ", ".join(path.stem for path in self.rubrics())
        raise UsageError(f"--rubric {named}: there is no such name or file; there are {names}")

    def _rubrics_that_grade(self, assignment: str) -> tuple[Path, ...]:
        """Return the rubrics that say they grade an assignment, under whichever names."""
        data = {path: read_yaml(path).data for path in self.rubrics()}
        return tuple(
            path
            for path, keys in data.items()
            if isinstance(keys, Mapping) and keys.get("assignment") == assignment
        )

    def assignment_folder(self, name: str) -> Path:
        """Return the folder of an assignment, whether it exists or not."""
        return self.folder / "assignments" / name


def find_course(
    explicit: Path | None,
    environment: Mapping[str, str],
    start: Path,
    platforms: PlatformKeys = lambda _folder: {},
) -> Course:
    """Find the course: `explicit`, else the one of GRADER_COURSE, else the nearest upwards from `start`.

    Raises:
        UsageError: there is none.
        CourseError: its `course.yaml` is wrong; with every problem of the file.
    """
    return load_course(find_folder(explicit, environment, start), platforms)


def find_folder(explicit: Path | None, environment: Mapping[str, str], start: Path) -> Path:
    """Find the folder of the course that `find_course` loads.

    Raises:
        UsageError: there is none.
        CourseError: its file is called `course.yml`.
    """
    if explicit is not None:
        return _named(explicit, "--course")
    if named := environment.get(VARIABLE):
        return _named(Path(named), VARIABLE)
    start = start.absolute()
    for folder in (start, *start.parents):
        if is_file(folder / FILE):
            return folder
        _refuse_other_suffix(folder)
    advice = f"go into the course's folder, give --course FOLDER or set {VARIABLE}"
    raise UsageError(f"{show_path(start)}: no {FILE} here or above; {advice}")


def load_course(folder: Path, platforms: PlatformKeys = lambda _folder: {}) -> Course:
    """Load the course in a folder; `platforms` is called only for keys that `CourseKeys` lacks.

    Raises:
        CourseError: its `course.yaml` is wrong; with every problem of the file.
    """
    course, problems = read_course(folder, platforms)
    if problems:
        raise CourseError(*problems, *course.extensions_for_nobody())
    return course


def read_course(folder: Path, platforms: PlatformKeys = lambda _folder: {}) -> tuple[Course, tuple[str, ...]]:
    """Read the course in a folder with every problem of its `course.yaml`, one line each.

    Where it has problems the course is for further checks alone: what is wrong has its default there.
    """
    document = read_yaml(folder / FILE)
    reading = DecodeState(problems=[*document.problems])
    kind = CourseKeys
    values: dict[str, Any] = {}
    if document.data is not None or not document.problems:
        if isinstance(document.data, Mapping) and not document.data.keys() <= keys_of(CourseKeys).keys():
            kind = keys_with(platforms(folder.absolute()))
        values = read_keys(keys_of(kind), document.data, (), reading)
    keys = kind(**{"title": "", **values})
    time_zone = keys.time_zone
    if message := zone_objection(time_zone):
        reading.wrong(("time_zone",), message)
        time_zone = "UTC"
    extensions = read_extensions(keys.extensions, folder) if keys.extensions else ReadExtensions()
    roster, mistakes, elsewhere = read_roster(folder / keys.roster) if keys.roster else (Roster(), (), ())
    course = Course(
        folder=folder.absolute(),
        title=keys.title,
        time_zone=time_zone,
        min_isolation=keys.min_isolation,
        extensions=extensions.extensions,
        extension_places=extensions.places,
        roster=roster,
        tables=tuple(
            folder.absolute() / table
            for table in (keys.roster, keys.extensions)
            if table and isinstance(table, str)
        ),
        platforms={
            name: options
            for name in keys_of(kind).keys() - keys_of(CourseKeys).keys()
            if (options := getattr(keys, name)) is not None
        },
    )
    problems = document.lines([*reading.problems, *extensions.problems, *mistakes])
    return course, (*problems, *extensions.lines, *elsewhere)


def _named(folder: Path, by: str) -> Path:
    if not is_file(folder / FILE):
        _refuse_other_suffix(folder)
        raise UsageError(f"{show_path(folder)}: holds no {FILE}; {by} takes the folder of a course")
    return folder


def _refuse_other_suffix(folder: Path) -> None:
    """Refuse a `course.yml`, which nothing reads.

    Raises:
        CourseError: there is one.
    """
    if is_file(other := (folder / FILE).with_suffix(".yml")):
        raise CourseError(f"{show_path(other)}: a course is described by {FILE}; rename it")


def suffix_objection(rubric: Path) -> str:
    """Return the message on a rubric with the suffix .yml."""
    return f"{show_path(rubric)}: rubrics end in .yaml; rename it"


def zone_objection(name: str) -> str:
    """Return an error message if this is no time zone; empty if it is one."""
    if name == "UTC":
        return ""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        names = zoneinfo.available_timezones()
        if not names:
            return f"this machine has no time zone data; {install_command('tzdata')}, or write UTC"
        names = {zone for zone in names if not zone.startswith("Etc/")}  # Etc/GMT+1 is the hour of UTC-1
        city = name.rpartition("/")[2].replace(" ", "_").casefold()
        same = sorted(zone for zone in names if zone.rpartition("/")[2].casefold() == city)
        if same:
            advice = f"did you mean {' or '.join(same[:2])}?"
        elif re.search(r"[\d+:]", name) or ("/" not in name and name.isupper()):  # +01:00, or an abbreviation
            advice = "write the zone of a city, such as Europe/Berlin"
        else:
            advice = suggestion(name, names)
        return f"no time zone is called {quoted(name)}; {advice}"
    return ""
