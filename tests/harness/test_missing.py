"""A file that was not handed in is what an item says, with the file that was probably meant."""

from dataclasses import replace

import pytest

from grader.errors import CourseError
from grader.filenames import meant
from grader.harness.missing import file_advice, lacked_file, module_advice, without_file, without_its_file
from grader.model.job import Job, Task
from grader.model.observation import MISSING_FILE, Fault, Outcome
from grader.model.submission import Submission


def submission(*dropped: str, files: tuple[str, ...] = ("other.py",), top: str = "") -> Submission:
    return Submission(
        student="ivan",
        assignment="hw1",
        archive="ivan.zip",
        digest="",
        files=files,
        dropped=tuple(top + path for path in dropped),
        top=top,
    )


@pytest.mark.parametrize(
    ("dropped", "meant"),
    [
        ((), ""),
        (("helpers.py", "notes.txt"), ""),
        (("helpers.py", "my_utils.py"), "my_utils.py was: if it is meant, it must be called utils.py"),
        (("util.py",), "util.py was: if it is meant, it must be called utils.py"),
        (("utils_v2.py",), "utils_v2.py was: if it is meant, it must be called utils.py"),
        (("Utils_final.py",), "Utils_final.py was: if it is meant, it must be called utils.py"),
        (("utils.py.txt",), "utils.py.txt was: if it is meant, it must be called utils.py"),
        (("utils.ipynb",), "utils.ipynb was: its code must be handed in as utils.py"),
        (("utils.docx",), "utils.docx was: its code must be handed in as utils.py"),
        (("src/utils.py",), "src/utils.py was: it must lie in the top folder"),
        (("utils (1).py",), "utils (1).py was: it must be called utils.py"),
        (("utils - Copy.py",), "utils - Copy.py was: it must be called utils.py"),
        (("utils-2.py",), "utils-2.py was: it must be called utils.py"),
        (("Utils.PY",), "Utils.PY was: it must be called utils.py"),
        (
            ("a/b/utils.py", "a/Utils.py", "readme.md"),
            "a/Utils.py was: it must be called utils.py and lie in the top folder",
        ),
    ],
)
@pytest.mark.parametrize("top", ["", "homework 1/"])
def test_what_was_probably_meant_is_named(dropped, meant, top):
    observation = without_file("one", "utils.py", submission(*dropped, top=top))
    assert (observation.outcome, observation.note) == (Outcome.REFUSED, "utils.py was not handed in")
    assert observation.facts == {
        MISSING_FILE: f"utils.py was not handed in{', but ' if meant else ''}{meant}"
    }


@pytest.mark.parametrize(
    ("needed", "dropped", "advice"),
    [
        ("runs.cpp", "runs.py", "it must be written in C++, as runs.cpp"),
        ("src/runs.cu", "runs.PY", "it must be written in CUDA C++, as src/runs.cu"),
        ("runs.c", "runs.py3", "it must be written in C, as runs.c"),
        ("runs.cpp", "runs.cpp.py", "if it is meant, it must be called runs.cpp"),
        ("runs.cpp", "runs.txt", "if it is meant, it must be called runs.cpp"),
        ("runs.cpp", "runs.cc", "if it is meant, it must be called runs.cpp"),
        ("queue.h", "queue.hpp", "if it is meant, it must be called queue.h"),
        ("queue.h", "queue.cpp", "if it is meant, it must be called queue.h"),
        ("queue.hpp", "Queue.H", "if it is meant, it must be called queue.hpp"),
    ],
)
def test_a_program_in_another_language_is_not_to_be_renamed(needed, dropped, advice):
    observation = without_file("one", needed, submission(dropped))
    assert observation.facts[MISSING_FILE].endswith(f"but {dropped} was: {advice}")


def test_of_two_names_the_nearer_one_is_named():
    names = ("mathmul-functions.py", "matmul functions.py", "matrices.py")
    observation = without_file("one", "matmul_functions.py", submission(*names))
    assert "but matmul functions.py was: " in observation.facts[MISSING_FILE]


