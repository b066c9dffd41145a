"""Submissions are really compiled, behind a wall; what comes out is what later programs find."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from threading import Barrier

import pytest

from grader.checks.build import PYTHON_3, BuildKind
from grader.checks.script import Script
from grader.contracts.call import InputCase
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.errors import CourseError, NotObservedError
from grader.harness.builds import Builds
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import DeviceGrant
from grader.harness.servers import Servers
from grader.harness.store import Store
from grader.harness.toolchain import toolchain
from grader.model.assignment import Build, Limits
from grader.model.job import Job
from grader.model.observation import MISSING_FILE, Outcome
from grader.model.rubric import Item
from grader.model.submission import Submission
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import ProcessSandbox
from grader.scoring.judge import judge, loss
from grader.worker.reference import controlled

PLAN = Build(
    command=("make",), products=("lib/lib.so",), variable="LIBRARY", programs=("make", "gcc"), wall_s=30.0
)
LIMITS = Limits(call_wall_s=10.0)
OPTIONS = BuildKind.Options()
MAKEFILE = "lib/lib.so: src/work.c\n\tmkdir -p lib\n\tgcc -Wall -shared -fPIC -o $@ src/work.c\n"
DRIVER = """
    import ctypes, os
    def answer():
        return ctypes.CDLL(os.environ["LIBRARY"] + "/lib/lib.so").answer()
"""
COURSE = {"given/Makefile": MAKEFILE, "given/driver.py": DRIVER}
RIGHT = "int answer(void) { return 42; }\n"
REFERENCE_FILES = {"reference/src/work.c": "int answer(void) { return 41; }\n"}

THEIRS = "src/theirs.h"
"""Only a submission has it: what the Makefile of `for_theirs` does to it, it does not do to the reference."""


def for_theirs(recipe):
    """Return files of a course that builds the reference, and a submission with THEIRS by a recipe."""
    built = "mkdir -p lib; touch lib/lib.so"
    return {"given/Makefile": f"all:\n\t@if [ -e {THEIRS} ]; then {recipe}; else {built}; fi\n"}


HINT = "Compile it with -Wall."

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the path")


@pytest.fixture
def contexts(tmp_path):
    """Make a context from the texts of a submission's and a course's files; `plan` says how to build."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    tmp_path.chmod(0o755)
    opened = []

    def write(folder, files):
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                continue
            file.write_text(text if path.endswith("akefile") else dedent(text))

    def make(
        files,
        course=COURSE,
        plan=PLAN,
        *,
        sandbox=BubblewrapSandbox,
        dropped=(),
        accepts=(),
        limits=LIMITS,
        **built_for,
    ):
        place = tmp_path / f"run{len(opened)}"
        write(place / "workspace", files)
        write(place / "assignment", {**REFERENCE_FILES, **course})
        servers = Servers(
            (sandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: place / "workspace", REFERENCE: place / "assignment/reference"},
            course_files=place / "assignment/given",
            limits=limits,
            as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
        )
        children = ProcessPool(servers, limits)
        builds = Builds(
            plan, children, limits, tmp_path / "cache", accepts=accepts, files=tuple(files), dropped=dropped
        )
        opened.append((children, servers, builds))
        submission = Submission(
            student="s", assignment="a", archive="s.tar.gz", digest="d", files=tuple(files), dropped=dropped
        )
        job = Job(
            id="1",
            submission=submission,
            course=str(place),
            assignment_folder=str(place / "assignment"),
            workspace=str(place / "workspace"),
            tasks=(),
            accepts=accepts,
            preloads={"driver": ("numpy",)},
            limits=limits,
            seed="5eed",
        )

        def built(whose, *, simulated=False):
            return builds.of(whose, **{**built_for, "simulated": simulated})

        return ItemContext(job, "item", children, lent=DeviceGrant(built=True), make=built)

    yield make
    for resources in opened:
        for resource in resources:
            resource.close()


def observe(context, options=OPTIONS):
    return BuildKind().observe(options, context)


def award(observation, options=OPTIONS):
    return BuildKind().award(options, observation, {})


def call(subject):
    return subject.call("answer", InputCase(name="a", args=()))


def test_what_is_built_is_found_by_later_programs_of_the_submission_and_of_the_reference(contexts):
    context = contexts({"src/work.c": RIGHT})
    observation = observe(context)
    assert observation.outcome is Outcome.OBSERVED
    assert award(observation).reason == "built"
    assert observation.quantities["size"].value > 1000
    with context.subject("driver") as own, context.reference("driver") as reference:
        assert (call(own).value, call(reference).value) == (42, 41)


@pytest.mark.parametrize(
    ("dropped", "meant"),
    [
        (("src/Work.c",), ", but src/Work.c was: it must be called work.c"),
        (("src/work (1).c",), ", but src/work (1).c was: it must be called work.c"),
        (("work.c",), ", but work.c was: it must lie in src/"),
        (("photo.png",), ""),
    ],
)
def test_a_source_that_make_does_not_find_is_told_with_what_was_meant_to_be_it(contexts, dropped, meant):
    observation = observe(contexts({"src/other.h": ""}, dropped=dropped, accepts=("src/work.c", "src/*.h")))
    assert observation.outcome is Outcome.NOT_BUILT
    sentence = f"src/work.c was not handed in{meant}"
    makes = "make: No rule to make target 'src/work.c', needed by 'lib/lib.so'"
    assert observation.note == f"{sentence}; {makes}"
    assert observation.facts[MISSING_FILE] == sentence
    assert observation.cases == ()


@pytest.mark.parametrize("included", ["src/work.c", "given/driver.c"])
def test_a_header_that_is_asked_for_and_not_handed_in_is_told_like_any_missing_file(contexts, included):
    makefile = MAKEFILE.replace("@ src/work.c", "@ src/work.c driver.c -Isrc")
    texts = {"src/work.c": RIGHT, "given/driver.c": "", included: '#include "util.h"\n'}
    driver = texts.pop("given/driver.c")
    context = contexts(
        texts,
        {"given/Makefile": makefile, "given/driver.c": driver, "reference/src/util.h": ""},
        dropped=("src/Util.h",),
        accepts=("src/work.c", "src/util.h"),
    )
    observation = observe(context)
    assert observation.facts[MISSING_FILE].startswith("src/util.h was not handed in, but src/Util.h was: ")
    place = included.removeprefix("given/")
    assert observation.note.endswith(f"called util.h; {place}:1:10: util.h: No such file or directory")


def test_a_header_that_was_left_out_is_told_as_that(contexts):
    files = {"src/work.c": f'#include "more.h"\n{RIGHT}'}
    observation = observe(contexts(files, dropped=("src/more.h",), accepts=("src/work.c",)))
    assert observation.note == (
        "src/work.c:1:10: more.h: No such file or directory (src/more.h was handed in and left out, because "
        "the assignment does not accept it: put what it holds into src/work.c)"
    )
    assert MISSING_FILE not in observation.facts


