"""Why a call or an import failed, as far as the submission's files tell."""

from dataclasses import replace

import pytest

from grader.contracts.call import Call
from grader.harness.explanations import Explanations
from grader.model.assignment import Build
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.model.submission import Submission


@pytest.fixture
def explanations(tmp_path):
    (tmp_path / "attn.py").write_text("\n")
    (tmp_path / "full.py").write_text("x = 1\n")
    submission = Submission(
        student="s",
        assignment="a",
        archive="",
        digest="",
        files=("attn.py", "full.py", "work.cu"),
        dropped=("params.txt",),
    )
    job = Job(
        id="1",
        submission=submission,
        course="",
        assignment_folder=str(tmp_path),
        workspace=str(tmp_path),
        tasks=(),
        requires={"loads": ("work.cu",)},
        build=Build(command=("make",), products=("libwork.so",), variable="LIBRARIES"),
    )
    return Explanations(job=job, tool=lambda *of: Call(outcome=Outcome.CRASHED))


@pytest.fixture
def explained(explanations):
    def of(note, module="attn", function="f", outcome=Outcome.CRASHED):
        call = Call(outcome=outcome, note=note)
        return explanations.of(module, function, call)

    return of


@pytest.mark.parametrize(
    ("note", "module", "why"),
    [
        ("f(): AttributeError: module 'attn' has no attribute 'f'", "driver", "; attn.py is empty"),
        ("f(): AttributeError: module 'full' has no attribute 'f'", "driver", ""),
        ("f(): AttributeError: module 'numpy' has no attribute 'f'", "driver", ""),
        ("there is no function f()", "attn", "; attn.py is empty"),
        ("there is no function f()", "full", ""),
        ("f(): EOFError: EOF when reading a line", "full", "; nobody types anything where it is graded"),
        (
            "f(): BdbQuit in bdb.py:115 (if self.quitting: raise BdbQuit) (full.py:30, in f())",
            "full",
            "; a breakpoint was left in it, and nobody debugs it where it is graded",
        ),
        (
            "f(): AssertionError: Torch not compiled with CUDA enabled (full.py:6, in f())",
            "full",
            "; there is no GPU where it is graded",
        ),
        (
            "f(): OSError: [Errno 30] Read-only file system: 'log.txt'",
            "full",
            "; only below /tmp may it write",
        ),
        (
            "f(): RuntimeError: . open file failed with strerror: Read-only file system (n.py:4)",
            "full",
            "; only below /tmp may it write",
        ),
        (
            "f(): URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
            "full",
            "; there is no network where it is graded",
        ),
        (
            "f(): ModuleNotFoundError: No module named 'pydot' (autodiff.py:4)",
            "full",
            "; it was not handed in and is not installed here: do without it, or ask your course what may be "
            "imported",
        ),
        (
            "f(): FileNotFoundError: [Errno 2] No such file or directory: 'params.txt'",
            "full",
            "; params.txt was handed in and left out, because the assignment does not accept it; do without "
            "it, or ask your course what may be handed in",
        ),
    ],
)
def test_a_call_that_failed_for_want_of_something(explained, note, module, why):
    assert explained(note, module) == why


def test_a_name_that_an_empty_file_cannot_give_at_import(explained):
    note = "importing driver.py: ImportError: cannot import name 'f' from 'attn' (/workspace/attn.py)"
    assert explained(note, "driver", "") == "; attn.py is empty"


def test_a_file_that_was_handed_in_is_never_said_to_be_missing(explanations):
    asked = replace(explanations, job=replace(explanations.job, accepts=("full.py", "more.py")))
    for module, advice in (("full", ""), ("more", "; more.py was not handed in")):
        call = Call(outcome=Outcome.CRASHED, note=f"f(): ModuleNotFoundError: No module named '{module}'")
        assert asked.of("attn", "f", call) == advice


ENDED = "the program ended itself (exit status 3)"


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (f"importing driver.py: {ENDED}", f"importing full.py or attn.py: {ENDED}"),
        (
            f"importing loads.py: {ENDED}",
            f"importing work.cu: {ENDED}; loads.py loads it, which initializes its static variables",
        ),
        (
            f"importing built.py: {ENDED}",
            f"importing work.cu: {ENDED}; built.py loads it, which initializes its static variables",
        ),
        (f"importing alone.py: {ENDED}", f"importing alone.py: {ENDED}"),
        (f"importing attn.py: {ENDED}", f"importing attn.py: {ENDED}"),
    ],
)
def test_an_import_that_ends_without_a_traceback_names_the_files_that_the_courses_one_imports(
    tmp_path, explanations, note, told
):
    for name, text in {
        "driver": "import helper\ndef f():\n    from full import x",
        "helper": "import numpy, driver\nfrom attn import f\n",
        "loads": "import ctypes",
        "built": "import ctypes, os\nctypes.CDLL(os.environ['LIBRARIES'] + '/libwork.so')",
        "alone": "import ctypes",
    }.items():
        (tmp_path / "given").mkdir(exist_ok=True)
        (tmp_path / "given" / f"{name}.py").write_text(text)
    module = note.removeprefix("importing ").partition(".py")[0]
    call = Call(outcome=Outcome.CRASHED, note=note)
    assert explanations.explained(module, "", call).note == told


@pytest.mark.parametrize("requires", [{}, {"loads": ("work.cu",)}])
def test_an_error_as_the_course_loads_what_was_built_names_its_sources(tmp_path, explanations, requires):
    explanations = replace(explanations, job=replace(explanations.job, requires=requires))
    (tmp_path / "given").mkdir()
    (tmp_path / "given/loads.py").write_text("import ctypes, os\nctypes.CDLL(os.environ['LIBRARIES']).f\n")
    note = "importing loads.py: libwork.so has no function f"
    trace = '  File "/given/loads.py", line 2, in <module>\n'
    call = Call(outcome=Outcome.CRASHED, note=note, traceback=trace)
    told = explanations.explained("loads", "", call).note
    assert told == f"{note}; loads.py is the course's, and needs your work.cu"
