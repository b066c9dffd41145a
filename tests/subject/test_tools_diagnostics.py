"""What compilers, linkers and make print, as they printed it, and what is read from it."""

from __future__ import annotations

import pytest

from grader.subject.tools.diagnostics import DIAGNOSTICS, Reader

FOLDER = "/tmp/build"


def read(text):
    reader = Reader(FOLDER)
    for line in text.splitlines():
        reader.read(line)
    return reader


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            'src/k.cu(12): error: identifier "x" is undefined',
            'src/k.cu:12:0 error identifier "x" is undefined',
        ),
        ("/tmp/build/src/k.cu(3): warning #177-D: unused", "src/k.cu:3:0 warning unused"),
        ("src/k.cu(1): catastrophic error: cannot open", "src/k.cu:1:0 error cannot open"),
        ("src/../a.cc:4:41: warning: unused \u2018y\u2019 [-W]", "a.cc:4:41 warning unused 'y' [-W]"),
        ("/usr/include/x.h:7:2: fatal error: a.h: No", "/usr/include/x.h:7:2 error a.h: No"),
        ("nvcc fatal   : Unsupported gpu architecture", ":0:0 error Unsupported gpu architecture"),
        ("nvcc warning : Cannot find valid GPU", ":0:0 warning Cannot find valid GPU"),
        ("ptxas error   : Entry function '_Z1k' uses", ":0:0 error Entry function '_Z1k' uses"),
        ("ptxas /tmp/x.ptx, line 20; error   : Unknown", ":0:0 error Unknown"),
        ("nvlink error   : Undefined reference to 'f'", ":0:0 error Undefined reference to 'f'"),
        ("cc1plus: fatal error: no.cu: No such file", ":0:0 error no.cu: No such file"),
        ("/usr/bin/ld: cannot find -lcublas: No such file", ":0:0 error cannot find -lcublas: No such file"),
        ("/usr/bin/ld: cannot open output file bin/a: No", ":0:0 error cannot open output file bin/a: No"),
        ("u.cc:(.text+0x5): undefined reference to `bar'", "u.cc:0:0 error undefined reference to 'bar'"),
        (
            "/usr/bin/ld: src/u.cc:9: undefined reference to `b'",
            "src/u.cc:9:0 error undefined reference to 'b'",
        ),
        (
            "tmpxft_00001234_00000000-6_gpu_op.cudafe1.cpp:(.text+0x5): undefined reference to `f'",
            "gpu_op.cu:0:0 error undefined reference to 'f'",
        ),
        ("/tmp/ccPJW4np.s:6: Error: file not found: a", ":0:0 error file not found: a"),
        ("{standard input}:12: Warning: end of file", ":0:0 warning end of file"),
        ("make: *** No rule to make target 'a.cu'.", ":0:0 error No rule to make target 'a.cu'."),
        ("Makefile:2: *** missing separator.  Stop.", "Makefile:2:0 error missing separator.  Stop."),
        ("make: nvcc: No such file or directory", ":0:0 error nvcc: not found"),
        ("/bin/sh: 1: nvcc: not found", ":0:0 error nvcc: not found"),
    ],
)
def test_a_complaint_has_a_place_and_a_message(line, told):
    (found,) = read(line).diagnostics
    assert "{file}:{line}:{column} {severity} {message}".format(**found) == told