def test_a_source_that_was_left_out_is_told_as_that_where_a_pattern_has_its_ending(contexts):
    makefile = MAKEFILE.replace("src/work.c", "work.c")
    course = {"given/driver.py": DRIVER, "reference/Makefile": makefile, "reference/work.c": RIGHT}
    accepts = ("Makefile", "*.c", "*.h")
    context = contexts({"Makefile": MAKEFILE}, course, dropped=("src/work.c",), accepts=accepts)
    observation = observe(context)
    assert observation.note == (
        "No rule to make target 'src/work.c', needed by 'lib/lib.so'.  Stop. (src/work.c was handed in and "
        "left out, because the assignment does not accept it: put what it holds into a file that it accepts)"
    )
    assert MISSING_FILE not in observation.facts


def test_a_header_that_was_left_out_is_told_beside_what_a_compiler_says_of_the_code(contexts):
    files = {"src/work.c": '#include "more.h"\n', "src/two.c": "int f(void) { return x; }\n"}
    each = "\tfor file in src/*.c; do gcc -c -o /dev/null $$file; done\n"
    course = {"given/Makefile": MAKEFILE.replace("\tgcc", f"{each}\tgcc")}
    observation = observe(contexts(files, course, dropped=("more.h",), accepts=("src/*.c",)))
    notes = {case.note for case in observation.cases if "more.h" in case.note}
    assert notes == {
        "more.h: No such file or directory (more.h was handed in and left out, because the assignment does "
        "not accept it: put what it holds into src/work.c)"
    }


def test_a_source_that_was_left_out_is_told_where_the_linker_lacks_a_function(contexts):
    files = {"src/work.c": "int helper(void);\nint answer(void) { return helper(); }\n"}
    makefile = MAKEFILE.replace("-shared", "-shared -Wl,-z,defs")
    accepts = ("src/work.c",)
    context = contexts(files, {"given/Makefile": makefile}, dropped=("src/helper.c",), accepts=accepts)
    assert observe(context).note.endswith(
        "undefined reference to 'helper' (helper is used, and defined nowhere: do name, parameters and "
        'extern "C" agree in both places; src/helper.c was handed in and left out, because the assignment '
        "does not accept it: put what it holds into src/work.c, if it is defined there)"
    )


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"src/other.h": ""}, ""),
        ({"src/work.c": '#include "more.h"\n'}, ""),
        ({"src/work.c": "int answer(void) { return x; }\n"}, HINT),
        ({"src/work.c": '#include "more.h"\n', "src/two.c": "int f(void) { return x; }\n"}, HINT),
    ],
)
def test_a_hint_on_building_is_given_where_a_compiler_has_looked_at_the_code(contexts, files, hint):
    each = "\tfor file in src/*.c; do gcc -c -o /dev/null $$file; done\n"
    makefile = MAKEFILE.replace("\tgcc", f"{each}\tgcc")
    observation = observe(contexts(files, {"given/Makefile": makefile}, accepts=("src/*.c", "src/*.h")))
    item = Item(id="item", title="", points=1, check="build", hint=HINT, options=OPTIONS)
    judged = judge(item, {"item": observation}, {"build": BuildKind()})
    assert judged.fraction == 0.0
    assert judged.hint == hint
    assert judged.missing == observation.facts.get(MISSING_FILE, "")


@pytest.mark.parametrize(
    ("objects", "sources"), [("build/work.c.o", "build/%.o: src/%"), ("build/work.o", "build/%.o: src/%.c")]
)
@pytest.mark.parametrize(
    ("files", "dropped", "ends"),
    [
        ((), (), ""),
        (("src/work.h",), (), ""),
        ((), ("work.c",), ", but work.c was: it must lie in src/"),
    ],
)
def test_a_source_of_which_make_names_the_object_is_named(contexts, objects, sources, files, dropped, ends):
    makefile = f"lib/lib.so: {objects}\n\tmkdir -p lib\n\tgcc -shared -o $@ $^\n{sources}\n\tmkdir -p build\n"
    context = contexts(
        dict.fromkeys(("src/other.h", *files), ""),
        {"given/Makefile": f"{makefile}\tgcc -fPIC -c -o $@ $<\n"},
        dropped=dropped,
        accepts=("src/work.c", "src/*.h", "src/other.c"),
    )
    observation = observe(context)
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note == (
        f"src/work.c was not handed in{ends}; "
        f"make: No rule to make target '{objects}', needed by 'lib/lib.so'"
    )


def test_what_was_built_cannot_be_changed_by_the_program_that_loads_it(contexts):
    driver = """
        import os
        def answer():
            try:
                open(os.environ["LIBRARY"] + "/lib/lib.so", "ab").write(b"x")
            except OSError as error:
                return error.strerror
    """
    context = contexts({"src/work.c": RIGHT}, {**COURSE, "given/driver.py": driver})
    with context.subject("driver") as subject:
        assert call(subject).value in {"Read-only file system", "Permission denied"}


def test_two_workers_that_build_the_same_at_once_end_with_the_products_of_the_first(contexts, monkeypatch):
    """Each build makes other bytes, as those with a date in them; both have built before one publishes."""
    course = {"given/Makefile": "lib/lib.so:\n\tmkdir -p lib\n\tcat /proc/sys/kernel/random/uuid > $@\n"}
    workers = [contexts({"src/work.c": RIGHT}, course) for _ in range(2)]
    both_built, keep, published = Barrier(2), Store.keep, []

    def after_both(*arguments):
        both_built.wait(60.0)
        entry = keep(*arguments)
        published.append((entry.folder / "lib/lib.so").read_text())
        return entry

    monkeypatch.setattr(Store, "keep", after_both)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda worker: worker.build(), workers)
    assert first.folder == second.folder
    assert published == [Path(first.folder, "lib/lib.so").read_text()] * 2
    monkeypatch.undo()
    assert contexts({"src/work.c": RIGHT}, course).build().folder == first.folder


def test_a_program_that_is_run_finds_it_too(contexts):
    context = contexts({"src/work.c": RIGHT, "main.py": "import driver; print(driver.answer())"})
    assert context.run("main.py", (), 10.0).output == "42\n"


def test_an_error_is_told_with_its_place_and_how_many_more_there_are(contexts):
    observation = observe(contexts({"src/work.c": "int answer(void) {\n  return one + two;\n}\n"}))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note.startswith("src/work.c:2:10: 'one' undeclared (first use in this function)")
    assert observation.note.endswith("; and 1 more error")
    assert [case.name for case in observation.cases] == ["src/work.c:2:10", "src/work.c:2:16"]
    assert observation.cases[0].called == "return one + two;"
    assert "\u2018one\u2019 undeclared" in observation.output
    assert "/tmp" not in observation.output


