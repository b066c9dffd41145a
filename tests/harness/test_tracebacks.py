"""The lines of a submission that a traceback names."""

from __future__ import annotations

import pytest

from grader.harness.tracebacks import course_line, students_place

FILES = ("utils.py", "net/layers.py")
DRIVER = '  File "/given/drive/utils.py", line 4, in check\n    utils.f()\n'
LIBRARY = '  File "/lib/python3/net/layers.py", line 9, in f\n    x\n'
PACKAGE = LIBRARY.replace("/lib/python3", "/python/site0/torch")
OWN = '  File "/workspace/utils.py", line 31, in helper\n    return 1 / x\n           ~~^~~\n'


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        (DRIVER + OWN, "utils.py:31, in helper()"),
        (OWN + DRIVER, "utils.py:31, in helper()"),  # the driver's file is not taken for the student's
        (OWN + LIBRARY, "utils.py:31, in helper()"),
        (OWN + PACKAGE, "utils.py:31, in helper()"),
        (OWN + '  File "/home/ann/net/layers.py", line 7, in <lambda>\n    x\n', "net/layers.py:7"),
        (OWN + OWN.replace("helper", "<listcomp>"), "utils.py:31, in helper()"),
        ('  File "/workspace/utils.py", line 3\n    def f(x)\n            ^\n', "utils.py:3"),
        ('  File "/workspace/utils.py", line 3, in ) forged\n', "utils.py:3"),
        (OWN + OWN.replace("utils.py", "n" * 300), "utils.py:31, in helper()"),  # no name of a file
        (OWN.replace("workspace", "../" * 12 + "etc/passwd/../workspace"), "utils.py:31, in helper()"),
        (OWN + OWN.replace("workspace/utils.py", "drive/../drive/utils.py"), "utils.py:31, in helper()"),
        (DRIVER, ""),
        ('  File "utils.py\n", line 3, in f\n', ""),
        ("", ""),
    ],
)
def test_the_innermost_line_of_the_submission_is_named(tmp_path, trace, place):
    (tmp_path / "drive").mkdir()
    (tmp_path / "drive/utils.py").touch()
    assert students_place(trace, FILES, tmp_path) == place


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        (OWN + DRIVER, ("drive/utils.py", 4)),
        (DRIVER + LIBRARY + PACKAGE, ("drive/utils.py", 4)),
        (DRIVER + OWN, None),
        (DRIVER + '  File "<string>", line 1, in <lambda>\n', None),
        ("", None),
    ],
)
def test_the_line_of_the_course_is_the_innermost_but_for_those_of_libraries(tmp_path, trace, place):
    (tmp_path / "drive").mkdir()
    (tmp_path / "drive/utils.py").touch()
    assert course_line(tmp_path, trace) == place
