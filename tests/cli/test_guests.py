"""What others bring: plugins, check kinds and sandboxes; and that whoever is wrong is named."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest


def install(folder, name, code):
    """A distribution `name` that brings a plugin of that name, as an installer would lay it down."""
    site = folder / "site"
    info = site / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[grader]\n{name} = {name}\n")
    if code is not None:
        (site / f"{name}.py").write_text(code)
    return {"PYTHONPATH": str(site)}


REPORT = """
from grader.api import hookimpl
from grader.contracts.report import Report

class {name}(Report):
    name = "{report}"
    filename = "{report}.txt"
    def render(self, *what): return "by a guest"

@hookimpl
def grader_reports(): return [{name}]
"""


def test_an_installed_plugin_brings_a_report(course, tmp_path):
    environment = install(tmp_path, "guest", REPORT.format(name="Plain", report="plain"))
    assert course.run("run", course.submit(), **environment).returncode == 0
    assert (course.results() / "plain.txt").read_text() == "by a guest"


def test_plugins_lists_everybody_with_place_and_hooks(course, tmp_path):
    environment = install(tmp_path, "guest", REPORT.format(name="Plain", report="plain"))
    done = course.run("plugins", "--json", **environment)
    listed = json.loads(done.stdout)
    by_name = {plugin["name"]: plugin for plugin in listed["plugins"]}
    assert by_name["guest"]["hooks"] == ["grader_reports"]
    assert by_name["guest"]["where"].endswith("site/guest.py")
    assert by_name["grader_course.tiny"]["hooks"] == ["grader_assignments", "grader_checks"]
    assert by_name["grader_course.tiny"]["where"] == str(course.folder / "assignments/tiny/assignment.py")
    assert "plain" in listed["reports"]
    assert {"breaks", "matches_reference"} <= set(listed["checks"])
    assert listed["sandboxes"][0] == "bubblewrap"

    text = course.run("plugins", **environment).stdout
    assert "guest\n" in text
    assert "reports: " in text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, "plugin guest: cannot be imported: ModuleNotFoundError: No module named 'guest'"),
        ("1 / 0", "plugin guest: cannot be imported: ZeroDivisionError"),
        ("raise SystemExit(0)", "plugin guest: cannot be imported: SystemExit"),
        (REPORT.format(name="Mine", report="html"), "rename one"),
        (
            REPORT.replace("{report}.txt", "report.html").format(name="Mine", report="mine"),
            "report mine: filename: html already writes report.html; name another file",
        ),
        (REPORT.replace("grader_reports", "grader_raports").format(name="M", report="m"), "grader_raports"),
        (
            REPORT.replace("grader_reports()", "grader_reports(x)").format(name="M", report="m"),
            "plugin guest: ",
        ),
        (
            REPORT.replace("return [", "return 1 / 0 #").format(name="M", report="m"),
            "plugin guest: grader_reports",
        ),
        (
            REPORT.replace("(Report)", "").format(name="M", report="m"),
            "plugin guest: grader_reports: guest.M is not derived from grader.api.report.Report",
        ),
        (
            REPORT.replace("return [", "return [3, ").format(name="M", report="m"),
            "plugin guest: grader_reports: 3 is not derived from grader.api.report.Report",
        ),
        (
            REPORT.replace("render", "rendre").format(name="M", report="m"),
            "plugin guest: grader_reports: guest.M lacks render",
        ),
        (
            REPORT.replace("name =", "nmae =").format(name="M", report="m"),
            "plugin guest: grader_reports: guest.M lacks filename, name",
        ),
        (
            REPORT.replace("def render", "def __init__(self): 1 / 0\n    def render").format(
                name="M", report="m"
            ),
            "plugin guest: grader_reports: ZeroDivisionError",
        ),
    ],
    ids=[
        *(
            "missing",
            "raises",
            "exits",
            "collides",
            "writes ours",
            "unknown hook",
            "unknown argument",
            "answer raises",
        ),
        *("not derived", "no class", "lacks a method", "lacks a name", "cannot be made"),
    ],
)
def test_a_plugin_that_is_wrong_is_named_in_one_line(course, tmp_path, code, said):
    done = course.run("plugins", **install(tmp_path, "guest", code))
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert said in line
    assert "guest" in line or "mine" in line


def test_an_exception_of_a_plugin_is_told_as_its_own(course, tmp_path):
    raises = REPORT.replace('return "by a guest"', "return 1 / 0").format(name="Plain", report="plain")
    done = course.run("run", course.submit(), **install(tmp_path, "guest", raises))
    assert done.returncode == 4
    assert re.search(
        r"^grader: plugin: .*guest\.py:8: render: ZeroDivisionError: division by zero; tell its author",
        done.stderr,
        re.MULTILINE,
    )
    assert "Traceback" not in done.stderr


KIND = """
from dataclasses import dataclass
from grader.api import hookimpl
from grader.api.check import Award, CheckKind, Observation, Outcome, Quantity