def test_warnings_are_counted_once_and_cost_what_the_rubric_says(contexts):
    source = "int answer(void) { int unused; return 42; }\n"
    twice = MAKEFILE + "\tgcc -Wall -c -o /dev/null src/work.c\n"
    observation = observe(contexts({"src/work.c": source}, {**COURSE, "given/Makefile": twice}))
    told = "the first: src/work.c:1:24: unused variable 'unused' [-Wunused-variable]"
    assert award(observation).fraction == 1.0
    assert award(observation).reason == f"built; 1 warning, {told}"
    assert award(observation, BuildKind.Options(warnings_at_most=1)).fraction == 1.0
    refused = award(observation, BuildKind.Options(warnings_at_most=0))
    assert (refused.fraction, refused.reason) == (0.0, f"1 warning, and none is allowed; {told}")


@pytest.mark.parametrize(
    ("most", "allowed"), [(0, "none is allowed"), (1, "at most 1 is allowed"), (2, "at most 2 are allowed")]
)
def test_a_line_on_too_many_warnings_says_how_many_are_allowed(contexts, most, allowed):
    source = "int answer(void) { int a, b, c; return 42; }\n"
    observation = observe(contexts({"src/work.c": source}, COURSE))
    assert award(observation, BuildKind.Options(warnings_at_most=most)).reason.startswith(
        f"3 warnings, and {allowed}; the first: src/work.c:1:"
    )


@pytest.mark.parametrize("place", ["given/theirs.h", "reference/src/work.c"])
def test_warnings_that_the_reference_has_as_well_are_the_courses(contexts, place):
    """As those of a file of `given/`, or of a compiler that is newer than the course."""
    text = "static int unused(void) { return 1; }\n"
    included = '#include "../theirs.h"\n'
    texts = {"given/theirs.h": "", "reference/src/work.c": included + RIGHT}
    texts[place] += text
    context = contexts({"src/work.c": included + RIGHT + text}, {**COURSE, **texts})
    with pytest.raises(
        CourseError, match=r"the reference loses points as well: 1 warning, and none is allowed; the"
    ):
        held_against_the_reference(context, warnings_at_most=0)


def test_warnings_that_the_reference_has_not_cost_points(contexts):
    context = contexts({"src/work.c": "int answer(void) { int unused; return 42; }\n"})
    assert held_against_the_reference(context, warnings_at_most=0).outcome is Outcome.OBSERVED


def held_against_the_reference(context, **options):
    """Observe an item that loses points, and return what is left of that beside the reference."""
    kind = BuildKind()
    assert kind.asks_reference
    item = Item(id="item", title="", points=1, check="build", options=kind.Options(**options))
    lost = kind.observe(item.options, context)
    assert loss(item, lost, {"build": kind}, {})
    job = replace(context._job, accepts=("src/*.c",))
    return controlled(item, kind, lost, context, job, {})


@pytest.mark.parametrize(
    "silencing",
    [
        '#pragma GCC diagnostic ignored "-Wunused-variable"',
        '  #  pragma  GCC  diagnostic  ignored  "-Wall"',
        '_Pragma("GCC diagnostic ignored \\"-Wunused-variable\\"")',
    ],
)
def test_a_pragma_that_silences_warnings_is_a_flag_where_they_cost(contexts, silencing):
    observation = observe(contexts({"src/work.c": f"int x;\n{silencing}\n{RIGHT}"}, COURSE))
    assert award(observation).flags == ()
    judged = award(observation, BuildKind.Options(warnings_at_most=0))
    assert (judged.fraction, judged.flags) == (1.0, ("src/work.c:2: has the compiler leave warnings out",))


def test_a_file_that_is_missing_is_named(contexts):
    observation = observe(contexts({"src/Work.c": RIGHT}))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note.startswith("src/work.c was not handed in, but src/Work.c was: it must be called")
    assert observation.facts["diagnoses"] == ["missing_file"]


def test_a_name_that_is_defined_nowhere_is_named(contexts):
    makefile = MAKEFILE.replace("-shared", "-shared -Wl,-z,defs")
    context = contexts(
        {"src/work.c": "int f(void); int answer(void) { return f(); }\n"}, {"given/Makefile": makefile}
    )
    assert observe(context).note.startswith(
        "work.c: undefined reference to 'f' (f is used, and defined nowhere"
    )


NEEDS_TABLE = {"given/Makefile": MAKEFILE.replace("src/work.c\n\tmkdir", "src/work.c table.c\n\tmkdir")}


@pytest.mark.parametrize(
    ("handed_in", "accepts", "note"),
    [
        (
            {"Makefile": "all:\n"},
            ("Makefile",),
            "Makefile has no rule for lib/tally; write one, with that name",
        ),
        ({"Makefile": "all:\n"}, ("*",), "Makefile has no rule for lib/tally; write one, with that name"),
        (
            {"a.h": ""},
            ("*.h", "Makefile"),
            "neither a rule for lib/tally nor what it is made from was handed in",
        ),
    ],
)
def test_a_target_that_the_students_makefile_lacks_is_told_as_that(contexts, handed_in, accepts, note):
    plan = Build(command=("make", "lib/tally"), products=("lib/tally",), variable="TALLY", programs=("make",))
    course = {"reference/Makefile": "lib/tally:\n\tmkdir -p lib; touch lib/tally\n", "given/driver.py": ""}
    observation = observe(contexts(handed_in, course, plan, accepts=accepts))
    assert observation.note == f"No rule to make target 'lib/tally'.  Stop. ({note})"
    assert MISSING_FILE not in observation.facts


def test_what_make_needs_and_nobody_is_asked_for_is_the_courses_to_give(contexts):
    course = {**NEEDS_TABLE, "reference/table.c": ""}
    with pytest.raises(
        CourseError, match=r"^given/ has no table.c, which make needs, and nobody is asked to"
    ):
        observe(contexts({"src/work.c": RIGHT}, course, accepts=("src/work.c",)))
    asked = observe(contexts({"src/work.c": RIGHT}, course, accepts=("src/work.c", "*.c")))
    assert asked.outcome is Outcome.NOT_BUILT


def test_what_make_needs_in_a_folder_is_asked_for_by_no_pattern_of_the_top(contexts):
    makefile = MAKEFILE.replace("src/work.c\n\tmkdir", "src/work.c src/table.c\n\tmkdir")
    course = {"given/Makefile": makefile, "reference/src/table.c": ""}
    with pytest.raises(CourseError, match=r"^given/ has no src/table.c, which make needs, and nobody is"):
        observe(contexts({"src/work.c": RIGHT}, course, accepts=("src/work.c", "*.c")))
    asked = observe(contexts({"src/work.c": RIGHT}, course, accepts=("src/work.c", "src/*.c")))
    assert asked.facts[MISSING_FILE] == "src/table.c was not handed in"


