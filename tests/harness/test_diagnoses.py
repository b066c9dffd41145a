"""Which complaints are known, and which say nothing of the submission."""

from __future__ import annotations

import pytest

from grader.contracts.build import Diagnostic
from grader.harness.diagnoses import diagnose, lacking, missing_for_make, renames


@pytest.mark.parametrize(
    ("message", "name", "hint"),
    [
        ("'cudaThreadExit' was not declared in this scope", "removed_api", "cudaDeviceReset does the same"),
        ('class "cudaDeviceProp" has no member "clockRate"', "removed_api", "CUDA 13 took clockRate out"),
        ('identifier "__shfl_down" is undefined', "removed_api", "__shfl_down_sync takes the mask"),
        ("texture is not a template", "removed_api", "CUDA 12 took texture references away"),
        ("Unsupported gpu architecture 'sm_30'", "unknown_architecture", "does not compile for sm_30"),
        ("No targets specified and no makefile found.  Stop.", "missing_file", "makefile was not handed in"),
        ("missing separator.  Stop.", "missing_tab", "a command in a Makefile begins with a tab"),
        (
            "undefined reference to 'main'",
            "no_main",
            "the program has no function main, with which it begins",
        ),
        (r"stray '\377' in program", "encoding", "save it as UTF-8"),
        ("source file is not valid UTF-8", "encoding", "save it as UTF-8"),
        ("undefined reference to 'scan'", "undefined_reference", 'do name, parameters and extern "C" agree'),
        ("undefined reference to 'omp_get_max_threads'", "no_openmp", "link with -fopenmp"),
        ("undefined reference to 'DLGpuRelu(int)'", "undefined_reference", "DLGpuRelu(int) is used, and"),
    ],
)
def test_what_many_meet_has_a_name_and_a_hint(message, name, hint):
    known = diagnose(Diagnostic(message=message))
    assert known is not None
    assert known.name == name
    assert hint in known.hint


LEFT = "src/help.h was handed in and left out, because the assignment does not accept it"


@pytest.mark.parametrize(
    ("message", "file", "hint"),
    [
        ("help.h: No such file or directory", "a.cpp", f"{LEFT}: put what it holds into a.cpp"),
        (
            "src/help.h: No such file or directory",
            "b.h",
            f"{LEFT}: put what it holds into lib/util.h",
        ),
        ("'help.h' file not found", "a.cpp", f"{LEFT}: put what it holds into a.cpp"),
        ('cannot open source file "help.h"', "a.cpp", f"{LEFT}: put what it holds into a.cpp"),
        (
            "No rule to make target 'help.h', needed by 'x'",
            "",
            f"{LEFT}: put what it holds into lib/util.h",
        ),
        (
            "No rule to make target 'build/more.o', needed by 'x'",
            "",
            f"more.cpp{LEFT.removeprefix('src/help.h')}: put what it holds into a.cpp",
        ),
        (
            "Util.h: No such file or directory",
            "a.cpp",
            "lib/util.h was handed in: its folder and all letters of its name must agree",
        ),
        (
            "none.h: No such file or directory",
            "a.cpp",
            "none.h is neither handed in nor one of the course's files",
        ),
        (
            "undefined reference to 'scan'",
            "a.cpp",
            'scan is used, and defined nowhere: do name, parameters and extern "C" agree in both places; '
            f"more.cpp{LEFT.removeprefix('src/help.h')}: put what it holds into a.cpp, if it is defined "
            "there",
        ),
    ],
)
def test_a_hint_knows_what_was_handed_in_and_left_out(message, file, hint):
    dropped = ("._a.cpp", "more.cpp", "src/help.h")
    known = diagnose(Diagnostic(message=message, file=file), ("a.cpp", "lib/util.h"), dropped)
    assert known.hint == hint


