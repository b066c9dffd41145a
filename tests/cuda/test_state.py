"""How a GPU fares, as far as NVML says it."""

import os
from types import SimpleNamespace

import pytest

from grader.cuda.gpus import gpus
from grader.cuda.state import GpuState, Process, memory_used, state


def running(*processes):
    return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes]


@pytest.fixture
def gpu(fake):
    return gpus()[0]


def test_an_idle_gpu_is_not_slowed_down_and_serves_nobody(gpu):
    assert state(gpu) == GpuState(
        processes=(),
        memory_used_bytes=4 * 2**20,
        sm_clock_mhz=345,
        sm_clock_max_mhz=1980,
        memory_clock_mhz=3201,
        throttle=(),
        temperature_c=31,
        utilisation=0.25,
        persistence=True,
        compute_mode="default",
        ecc_errors=0,
    )


def test_processes_of_others_are_listed_and_our_own_is_not(gpu, fake):
    fake.says("nvmlDeviceGetComputeRunningProcesses", running((4711, 2**30), (os.getpid(), 1), (9, None)))
    assert state(gpu).processes == (Process(pid=4711, bytes=2**30), Process(pid=9, bytes=None))


def test_an_empty_list_is_not_believed_while_memory_is_in_use(gpu, fake):
    fake.used = 2**30
    assert state(gpu).processes is None


def test_an_empty_list_is_believed_where_nobody_knows_the_memory(gpu, fake):
    fake.refuses("nvmlDeviceGetMemoryInfo")
    assert (state(gpu).processes, state(gpu).memory_used_bytes) == ((), None)


def test_for_the_memory_in_use_nothing_else_is_asked(gpu, fake):
    for function in fake.answers:
        if function not in {"nvmlDeviceGetHandleByUUID", "nvmlDeviceGetMemoryInfo"}:
            fake.says(function, RuntimeError(f"{function} takes its time"))
    assert memory_used(gpu) == 4 * 2**20
    fake.refuses("nvmlDeviceGetMemoryInfo")
    assert memory_used(gpu) is None


def test_an_older_driver_is_asked_in_an_older_way(gpu, fake):
    fake.refuses("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetCurrentClocksEventReasons")
    assert (state(gpu).processes, state(gpu).throttle) == (None, None)
    fake.says("nvmlDeviceGetComputeRunningProcesses_v2", running((5, 6)))
    fake.says("nvmlDeviceGetCurrentClocksThrottleReasons", 0x40)
    assert state(gpu).processes == (Process(pid=5, bytes=6),)
    assert state(gpu).throttle == ("temperature (hardware)",)


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0x0, ()),
        (0x1 | 0x2 | 0x100, ()),
        (0x1 | 0x4, ("power cap",)),
        (0x8 | 0x20 | 0x80, ("hardware slowdown", "temperature (software)", "power brake")),
    ],
)
def test_only_what_slows_work_down_is_named(gpu, fake, bits, names):
    fake.says("nvmlDeviceGetCurrentClocksEventReasons", bits)
    assert state(gpu).throttle == names


def test_the_bits_are_those_of_the_real_library():
    real = pytest.importorskip("pynvml")
    from grader.cuda.state import _COMPUTE_MODES, _SLOWING

    harmless = ("GpuIdle", "ApplicationsClocksSetting", "DisplayClockSetting")
    bits = sum(getattr(real, f"nvmlClocksEventReason{name}") for name in harmless) + sum(_SLOWING)
    assert real.nvmlClocksEventReasonAll == bits
    assert _SLOWING[real.nvmlClocksEventReasonHwPowerBrakeSlowdown] == "power brake"
    assert _SLOWING[real.nvmlClocksEventReasonSwPowerCap] == "power cap"
    assert _COMPUTE_MODES[real.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS] == "exclusive process"
    assert _COMPUTE_MODES[real.NVML_COMPUTEMODE_PROHIBITED] == "prohibited"


def test_whatever_a_device_refuses_is_unknown_and_the_rest_is_said(gpu, fake):
    for function in [name for name in fake.answers if name.startswith("nvmlDeviceGet")]:
        before = fake.answers[function]
        fake.refuses(function)
        assert isinstance(state(gpu), GpuState)
        fake.answers[function] = before
    fake.refuses("nvmlDeviceGetTemperature", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetTotalEccErrors")
    fake.refuses("nvmlDeviceGetPersistenceMode", "nvmlDeviceGetComputeMode")
    seen = state(gpu)
    assert (seen.temperature_c, seen.utilisation, seen.ecc_errors) == (None, None, None)
    assert (seen.persistence, seen.compute_mode, seen.sm_clock_mhz) == (None, None, 345)


def test_of_a_gpu_that_is_lost_nothing_is_known(gpu, fake):
    fake.refuses("nvmlDeviceGetHandleByUUID")
    assert {getattr(state(gpu), name) for name in GpuState.__slots__} == {None}
