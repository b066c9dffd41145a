"""What commands print is a line for each call, or JSON in which every text is safe to show."""

from __future__ import annotations

import json

import pytest

from grader.cli.echo import echo, echo_json
from grader.testing.hostile import HOSTILE, unsafe

ATTACKS = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


@ATTACKS
def test_a_line_is_one_line(capsys, text):
    echo(f"ann: {text}")
    echo(text, err=True)
    for printed in capsys.readouterr():
        assert len(printed.splitlines()) == 1
        assert unsafe(printed) == []


@ATTACKS
def test_what_a_program_reads_of_json_is_safe_to_show(capsys, text):
    echo_json({text: [text, {"a": text}], "b": 1.5})
    printed, _ = capsys.readouterr()
    assert printed.isascii()
    assert unsafe(printed) == []
    assert json.loads(printed)["b"] == 1.5