def test_a_submission_that_has_a_compiler_speak_like_make_is_not_built(contexts):
    forged = """#line 1 "make: *** No rule to make target 'notes.c'. "\nint answer(void) { return x; }\n"""
    course = {**COURSE, "reference/notes.c": ""}
    observation = observe(contexts({"src/work.c": forged}, course, accepts=("src/work.c",)))
    assert "No rule to make target 'notes.c'" in observation.output
    assert observation.outcome is Outcome.NOT_BUILT


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ("int other(void);", "main.c:2: undefined reference to 'other' (other is used, and defined nowhere"),
        ('#include "src/work.h"', "main.c:2:25: implicit declaration of function 'other'"),
    ],
)
def test_an_error_in_a_file_of_the_course_that_fits_the_reference_says_whose_file(
    contexts, declared, complaint
):
    makefile = f"{MAKEFILE}\tgcc -g -Werror=implicit -o lib/program main.c src/work.c\n"
    main = f"{declared}\nint main(void) {{ return other(); }}\n"
    reference = {
        "reference/src/work.h": "int other(void);",
        "reference/src/work.c": "int other(void) { return 1; }\n",
    }
    context = contexts(
        {"src/work.c": RIGHT, "src/work.h": ""},
        {**COURSE, **reference, "given/Makefile": makefile, "given/main.c": main},
    )
    note = observe(context).note
    assert note.startswith(complaint)
    assert note.endswith("; main.c is the course's")


def test_a_second_main_is_told_with_the_file_of_the_course_that_has_the_first(contexts):
    makefile = f"{MAKEFILE}\tgcc -g -o lib/program main.c src/work.c\n"
    context = contexts(
        {"src/work.c": f"{RIGHT}int main(void) {{ return 0; }}\n"},
        {**COURSE, "given/Makefile": makefile, "given/main.c": "int main(void) { return 1; }\n"},
    )
    assert observe(context).note == (
        "src/work.c:2: multiple definition of 'main'; main.c:1: first defined here (main.c is the course's)"
    )


def test_a_makefile_of_the_course_that_make_cannot_read_is_the_courses_mistake(contexts):
    context = contexts({"src/work.c": RIGHT}, {**COURSE, "given/Makefile": MAKEFILE.replace("\t", "    ")})
    advice = "a command in a Makefile begins with a tab, not with spaces; write the tab"
    with pytest.raises(CourseError, match=rf"^given/Makefile:2: missing separator; {advice}$"):
        observe(context)


def test_a_makefile_of_the_course_with_another_mistake_is_to_be_corrected(contexts):
    context = contexts({"src/work.c": RIGHT}, {**COURSE, "given/Makefile": f"endif\n{MAKEFILE}"})
    with pytest.raises(CourseError, match=r"^given/Makefile:1: extraneous 'endif'; correct the file$"):
        observe(context)


@pytest.mark.parametrize("name", ["Makefile", "makefile", "GNUmakefile"])
def test_the_makefile_that_is_run_is_the_courses(contexts, name):
    mine = "lib/lib.so:\n\tmkdir -p lib; echo mine; echo mine > lib/lib.so\n"
    observation = observe(contexts({"src/work.c": RIGHT, name: mine}))
    assert observation.outcome is Outcome.OBSERVED
    assert "mine" not in observation.output


def test_a_handed_in_library_or_object_is_not_taken_for_a_built_one(contexts):
    makefile = (
        "lib/lib.so: z/work.o\n\tmkdir -p lib\n\tgcc -shared -o $@ z/work.o\n"
        "z/work.o: src/work.c\n\tmkdir -p z\n\tgcc -fPIC -c -o $@ $<\n"
    )
    mine = {"lib/lib.so": "mine", "z/work.o": "mine"}  # the latter is copied last, and so the youngest
    context = contexts({"src/work.c": RIGHT, **mine}, {**COURSE, "given/Makefile": makefile})
    assert observe(context).outcome is Outcome.OBSERVED
    with context.subject("driver") as subject:
        assert call(subject).value == 42


@pytest.mark.parametrize(
    ("recipe", "lacking"),
    [
        ("true", "lib/lib.so was not made"),
        ("mkdir -p lib; ln -s /etc/passwd lib/lib.so", "lib/lib.so is a link"),
        ("mkdir other; touch other/lib.so; ln -s other lib", "lib/lib.so is a link"),
        ("mkdir -p lib/lib.so", "lib/lib.so is no file"),
        ("mkdir lib; mkfifo lib/lib.so", "lib/lib.so is no file"),
        ("mkdir lib; truncate -s 3M lib/lib.so", "lib/lib.so is too large"),
    ],
)
def test_a_product_that_cannot_be_taken_is_not_built(contexts, recipe, lacking):
    observation = observe(contexts({THEIRS: ""}, for_theirs(recipe), replace(PLAN, product_mb=1)))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note == f"make ended well, but {lacking}"


def test_building_that_does_not_end_is_ended_and_what_it_said_is_kept(contexts):
    course = for_theirs("echo begun; sleep 1000")
    observation = observe(contexts({THEIRS: ""}, course, replace(PLAN, wall_s=1.0)))
    assert observation.outcome is Outcome.TIMED_OUT
    assert observation.note == "make did not end within 1 s of its own time"
    assert observation.output.startswith("begun\n")


def test_building_that_takes_too_much_memory_is_ended(contexts):
    course = for_theirs("head -c 300M /dev/zero > /tmp/big; sleep 10")
    observation = observe(contexts({THEIRS: ""}, course, replace(PLAN, memory_mb=128)))
    assert observation.outcome is Outcome.OUT_OF_MEMORY
    assert "128 MiB are allowed" in observation.note
    assert observation.note.startswith("building it used")


def test_a_product_that_does_not_fit_into_the_memory_of_a_build_is_the_courses_mistake(contexts):
    course = {**COURSE, "given/Makefile": "all:\n\tmkdir -p lib; truncate -s 250M lib/lib.so\n"}
    plan = replace(PLAN, memory_mb=256, product_mb=300, file_mb=300)
    with pytest.raises(CourseError) as caught:
        observe(contexts({"src/work.c": RIGHT}, course, plan))
    assert caught.value.problems == (
        "reference: cannot be built: building it took all of its memory; 256 MiB are allowed; "
        "correct it, given/, or memory_mb or wall_s of the build in assignment.py",
    )


def test_of_very_much_output_head_and_tail_are_kept(contexts):
    course = for_theirs("echo begun; yes noise | head -c 5M; echo; echo ended; false")
    observation = observe(contexts({THEIRS: ""}, course))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.output.startswith("begun\nnoise\n")
    assert "ended\nmake: *** [Makefile:2: all] Error 1" in observation.output
    assert observation.note == "make ended with status 2: ended"
    assert len(observation.output) < 70_000