@pytest.mark.parametrize(
    ("target", "files", "hint"),
    [
        ("tally", ("Makefile", "a.cpp"), "Makefile has no rule for tally; write one, with that name"),
        ("libpar.so", ("makefile",), "makefile has no rule for libpar.so; write one, with that name"),
        ("bin/tally", ("a.cpp",), "neither a rule for bin/tally nor what it is made from was handed in"),
        ("more", ("Makefile",), f"more.cpp{LEFT.removeprefix('src/help.h')}: put what it holds into a file"),
    ],
)
def test_a_target_that_no_rule_makes_is_not_told_as_a_file_to_hand_in(target, files, hint):
    message = f"No rule to make target '{target}'.  Stop."
    known = diagnose(Diagnostic(message=message), files, ("more.cpp", "tally"))
    assert known.hint.startswith(hint)
    assert known.name == "missing_file"


@pytest.mark.parametrize("target", ["config.mk'.  Stop.", "table', needed by 'x'.  Stop."])
def test_a_file_that_a_makefile_includes_or_a_target_needs_is_to_be_handed_in(target):
    known = diagnose(Diagnostic(message=f"No rule to make target '{target}"))
    assert "was not handed in, or lies in another folder" in known.hint


@pytest.mark.parametrize("message", ['expected a ";"', 'identifier "cudaThing" is undefined'])
def test_the_rest_has_none(message):
    assert diagnose(Diagnostic(message=message)) is None
    assert lacking([Diagnostic(message=message)], "sm_90") == ""


def test_only_an_architecture_that_we_asked_for_is_the_machines_doing():
    error = Diagnostic(message="Unsupported gpu architecture 'sm_30'")
    assert lacking([error], "sm_30") == "its nvcc does not compile for sm_30, the GPU's architecture"
    assert lacking([error], "sm_90") == lacking([error], "") == ""


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("cannot find -lcublas: No such file or directory", "the library cublas is not installed"),
        ("cublas_v2.h: No such file or directory", "the header cublas_v2.h is not installed"),
        ("thrust/sort.h: No such file or directory", "the header thrust/sort.h is not installed"),
        ("nvcc: not found", "the program nvcc is not installed"),
        (
            "cannot execute 'cc1plus': execvp: No such file or directory",
            "the program cc1plus is not installed",
        ),
        (
            "Failed to preprocess host compiler properties.",
            "its nvcc finds no C++ compiler that works",
        ),
        (
            "-- unsupported GNU version! gcc versions later than 15",
            "its C++ compiler is too new for its nvcc",
        ),
    ],
)
def test_what_the_machine_lacks_is_said(message, why):
    assert lacking([Diagnostic(message="x"), Diagnostic(message=message)], "") == why


@pytest.mark.parametrize("header", ["cublas_v3.h", "helper_cuda.h", "src/cuda.h", "kernels.cuh"])
def test_a_header_that_no_toolkit_has_is_the_submissions_own(header):
    assert lacking([Diagnostic(message=f"{header}: No such file or directory")], "") == ""


def test_a_place_is_as_exact_as_it_is_known():
    assert str(Diagnostic(file="a.cu", line=3, column=7, message="x")) == "a.cu:3:7: x"
    assert str(Diagnostic(file="a.cu", message="x")) == "a.cu: x"
    assert str(Diagnostic(message="x")) == "x"
    assert renames([Diagnostic(message='identifier "cudaThreadExit" is undefined')])
    assert not renames([Diagnostic(message='identifier "cudaThread" is undefined')])


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("No rule to make target 'all'.  Stop.", "given/ has no Makefile with a rule for all; write it"),
        (
            "No rule to make target 'par.h', needed by 'libpar.so'.  Stop.",
            "given/ has no par.h, which make needs, nor has reference/; write it, or correct the Makefile",
        ),
        (
            "No targets specified and no makefile found.  Stop.",
            "given/ has no Makefile that make finds; write given/Makefile",
        ),
        ("'x' was not declared in this scope", ""),
    ],
)
def test_what_make_lacks_with_the_reference_is_the_courses_to_write(message, line):
    assert missing_for_make([Diagnostic(message=message)], ("make", "-O", "all")) == line
