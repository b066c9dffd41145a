"""Which files belong to an assignment, and which assignment files belong to."""

from __future__ import annotations

import io
import zipfile

import pytest

from grader.intake.accept import accepted
from grader.intake.identify import misnamed
from grader.intake.junk import junk_part
from grader.intake.limits import ArchiveLimits
from grader.model.assignment import Assignment


@pytest.mark.parametrize(
    ("accepts", "paths", "files"),
    [
        ("utils.py", "utils.py Utils.py sub/utils.py utils.pyx", "utils.py"),
        ("*.py", "a.py b.pyc c/d.py", "a.py"),
        ("hw?.cu", "hw1.cu hw12.cu hw.cu", "hw1.cu"),
        ("a?b.py", "axb.py a/b.py", "axb.py"),
        ("src/*.py", "src/a.py src/b/c.py a.py", "src/a.py"),
        ("a.py a[b].py", "a.py ab.py a[b].py", "a.py a[b].py"),
        ("utils.py", "hw1/utils.py hw1/more/x.txt", "utils.py"),
        ("utils.py", "home/alice/hw1/utils.py", "utils.py"),
        ("src/a.py", "src/a.py", "src/a.py"),
        ("src/a.py", "hw/src/a.py", "src/a.py"),
        ("utils.py", "hw1/utils.py README", ""),
        ("utils.py", "hw1/utils.py hw2/utils.py", ""),
        ("utils.py", "numpy.py sitecustomize.py conftest.py x.pth utils.py", "utils.py"),
        ("*", "sitecustomize.py usercustomize.py conftest.py x.pth utils.py", "utils.py"),
        ("*/*.py", "conftest/__init__.py sitecustomize/__init__.py a/utils.py", "a/utils.py"),
        ("conftest.py *.py", "conftest.py utils.py", "conftest.py utils.py"),
        ("", "utils.py", ""),
    ],
)
def test_patterns_decide_what_is_accepted(accepts, paths, files):
    assert list(accepted(paths.split(), accepts.split())) == files.split()


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("hw1/.git/objects/ab/cd", "hw1/.git/"),
        ("__MACOSX/hw1/._utils.py", "__MACOSX/"),
        ("a/__pycache__/utils.cpython-311.pyc", "a/__pycache__/"),
        ("a/._utils.py", "a/._utils.py"),
        (".DS_Store", ".DS_Store"),
        ("k/kernel.O", "k/kernel.O"),
        ("old.tar.gz", "old.tar.gz"),
        ("libx.so", "libx.so"),
        ("utils.py", ""),
        ("git/utils.py", ""),
        ("main.cpp", ""),
    ],
)
def test_junk_is_known_by_its_name(path, part):
    assert junk_part(path) == part


def test_junk_neither_hides_the_top_folder_nor_reaches_the_workspace(zip_of, taken, tmp_path, course):
    course["hw1"] = Assignment(name="hw1", title="", accepts=("*",))
    source = zip_of(
        {
            "hw 1/utils.py": b"x = 1",
            "hw 1/numpy.pyc": b"",
            "hw 1/.git/config": b"",
            "hw 1/.git/HEAD": b"",
            "__MACOSX/hw 1/._utils.py": b"",
            ".DS_Store": b"",
            "hw 1/old.zip": b"",
        }
    )
    course["hw1"] = Assignment(name="hw1", title="", accepts=("utils.py",))
    got = taken(source)
    assert got.files == ("utils.py",)
    assert got.dropped == (".DS_Store", "__MACOSX/", "hw 1/.git/", "hw 1/numpy.pyc", "hw 1/old.zip")
    assert [p.name for p in (tmp_path / "results/workspace").rglob("*")] == ["utils.py"]


def test_junk_may_be_anything_because_nothing_looks_at_it(tar_of, taken):
    import tarfile

    link = tarfile.TarInfo("hw1/.venv/bin/python")
    link.type, link.linkname = tarfile.SYMTYPE, "/usr/bin/python3"
    got = taken(tar_of([(link, b""), ("hw1/utils.py", b"")]))
    assert got.dropped == ("hw1/.venv/",)


def test_a_junk_folder_is_not_even_looked_into(taken, tmp_path):
    (tmp_path / "alice/.git").mkdir(parents=True)
    (tmp_path / "alice/utils.py").write_bytes(b"")
    (tmp_path / "alice/.git/link").symlink_to("/etc")
    (tmp_path / "alice/.git/HEAD").write_bytes(b"")
    assert taken(tmp_path / "alice", limits=ArchiveLimits(entries=2)).dropped == (".git/",)


