"""On virtual GPUs in a real sandbox, submissions of using_gpus earn what they earn on real ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.config.rubric import load_rubric
from grader.config.yaml_source import read_yaml
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import played_by
from grader.harness.servers import Servers
from grader.model.job import Job
from grader.model.observation import Outcome
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.scoring.judge import passed
from grader.subject.standins import virtual_devices

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "using_gpus"
SUBMISSIONS = ROOT / "tests" / "submissions"
KINDS = Plugins(ROOT).checks
RUBRIC = load_rubric(ROOT / "rubrics" / "using_gpus.yaml", kinds=KINDS, assignments={"using_gpus": FOLDER})
PLAYED = [item for item in RUBRIC.items if getattr(item.options, "simulated_inputs", "")]
"""All that is not about time, which virtual GPUs cannot tell."""
OF_FILE = {"devices.py": "devices.", "parallel.py": "parallel.", "timing.py": "timing."}

pytestmark = pytest.mark.slow


def named(name):
    return read_yaml(SUBMISSIONS / name / "expected.yaml").data


def files_of(name):
    """The files of a submission, its base's included, and those that are its own."""
    own = sorted((SUBMISSIONS / name / "files").iterdir())
    base = named(name).get("base")
    first = sorted((SUBMISSIONS / base / "files").iterdir()) if base else []
    return {file.name: file for file in (*first, *own)}, {file.name for file in own}


@pytest.fixture
def observe(tmp_path):
    """Observes items with the files of a submission; which of them passed, and why the others did not."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    if torch.version.cuda is not None:
        pytest.skip(f"torch is built for CUDA {torch.version.cuda}")
    tmp_path.chmod(0o755)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    opened = []

    def observe(files, items):
        for file in files:
            shutil.copy(file, workspace)
        declared = Plugins(ROOT).assignments["using_gpus"]
        job = Job(
            id="1",
            submission=Submission(
                student="s",
                assignment="using_gpus",
                archive="s.tar.gz",
                digest="d",
                files=tuple(sorted(file.name for file in files)),
            ),
            course=str(ROOT),
            assignment_folder=str(FOLDER),
            workspace=str(workspace),
            tasks=(),
            preloads=declared.preloads,
            limits=declared.limits,
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
        return {item.id: observed(item, job, children) for item in items}

    def observed(item, job, children):
        lent = played_by(virtual_devices(item.devices["gpu"]))
        kind = KINDS[item.check]
        observation = kind.observe(
            item.options, ItemContext(job, item.id, children, f"{item.group}-{lent.count}", lent=lent)
        )
        good = passed(item, observation, KINDS, {})
        if observation.outcome is not Outcome.OBSERVED:
            return good, observation.note
        return good, kind.award(item.options, observation, {}).reason

    yield observe
    for resource in opened:
        resource.close()


@pytest.mark.parametrize("name", sorted(folder.name for folder in SUBMISSIONS.glob("using_*")))
def test_the_same_mistakes_are_found(observe, name):
    files, own = files_of(name)
    items = [item for item in PLAYED if any(item.id.startswith(OF_FILE[file]) for file in own & {*OF_FILE})]
    on_gpu = named(name)["on_gpu"]
    # what is skipped for want of another item is not looked at here
    gated = {item.id for item in items if any(on_gpu[need] == 0 for need in item.needs)}
    seen = observe(files.values(), [item for item in items if item.id not in gated])
    assert {item: (good, reason) for item, (good, reason) in seen.items() if good != (on_gpu[item] > 0)} == {}


def test_the_reference_is_right(observe):
    seen = observe(sorted((FOLDER / "reference").glob("*.py")), PLAYED)
    assert len(seen) == len(PLAYED) == 17
    assert {item: reason for item, (good, reason) in seen.items() if not good} == {}


@pytest.mark.parametrize(
    ("name", "item", "told"),
    [
        ("using_shares_memory", "devices.copy_to", "got 'the same tensor', expected 'another tensor'"),
        ("using_loses_dtype", "devices.filled_like", "got 'float32', expected 'float16'"),
        ("using_over_the_host", "devices.peer_copy", "got 'cuda:0 to cpu, cpu to cuda:1', expected"),
        ("using_forgets_buffers", "devices.move_module", "got 'parameters on cuda:1, buffers on cpu'"),
        ("using_mixes_devices", "devices.add_on_first", "Expected all tensors to be on the same device"),
        (
            "using_inner_module",
            "parallel.replicas",
            "got '50 on cuda:0', expected '25 on cuda:0, 25",
        ),
    ],
)
def test_a_mistake_is_told_in_words(observe, name, item, told):
    files, _ = files_of(name)
    ((good, reason),) = observe(files.values(), [one for one in PLAYED if one.id == item]).values()
    assert not good
    assert told in reason


BY_HAND = """
import copy, io
import torch

def parallel_forward(model, x, devices):
    outputs = []
    for part, device in zip(torch.tensor_split(x, len(devices)), devices):
        if len(part):
            outputs.append({}(part.to(device)).to(devices[0]))
    return torch.cat(outputs)

def parallel_step(model, x, y, devices, rate):
    raise NotImplementedError

def pickled(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)

def called(model, device):
    weights = {{name: weight.to(device) for name, weight in model.state_dict().items()}}
    return lambda x: torch.func.functional_call(model, weights, (x,))
"""


@pytest.mark.parametrize(
    "replica",
    [
        "copy.deepcopy(model).to(device)",
        "copy.deepcopy(copy.copy(model)).to(device).forward",
        "pickled(model).to(device)",
        "called(model, device)",
        "model.to(device)",
    ],
)
def test_replicas_are_seen_however_they_are_made(observe, tmp_path, replica):
    own = tmp_path / "parallel.py"
    own.write_text(BY_HAND.format(replica))
    items = [item for item in PLAYED if item.id.startswith("parallel.") and item.id != "parallel.learns"]
    seen = observe([own], items)
    assert len(seen) == 3
    assert {item: reason for item, (good, reason) in seen.items() if not good} == {}


def test_a_forward_that_is_never_called_is_told_in_words(observe, tmp_path):
    own = tmp_path / "parallel.py"
    own.write_text(BY_HAND.format("(lambda part: part[:, :5].to(device))"))
    ((good, reason),) = observe([own], [one for one in PLAYED if one.id == "parallel.replicas"]).values()
    assert not good
    assert "got 'the model was not called', expected '25 on cuda:0, 25 on cuda:1'" in reason