def test_the_only_python_file_is_named_where_none_was_accepted():
    observation = without_file("one", "utils.py", submission("main.py", "a.md", files=("answers.md",)))
    meant = "main.py was: if it is meant, it must be called utils.py"
    assert observation.facts == {MISSING_FILE: f"utils.py was not handed in, but {meant}"}


@pytest.mark.parametrize(
    ("file", "other", "is_meant"),
    [
        ("attn.py", "attention.py", True),
        ("attention.py", "attn.py", True),
        ("attn.py", "actions.py", False),
        ("attn.py", "plot_attn_n.py", True),
        ("max.py", "matrix.py", False),
        ("utils.py", "user_tools.py", False),
    ],
)
def test_a_name_that_is_short_for_another_may_be_meant(file, other, is_meant):
    files = ("train.py", "answers.md")
    assert bool(meant(file, [other, "notes.py"], files)) == is_meant


@pytest.mark.parametrize(
    "note",
    [
        "importing utils.py: FileNotFoundError: [Errno 2] No such file or directory: 'data/params.txt'",
        "f(): FileNotFoundError: params.txt not found. (utils.py:3)",
        "f(): OSError: ./params.txt: cannot open shared object file: No such file or directory",
    ],
)
def test_a_file_that_was_left_out_explains_why_it_is_not_there(note):
    told = (
        "; my/params.txt was handed in and left out, because the assignment does not accept it; do without "
    )
    told += "it, or ask your course what may be handed in"
    assert file_advice(note, submission("my/params.txt")) == told
    assert file_advice(note, submission("other.txt")) == ""


@pytest.mark.parametrize(
    ("error", "dropped"),
    [
        ("ModuleNotFoundError: No module named 'helpers'", "helpers.py"),
        ("ModuleNotFoundError: No module named 'helpers'", "src/helpers.py"),
        ("ModuleNotFoundError: No module named 'helpers'", "helpers/__init__.py"),
        ("ModuleNotFoundError: No module named 'helpers'", "helpers/numbers.py"),
        ("ModuleNotFoundError: No module named 'nets.helpers'", "nets/helpers.py"),
        ("ImportError: cannot import name 'helpers' from 'nets' (unknown location)", "nets/helpers.py"),
        ("ModuleNotFoundError: No module named 'helpers'; 'helpers' is not a package", "helpers.py"),
    ],
)
def test_a_module_that_was_left_out_explains_a_failed_import(error, dropped):
    told = f"; {dropped} was handed in and left out, because the assignment does not accept it: put what it "
    told += "holds into other.py"
    assert module_advice(f"importing other.py: {error}", submission("notes.py", dropped)) == told
    several = submission(dropped, files=("a.py", "b.py"))
    assert module_advice(f"importing a.py: {error}", several).endswith("into a file that it accepts")
    assert module_advice("importing other.py: NameError", submission(dropped)) == ""


@pytest.mark.parametrize("module", ["tensorly", "scipy.nothing"])
def test_a_module_that_nobody_has_comes_with_what_to_do(module):
    note = f"importing utils.py: ModuleNotFoundError: No module named '{module}'"
    assert module_advice(note, submission("helper.py")) == (
        "; it was not handed in and is not installed here: do without it, or ask your course what may be "
        "imported"
    )