def test_one_endless_line_is_cut(contexts):
    course = for_theirs("head -c 5M /dev/zero | tr '\\0' x; false")
    assert observe(contexts({THEIRS: ""}, course)).outcome is Outcome.NOT_BUILT


def test_what_was_built_for_the_same_files_is_taken_from_the_cache(contexts, tmp_path):
    course = {**COURSE, "given/Makefile": MAKEFILE + "\t@date +%N\n"}
    first = observe(contexts({"src/work.c": RIGHT}, course))
    assert observe(contexts({"src/work.c": RIGHT}, course)) == first
    (product,) = (tmp_path / "cache").glob("*/files/lib/lib.so")
    product.chmod(0o644)
    product.write_bytes(b"rotten")
    again = contexts({"src/work.c": RIGHT}, course)
    assert observe(again).output != first.output  # it was built anew
    with again.subject("driver") as subject:
        assert call(subject).value == 42


@pytest.mark.parametrize(
    ("files", "course", "plan"),
    [
        ({"src/work.c": RIGHT + "//"}, COURSE, PLAN),
        ({"src/work.c": RIGHT}, {**COURSE, "given/more.h": ""}, PLAN),
        ({"src/work.c": RIGHT}, COURSE, replace(PLAN, command=("make", "-s"))),
    ],
    ids=["submission", "given", "command"],
)
def test_whatever_differs_is_built_anew(contexts, tmp_path, files, course, plan):
    observe(contexts({"src/work.c": RIGHT}))
    observe(contexts(files, course, plan))
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_where_a_program_could_write_into_the_cache_nothing_is_kept(contexts, tmp_path):
    context = contexts({"src/work.c": RIGHT}, sandbox=ProcessSandbox)
    assert observe(context).outcome is Outcome.OBSERVED
    with context.subject("driver") as subject:
        assert call(subject).value == 42
    assert not (tmp_path / "cache").exists()


def test_a_program_that_this_machine_lacks_is_not_the_students_fault(contexts):
    plan = replace(PLAN, programs=("make", "no-such-compiler"))
    with pytest.raises(NotObservedError, match="no-such-compiler is not on this machine; install it"):
        observe(contexts({"src/work.c": RIGHT}, plan=plan))


@pytest.mark.parametrize(
    ("source", "more", "why"),
    [
        ("#include <cublas_v2.h>\n", "", "the header cublas_v2.h is not installed"),
        (RIGHT, " -lno-such-library", "the library no-such-library is not installed"),
        (RIGHT, "; no-such-program", "the program no-such-program is not installed"),
    ],
)
def test_neither_is_a_library_or_header_of_the_toolkit_or_what_the_makefile_starts(
    contexts, source, more, why
):
    makefile = MAKEFILE.replace("src/work.c\n", f"src/work.c{more}\n").replace(
        f"src/work.c{more}", "src/work.c", 1
    )
    with pytest.raises(NotObservedError, match=f"building needs what this machine has not: {why}"):
        observe(contexts({"src/work.c": source}, {"given/Makefile": makefile}))


@pytest.mark.parametrize(
    ("broken", "error", "line"),
    [
        (
            {"given/Makefile": "all:\n\tno-such-program\n"},
            NotObservedError,
            "no-such-program is not installed",
        ),
        (
            {"given/Makefile": MAKEFILE.replace("\tgcc", "\tgc")},
            CourseError,
            r"^given/Makefile:3: calls gc, which is no program here and not in programs of assignment.py; "
            r"did you mean gcc\?$",
        ),
        (
            {"given/Makefile": "all:\n\tgcc -c src/work.c\n\tsh build.sh\n", "given/build.sh": "gc -v\n"},
            CourseError,
            r"^given/build.sh:1: calls gc, ",
        ),
        (
            {"given/Makefile": "all:\n\tg++ -B/none -c -x nothing src/work.c\n"},
            CourseError,
            "reference: cannot be built: .*; correct it, given/, or command in assignment.py",
        ),
        (
            {"given/Makefile": "all:\n\t@echo cc1plus cannot be loaded; exit 127\n"},
            NotObservedError,
            "the reference cannot be built here either: .*cc1plus cannot be loaded; install",
        ),
        (
            {"given/Makefile": "lib/lib.so: src/work.c par.h\n\ttrue\n"},
            CourseError,
            r"^given/ has no par\.h, which make needs, nor has reference/; write it, or correct the",
        ),
        (
            {"given/makefile.txt": MAKEFILE, "given/Makefile": None},
            CourseError,
            r"^given/ has no Makefile that make finds; write given/Makefile$",
        ),
        ({"given/Makefile": "all:\n\ttrue\n"}, CourseError, "not made; .* given/ or products in assign"),
        ({"given/Makefile": "all:\n\tsleep 99\n"}, CourseError, "did not end within 1 s of its own time"),
        (
            {"given/Makefile": MAKEFILE, "reference/src/work.c": "int answer(void) { return y; }\n"},
            CourseError,
            r"^reference/src/work.c:1:27: 'y' undeclared",
        ),
        (
            {"given/Makefile": MAKEFILE.replace(": src", ": w.h src"), "given/w.h": "#error wrong\n"}
            | {"reference/src/work.c": '#include "../w.h"\n'},
            CourseError,
            r"^given/w.h:1:2: #error wrong; the reference cannot be built",
        ),
    ],
)
@pytest.mark.parametrize("source", [RIGHT, "int answer(void) { return x; }\n"])
def test_where_the_reference_cannot_be_built_either_no_student_is_blamed(
    contexts, broken, error, line, source
):
    """Whatever the student's own source is: nobody can tell, and a right one might be held as well."""
    context = contexts({"src/work.c": source}, broken, replace(PLAN, wall_s=1.0))
    if source == RIGHT and "reference/src/work.c" in broken:
        assert observe(context).outcome is Outcome.OBSERVED  # it is not asked about what can be built
        return
    with pytest.raises(error, match=line):
        observe(context)