HW = {
    "hw1": Assignment(name="hw1", title="", accepts=("utils.py", "max_functions.py")),
    "hw2": Assignment(name="hw2", title="", accepts=("utils.py", "network.py")),
    "hw3": Assignment(name="hw3", title="", accepts=("src/*.cu",)),
    "hw4": Assignment(name="hw4", title="", accepts=("README.md",)),
    "hw5": Assignment(name="hw5", title="", accepts=("sieve.cpp",)),
    "lin": Assignment(name="lin", title="", accepts=("lin.py", "answers.md")),
}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["utils.py", "network.py"], "hw2"),
        (["a/utils.py", "a/max_functions.py", "a/notes"], "hw1"),
        (["src/ex2.cu"], "hw3"),
    ],
)
def test_the_assignment_with_most_files_is_taken(files, name, tar_of, taken):
    assert taken(tar_of(dict.fromkeys(files, b"")), assignments=HW).assignment == name


@pytest.mark.parametrize(
    ("preferred", "files", "name"),
    [
        ("hw1", ["utils.py"], "hw1"),
        ("hw2", ["utils.py"], "hw2"),
        ("hw2", ["utils.py", "max_functions.py"], "hw1"),
        ("hw3", ["utils.py", "network.py"], "hw2"),
    ],
)
def test_of_several_that_fit_alike_the_preferred_assignment_is_taken(preferred, files, name, tar_of, taken):
    archive = tar_of(dict.fromkeys(files, b""))
    assert taken(archive, assignments=HW, preferred=preferred).assignment == name


CPP = {
    "tally": Assignment(name="tally", title="", accepts=("Makefile", "*.cpp", "*.h", "*.hpp")),
    "par": Assignment(name="par", title="", accepts=("par.cpp", "*.h", "answers.*")),
    "merge": Assignment(name="merge", title="", accepts=("src/merge.cpp", "report.md")),
}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ("par.cpp", "par"),
        ("par.cpp par.h", "par"),
        ("Makefile par.cpp answers.md", "par"),
        ("par.cpp Answers.md", "par"),
        ("Makefile tally.cpp", "tally"),
        ("Makefile Par.cpp", "tally"),
        ("Makefile tally.cpp count.cpp Answers.md", "tally"),
        ("tally.cpp count.h", "tally"),
        ("tar.cpp", "tally"),
        ("merge2.cpp", "tally"),
        ("doc/report.md tally.cpp", "tally"),
        ("hw/src/merge.cpp hw/Report.md", "merge"),
    ],
)
def test_names_count_more_than_patterns_where_as_many_files_fit(files, name, tar_of, taken):
    assert taken(tar_of(dict.fromkeys(files.split(), b"")), assignments=CPP).assignment == name


@pytest.mark.parametrize(
    ("files", "other", "names"),
    [
        ("Par.cpp", "par", "Par.cpp: did you mean par.cpp?"),
        (
            "hal/Par.cpp hal/Answers.md",
            "par",
            "hal/Answers.md: did you mean answers.md?, hal/Par.cpp: did you mean par.cpp?",
        ),
        (
            "par.CPP answer.md tally.cpp",
            "par",
            "answer.md: did you mean answers.md?, par.CPP: did you mean par.cpp?",
        ),
        ("par.cpp helper.cpp", "par", "par.cpp"),
        ("src/megre.cpp tally.cpp", "merge", "src/megre.cpp: did you mean src/merge.cpp?"),
        ("a.cpp b.cpp reports.md", "merge", "reports.md: did you mean report.md?"),
    ],
)
def test_who_has_more_files_of_one_assignment_and_more_names_of_another_is_asked(
    files, other, names, tar_of, refusal
):
    assert refusal(tar_of(dict.fromkeys(files.split(), b"")), assignments=CPP) == (
        f"alice.tar.gz: may be meant for tally, which most of its files fit, or for {other}, by their names "
        f"({names}); say which with --assignment NAME or --rubric NAME"
    )


def test_of_two_that_may_be_meant_the_preferred_assignment_says_what_it_lacks(tar_of, taken, refusal):
    archive = tar_of({"Par.cpp": b"", "Answers.md": b""})
    line = refusal(archive, assignments=CPP, preferred="par")
    assert line == refusal(archive, assignments=CPP, assignment="par")
    assert "holds no file of par; hand in what it asks for of par.cpp, *.h, answers.* (it holds" in line
    assert refusal(archive, assignments=CPP, preferred="par", assignment="merge").startswith(
        "alice.tar.gz: holds no file of merge;"
    )
    assert taken(archive, assignments=CPP, preferred="tally").assignment == "tally"