@pytest.mark.parametrize(
    ("cause", "accepts", "patterns", "file"),
    [
        ("ModuleNotFoundError: No module named 'norm'", ("norm.py",), False, "norm.py"),
        ("ModuleNotFoundError: No module named 'norm'", ("*.py",), True, "norm.py"),
        ("ModuleNotFoundError: No module named 'norm'", ("*.py",), False, ""),
        ("ModuleNotFoundError: No module named 'norm'", ("forms.py",), True, ""),
        ("ModuleNotFoundError: No module named 'nets.norm'", ("nets/norm.py",), False, "nets/norm.py"),
        ("ModuleNotFoundError: No module named 'nets.norm'", ("nets/*.py",), True, "nets/norm.py"),
        ("ModuleNotFoundError: No module named 'nets.norm'", ("*.py",), True, ""),
        ("ModuleNotFoundError: No module named 'nets'", ("a.md", "nets/norm.py"), False, "nets/norm.py"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/in/w.npz'", ("w.npz",), False, "w.npz"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'w.npz'", ("*.npz",), True, ""),
        ("KeyError: 'norm.py'", ("norm.py",), True, ""),
    ],
)
def test_the_file_that_a_program_lacks_is_one_that_the_assignment_asks_for(cause, accepts, patterns, file):
    assert lacked_file(f"f(): {cause}", accepts, patterns=patterns) == file


def test_a_file_in_a_folder_is_named_with_it():
    observation = without_file("one", "python/net.py", submission("net.py"))
    assert observation.facts == {
        MISSING_FILE: "python/net.py was not handed in, but net.py was: it must lie in python/"
    }


@pytest.mark.parametrize(
    ("calls", "requires", "files", "missing"),
    [
        (("utils",), {}, ("utils.py",), ""),
        (("utils",), {}, ("other.py",), "utils.py"),
        (("other", "utils"), {}, ("other.py",), "utils.py"),
        (("driver",), {}, ("other.py",), ""),
        (("driver",), {"driver": ("utils.py",)}, ("other.py",), "utils.py"),
        (("driver",), {"driver": ("utils.py",)}, ("utils.py",), ""),
        (("driver",), {"driver": ("driver.py",)}, (), ""),
        (("utils",), {"utils": ("utils.py", "more.py")}, ("utils.py",), "more.py"),
        ((), {}, (), ""),
    ],
)
def test_an_item_needs_what_it_calls_and_what_the_assignment_says(tmp_path, calls, requires, files, missing):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "driver.py").touch()
    task = Task(item="one", check="matches_reference", options={}, calls=calls)
    job = Job(
        id="1",
        submission=submission(files=files),
        course="",
        assignment_folder=str(tmp_path),
        workspace="",
        tasks=(task,),
        requires=requires,
    )
    observation = without_its_file(task, job)
    assert (observation.note if observation else "") == (f"{missing} was not handed in" if missing else "")


@pytest.mark.parametrize(
    ("program", "requires", "files", "missing"),
    [
        ("main.py", {}, ("main.py",), ""),
        ("main.py", {}, ("other.py",), "main.py"),
        ("main.py", {"main": ("main.py", "utils.py")}, ("main.py",), "utils.py"),
        ("tools/main.py", {}, ("main.py",), "tools/main.py"),
        ("driver.py", {}, ("other.py",), ""),
        ("driver.py", {"driver": ("utils.py",)}, ("other.py",), "utils.py"),
    ],
)
def test_an_item_needs_the_programs_that_it_runs(tmp_path, program, requires, files, missing):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "driver.py").touch()
    task = Task(item="one", check="script", options={})
    job = Job(
        id="1",
        submission=submission("Main.py", files=files),
        course="",
        assignment_folder=str(tmp_path),
        workspace="",
        tasks=(task,),
        requires=requires,
    )
    observation = without_its_file(task, job, [program])
    assert (observation.note if observation else "") == (f"{missing} was not handed in" if missing else "")


def test_a_file_that_nobody_can_hand_in_is_the_courses_to_give(tmp_path):
    task = Task(item="one", check="matches_reference", options={}, calls=("driver",))
    job = Job(
        id="1",
        submission=submission(files=("utils.py",)),
        course="",
        assignment_folder=str(tmp_path),
        workspace="",
        tasks=(task,),
        accepts=("*s.py",),
    )
    observation = without_its_file(task, job)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.COURSE)
    assert observation.note == (
        "given/ has no driver.py, which is needed, and nobody is asked to hand it in; put it there, or name "
        "it in accepts of assignment.py"
    )
    asked = without_its_file(task, replace(job, accepts=("d*.py",)))
    assert (asked.outcome, asked.note) == (Outcome.REFUSED, "driver.py was not handed in")
    with pytest.raises(CourseError, match="nobody is asked to hand it in"):
        without_file("one", "driver.py", job.submission, accepts=job.accepts)


@pytest.mark.parametrize(
    ("file", "accepts"),
    [
        ("src/merge.cpp", "*.cpp"),
        ("a/b/merge.cpp", "a/*.cpp"),
        ("conftest.py", "*.py"),
        ("part1.py", "part[1].py"),
    ],
)
def test_a_file_can_be_handed_in_where_intake_lets_it_in(file, accepts):
    with pytest.raises(CourseError, match=f"^given/ has no {file}, which is needed, and nobody is asked to"):
        without_file("one", file, submission(), accepts=(accepts,))
    asked = without_file("one", file, submission(), accepts=(accepts, file))
    assert asked.note == f"{file} was not handed in"