class Counts(CheckKind):
    name = "counts"
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        pass
    def observe(self, options, context):
        seen = {"n": Quantity(value=COUNT, unit="times")}
        return Observation(item=context.item, outcome=Outcome.OBSERVED, quantities=seen, seed=context.seed)
    def award(self, options, observation, related):
        return Award(fraction=1.0, reason=f"counted {observation.quantities['n'].value}")

@hookimpl
def grader_checks(): return [Counts]
"""


def test_a_kind_whose_package_changed_is_observed_again(course, tmp_path):
    course.rubric({"id": "it", "title": "t", "points": 1, "check": "counts"})
    archive = course.submit()
    environment = install(tmp_path, "guest", KIND.replace("COUNT", "3"))
    for count, observed in (("3", 1), ("3", 1), ("44", 2)):
        (tmp_path / "site" / "guest.py").write_text(KIND.replace("COUNT", count))
        done = course.run("run", archive, **environment)
        assert done.returncode == 0, done.stderr
        assert len(course.observed()) == observed


def test_a_name_that_two_bring_is_told_with_both(course):
    twin = course.folder / "assignments/tiny/assignment.py"
    course.write("assignments/twin/assignment.py", twin.read_text().replace('name="tiny"', 'name="twin"'))
    course.write("assignments/twin/checks.py", (course.folder / "assignments/tiny/checks.py").read_text())
    done = course.run("plugins")
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert "assignments/tiny/assignment.py already brings" in line
    assert "assignments/twin/assignment.py:9: grader_checks: " in line
    assert "'breaks'" in line


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = 1\ndef f(:", ":2: not Python (invalid syntax); correct the file"),
        ("1 / 0", ":1: cannot be imported: ZeroDivisionError: division by zero; correct the file"),
        (
            "\nimport nowhere_at_all",
            ":2: nowhere_at_all is not installed here: install it, add its file to the course, "
            "or correct the name",
        ),
        ("import nunpy", ":1: no module is called nunpy; did you mean numpy?"),
        ("raise SystemExit(0)", ":1: cannot be imported: SystemExit: 0; correct the file"),
    ],
)
def test_an_assignment_that_cannot_be_imported_is_named_by_its_file_and_line(course, code, problem):
    file = course.write("assignments/tiny/assignment.py", code)
    done = course.run("run", course.submit())
    assert done.returncode == (5 if "not installed" in problem else 4)
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"{file}{problem}")


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("module", "code", "line"),
    [
        (
            "nowhere_at_all",
            5,
            "nowhere_at_all is not installed here: install it, add its file to the course, "
            "or correct the name",
        ),
        ("nunpy", 4, "no module is called nunpy; did you mean numpy?"),
    ],
)
def test_what_a_kind_of_the_course_imports_and_is_not_here_is_named(course, inside, module, code, line):
    kinds = course.folder / "assignments/tiny/checks.py"
    text = kinds.read_text()
    if inside:
        text = text.replace("raise Zero", f"import {module}; raise Zero")
    kinds.write_text(text if inside else f"import {module}\n{text}")
    course.rubric({"id": "own", "title": "o", "points": 2, "check": "breaks"})
    done = course.run("run", course.submit())
    assert done.returncode == code
    told = course.records()[1]["observation"]["note"] if inside else done.stderr.strip()
    assert re.search(rf"checks\.py:\d+: {re.escape(line)}$", told)


def test_an_error_in_a_file_beside_the_assignment_is_named_by_that_file(course):
    course.write("assignments/tiny/assignment.py", "from .beside import X\n")
    beside = course.write("assignments/tiny/beside.py", "\n\nX = (\n")
    done = course.run("run", course.submit())
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"{beside}:3: not Python ('(' was never closed); correct the file")


def test_a_hook_that_returns_one_assignment_is_told_to_return_a_list(course):
    code = """
        from grader.api import Assignment, hookimpl


        @hookimpl
        def grader_assignments():
            return Assignment(name="tiny", title="Tiny", accepts=("tiny.py",))
    """
    file = course.write("assignments/tiny/assignment.py", dedent(code).lstrip())
    done = course.run("run", course.submit())
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"{file}:4: grader_assignments: must return a list; write return [Assignment(…)]")


def test_a_check_kind_of_the_course_looks_in_the_worker_and_judges_on_the_host(course):
    course.rubric({"id": "own", "title": "o", "points": 2, "check": "kills_once", "path": "/nowhere"})
    done = course.run("run", course.submit())
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"own": 2}


@pytest.mark.usefixtures("bubblewrap")
def test_a_sandbox_that_is_not_there_leaves_its_reason_and_the_next_one_is_taken(course):
    course.sandbox("process", "ProcessSandbox", 'available = lambda self: "chosen: buy a better machine"')
    done = course.run("run", course.submit())
    assert done.returncode == 0
    run = course.records()[0]["run"]
    assert run["isolation"] == "bubblewrap"
    assert run["environment"]["stronger_layers_missing"] == ["chosen: buy a better machine"]
    assert "buy a better machine" in done.stdout


@pytest.mark.usefixtures("bubblewrap")
def test_a_sandbox_that_ends_at_once_leaves_its_complaint_and_the_next_one_is_taken(course):
    broken = """
                    def launch(self, argv, **rest):
                        return super().launch(["sh", "-c", "echo this kernel is too old >&2; exit 7"], **rest)
    """
    course.sandbox("bubblewrap", "BubblewrapSandbox", broken.strip())
    assert course.run("run", course.submit()).returncode == 0
    run = course.records()[0]["run"]
    assert run["isolation"] == "bubblewrap"
    (reason,) = run["environment"]["stronger_layers_missing"]
    assert "ended with status 7 (this kernel is too old)" in reason


@pytest.mark.usefixtures("bubblewrap")
def test_a_preload_that_cannot_be_imported_is_no_reason_for_a_weaker_sandbox(course):
    assignment = course.folder / "assignments/tiny/assignment.py"
    preload = 'title="Tiny", preloads={"more": ("no_such_library", "no_other_either")},'
    assignment.write_text(assignment.read_text().replace('title="Tiny",', preload))
    course.write("assignments/tiny/given/more.py", "def double(x): return 2 * x\n")
    double = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
    double |= {"of": "work.double", "inputs": "numbers"}
    course.rubric(double | {"id": "first", "of": "more.double"}, double)
    done = course.run("run", course.submit())
    assert done.returncode == 5
    started, first, second, _ = course.records()
    assert started["run"]["isolation"] == "bubblewrap"
    assert "stronger_layers_missing" not in started["run"]["environment"]
    assert first["observation"]["fault"] == "machine"
    missing = (
        "assignment.py: preloads: no_such_library and no_other_either are not installed here: "
        "install them, add their files to the course, or correct the names"
    )
    assert first["observation"]["note"] == missing
    assert second["observation"]["outcome"] == "observed"
    page = (course.results() / "feedback/report.html").read_text()
    assert "because of the machine that grades" in page
    assert "the course&#39;s own files" not in page


EXPORTER = """
from grader.api import hookimpl

