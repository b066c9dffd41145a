"""Which GPUs there are, by a fake NVML and by the real one."""

import sys
from types import SimpleNamespace

import pytest

from grader.cuda import nvml
from grader.cuda.gpus import gpus, why_none
from grader.cuda.state import state

A, B = "GPU-aaaa1111-0000", "GPU-bbbb2222-0000"


def test_every_gpu_is_known_with_what_does_not_change(fake):
    first, second = gpus()
    assert (first.index, first.uuid, first.lease, first.name) == (0, A, f"gpu-{A}", "NVIDIA H200")
    assert (first.memory_bytes, first.compute_capability) == (143771 * 2**20, (9, 0))
    assert (first.driver, first.cuda, first.mig) == ("580.159.04", (13, 0), False)
    assert (first.node, second.node) == ("/dev/nvidia5", "/dev/nvidia4")  # by minor number, not by index
    assert why_none() == ""


def test_nvml_is_initialised_once(fake):
    gpus()
    gpus()
    assert fake.initialised == 1


def test_what_a_device_does_not_say_is_left_open(fake):
    fake.refuses(
        "nvmlDeviceGetMinorNumber",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetCudaComputeCapability",
        "nvmlSystemGetDriverVersion",
        "nvmlDeviceGetMemoryInfo",
    )
    gpu = gpus()[1]
    assert (gpu.node, gpu.mig, gpu.compute_capability) == ("/dev/nvidia1", False, (0, 0))
    assert (gpu.driver, gpu.memory_bytes) == ("", 0)


def test_the_bus_is_told_by_the_generation_of_the_gpu_and_left_open_where_it_is_another(fake):
    assert gpus()[0].bus_bytes_per_s == pytest.approx(63e9, rel=0.001)
    fake.says("nvmlDeviceGetC2cModeInfoV1", SimpleNamespace(isC2cEnabled=0))
    assert gpus()[0].bus_bytes_per_s > 0
    fake.says("nvmlDeviceGetC2cModeInfoV1", SimpleNamespace(isC2cEnabled=1))
    assert gpus()[0].bus_bytes_per_s == 0
    fake.refuses("nvmlDeviceGetC2cModeInfoV1", "nvmlDeviceGetGpuMaxPcieLinkGeneration")
    assert gpus()[0].bus_bytes_per_s == 0
    fake.says("nvmlDeviceGetGpuMaxPcieLinkGeneration", 99)
    assert gpus()[0].bus_bytes_per_s == 0


def test_a_divided_gpu_says_so(fake):
    fake.says("nvmlDeviceGetMigMode", [1, 1])
    assert gpus()[0].mig


def test_an_older_driver_is_asked_in_an_older_way(fake):
    fake.says("nvmlSystemGetCudaDriverVersion_v2", None)
    fake.says("nvmlSystemGetCudaDriverVersion", 12080)
    assert gpus()[0].cuda == (12, 8)


def test_a_gpu_that_has_fallen_off_the_bus_is_none(fake):
    fake.refuses("nvmlDeviceGetUUID")
    assert gpus() == ()
    assert why_none() == "the NVIDIA driver is loaded and has no GPU that this user may open"


@pytest.mark.parametrize(
    ("visible", "seen"),
    [
        ("0", [A]),
        ("1, 0", [A, B]),
        ("GPU-bbbb", [B]),
        ("", []),
        ("-1", []),
        ("none,1", []),
        ("0,x,1", [A]),
        ("MIG-1,1", [B]),
    ],
)
def test_only_what_the_environment_lets_us_see_is_ours(fake, monkeypatch, visible, seen):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.uuid for gpu in gpus()] == seen
    hidden = f"CUDA_VISIBLE_DEVICES={visible} hides all there are; unset it, or name some of {A}, {B}"
    assert why_none() == ("" if seen else hidden)


@pytest.fixture
def loaded(monkeypatch):
    """A machine on which a driver seems to be loaded."""
    monkeypatch.setattr(nvml, "driver_loaded", lambda: True)


def test_a_missing_package_is_named_with_how_to_get_it(forget, loaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert (gpus(), why_none()) == ((), "nvidia-ml-py is not installed: pip install 'gpu-grader[gpu]'")


def test_where_no_driver_is_loaded_no_package_is_asked_for(forget, monkeypatch):
    monkeypatch.setattr(nvml, "driver_loaded", lambda: False)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert why_none() == "no NVIDIA driver is loaded"


def test_what_nvml_complains_of_is_said_with_advice_where_we_know_some(fake, loaded, driver_not_loaded):
    fake.says("nvmlInit", driver_not_loaded)
    assert why_none() == "the NVIDIA driver is not loaded; nvidia-smi as root loads it"
    nvml.load.cache_clear()
    fake.says("nvmlInit", fake.NVMLError("Unknown Error"))
    assert why_none() == "NVML: Unknown Error"


def test_a_driver_shows_by_its_files(tmp_path):
    assert not nvml.driver_loaded([tmp_path / "nvidiactl"])
    (tmp_path / "nvidiactl").touch()
    assert nvml.driver_loaded([tmp_path / "version", tmp_path / "nvidiactl"])


def test_the_fake_has_no_function_that_the_real_library_lacks(fake):
    del sys.modules["pynvml"]
    real = pytest.importorskip("pynvml")
    assert [name for name in fake.answers if not callable(getattr(real, name, None))] == []
    constants = [name for name in vars(type(fake)) if name.startswith("NVML_") or name == "nvmlMemory_v2"]
    assert {name: getattr(real, name) for name in constants} == {
        name: getattr(type(fake), name) for name in constants
    }


def test_the_advice_is_for_errors_that_the_real_library_has():
    real = pytest.importorskip("pynvml")
    assert [name for name in nvml._ADVICE if not hasattr(real, name)] == []


@pytest.mark.gpu
def test_the_real_library_knows_this_machines_gpus(forget):
    found = gpus()
    assert found, why_none()
    for gpu in found:
        assert gpu.uuid.startswith("GPU-")
        assert gpu.memory_bytes > 2**30
        assert gpu.compute_capability >= (5, 0)
        assert gpu.cuda >= (12, 0)
        seen = state(gpu)
        assert seen.sm_clock_mhz is None or seen.sm_clock_mhz > 0
        assert seen.memory_used_bytes is None or seen.memory_used_bytes < gpu.memory_bytes