FORMS = ("answers.md", "answers.pdf", "answers.docx", "work.py")
NO_ANSWERS = "no answers.md, .pdf or .docx was handed in"


@pytest.mark.parametrize(
    ("dropped", "meant"),
    [
        ((), ""),
        (("notes.html",), ""),
        (("answers.html",), "answers.html was: save it as one of these"),
        (("Answers (1).doc",), "Answers (1).doc was: save it as one of these"),
        (("a/answers.rtf",), "a/answers.rtf was: save it as one of these"),
        (("my_answers.pdf",), "my_answers.pdf was: if it is meant, it must be called answers.pdf"),
        (("hw/answers.docx",), "hw/answers.docx was: it must lie in the top folder"),
        (("answers.html", "hw/answers.docx"), "hw/answers.docx was: it must lie in the top folder"),
        (("answers",), "answers was: save it as one of these"),
    ],
)
@pytest.mark.parametrize("top", ["", "homework 1/"])
def test_where_several_forms_are_accepted_they_are_named(dropped, meant, top):
    observation = without_file("one", "answers.*", submission(*dropped, top=top), accepts=FORMS)
    assert observation.note == NO_ANSWERS
    sentence = f"N{NO_ANSWERS[1:]}"
    assert observation.facts == {MISSING_FILE: f"{sentence}{', but ' if meant else ''}{meant}"}


@pytest.mark.parametrize(
    ("dropped", "meant"),
    [
        (("Answers.MD",), ", but Answers.MD was: it must be called answers.md"),
        (("answers (1).md", "notes.md"), ", but answers (1).md was: it must be called answers.md"),
        (("answer.pdf",), ", but answer.pdf was: if it is meant, it must be called answers.pdf"),
        (("notes.md",), ""),
    ],
)
def test_a_file_of_any_ending_that_was_meant_keeps_its_own(dropped, meant):
    observation = without_file("one", "answers.*", submission(*dropped), accepts=("answers.*", "work.py"))
    assert observation.facts == {MISSING_FILE: f"answers.* was not handed in{meant}"}


@pytest.mark.parametrize(
    ("pattern", "accepts", "note"),
    [
        ("answers.*", ("answers.md", "work.py"), "answers.md was not handed in"),
        ("answers.*", ("answers.*",), "answers.* was not handed in"),
        ("answers.*", (), "answers.* was not handed in"),
        ("answers.*", ("answers.md", "answers.*"), "answers.* was not handed in"),
        ("doc/*.md", ("doc/a.md", "doc/b.md"), "no doc/a.md or doc/b.md was handed in"),
        ("work.py", FORMS, "work.py was not handed in"),
    ],
)
def test_a_pattern_is_told_by_the_files_that_fit_it(pattern, accepts, note):
    observation = without_file("one", pattern, submission("answers.html"), accepts=accepts)
    assert observation.note == note
    assert observation.facts[MISSING_FILE].removeprefix("N").startswith(note.removeprefix("n"))


@pytest.mark.parametrize(
    ("note", "dropped", "told"),
    [
        (
            "show.cpp:1:10: fatal error: hist.h: No such file or directory",
            "hist.h",
            "; hist.h was handed in and left out, because the assignment does not accept it: put what it "
            "holds into show.cpp",
        ),
        ("show.cpp:1:10: fatal error: hist.h: No such file or directory", "notes.txt", ""),
        (
            "cc1plus: fatal error: lines.cpp: No such file or directory",
            "src/lines.cpp",
            "; src/lines.cpp was handed in and left out, because the assignment does not accept it: put what "
            "it holds into show.cpp",
        ),
    ],
)
def test_what_a_compiler_lacks_may_be_said_by_a_driver(note, dropped, told):
    of = submission(dropped, files=("show.cpp",))
    assert file_advice(f"show(): RuntimeError: {note} compilation terminated.", of) == told