@hookimpl
def grader_lms():
    from grader.lms.moodle import MoodleWorksheet

    class Chalk(MoodleWorksheet):
        name = "{name}"
        file = "the sheet of Chalk"

    return [Chalk]
"""
SHEET = "Identifier,Username,Grade,Last modified (grade)\nParticipant 1,ann,,-\n"


def test_an_installed_exporter_is_a_command_that_fills_its_table(course, tmp_path):
    environment = install(tmp_path, "guest", EXPORTER.format(name="chalk"))
    assert course.run("run", course.submit(), "--gradebook", "gradebook.db").returncode == 0
    (course.cwd / "sheet.csv").write_text(SHEET)
    done = course.run("export", "chalk", "tiny", "--sheet", "sheet.csv", **environment)
    assert (done.returncode, done.stderr) == (0, "1 written into Grade\n")
    assert done.stdout == SHEET.replace("ann,,", "ann,3,")
    assert "chalk" in json.loads(course.run("plugins", "--json", **environment).stdout)["exporters"]


def test_a_course_brings_an_exporter_that_is_nowhere_else(course):
    course.write("assignments/zz/assignment.py", EXPORTER.format(name="chalk"))
    assert "chalk" in course.run("export", "--help").stdout
    done = course.run("export", "--help", GRADER_COURSE="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "canvas" in done.stdout
    assert "chalk" not in done.stdout


def test_a_course_that_is_named_and_not_there_is_not_taken_for_none(course):
    done = course.run("--course", "nowhere", "export", "canvas", "tiny", "--sheet", "sheet.csv")
    assert (done.returncode, done.stderr) == (
        2,
        "grader: nowhere: holds no course.yaml; --course takes the folder of a course\n",
    )


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param(
            EXPORTER.format(name="moodle"),
            "grader.lms.builtin already brings 'moodle'; rename one",
            marks=pytest.mark.slow,
        ),
        (EXPORTER.format(name="csv"), "guest.grader_lms.<locals>.Chalk: the name 'csv' is a command of"),
        pytest.param(
            EXPORTER.format(name="My Chalk"),
            "the name 'My Chalk' can be no command; give it another",
            marks=pytest.mark.slow,
        ),
        ("1 / 0", "plugin guest: cannot be imported: ZeroDivisionError"),
    ],
    ids=["brought twice", "taken", "no word", "broken"],
)
def test_an_exporter_that_cannot_be_is_told_and_takes_neither_help_nor_our_own_tables_away(
    course, tmp_path, code, said
):
    environment = install(tmp_path, "guest", code)
    done = course.run("export", "canvas", "tiny", "--sheet", "sheet.csv", **environment)
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert said in line
    done = course.run("export", "--help", **environment)
    assert done.returncode == 0
    assert said in done.stderr
    assert "backup" in done.stdout
    done = course.run("export", "csv", "tiny", **environment)
    assert (done.returncode, "gradebook.db" in done.stderr) == (2, True)
    assert "guest" not in done.stderr


EXAMPLE = Path(__file__).parents[2] / "examples" / "lectern"


def install_example(folder):
    """Lay `examples/lectern` down as an installer would, but for a link in place of a copy."""
    environment = install(folder, "lectern", None)
    site = Path(environment["PYTHONPATH"])
    (site / "lectern").symlink_to(EXAMPLE / "lectern")
    entry_points = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = "".join(f"{name} = {value}\n" for name, value in entry_points["grader"].items())
    (site / "lectern-1.dist-info" / "entry_points.txt").write_text(f"[grader]\n{lines}")
    return environment


@pytest.fixture
def lectern(course, tmp_path):
    """A course with a grade of ann, on a platform that an installed plugin brings; what to post by."""
    environment = install_example(tmp_path) | {"LECTERN_TOKEN": "t0ken"}
    file = tmp_path / "grades.json"
    file.write_text('{"ann": null, "ben": "2"}')
    keys = f"{{url: 'https://lectern.edu', assignments: {{tiny: 7}}, file: '{file}'}}"
    assert course.run("run", course.submit(), "--gradebook", "gradebook.db").returncode == 0
    course.write("course.yaml", f"title: x\nlectern: {keys}\n")
    return file, environment


def test_the_example_package_brings_a_class_for_each_contract(course, tmp_path):
    listed = json.loads(course.run("plugins", "--json", **install_example(tmp_path)).stdout)
    brought = {"checks": "keeps_inputs", "reports": "summary", "engines": "one_by_one"}
    brought |= {"platforms": "lectern", "exporters": "lectern"}
    assert {registry: name for registry, name in brought.items() if name not in listed[registry]} == {}


def test_the_kind_of_the_example_is_observed_by_its_engine_and_shown_by_its_report(course, tmp_path):
    environment = install_example(tmp_path)
    item = {"id": "keeps", "title": "double keeps its argument", "points": 2, "check": "keeps_inputs"}
    course.rubric(item | {"of": "work.double", "inputs": "numbers"})
    done = course.run("run", course.submit(), "--engine", "one_by_one", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"keeps": 2}
    cases = r"(\d+) of \1 calls left their arguments as they were"
    summary = (course.results() / "summary.txt").read_text()
    assert re.fullmatch(rf"2 / 2  double keeps its argument: {cases}\n2 / 2  final\n", summary)


def test_an_installed_platform_is_a_command_that_posts(course, lectern):
    file, environment = lectern
    listed = json.loads(course.run("plugins", "--json", **environment).stdout)
    assert listed["platforms"] == ["canvas", "lectern", "moodle"]
    help_text = course.run("post", "--help", **environment).stdout
    assert "Post the grades of ASSIGNMENT to Lectern" in help_text
    plan = course.run("post", "lectern", "tiny", **environment)
    assert (plan.returncode, plan.stderr) == (0, "")
    assert plan.stdout.splitlines() == [
        "HW1 (lectern 7), 3 points",
        "student  now  new",
        "ann        -    3  new",
        "ben        2    -  is there and has no grade",
        "planned: 1 without a grade, 1 written",
        "1 would be sent; --apply sends them",
    ]
    assert course.run("post", "lectern", "tiny", "--apply", **environment).returncode == 0
    assert json.loads(file.read_text()) == {"ann": "3.00", "ben": "2"}
    again = course.run("post", "lectern", "tiny", "--apply", **environment)
    assert again.stdout.splitlines()[-1] == "sent: nothing, all of it is there"
    posts = json.loads(course.run("history", "ann", "--json").stdout)
    assert [event["details"]["outcome"] for event in posts if event["what"] == "post"] == ["sending", "there"]


def test_the_keys_of_an_installed_platform_are_checked_where_they_are(course, lectern):
    _, environment = lectern
    whole = (course.folder / "course.yaml").read_text()

    def line(text, **given):
        course.write("course.yaml", text)
        done = course.run("post", "lectern", "tiny", **given)
        (problem,) = done.stderr.splitlines()
        return done.returncode, problem.removeprefix("grader: ")

    assert line("title: x\n", **environment) == (
        4,
        "course.yaml: lectern: missing; give url, assignments and file there",
    )
    code, problem = line(whole.replace("file:", "flie:"), **environment)
    assert (code, "lectern.flie: unknown key; did you mean file?" in problem) == (4, True)
    code, problem = line(whole.replace("tiny: 7", "tiny: x"), **environment)
    assert (code, "lectern.assignments.tiny: must be a whole number" in problem) == (4, True)
    assert line(whole, **environment | {"LECTERN_TOKEN": ""})[1].startswith("LECTERN_TOKEN: is not set; ")
    code, problem = line(whole)
    assert (code, "lectern: unknown key" in problem) == (4, True)


PLATFORM = """
from grader.api import hookimpl

@hookimpl
def grader_platforms():
    from grader.lms.canvas.poster import CanvasPlatform

    class Named(CanvasPlatform):
        name = "{name}"

    return [Named]
"""


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("canvas", "grader.lms.builtin already brings 'canvas'; rename one"),
        ("My Lectern", "the name 'My Lectern' can be no command; give it another"),
    ],
)
def test_a_platform_that_cannot_be_is_named_and_the_help_stays(course, tmp_path, name, problem):
    done = course.run("post", "--help", **install(tmp_path, "guest", PLATFORM.format(name=name)))
    assert (done.returncode, "Usage: grader post" in done.stdout) == (0, True)
    assert problem in done.stderr