HEADERS = {
    "a mistake": (
        '#include "util.h"\n' + RIGHT,
        "int twice(int x { return 2 * x; }\n",
        "given/src/util.h:1:",
    ),
    "behind an own header": (
        '#include "own.h"\n' + RIGHT,
        "#error wrong\n",
        "given/src/util.h:1:2: #error wrong",
    ),
    "in a file of its own": (RIGHT, "#error wrong\n", "given/src/util.h:1:2: #error wrong"),
    "a type without its header": (
        '#include "util.h"\n#include <stddef.h>\n' + RIGHT,
        "static size_t of(void) { return 0; }\n",
        "given/src/util.h:1:8: unknown type name",
    ),
    "a header that is not there": (
        '#include "util.h"\n' + RIGHT,
        '#include "gone.h"\n',
        "given/src/util.h:1:.*gone.h",
    ),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_of_the_course_that_no_reference_includes_is_tried_with_the_reference(contexts, name):
    source, header, line = HEADERS[name]
    files = {"src/work.c": source, "src/own.h": '#pragma once\n#include "util.h"\n'}
    if name == "in a file of its own":
        files["src/more.c"] = '#include "own.h"\n'
    makefile = MAKEFILE.replace("src/work.c", "$(wildcard src/*.c)")
    course = {"given/Makefile": makefile, "given/src/util.h": header}
    with pytest.raises(
        CourseError, match=f"^{line}.*; the reference cannot be built with this header either"
    ):
        observe(contexts(files, course))


@pytest.mark.parametrize(
    "source",
    [
        '#define twice(x) no-name\n#include "util.h"\n' + RIGHT,
        '#include "util.h"\nint answer(void) { return TWICE(nothing); }\n',
        'int twice(int x, int y) { return x; }\n#include "util.h"\n' + RIGHT,
    ],
)
def test_a_submission_that_breaks_a_right_header_of_the_course_is_to_blame(contexts, source):
    header = "#define TWICE(x) twice(x)\nstatic int twice(int x) { return 2 * x; }\n"
    observation = observe(contexts({"src/work.c": source}, {**COURSE, "given/src/util.h": header}))
    assert observation.outcome is Outcome.NOT_BUILT


def test_a_header_that_the_reference_includes_is_right_as_it_does(contexts):
    """Who leaves out what it needs to be defined before is to blame."""
    header = "#ifndef SIZE\n#error define SIZE\n#endif\n"
    course = {
        **COURSE,
        "given/src/util.h": header,
        "reference/src/work.c": f'#define SIZE 1\n#include "util.h"\n{RIGHT}',
    }
    observation = observe(contexts({"src/work.c": '#include "util.h"\n' + RIGHT}, course))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note.startswith("src/util.h:2:2: #error define SIZE")


def test_a_folder_where_the_reference_has_a_file_disturbs_no_trial(contexts):
    """The compiler complains of a header of the course, for a name that the submission gave away."""
    own = {"src/work.c/more.c": '#include "util.h"\n', "src/main.c": 'int twice;\n#include "util.h"\n'}
    makefile = MAKEFILE.replace("src/work.c\n", "$(wildcard src/main.c src/work.c)\n")
    course = {"given/Makefile": makefile, "given/src/util.h": "int twice(int x);\n"}
    assert observe(contexts(own, course)).outcome is Outcome.NOT_BUILT


def test_a_file_of_the_course_is_not_mistaken_for_one_of_the_submission(contexts):
    files = {"src/work.c": '#include "util.h"\n' + RIGHT, "old/util.h": ""}
    with pytest.raises(CourseError, match=r"^given/src/util.h:1:2: #error wrong"):
        observe(contexts(files, {**COURSE, "given/src/util.h": "#error wrong\n"}))


def test_a_program_that_only_a_submissions_own_makefile_starts_is_the_students_affair(contexts):
    own = {"Makefile": "all:\n\tno-such-program\n", "src/work.c": RIGHT}
    course = {"given/driver.py": DRIVER, "reference/Makefile": MAKEFILE}
    observation = observe(contexts(own, course))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note == (
        "no-such-program: not found (no-such-program is not installed where this is graded; "
        "there is make, gcc)"
    )


def test_a_file_that_a_recipe_reads_and_that_was_left_out_is_told_as_that(contexts):
    own = {"Makefile": "all:\n\tcat < test.txt\n", "src/work.c": RIGHT}
    course = {"given/driver.py": DRIVER, "reference/Makefile": MAKEFILE}
    context = contexts(own, course, accepts=("Makefile", "src/*.c"), dropped=("test.txt",))
    assert observe(context).note.startswith(
        "test.txt: No such file or directory (test.txt was handed in and left out, because the assignment "
        "does not accept it"
    )


@pytest.mark.parametrize(
    ("handed_in", "told"),
    [({}, " (a.out was, as by a compiler without -o lib/lib.so)"), ({"a.out": ""}, "")],
)
def test_a_product_that_was_made_under_the_compilers_own_name_is_told(contexts, handed_in, told):
    own = {"Makefile": "all:\n\ttouch a.out\n", "src/work.c": RIGHT, **handed_in}
    course = {"given/driver.py": DRIVER, "reference/Makefile": MAKEFILE}
    assert observe(contexts(own, course)).note == f"make ended well, but lib/lib.so was not made{told}"


def test_a_compiler_that_went_after_the_reference_was_built_is_noticed(contexts, monkeypatch):
    """An entry of the cache tells of another day: here of one on which the Makefile's program was there."""
    with contexts({"src/work.c": RIGHT}).reference("driver"):
        pass
    run = Builds._run

    def without_its_compiler(builds, whose, command, *arguments):
        return run(builds, whose, ["no-such-program"], *arguments)

    monkeypatch.setattr(Builds, "_run", without_its_compiler)
    with pytest.raises(NotObservedError, match="the program no-such-program is not installed"):
        observe(contexts({"src/work.c": RIGHT}))


def test_a_course_without_a_reference_holds_what_the_machine_lacks_and_blames_for_the_rest(contexts):
    course = {**COURSE, "reference/src/work.c": None}
    assert observe(contexts({"src/work.c": "int"}, course)).outcome is Outcome.NOT_BUILT
    with pytest.raises(NotObservedError, match="no-such-program is not installed"):
        observe(contexts({"src/work.c": RIGHT}, {**course, "given/Makefile": "all:\n\tno-such-program\n"}))


def test_an_error_in_a_file_whose_name_no_folder_can_hold_is_the_students_fault(contexts):
    observation = observe(contexts({"src/work.c": f'#line 1 "{"n" * 300}"\nint\n'}))
    assert observation.outcome is Outcome.NOT_BUILT


def test_a_header_that_the_student_thought_of_is(contexts):
    observation = observe(contexts({"src/work.c": '#include "helper.h"\n'}, accepts=("src/work.c",)))
    assert observation.outcome is Outcome.NOT_BUILT
    assert "helper.h is neither handed in nor one of the course's files" in observation.note


@pytest.mark.parametrize(
    ("written", "header", "told"),
    [
        ("<work.h>", "src/work.h", 'it is there: write #include "work.h", with quotation marks'),
        ('"work.h"', "work.h", 'it is there as work.h: write #include "../work.h"'),
    ],
)
def test_a_header_of_the_course_that_is_not_found_is_told_how_to_be_included(contexts, written, header, told):
    course = {**COURSE, f"given/{header}": "int answer(void);\n"}
    observation = observe(contexts({"src/work.c": f"#include {written}\n{RIGHT}"}, course))
    assert observation.note.endswith(f"work.h: No such file or directory ({told})")
    assert [case.note.partition(" (")[2] for case in observation.cases] == [f"{told})"]


def test_changed_files_that_the_course_replaces_are_named_where_it_builds_and_where_not(contexts):
    course = {**COURSE, "given/src/work.h": "int answer(void);\n", "given/src/same.h": "\n"}
    changed = {
        "src/work.h": "#define ANSWER 42\nint answer(void);\n",
        "src/same.h": "\r\n",
        "Makefile": MAKEFILE,
    }
    told = (
        "the course's own src/work.h took the place of what was handed in under that name, and is different"
    )
    needs_it = '#include "work.h"\nint answer(void) { return ANSWER; }\n'
    failed = observe(contexts({"src/work.c": needs_it, **changed}, course))
    assert failed.outcome is Outcome.NOT_BUILT
    assert failed.note.endswith(f"; {told}")
    assert award(observe(contexts({"src/work.c": RIGHT, **changed}, course))).reason == f"built; {told}"


def test_a_file_for_python_2_is_named_where_the_rubric_asks_for_it(contexts):
    old = {"net.py": "x = 1\nprint 'epoch', x\n", "driver.py": "print 1\n"}
    observation = observe(contexts({"src/work.c": RIGHT, **old}))
    assert observation.outcome is Outcome.OBSERVED
    assert award(observation).fraction == 1.0
    lost = award(observation, BuildKind.Options(python=("*.py",)))
    assert lost.fraction == 0.0
    assert lost.reason == (
        "net.py:2: is written for Python 2 (Missing parentheses in call to 'print')"
    )  # and not driver.py, which the course has as well
    assert lost.hint == PYTHON_3
    assert award(observation, BuildKind.Options(python=("src/*.py",))).fraction == 1.0


def test_an_assignment_that_says_not_how_it_is_built_is_the_courses_fault(contexts):
    context = contexts({"src/work.c": RIGHT})
    with pytest.raises(CourseError, match=r"does not say how it is built; give it a build=Build"):
        ItemContext(context._job, "item", context._children).build()


def test_a_reference_that_cannot_be_built_is_the_courses_fault(contexts):
    context = contexts({"src/work.c": RIGHT}, {**COURSE, "reference/src/work.c": "int"})
    with (
        pytest.raises(
            CourseError, match=r"^reference/src/work.c:1:\d.*; the reference cannot be built"
        ) as failed,
        context.reference("driver"),
    ):
        pass
    assert "work.c:1" in failed.value.output, "the compiler's own lines, for staff"


def test_what_was_built_before_and_cannot_be_now_is_not_the_students_fault(contexts):
    context = contexts({"src/work.c": "int"})
    with (
        pytest.raises(NotObservedError, match="it was built before, and cannot be here"),
        context.subject("driver"),
    ):
        pass


def test_the_time_that_building_takes_is_the_submissions_own(contexts):
    context = contexts({"src/work.c": RIGHT})
    observe(context)
    assert context._children.program_s > 0


# Sanitizers

TESTER = """
    import os, subprocess, sys
    options = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    sys.exit(subprocess.run([os.environ["LIBRARY"] + "/lib/lib.so"], env=options).returncode)
"""
RESERVES = Limits(call_wall_s=20.0, memory_mb=256, reserve_mb=40_000_000)
SANITIZED = {
    "thread": """
        #include <pthread.h>
        static int count;
        static void *add(void *to) { for (int i = 0; i < 1000; ++i) ++*(int *)to; return 0; }
        int main(void) {
          int mine = 0;
          pthread_t thread;
          pthread_create(&thread, 0, add, &count);
          add(WRONG ? &count : &mine);
          return pthread_join(thread, 0);
        }
    """,
    "address": """
        #include <stdlib.h>
        int main(int count, char **names) {
          int *numbers = malloc(count * sizeof(int));
          numbers[WRONG ? count : 0] = 1;
          return numbers[0] != 1 && WRONG == 0;
        }
    """,
    "undefined": """
        int main(int count, char **names) { return (count << (WRONG ? 40 : 1)) != 2; }
    """,
}


def sanitized(contexts, name, source, limits=RESERVES):
    """Run a program that was built with a sanitizer; return its observation."""
    flags = f"-g -pthread -fsanitize={name} -fno-sanitize-recover=all"
    makefile = MAKEFILE.replace("-Wall -shared -fPIC", flags)
    reference = {"reference/src/work.c": "int main(void) { return 0; }\n"}
    course = {"given/Makefile": makefile, "given/tester.py": TESTER, **reference}
    context = contexts({"src/work.c": source}, course, limits=limits)
    assert observe(context).outcome is Outcome.OBSERVED
    return Script().observe(Script.Options(file="tester.py"), context)


@pytest.mark.parametrize("name", SANITIZED)
def test_sanitizers_work_where_the_assignment_lets_them_reserve_memory(contexts, name):
    right = sanitized(contexts, name, SANITIZED[name].replace("WRONG", "0"))
    assert (right.quantities["exit_status"].value, right.output) == (0, "")
    wrong = sanitized(contexts, name, SANITIZED[name].replace("WRONG", "1"))
    assert wrong.quantities["exit_status"].value not in {0, None}
    assert "src/work.c:" in wrong.output


def test_what_a_program_uses_is_bounded_whatever_it_may_reserve(contexts):
    source = """
        #include <stdlib.h>
        #include <string.h>
        int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }
    """
    hog = sanitized(contexts, "address", source)
    assert hog.outcome is Outcome.OUT_OF_MEMORY
    assert "256 MiB are allowed" in hog.note


# CUDA

CUDA = Build(
    command=("nvcc", "-arch={arch}", "-shared", "-Xcompiler", "-fPIC", "-o", "lib.so", "work.cu"),
    products=("lib.so",),
    variable="LIBRARY",
    programs=("nvcc", "g++"),
)
KERNEL = """
template <int N> __global__ void turn(float *p) {
  __shared__ float s[N];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__global__ void spill(double *p, int n) {
  double v[200];
  for (int i = 0; i < n; i++) v[i % 200] += p[i];
  p[0] = v[n % 200];
}
extern "C" int answer(float *p) { turn<64><<<1, 64>>>(p); spill<<<1, 1>>>(0, 3); return 0; }
"""
OLD = 'extern "C" int answer() {\n  return cudaThreadSynchronize();\n}\n'
GIVEN = {
    "given/driver.py": DRIVER,
    "reference/work.cu": 'extern "C" int answer() { return 41; }\n',
    "reference/other.cu": "",
}


@pytest.mark.slow
@needs_nvcc
def test_registers_stack_and_shared_memory_of_each_kernel_are_kept(contexts):
    observation = observe(contexts({"work.cu": KERNEL}, GIVEN, CUDA, architecture="sm_90"))
    assert award(observation).reason == "built for sm_90"
    turn, spill = sorted(observation.facts["kernels"], key=lambda kernel: kernel["kernel"], reverse=True)
    assert (turn["kernel"], turn["architecture"], turn["shared_bytes"]) == ("turn<64>", "sm_90", 256)
    assert (spill["kernel"], spill["stack_bytes"], spill["spill_bytes"]) == ("spill", 1600, 0)
    assert min(turn["registers"], spill["registers"]) > 4
    assert "ptxas" not in observation.output
    assert "release" in observation.facts["programs"]["nvcc"]


@needs_nvcc
@pytest.mark.slow
def test_what_kernels_may_spill_is_bounded_if_the_rubric_says_so(contexts):
    tight = replace(CUDA, command=(*CUDA.command, "-maxrregcount=16"))
    many = "".join(f"float v{i} = p[{i} * n];" for i in range(60))
    used = "+".join(f"v{i} * v{(i * 7) % 60}" for i in range(60))
    source = f"__global__ void k(float *p, int n) {{ {many} __syncthreads(); p[0] = {used}; }}\n"
    observation = observe(contexts({"work.cu": source}, GIVEN, tight, architecture="sm_90"))
    assert award(observation).fraction == 1.0
    lost = award(observation, BuildKind.Options(spill_bytes_at_most=0))
    spilled = observation.facts["kernels"][0]["spill_bytes"]
    assert spilled > 0
    assert (lost.fraction, lost.reason) == (0.0, f"k spills {spilled} bytes, and none is allowed")


@needs_nvcc
@pytest.mark.slow
def test_without_a_gpu_the_compilers_default_is_built_for(contexts):
    observation = observe(contexts({"work.cu": KERNEL}, GIVEN, CUDA))
    assert observation.facts["architecture"] == ""
    (architecture,) = {kernel["architecture"] for kernel in observation.facts["kernels"]}
    assert architecture.startswith("sm_")


@pytest.mark.slow
@needs_nvcc
def test_a_name_that_cuda_13_took_away_is_named_and_a_header_may_help(contexts):
    context = contexts({"work.cu": OLD}, GIVEN, CUDA, architecture="sm_90")
    observation = observe(context)
    assert observation.outcome is Outcome.OBSERVED
    assert observation.facts["diagnoses"] == ["removed_api"]
    lost = award(observation)
    assert lost.fraction == 0.0
    assert lost.reason.startswith('work.cu:2: identifier "cudaThreadSynchronize" is undefined')
    assert "CUDA 13 has no cudaThreadSynchronize; cudaDeviceSynchronize does the same" in lost.reason
    earned = award(observation, BuildKind.Options(compatibility=True))
    assert earned.fraction == 1.0
    assert earned.reason == "built for sm_90, with the help of a header of old names"


@needs_nvcc
@pytest.mark.slow
def test_what_the_machine_lacks_is_told_also_where_the_header_has_helped_so_far(contexts):
    both = replace(CUDA, command=(*CUDA.command, "other.cu"))
    files = {"work.cu": OLD, "other.cu": "#include <mpi.h>\n"}
    with pytest.raises(NotObservedError, match=r"the header mpi\.h is not installed"):
        observe(contexts(files, GIVEN, both))


@pytest.mark.slow
@needs_nvcc
def test_where_the_header_does_not_help_the_first_build_is_told(contexts):
    observation = observe(contexts({"work.cu": OLD + "int f() { return other; }\n"}, GIVEN, CUDA))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note.startswith('work.cu:2: identifier "cudaThreadSynchronize" is undefined')
    assert observation.note.endswith("; and 1 more error")


@pytest.mark.quick(1)
@needs_nvcc
@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("__global__ void k() { undefined(); }\n", 'work.cu:1: identifier "undefined" is undefined'),
        (
            "__global__ void k(int *p) { __shared__ int s[20000]; s[threadIdx.x] = p[0]; p[0] = s[5]; }\n",
            "Entry function '_Z1kPi' uses too much shared data (0x13880 bytes, 0xc000 max) (the arrays that",
        ),
        (
            '#include "kernels.cuh"\n',
            "work.cu:1:10: kernels.cuh: No such file or directory (kernels.cuh is neither",
        ),
    ],
)
def test_what_nvcc_complains_of_is_told(contexts, source, note):
    observation = observe(
        contexts({"work.cu": source}, GIVEN, CUDA, architecture="sm_90", accepts=("work.cu",))
    )
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.note.startswith(note)


