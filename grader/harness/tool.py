"""Our own tools over a submission's files: parsing what nobody trusts happens in a child."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from grader.contracts.call import Call
from grader.harness.answer import read_answer
from grader.harness.student_process import StudentProcess
from grader.subject.wire import Encoder

WITHIN_S = 30.0
"""Whatever the assignment's limits are: a report of 200 pages takes some seconds to read."""


def run_tool(child: StudentProcess, tool: str, args: tuple[Any, ...], within_s: float = WITHIN_S) -> Call:
    """Run a tool in a child in which nothing of the student has run, then end the child."""
    with closing(child):
        encoder = Encoder(child.shared_buffer.arguments)
        document = {"do": "tool", "tool": tool, "args": [encoder.encode(argument) for argument in args]}
        return read_answer(child, child.exchange(*encoder.close(document), within_s), tool)
