"""On virtual GPUs, in a real sandbox, submissions of csye7105_hw4 are told which GPUs did nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.config.rubric import load_rubric
from grader.contracts.call import InputCase
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.errors import NotObservedError
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import played_by
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.model.submission import Submission
from grader.model.trace import Transfer
from grader.plugins import Plugins
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.scoring.judge import passed
from grader.subject.standins import virtual_devices

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "csye7105_hw4"
LIMITS = Limits(import_wall_s=60.0, call_wall_s=60.0, memory_mb=8192, file_mb=64)


@pytest.fixture(scope="module")
def rubric():
    """The kinds of checks, and the items by name."""
    kinds = Plugins(ROOT).checks
    found = load_rubric(
        ROOT / "rubrics" / "csye7105_hw4.yaml", kinds=kinds, assignments={"csye7105_hw4": FOLDER}
    )
    return kinds, {item.id: item for item in found.items}


@pytest.fixture
def context(tmp_path):
    """A context with virtual GPUs over a real sandbox, for files of a submission."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    if torch.version.cuda is not None:
        pytest.skip(f"torch is built for CUDA {torch.version.cuda}")
    tmp_path.chmod(0o755)
    workspace = tmp_path / "workspace"
    opened = []

    def make(gpus: int | str, *files: Path | str) -> ItemContext:
        workspace.mkdir()
        for file in files:
            if isinstance(file, Path):
                shutil.copy(file, workspace)
            else:
                (workspace / "work.py").write_text(file)
        names = tuple(sorted(path.name for path in workspace.iterdir()))
        job = Job(
            id="1",
            submission=Submission(
                student="s", assignment="csye7105_hw4", archive="s.tar.gz", digest="d", files=names
            ),
            course=str(ROOT),
            assignment_folder=str(FOLDER),
            workspace=str(workspace),
            tasks=(),
            preloads=dict.fromkeys(("powers", "split", "work"), ("numpy", "torch")),
            limits=LIMITS,
            seed="5eed",
        )
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace, REFERENCE: FOLDER / "reference"},
            course_files=FOLDER / "given",
            limits=job.limits,
        )
        children = ProcessPool(servers, job.limits)
        opened.extend((children, servers))
        return ItemContext(job, "item", children, lent=played_by(virtual_devices(gpus)))

    yield make
    for resource in opened:
        resource.close()


@pytest.fixture
def mark(rubric, context):
    """What an item says of one file."""
    kinds, items = rubric

    def mark(name: str, file: Path):
        item = items[name]
        kind = kinds[item.check]
        observation = kind.observe(item.options, context(item.devices["gpu"], file))
        assert observation.outcome is Outcome.OBSERVED, observation.note
        return kind.award(item.options, observation, {}), passed(item, observation, kinds, {})

    return mark


def workspace_of(name: str, file: str) -> Path:
    folder = FOLDER / "reference" if name == "reference" else ROOT / "tests" / "submissions" / name / "files"
    return folder / file


@pytest.mark.slow
def test_both_matrices_on_one_virtual_gpu_are_told_so(mark):
    award, good = mark("part2.both_work", workspace_of("csye_one_gpu", "matrix_power.py"))
    assert not good
    assert "cuda:1 did 4.5% of the work (1 kernel); at least 30% is asked for" in award.reason


@pytest.mark.slow
def test_the_split_over_two_gpus_is_told_which_of_the_four_did_nothing(mark):
    award, good = mark("part3.placed", workspace_of("csye_two_gpus", "pt_modelparallelism.py"))
    assert not good
    assert award.reason.startswith("cuda:2 and cuda:3 did nothing; cuda:0 ran ")


@pytest.mark.slow
def test_a_stage_on_the_cpu_is_told_so(mark):
    award, good = mark("part3.placed", workspace_of("csye_stage_on_cpu", "pt_modelparallelism.py"))
    assert not good
    assert " lie on the CPU; every part belongs on a GPU" in award.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("csye_borrowed_weights", "bytes, and what lies there or crosses into it has"),
        ("csye_decoys", "bytes, and what is said to lie there has"),
    ],
)
def test_a_network_that_is_computed_elsewhere_than_it_is_said_to_lie_is_no_split(mark, name, problem):
    award, good = mark("part3.learns", workspace_of(name, "pt_modelparallelism.py"))
    assert (good, award.undecided) == (False, False)
    assert problem in award.reason


@pytest.mark.slow
def test_a_split_with_much_that_crosses_is_right_and_not_flagged(mark):
    award, good = mark("part3.learns", workspace_of("csye_blocks_in_turn", "pt_modelparallelism.py"))
    assert good, award.reason
    assert award.flags == ()


@pytest.mark.slow
def test_a_wrong_network_loses_for_being_wrong_and_not_for_where_it_lies(mark):
    award, good = mark("part3.placed", workspace_of("csye_no_maxpool", "pt_modelparallelism.py"))
    assert good, award.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "file"),
    [
        ("part2.value", "matrix_power.py"),
        ("part2.both_work", "matrix_power.py"),
        ("part3.placed", "pt_modelparallelism.py"),
        ("part3.outputs", "pt_modelparallelism.py"),
        ("part3.learns", "pt_modelparallelism.py"),
    ],
)
def test_the_reference_is_right_on_virtual_gpus(mark, item, file):
    award, good = mark(item, workspace_of("reference", file))
    assert good, award.reason


WORK = """
import torch

def devices():
    return torch.cuda.device_count()

def sums(x):
    here = torch.tensor(x, device="cuda:1")
    there = (here + here).to("cuda:0")
    return (there.sum().item(), there.sum().item())

def mixed():
    return (torch.ones(2, device="cuda:0") + torch.ones(2, device="cuda:1")).sum().item()

def moved(to):
    return torch.ones(2).to(to).sum().item()
"""


def case(*args):
    return InputCase(name="a case", args=args)


def test_the_record_of_a_call_is_of_that_call_alone(context):
    from numpy import ones

    with context(3, WORK).subject("work", observed=True) as subject:
        assert subject.call("devices", case()).value == 3
        for _ in range(2):
            call = subject.call("sums", case(ones(4)))
            assert call.value == (8.0, 8.0)
    trace = call.trace
    assert (trace.source, trace.complete) == ("virtual_gpus", True)
    assert [(work.device, work.kernels, work.seconds) for work in trace.devices] == [
        (0, 2, None),
        (1, 1, None),
    ]
    assert trace.launch_count == 3
    assert set(trace.transfers) == {
        Transfer(source=None, target=1, count=1, bytes=32),
        Transfer(source=1, target=0, count=1, bytes=32),
        Transfer(source=0, target=None, count=2, bytes=16),
    }
    assert {name: one.count for name, one in trace.copies.items()} == {
        "host_to_device": 1,
        "peer_to_peer": 1,
        "device_to_host": 2,
    }


@pytest.mark.parametrize(
    ("function", "args", "error"),
    [
        ("mixed", (), "Expected all tensors to be on the same device"),
        ("moved", ("cuda:2",), "CUDA error: invalid device ordinal"),
    ],
)
def test_mistakes_raise_torchs_own_error_and_show_the_students_frames_alone(context, function, args, error):
    with context(2, WORK).subject("work") as subject:
        call = subject.call(function, case(*args))
    assert call.outcome is Outcome.CRASHED
    assert error in call.note
    assert "work.py" in call.traceback
    assert "virtual_gpus" not in call.traceback


def test_where_they_cannot_be_played_nobody_blames_the_student(context):
    unplayable = context("as many as you like", WORK).subject("work")
    with pytest.raises(NotObservedError, match="set-up: "), unplayable:
        pass