@needs_nvcc
def test_an_unknown_architecture_is_the_machines_if_we_asked_for_it_and_else_has_a_hint(contexts):
    with pytest.raises(NotObservedError, match="its nvcc does not compile for sm_30, the GPU's architecture"):
        observe(contexts({"work.cu": KERNEL}, GIVEN, CUDA, architecture="sm_30"))
    old = replace(CUDA, command=("nvcc", "-arch=sm_30", *CUDA.command[2:]))
    with pytest.raises(CourseError, match="Unsupported gpu architecture 'sm_30'"):
        observe(contexts({"work.cu": KERNEL}, GIVEN, old, architecture="sm_90"))
    makefile = "all:\n\tnvcc -arch={} -shared -Xcompiler -fPIC -o lib.so work.cu\n"
    mine = {"work.cu": KERNEL, "Makefile": makefile.format("sm_30")}
    course = {**GIVEN, "reference/Makefile": makefile.format("sm_90")}
    make = replace(CUDA, command=("make",))
    observation = observe(contexts(mine, course, make, architecture="sm_90"))
    assert observation.outcome is Outcome.NOT_BUILT
    assert observation.facts["diagnoses"] == ["unknown_architecture"]
    assert "leave the architecture to the course" in observation.note


def without_nvcc(programs):
    if "nvcc" in programs:
        raise NotObservedError("nvcc is not on this machine")
    return toolchain(programs)


@pytest.mark.slow
def test_where_there_is_no_nvcc_a_build_for_the_cpu_serves_if_the_rubric_says_so(contexts, monkeypatch):
    monkeypatch.setattr("grader.harness.builds.toolchain", without_nvcc)
    kernel = """
        __global__ void twice(int *p) { *p *= 2; }
        extern "C" int answer() {
          int *there, here = 21;
          cudaMalloc(&there, sizeof here);
          cudaMemcpy(there, &here, sizeof here, cudaMemcpyHostToDevice);
          twice<<<1, 1>>>(there);
          cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
          return here;
        }
    """
    driver = DRIVER.replace("/lib/lib.so", "/lib.so")
    context = contexts({"work.cu": kernel}, {**GIVEN, "given/driver.py": driver}, CUDA)
    with pytest.raises(NotObservedError, match="nvcc is not on this machine"):
        observe(context)
    observation = observe(context, BuildKind.Options(on_cpu=True))
    assert (observation.outcome, observation.simulated) == (Outcome.OBSERVED, True)