@pytest.mark.parametrize(
    ("files", "names", "line"),
    [
        (
            ["utils.py"],
            "hw1 hw2",
            "fits several assignments alike (hw1, hw2); say which with --assignment NAME or --rubric NAME",
        ),
        (
            ["x.c", "a/notes.txt"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds a/notes.txt, x.c)",
        ),
        (
            ["Sieve.cc"],
            "hw5",
            "holds no file of hw5; hand in sieve.cpp"
            " (sieve.cpp was not handed in, but Sieve.cc was: if it is meant, it must be called sieve.cpp)",
        ),
        (
            ["SIEVE.CPP"],
            "hw5",
            "holds no file of hw5; hand in sieve.cpp (it holds SIEVE.CPP: did you mean sieve.cpp?)",
        ),
        (
            ["sieve.h"],
            "hw5",
            "holds no file of hw5; hand in sieve.cpp (it holds sieve.h)",
        ),
        (
            ["Sieve.C"],
            "hw1 hw5",
            "holds no file of any assignment (hw1, hw5); hand in the files that yours asks for"
            " (sieve.cpp was not handed in, but Sieve.C was: if it is meant, it must be called sieve.cpp)",
        ),
        (["a.o"], "hw5", "holds no file of hw5; hand in sieve.cpp (it holds a.o)"),
        (
            ["x.c"],
            "hw1 hw3",
            "holds no file of any assignment (hw1, hw3); hand in the files that yours asks for"
            " (it holds x.c)",
        ),
        (
            ["Utils.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds Utils.py: did you mean utils.py?)",
        ),
        (
            ["README", "hw1/utils.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds hw1/utils.py: did you mean utils.py?)",
        ),
        (
            ["work/my_utils.py", "work/notes.txt"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (utils.py was not handed in, but my_utils.py was: if it is meant, it must be called utils.py)",
        ),
        (
            ["other.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds other.py)",
        ),
        (
            ["EX2.CU"],
            "hw3",
            "holds no file of hw3; hand in src/*.cu (it holds EX2.CU: did you mean src/*.cu?)",
        ),
        (
            ["readme.md"],
            "hw4",
            "holds no file of hw4; hand in README.md (it holds readme.md: did you mean README.md?)",
        ),
        (
            ["Utils.PY", "hw1/max_functions (1).py", "notes.txt"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds Utils.PY: did you mean utils.py?,"
            " hw1/max_functions (1).py: did you mean max_functions.py?)",
        ),
        (
            ["Max_Functions.py", "util.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds Max_Functions.py: did you mean max_functions.py?;"
            " utils.py was not handed in, but util.py was: if it is meant, it must be called utils.py)",
        ),
        (
            ["hw/new/utils.py", "hw/old/max_functions.py", "hw/old/utils.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds utils.py in hw/new/ and in hw/old/: hand in one of them alone)",
        ),
        (
            ["hw1.rar"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it holds hw1.rar: an archive inside is not unpacked)",
        ),
        (["hw1.zip"], "hw1", "holds hw1.zip, which is empty (0 bytes); upload the file again"),
        (
            [
                ".DS_Store",
                "Ann_12_assignsubmission_file_/utils.py",
                "Ben_13_assignsubmission_onlinetext/x.html",
            ],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py"
            " (it looks like the download of a class; then name it alone, as in `grader run class.zip`, "
            "and call it otherwise than a student)",
        ),
        (
            ["Linear.py", "Answer.md"],
            "lin",
            "holds no file of lin; hand in what it asks for of lin.py, answers.md"
            " (lin.py was not handed in, but Linear.py was: if it is meant, it must be called lin.py; "
            "answers.md was not handed in, but Answer.md was: if it is meant, it must be called answers.md)",
        ),
        (
            ["work.py"],
            "hw1",
            "holds no file of hw1; hand in what it asks for of utils.py, max_functions.py (it holds work.py)",
        ),
        ([], "hw1", "holds no files; pack the homework's files"),
    ],
)
def test_what_fits_no_one_assignment_is_refused(files, names, line, tar_of, refusal):
    assignments = {name: HW[name] for name in names.split()}
    assert refusal(tar_of(dict.fromkeys(files, b"")), assignments=assignments) == f"alice.tar.gz: {line}"


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        (
            ["ann.zip", "ben.rar", "notes.docx"],
            "it is read as one submission, because notes.docx lies beside 2 archives; "
            "take that out if they are a class",
        ),
        (
            ["ann/utils.py", "ben/max.py"],
            "if each of its 2 folders is a submission, name them all, as in FOLDER/*",
        ),
        (
            ["ann.rar", "ben.rar"],
            "it is read as one submission, as what is named beside others is, and what is called as a "
            "student; name it alone if it is that of a class",
        ),
        (
            ["ann.zip", "ben.zip", "norm/cem.zip", "pairs/cem.zip"],
            "it is read as one submission, because of norm/, pairs/ beside 2 archives; if these are a class, "
            "name them, and no folder",
        ),
        (["ann.zip", "notes.docx"], "it holds ann.zip: an archive inside is not unpacked"),
    ],
)
def test_a_folder_that_looks_like_that_of_a_class_says_what_keeps_it_from_being_one(
    files, hint, refusal, tmp_path
):
    for name in files:
        (tmp_path / "class" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / name).touch()
    line = f"class: holds no file of hw1; hand in what it asks for of utils.py, max_functions.py ({hint})"
    assert refusal(tmp_path / "class") == line


def test_files_that_seem_meant_as_missing_ones_are_named():
    dropped = ("Utils.py", "hw1/max (1).py", "tests/gpu.py.txt", "notes.txt", "old/report.md", "layer.py")
    accepts = ("utils.py", "max.py", "gpu.py", "report.md", "*.txt", "layers.py", "run.cu")
    assert misnamed(("report.md",), dropped, accepts) == {
        "Utils.py": "utils.py",
        "hw1/max (1).py": "max.py",
        "tests/gpu.py.txt": "gpu.py",
        "layer.py": "layers.py",
    }


@pytest.mark.parametrize(
    ("dropped", "meant"),
    [
        ("Answers.MD", "answers.md"),
        ("answer.md", "answers.md"),
        ("anwsers.pdf", "answers.pdf"),
        ("answers_ann.docx", "answers.docx"),
        ("hw1/answers.md", "answers.md"),
        ("notes.md", ""),
    ],
)
def test_a_file_of_any_ending_is_meant_with_its_own(dropped, meant):
    accepts = ("nets.py", "answers.*")
    assert misnamed(("nets.py",), (dropped,), accepts) == ({dropped: meant} if meant else {})
    assert misnamed(("nets.py", "answers.txt"), (dropped,), accepts) == {}


def test_the_only_file_of_its_ending_is_meant_as_the_only_one_that_lacks():
    assert misnamed(("answers.md",), ("Linear.py",), ("lin.py", "answers.md")) == {"Linear.py": "lin.py"}
    assert misnamed(("a.py",), ("Linear.py",), ("a.py", "lin.py")) == {}
    assert misnamed(("r.md",), ("Linear.py",), ("r.md", "lin.py", "net.py")) == {}


def test_a_long_list_of_files_is_cut_short(tar_of, refusal):
    many = {"big": Assignment(name="big", title="", accepts=tuple(f"f{n}.py" for n in range(20)))}
    listed = ", ".join(f"f{n}.py" for n in range(8))
    line = f"holds no file of big; hand in what it asks for of {listed}, … (it holds x)"
    assert refusal(tar_of({"x": b""}), assignments=many) == f"alice.tar.gz: {line}"


def test_a_name_in_other_letters_is_dropped_but_listed(tar_of, taken):
    got = taken(tar_of({"utils.py": b"", "Max_Functions.py": b""}))
    assert (got.files, got.dropped) == (("utils.py",), ("Max_Functions.py",))


def packed(**files):
    """A zip of files whose names end in .py."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"{name}.py", data)
    return content.getvalue()


@pytest.mark.parametrize("beside", [{}, {"__MACOSX/._hw1.zip": b"", "hw1/.DS_Store": b""}])
def test_an_archive_alone_in_an_archive_is_unpacked(beside, tar_of, taken):
    got = taken(tar_of({"hw1/hw1.zip": packed(utils=b"x = 1"), **beside}))
    assert (got.archive, got.files) == ("alice.tar.gz", ("utils.py",))


@pytest.mark.parametrize("beside", [{}, {"b.zip": b"no zip"}])
@pytest.mark.parametrize("inside", [packed(utils=b"x = 1"), packed(utils=b"x = 1", max_functions=b"")])
def test_an_archive_inside_with_a_missing_part_is_refused(beside, inside, tar_of, refusal):
    assert refusal(tar_of({"max_functions.py": b"", "code.zip": inside, **beside})) == (
        "alice.tar.gz: holds code.zip, an archive with utils.py in it, which would not be graded; "
        "hand in all files in one archive, without an archive inside"
    )


@pytest.mark.parametrize(
    "inside",
    [
        packed(utils=b"older", max_functions=b""),
        packed(utils=b"x = 1"),
        packed(data=b""),
        b"",
        b"PK\3\4",
        b"Rar!",
    ],
)
def test_an_archive_inside_that_adds_nothing_is_dropped(inside, tar_of, taken):
    got = taken(tar_of({"utils.py": b"x = 1", "old.zip": inside}))
    assert (got.files, got.dropped) == (("utils.py",), ("old.zip",))
