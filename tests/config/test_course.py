from __future__ import annotations

from pathlib import Path

import pytest

from grader.config.course import Course, find_course
from grader.errors import CourseError, UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, a course."""
    (tmp_path / "course.yaml").write_text("title: Parallel programming\n")
    (tmp_path / "rubrics" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_course_is_found_upwards_from_where_one_is(folder: Path) -> None:
    found = find_course(None, {}, folder / "rubrics" / "deep")
    assert found == Course(folder=folder, title="Parallel programming", time_zone="UTC", min_isolation="")


def test_the_option_goes_before_the_variable_and_the_variable_before_the_folder(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "course.yaml").write_text(f"title: {name}\n")
    environment = {"GRADER_COURSE": str(folder / "b")}
    assert find_course(Path("a"), environment, folder).title == "a"
    assert find_course(Path("a"), environment, folder).folder == folder / "a"
    assert find_course(None, environment, folder).title == "b"
    assert find_course(None, {"GRADER_COURSE": ""}, folder).title == "Parallel programming"


def test_no_course_is_one_line_that_says_what_to_do(folder: Path) -> None:
    (folder / "course.yaml").unlink()
    with pytest.raises(UsageError) as caught:
        find_course(None, {}, folder / "rubrics")
    line = (
        "rubrics: no course.yaml here or above; go into the course's folder, give "
        "--course FOLDER or set GRADER_COURSE"
    )
    assert caught.value.problems == (line,)


def test_a_course_of_another_suffix_is_named(folder: Path) -> None:
    (folder / "course.yaml").rename(folder / "course.yml")
    for named in (None, folder):
        with pytest.raises(CourseError) as caught:
            find_course(named, {}, folder / "rubrics")
        assert caught.value.problems == ("course.yml: a course is described by course.yaml; rename it",)


def test_a_folder_that_was_named_must_be_a_course(folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_course(Path("rubrics"), {}, folder)
    assert caught.value.problems == ("rubrics: holds no course.yaml; --course takes the folder of a course",)
    with pytest.raises(UsageError) as caught:
        find_course(None, {"GRADER_COURSE": "rubrics"}, folder)
    assert caught.value.problems == (
        "rubrics: holds no course.yaml; GRADER_COURSE takes the folder of a course",
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("time_zone: UTC\n", ("course.yaml:1:1: title: missing; give text",)),
        ("title: x\ntimezone: UTC\n", ("course.yaml:2:1: timezone: unknown key; did you mean time_zone?",)),
        (
            "title: x\ntime_zone: Asia/Jerusalm\n",
            (
                (
                    'course.yaml:2:1: time_zone: no time zone is called "Asia/Jerusalm"; did you '
                    "mean Asia/Jerusalem?"
                ),
            ),
        ),
        (
            "title: x\ntime_zone: berlin\n",
            ('course.yaml:2:1: time_zone: no time zone is called "berlin"; did you mean Europe/Berlin?',),
        ),
        (
            "title: x\ntime_zone: +01:00\n",
            (
                'course.yaml:2:1: time_zone: no time zone is called "+01:00"; write the zone of a city, such '
                "as Europe/Berlin",
            ),
        ),
        *(
            (
                f"title: x\ntime_zone: {name}\n",
                (f'course.yaml:2:1: time_zone: no time zone is called "{name}"; write the zone of a city, ',),
            )
            for name in ("GMT+1", "gmt-5", "UTC+01:00", "Etc/GMT+20", "CEST")
        ),
        ("title: x\ntime_zone: ../etc\n", ('course.yaml:2:1: time_zone: no time zone is called "../etc"; ',)),
        ("title: x\ntime_zone: Asia\n", ('course.yaml:2:1: time_zone: no time zone is called "Asia"; ',)),
        (
            "title: x\ntitle: y\nmin_isolation: 3\n",
            (
                "course.yaml:2:1: title: given twice, first in line 1; keep one",
                "course.yaml:3:1: min_isolation: must be text, got 3; put it in quotes",
            ),
        ),
        ("title: [", ("course.yaml:2:1: not YAML (",)),
        ("- title", ("course.yaml:1:1: must be a mapping, got a list",)),
        ("", ("course.yaml: is empty; write at least its required keys",)),
    ],
)
def test_mistakes_of_course_yaml_are_located(folder: Path, text: str, lines: tuple[str, ...]) -> None:
    (folder / "course.yaml").write_text(text)
    with pytest.raises(CourseError) as caught:
        find_course(None, {}, folder)
    assert len(caught.value.problems) == len(lines)
    for problem, line in zip(caught.value.problems, lines, strict=True):
        assert problem.startswith(line)


def test_a_machine_without_time_zones_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zoneinfo

    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    zoneinfo.reset_tzpath(to=[])
    try:
        zoneinfo.ZoneInfo.clear_cache()
        (folder / "course.yaml").write_text("title: x\ntime_zone: Nowhere/Here\n")
        if zoneinfo.available_timezones():
            pytest.skip("the package tzdata is installed")
        with pytest.raises(CourseError, match=r"no time zone data; .* -m pip install tzdata, or write UTC"):
            find_course(None, {}, folder)
    finally:
        zoneinfo.reset_tzpath()


def test_a_course_knows_where_its_things_are(folder: Path) -> None:
    (folder / "rubrics" / "b.yaml").touch()
    (folder / "rubrics" / "a.yaml").touch()
    course = find_course(None, {}, folder)
    assert course.rubrics() == (folder / "rubrics" / "a.yaml", folder / "rubrics" / "b.yaml")
    assert course.rubric_path("a") == folder / "rubrics" / "a.yaml"
    assert course.assignment_folder("hw1") == folder / "assignments" / "hw1"


def test_a_rubric_of_another_name_that_grades_an_assignment_is_named(folder: Path) -> None:
    course = find_course(None, {}, folder)

    def objection() -> str:
        with pytest.raises(CourseError) as caught:
            course.rubric_for("hw1")
        (line,) = caught.value.problems
        return line.removeprefix("rubrics/hw1.yaml: there is no rubric for hw1; ")

    (folder / "rubrics" / "hw2.yaml").write_text("assignment: hw2\n")
    (folder / "rubrics" / "broken.yaml").write_text("- [")
    assert objection() == "write one, or name one by --rubric"
    (folder / "rubrics" / "hw1a.yaml").write_text("assignment: hw1\n")
    assert objection() == "rubrics/hw1a.yaml grades it; rename that, or give --rubric hw1a"
    (folder / "rubrics" / "hw1b.yaml").write_text("assignment: hw1\n")
    assert objection() == "give --rubric hw1a or hw1b"