TWICE = "multiple definition of"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            f"s.cpp:(.text+0x0): {TWICE} `f'; /tmp/ccrBh3qi.o:main.cpp:(.text+0x0): first defined here",
            f"s.cpp:0 {TWICE} 'f'; main.cpp: first defined here (main.cpp is the course's)",
        ),
        (
            f"{FOLDER}/s.cpp:3: {TWICE} `f'; /tmp/ccNvL4hb.o:{FOLDER}/main.cpp:3: first defined here",
            f"s.cpp:3 {TWICE} 'f'; main.cpp:3: first defined here (main.cpp is the course's)",
        ),
        (
            f"/usr/bin/ld: /tmp/ccNvL4hb.o:{FOLDER}/main.cpp:3: {TWICE} `f'; /tmp/ccLd2DZ3.o:s.cpp:1: first "
            "defined here",
            f"main.cpp:3 {TWICE} 'f'; s.cpp:1: first defined here (main.cpp is the course's)",
        ),
        (
            f"s.cpp:3: {TWICE} `f'; main.o:{FOLDER}/u.cpp:3: first defined here",
            f"s.cpp:3 {TWICE} 'f'; u.cpp:3: first defined here",
        ),
        (
            f"/usr/bin/ld: /tmp/ccXzZNs9.o:(.data+0x0): {TWICE} `n'; /tmp/ccrBh3qi.o:(.data+0x0): first "
            "defined here",
            f":0 {TWICE} 'n'; another file defines it as well",
        ),
        (
            f"/usr/bin/ld: s.o:(.data+0x0): {TWICE} `n'; main.o:(.data+0x0): first defined here",
            f"s.o:0 {TWICE} 'n'; main.o: first defined here",
        ),
        (
            f"(.text+0x0): {TWICE} `n'; /tmp/ccs14yKL.o (symbol from plugin):(.text+0x0): first defined here",
            f":0 {TWICE} 'n'; another file defines it as well",
        ),
        (
            f"k.cu:(.text+0x0): {TWICE} `n'; /tmp/tmpxft_01_00-11_main.o:tmpxft_01_00-6_main.cudafe1.cpp:"
            "(.text+0x0): first defined here",
            f"k.cu:0 {TWICE} 'n'; main.cu: first defined here",
        ),
        (
            "/usr/bin/ld: /tmp/ccm0OudA.ltrans0.ltrans.o:(.data.rel+0x0): undefined reference to `nowhere'",
            ":0 undefined reference to 'nowhere'",
        ),
    ],
)
def test_a_linkers_message_names_sources_and_no_temporary_object(line, told):
    reader = Reader(FOLDER, {"main.cpp"})
    reader.read(line)
    (diagnostic,) = reader.diagnostics
    assert "{file}:{line} {message}".format(**diagnostic) == told


@pytest.mark.parametrize(
    "line",
    [
        "collect2: error: ld returned 1 exit status",
        "make: *** [Makefile:3: build/a.o] Error 1",
        "make: *** Waiting for unfinished jobs....",
        "make[1]: *** Waiting for unfinished jobs....",
        "nvcc -O3 -Xcompiler -fPIC,-Wall -c -o error.o src/error.cu",
        "u.cc: In function \u2018int unused()\u2019:",
        '4 errors detected in the compilation of "e.cu".',
        "",
    ],
)
def test_what_only_follows_from_another_complaint_is_none(line):
    assert read(line).diagnostics == []


def test_each_is_told_once_and_no_more_than_so_many():
    text = "\n".join(f"a.cc:{n}:1: error: x" for n in range(1, DIAGNOSTICS + 11)) + "\na.cc:1:1: error: x"
    reader = read(text)
    assert len(reader.diagnostics) == DIAGNOSTICS
    assert reader.counts == {"error": DIAGNOSTICS + 10, "warning": 0}


KERNELS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'
ptxas info    : Function properties for _Z1kPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 3.044 ms
ptxas info    : Function properties for _Z3foof
    99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads
ptxas info    : Compiling entry function '_Z3bigPdi' for 'sm_90'
ptxas info    : Used 32 registers, used 0 barriers, 1600 bytes cumulative stack size
"""


def test_registers_spills_and_shared_memory_are_those_of_the_kernel_and_of_no_function_that_it_calls():
    assert read(KERNELS).kernels == [
        {
            "kernel": "_Z1kPf",
            "architecture": "sm_90",
            "registers": 10,
            "stack_bytes": 16,
            "spill_bytes": 20,
            "shared_bytes": 256,
        },
        {
            "kernel": "_Z3bigPdi",
            "architecture": "sm_90",
            "registers": 32,
            "stack_bytes": 0,
            "spill_bytes": 0,
            "shared_bytes": 0,
        },
    ]


def test_what_is_on_kernels_alone_need_not_be_shown():
    reader = Reader(FOLDER)
    shown = [line for line in KERNELS.splitlines() if not reader.read(line)]
    assert shown == []
    assert not reader.read("    foo(3);")
