"""`grader new` begins an assignment that passes `grader verify`, and overwrites nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from grader.cli.main import main
from grader.config.course import load_course
from grader.packing.submissions import sources_in, stale
from grader.plugins import Plugins

RIGHT = "def double(x):\n    return 2 * x\n\n\ndef square(x):\n    return x * x\n"


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "course.yaml").write_text("title: A course\n")
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def grader(capsys, monkeypatch, forked_workers):
    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        monkeypatch.setattr(sys, "argv", ["grader", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out.splitlines(), printed.err.splitlines()

    return run


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.quick(1)
@pytest.mark.parametrize("more", [(), ("--function", "layers.Softmax")])
def test_a_new_assignment_passes_verify_at_once(course, grader, more):
    code, out, err = grader("new", "vectors", *more)
    assert (code, err) == (0, [])
    assert out[-1] == "next: grader verify --assignment vectors; then change the files, and verify again"
    assert {line.removesuffix(": written") for line in out[:-1]} == files(course).keys() - {"course.yaml"}
    code, out, err = grader("verify")
    assert (code, err) == (0, [])
    assert [line.split()[:4] for line in out[:4]] == [
        ["✓", "vectors/reference", "10", "/"],
        ["✓", "vectors/starter", "0", "/"],
        ["✓", "vectors_right", "10", "/"],
        ["✓", "vectors_wrong", "0", "/"],
    ]
    # nothing is said to be untested: the counts are all that follows
    assert out[4:-1] == [""]
    assert out[-1].startswith("2 submissions, 1 reference and 1 starter: 4 as expected; ")


def test_every_part_is_called_as_the_function_says(course, grader):
    grader("new", "homework_1", "--function", "layers.softmax")
    assert {"reference/layers.py", "starter/layers.py"} <= files(course / "assignments" / "homework_1").keys()
    (assignment,) = Plugins(course).assignments.values()
    assert (assignment.name, assignment.title, assignment.accepts) == (
        "homework_1",
        "Homework 1",
        ("layers.py",),
    )
    assert "of: layers.softmax" in (course / "rubrics" / "homework_1.yaml").read_text()
    assert (
        "`softmax(a, x, y)` in `layers.py`"
        in (course / "assignments" / "homework_1" / "handout.md").read_text()
    )
    assert not [name for name, content in files(course).items() if b"@@" in content]


def test_the_submissions_are_packed(course, grader):
    grader("new", "vectors")
    sources = sources_in(course / "tests" / "submissions")
    assert [source.name for source in sources] == ["vectors_right", "vectors_wrong"]
    assert stale(sources, course / "submissions") == {}


def test_two_assignments_live_side_by_side_and_files_tell_them_apart(course, grader):
    grader("new", "one")
    assert grader("new", "two")[0] == 0
    code, out, _ = grader("run", "submissions/two_right.tar.gz")
    assert code == 0
    assert out[0] == "two  two_right"


@pytest.mark.parametrize(
    "there",
    ["assignments/vectors/notes.md", "rubrics/vectors.yaml", "tests/submissions/vectors_wrong/expected.yaml"],
)
def test_nothing_is_overwritten_and_then_nothing_is_written(course, grader, there):
    (course / there).parent.mkdir(parents=True)
    (course / there).write_text("mine")
    before = files(course)
    code, out, err = grader("new", "vectors")
    assert (code, out, len(err)) == (2, [], 1)
    assert "is there already" in err[0]
    assert files(course) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Vectors",), "Vectors: use lower-case letters, digits and _ in the name of an assignment"),
        (("../vectors",), "../vectors: use lower-case letters"),
        (("class",), "class: is a word of Python, which no module can be called; choose another name"),
        (("lambda",), "lambda: is a word of Python"),
        (("math",), "math.py would hide Python's module math; choose another, unless you give the function"),
        (("v", "--function", "saxpy"), "--function saxpy: must be module.function; such as vectors.saxpy"),
        (("v", "--function", "matmul.cu"), "--function matmul.cu: names a file; give module.function"),
        (("v", "--function", "a.b.c"), "--function a.b.c: must be module.function"),
        (("v", "--function", "vec-tors.f"), "--function vec-tors.f: must be module.function"),
        (("v", "--function", "v.lambda"), "--function v.lambda: lambda is a word of Python; name another"),
        (("v", "--function", "import.f"), "--function import.f: import is a word of Python; name another"),
        (("v", "--function", "v.np"), "--function v.np: nothing can be called np here"),
        (("v", "--function", "numpy.f"), "numpy.py would hide Python's module numpy; name another module"),
        (
            ("torch",),
            "torch.py would hide Python's module torch; choose another, unless you give the function",
        ),
        (("v", "--function", "yaml.f"), "yaml.py would hide Python's module yaml; name another module"),
    ],
)
def test_a_name_that_cannot_be_is_one_line_and_nothing_is_written(course, grader, arguments, said):
    code, out, err = grader("new", *arguments)
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"grader: {said}")
    assert files(course).keys() == {"course.yaml"}


def test_outside_a_course_a_line_says_how_to_begin(tmp_path, grader, monkeypatch):
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(tmp_path)
    code, _, err = grader("new", "vectors")
    assert code == 2
    assert "no course.yaml here or above" in err[0]


@pytest.fixture
def laid_out(course):
    """An assignment that somebody wrote, without a rubric."""
    home = course / "assignments" / "sums"
    (home / "reference").mkdir(parents=True)
    (home / "assignment.py").write_text(
        "from grader.api import Assignment, hookimpl\n\n\n@hookimpl\ndef grader_assignments():\n"
        '    return [Assignment(name="sums", title="Sums", accepts=("sums.py",))]\n'
    )
    (home / "reference" / "sums.py").write_text(RIGHT + "\n\ndef helper(x):\n    return x\n")
    (home / "expected.py").write_text(RIGHT)
    (home / "inputs.py").write_text(
        "from grader.api import case\n\n\ndef numbers(rng):\n    yield case('three', 3)\n\n\n"
        "def square(rng):\n    yield case('four', 4)\n"
    )
    return home


def test_a_draft_of_a_rubric_has_an_item_for_each_function_with_an_oracle(course, laid_out, grader):
    code, out, err = grader("new", "sums", "--rubric-only")
    assert (code, err) == (0, [])
    assert out[0] == "rubrics/sums.yaml: written"
    assert files(course).keys() - files(laid_out).keys() >= {"rubrics/sums.yaml"}
    assert grader("rubric", "check") == (0, [f"{course}/rubrics/sums.yaml: fine"], [])
    code, out, _ = grader("run", "assignments/sums/reference", "--student", "reference", "--json")
    assert code == 0
    text = (course / "rubrics" / "sums.yaml").read_text()
    # a family of its own name comes first, else the first one there is
    assert "of: sums.double\n    inputs: numbers" in text
    assert "of: sums.square\n    inputs: square" in text
    assert "helper" not in text
    assert grader("verify")[0] == 0


def test_a_draft_for_one_function(course, laid_out, grader):
    assert grader("new", "sums", "--rubric-only", "--function", "sums.square")[0] == 0
    assert "double" not in (course / "rubrics" / "sums.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("sum",), 2, "sum: there is no assignment of that name; did you mean sums?"),
        (("sums", "--function", "sums.squares"), 2, "--function sums.squares: the reference has no such"),
        (
            ("sums", "--function", "sums.helper"),
            4,
            "assignments/sums/expected.py: has no oracle for sums.hel",
        ),
    ],
)
def test_a_draft_that_cannot_be_is_one_line(course, laid_out, grader, arguments, code, said):
    ended, out, err = grader("new", *arguments, "--rubric-only")
    assert (ended, out, len(err)) == (code, [], 1)
    assert err[0].startswith(f"grader: {said}")
    assert not (course / "rubrics").exists()


def test_a_draft_needs_inputs_and_files_that_are_python(course, laid_out, grader):
    (laid_out / "inputs.py").write_text("")
    code, _, err = grader("new", "sums", "--rubric-only")
    assert code == 4
    assert err[0].startswith(
        "grader: assignments/sums/inputs.py: has no family; write a function whose first"
    )
    (laid_out / "inputs.py").write_text("def (")
    code, _, err = grader("new", "sums", "--rubric-only")
    assert code == 4
    assert err[0].startswith("grader: assignments/sums/inputs.py:1:5: not Python")


def test_a_draft_does_not_overwrite_a_rubric(course, laid_out, grader):
    (course / "rubrics").mkdir()
    (course / "rubrics" / "sums.yaml").write_text("mine")
    code, _, err = grader("new", "sums", "--rubric-only")
    assert code == 2
    assert err == ["grader: rubrics/sums.yaml: is there already, and stays; nothing was written"]
    assert (course / "rubrics" / "sums.yaml").read_text() == "mine"


def test_what_is_commented_out_is_right_as_soon_as_the_sign_is_taken_away(course, grader):
    (course / "course.yaml").unlink()
    assert grader("init", "--title", "A course")[0] == 0
    assert grader("new", "homework")[0] == 0
    for name in ("course.yaml", "rubrics/homework.yaml"):
        text = (course / name).read_text()
        shown = re.sub(r"^( *)# ( *\w+: ?\S.*|\w+:)$", r"\1\2", text, flags=re.MULTILINE)
        assert shown.count("#") < text.count("#")
        (course / name).write_text(shown)
    assert grader("rubric", "check") == (0, [f"{course}/rubrics/homework.yaml: fine"], [])
    platforms = Plugins(course).platforms
    loaded = load_course(course, lambda _: {name: platforms[name].Options for name in platforms})
    assert list(loaded.platforms) == ["canvas"]
    assert loaded.min_isolation == "namespaces"
    assert loaded.extensions_of("homework")
    assert "credit: per_case" in shown
    assert "\ndue: " in shown
