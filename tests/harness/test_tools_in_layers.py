"""Tools of ours do their work in every layer of isolation, within the limits of a program."""

from __future__ import annotations

import pytest

from grader.harness.server import SubjectServer
from grader.harness.server_spec import of_tool
from grader.harness.student_process import StudentProcess
from grader.harness.tool import run_tool
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.packing.pdf import pdf
from grader.sandbox.builtin import grader_sandboxes
from grader.sandbox.interpreter import interpreter

LIMITS = Limits(call_wall_s=5.0, import_wall_s=10.0, memory_mb=1024)


@pytest.mark.parametrize("layer", grader_sandboxes(), ids=lambda layer: layer.name)
def test_a_pdf_is_rendered_in_every_layer(layer, tmp_path):
    if missing := layer().available():
        pytest.skip(missing)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "hw1.pdf").write_bytes(pdf("max_kernel has blocks.\n[picture]\n" + "It is a line.\n" * 200))
    server = SubjectServer(
        layer(),
        python=interpreter().executable,
        site=interpreter().site,
        setup=of_tool("report"),
        workspaces={"submission": workspace},
        limits=LIMITS,
        as_root=True,
    )
    try:
        server.ready()
        call = run_tool(
            StudentProcess(server, "submission", LIMITS), "report", ("hw1.pdf", ["max_kernel"], [])
        )
    finally:
        server.close()
    assert (call.outcome, call.note) == (Outcome.OBSERVED, "")
    counted = {key: call.value[key] for key in ("pages", "pictures", "words", "hidden", "terms")}
    assert counted == {"pages": 4, "pictures": 1, "words": 604, "hidden": 0, "terms": {"max_kernel": 1}}
