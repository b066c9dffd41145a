"""With two and four GPUs every record names its GPU, and what submissions do there is seen.

What was measured is printed, so that one run with `-rP` on such a machine tells it.
"""
# ruff: noqa: T201 - what was measured is for whoever runs this

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from grader.contracts.context import SUBMISSION, Subject
from grader.coursecode import course_module
from grader.cuda.gpus import gpus
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.model.trace import Trace, shares_of, works_of
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.worker.devices import Devices

from .conftest import case

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "csye7105_hw4"
SUBMISSIONS = ROOT / "tests" / "submissions"
SIZE = 4096
"""Rows of a matrix whose product with itself takes some milliseconds."""

inputs = course_module(FOLDER / "inputs.py")
expected = course_module(FOLDER / "expected.py")
timeline = course_module(FOLDER / "timeline.py")
values = course_module(FOLDER / "values.py")

Start = Callable[..., AbstractContextManager[Subject]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a program that has so many GPUs, with torch imported before it was forked."""
    pytest.importorskip("torch")
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    limits = Limits(
        import_wall_s=60.0, call_wall_s=120.0, memory_mb=16384, gpu_memory_mb=65536, file_mb=64, cores=2
    )
    with ExitStack() as resources:
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace},
            limits=limits,
        )
        resources.enter_context(closing(servers))
        children = resources.enter_context(closing(ProcessPool(servers, limits)))
        devices = Devices("a test", retire=children.retire_devices, say=print, waits=print)
        resources.enter_context(closing(devices))
        children.device_memory = devices.memory_used

        def begin(
            count: int, code: str, *, observed: bool = True, files: Mapping[str, str] | None = None
        ) -> AbstractContextManager[Subject]:
            if len(gpus()) < count:
                pytest.skip(f"needs {count} GPUs; this machine has {len(gpus())}")
            (workspace / "work.py").write_text(dedent(code))
            for name, content in (files or {}).items():
                (workspace / name).write_text(content)
            setup = devices.grant({"gpu": count}).setup(("numpy", "torch"))
            order = ProcessSpec(whose=SUBMISSION, module="work", setup=setup, observed=observed)
            return children.subject(order)

        yield begin


def called(subject: Subject, function: str, *args: object) -> Any:
    """What a call gave, and its trace; it must return."""
    assert subject.imported.outcome is Outcome.OBSERVED, subject.imported.note
    call = subject.call(function, case(*args))
    assert call.outcome is Outcome.OBSERVED, f"{call.note}\n{call.traceback}\n{subject.output}"
    return call


def trace_of(call: Any) -> Trace:
    assert call.trace is not None
    assert call.trace.complete, call.trace.problem
    tell(call.trace)
    return call.trace


def tell(trace: Trace) -> None:
    print(f"{trace.source}: {trace.launch_count} launches, api {dict(trace.api)}")
    for work in trace.devices:
        print(" ", work)
    for transfer in trace.transfers:
        print(" ", transfer)
    for one in trace.launches[:12]:
        times = (one.asked_s, one.began_s, one.seconds)
        print("  ", one.device, one.stream, one.kernel, *(t and f"{t * 1e3:.3f} ms" for t in times))


PRODUCTS = f"""
    import torch

    def shown():
        return [torch.cuda.device_count(), *(str(torch.cuda.get_device_properties(i).uuid) for i in range(2))]

    def on_both():
        a = torch.ones({SIZE}, {SIZE}, device="cuda:0")
        b = torch.ones({SIZE}, {SIZE}, device="cuda:1")
        return float((a @ a + (b @ b).to("cuda:0")).mean())

    def on_second():
        b = torch.ones({SIZE}, {SIZE}, device="cuda:1")
        return float((b @ b).mean())

    def in_threads():
        from threading import Thread
        done = [None, None]
        def work(i):
            x = torch.ones({SIZE}, {SIZE}, device=f"cuda:{{i}}")
            done[i] = float((x @ x).mean())
        threads = [Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return done

    def there_and_back():
        x = torch.ones({SIZE}, {SIZE}, device="cuda:0")
        return float(x.to("cuda:1").to("cuda:0").mean())

    def strided():
        x = torch.ones({SIZE}, {SIZE}, device="cuda:0").t()
        return float(x.to("cuda:1").mean())

    def by_way_of_the_host():
        x = torch.ones({SIZE}, {SIZE}, device="cuda:0")
        return float(x.cpu().to("cuda:1").mean())

    def asked_only():
        import time
        x = torch.ones({SIZE}, {SIZE}, device="cuda:0")
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(20): y = x @ x
        return time.perf_counter() - begun
"""
BYTES = 4 * SIZE * SIZE


def test_a_program_sees_exactly_the_gpus_that_is_granted(start):
    with start(2, PRODUCTS, observed=False) as subject:
        count, *uuids = called(subject, "shown").value
        assert (count, len(set(uuids))) == (2, 2)


def test_what_torch_does_on_two_gpus_is_recorded_for_each_of_them(start):
    with start(2, PRODUCTS) as subject:
        for _ in range(2):  # the first call starts libraries
            call = called(subject, "on_both")
            assert call.value == 2 * SIZE
            trace = trace_of(call)
        assert [work.device for work in trace.devices] == [0, 1]
        assert all(work.kernels >= 2 and work.seconds > 1e-4 for work in trace.devices)
        assert min(shares_of(works_of(trace, 2))) > 0.3
        first = trace_of(called(subject, "on_second"))
        assert {work.device for work in first.devices if work.kernels} == {1}


def test_memory_is_recorded_for_each_gpu(start):
    with start(2, PRODUCTS) as subject:
        trace = trace_of(called(subject, "on_both"))
        peaks = {work.device: work.peak_bytes for work in trace.devices}
        assert min(peaks.values()) >= 2 * BYTES
        assert sum(peaks.values()) >= trace.peak_bytes


def test_a_copy_between_two_gpus_is_recorded_with_both_ends(start):
    with start(2, PRODUCTS) as subject:
        trace = trace_of(called(subject, "there_and_back"))
        sent = {(one.source, one.target): one.bytes for one in trace.transfers}
        assert (sent.get((0, 1)), sent.get((1, 0))) == (BYTES, BYTES)


def test_a_copy_by_way_of_the_host_is_recorded_as_two(start):
    with start(2, PRODUCTS) as subject:
        trace = trace_of(called(subject, "by_way_of_the_host"))
        sent = {(one.source, one.target): one.bytes for one in trace.transfers}
        assert sent[0, None] >= BYTES
        assert sent[None, 1] == BYTES
        assert (0, 1) not in sent


def test_a_strided_copy_leaves_a_kernel_or_a_transfer(start):
    with start(2, PRODUCTS) as subject:
        trace = trace_of(called(subject, "strided"))
        sent = {(one.source, one.target): one.bytes for one in trace.transfers}
        print(sent)
        assert (0, 1) in sent or {work.device for work in trace.devices if work.kernels} >= {0, 1}


def test_threads_with_a_gpu_each_are_recorded(start):
    with start(2, PRODUCTS) as subject:
        call = called(subject, "in_threads")
        assert call.value == [SIZE, SIZE]
        assert all(work.kernels for work in works_of(trace_of(call), 2))


def test_a_kernel_is_asked_for_long_before_it_runs_if_nobody_waits(start):
    with start(2, PRODUCTS) as subject:
        called(subject, "asked_only")
        call = called(subject, "asked_only")
        trace = trace_of(call)
        products = sorted(trace.launches, key=lambda one: one.began_s)[-20:]
        last = products[-1]
        print(f"asking took {call.value:.6f} s")
        assert all(one.asked_s <= one.began_s for one in trace.launches)
        assert last.began_s - last.asked_s > 10 * last.seconds
        assert last.began_s + last.seconds <= call.wall_s


def test_observed_calls_after_each_other_keep_their_records_apart(start):
    with start(2, PRODUCTS) as subject:
        counts = [trace_of(called(subject, "on_both")).launch_count for _ in range(3)]
        assert counts[1] == counts[2]


# The submissions of csye7105_hw4.


def course(*names: str) -> dict[str, str]:
    return {name: (FOLDER / "given" / name).read_text() for name in names}


def matrix_power(name: str) -> dict[str, str]:
    folder = FOLDER / "reference" if name == "reference" else SUBMISSIONS / name / "files"
    return {"matrix_power.py": (folder / "matrix_power.py").read_text()}


PROGRAMS = {
    "reference": ("right", "", ""),
    "csye_nora": ("right", "", ""),
    "csye_element_wise": ("element_wise", None, None),
    "csye_one_more": ("one_more", "", ""),
    "csye_one_gpu": ("right", "", "one_device"),
    "csye_no_sync": ("right", "unsynchronised", "unsynchronised"),
    "csye_clock_early": ("right", "early", "early"),
    "csye_clock_late": ("right", "late", "late"),
    "csye_in_turn": ("right", "", "in_turn"),
}
"""The sum that it computes, and what is wrong with its times on one GPU and on two; None for either way."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_seen_through_at_full_size(start, name):
    wanted, *wrong = PROGRAMS[name]
    probe = np.random.default_rng(1).uniform(0.5, 1.5, size=10_000) / 10_000
    code = course("program.py")["program.py"]
    with start(2, code, files=matrix_power(name)) as subject:
        begun = time.monotonic()
        call = called(subject, "run", "matrix_power.py", 10_000, probe)
        trace, output = trace_of(call), subject.output
        kept = called(subject, "powers", "matrix_power.py", 10_000, probe).value
        print(output, f"{call.wall_s:.3g} s, all {time.monotonic() - begun:.3g} s, {len(kept)} matrices")
    found = values.summed([one["rows"] for one in kept])
    misread = []
    for gpus_used in (1, 2):
        printed = timeline.printed(output, gpus_used)
        windows = list(timeline.windows_of(printed, call.value["readings"]))
        window = max(windows, key=lambda one: sum(launch.seconds for launch in one.holds(trace.launches)))
        misread.append(timeline.misread(window, trace.launches, gpus_used, 0.5))
        print(printed, window, misread[-1])
    assert found == wanted
    for (name_of_it, _), asked in zip(misread, wrong, strict=True):
        assert asked is None or name_of_it == asked


@pytest.mark.parametrize("name", ["reference", "csye_nora"])
def test_two_gpus_halve_the_time_of_one(start, name):
    code = course("powers.py")["powers.py"]
    ratios = []
    with start(2, code, observed=False, files=matrix_power(name)) as subject:
        for number in range(6):
            (one,) = inputs.large_matrices(np.random.default_rng(number))
            wanted = expected.at_full_size(*one.args)
            took = {}
            for function in ("on_one", "on_two"):
                call = called(subject, function, *one.args)
                np.testing.assert_allclose(call.value.astype(float), wanted, rtol=2e-3, atol=2e-3)
                took[function] = call
            ratios.append(took["on_one"].wall_s / took["on_two"].wall_s)
            print({f: (f"{c.wall_s:.4f} s", f"cpu {c.cpu_s:.4f} s") for f, c in took.items()})
    print(ratios)
    assert np.median(ratios[1:]) > 1.5


@pytest.mark.parametrize("function", ["at_full_size"])
def test_both_gpus_share_the_products(start, function):
    (full,) = inputs.large_matrices_on_two(np.random.default_rng(3))
    with start(2, course("powers.py")["powers.py"], files=matrix_power("reference")) as subject:
        trace = trace_of(called(subject, function, *full.args))
        assert min(shares_of(works_of(trace, 2))) > 0.4
    with start(2, course("powers.py")["powers.py"], files=matrix_power("csye_one_gpu")) as subject:
        trace = trace_of(called(subject, function, *full.args))
        assert min(shares_of(works_of(trace, 2))) < 0.1


SPLITS = {
    "reference": 4,
    "csye_nora": 4,
    "csye_by_order": 4,
    "csye_stage_on_cpu": 4,
    "csye_idle_gpu": 4,
    "csye_two_gpus": 2,
}
"""How many GPUs each needs."""


@pytest.mark.parametrize("name", SPLITS)
def test_where_a_split_network_computes_is_seen(start, name):
    folder = FOLDER / "reference" if name == "reference" else SUBMISSIONS / name / "files"
    files = course("resnet.py") | {
        "pt_modelparallelism.py": (folder / "pt_modelparallelism.py")
        .read_text()
        .replace("torchvision.models.resnet", "resnet")
    }
    (few,) = inputs.pictures(np.random.default_rng(4))
    with start(SPLITS[name], course("split.py")["split.py"], files=files) as subject:
        called(subject, "build")
        call = called(subject, "step", *few.args)
        trace, answer = trace_of(call), call.value
        parts, works = answer["parts"], works_of(trace, SPLITS[name])
        print([f"{share:.3f}" for share in shares_of(works)], [work.kernels for work in works])
        print({device: sum(d == device for d in parts.values()) for device in sorted({*parts.values()})})
        if name in {"reference", "csye_nora", "csye_by_order"}:
            assert min(shares_of(works)) > 0.02
            assert min(work.kernels for work in works) >= 20
            assert {*parts.values()} == {f"cuda:{n}" for n in range(4)}
            wanted = expected.outputs(*few.args)["outputs"]
            print(f"outputs differ by {np.abs(answer['outputs'] - wanted).max():.2e}")
            np.testing.assert_allclose(answer["outputs"], wanted, rtol=1e-3, atol=1e-3)
            learned = expected.learn(*few.args)
            print({key: answer[key] for key in learned}, learned)
            np.testing.assert_allclose(answer["losses"], learned["losses"], rtol=1e-2, atol=1e-3)
            for stage, size in learned["changed"].items():
                assert answer["changed"][stage] == pytest.approx(size, rel=1e-2, abs=1e-3)
        elif name == "csye_stage_on_cpu":
            assert "cpu" in parts.values()
            assert not works[1].kernels
        elif name == "csye_idle_gpu":
            assert "cuda:0" not in {d for part, d in parts.items() if not part.startswith("output of ")}
            print(works[0])
