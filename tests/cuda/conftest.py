"""A machine with GPUs that is not there: NVML as a fake module, and a driver library written in C."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.cuda import nvml

UUIDS = ("GPU-aaaa1111-0000", "GPU-bbbb2222-0000")


class NVMLError(Exception):
    """As pynvml has it."""


class NVMLError_NotSupported(NVMLError):
    pass


class NVMLError_DriverNotLoaded(NVMLError):
    pass


class FakeNvml:
    """The functions of pynvml that we use, for two GPUs; `says` changes what a function answers."""

    NVMLError = NVMLError
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC = 1, 0
    nvmlMemory_v2 = 0x2000028

    def __init__(self):
        self.initialised = 0
        self.answers = {
            "nvmlInit": self._init,
            "nvmlSystemGetDriverVersion": lambda: "580.159.04",
            "nvmlSystemGetCudaDriverVersion_v2": lambda: 13000,
            "nvmlDeviceGetCount": lambda: 2,
            "nvmlDeviceGetHandleByIndex": lambda index: index,
            "nvmlDeviceGetHandleByUUID": UUIDS.index,
            "nvmlDeviceGetUUID": lambda handle: UUIDS[handle],
            "nvmlDeviceGetName": lambda _: "NVIDIA H200",
            "nvmlDeviceGetMemoryInfo": self._memory,
            "nvmlDeviceGetCudaComputeCapability": lambda _: [9, 0],
            "nvmlDeviceGetMinorNumber": lambda handle: 5 - handle,
            "nvmlDeviceGetMigMode": lambda _: [0, 1],
            "nvmlDeviceGetGpuMaxPcieLinkGeneration": lambda _: 5,
            "nvmlDeviceGetComputeRunningProcesses": lambda _: [],
            "nvmlDeviceGetClockInfo": lambda _, kind: {1: 345, 2: 3201}[kind],
            "nvmlDeviceGetMaxClockInfo": lambda _, kind: {1: 1980}[kind],
            "nvmlDeviceGetCurrentClocksEventReasons": lambda _: 0x1,
            "nvmlDeviceGetTemperature": lambda _, sensor: {0: 31}[sensor],
            "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=25, memory=1),
            "nvmlDeviceGetPersistenceMode": lambda _: 1,
            "nvmlDeviceGetComputeMode": lambda _: 0,
            "nvmlDeviceGetTotalEccErrors": lambda _, error, counter: {(1, 0): 0}[error, counter],
        }
        self.used = 4 * 2**20

    def _init(self):
        self.initialised += 1

    def _memory(self, _handle, version=None):
        reserved = 600 * 2**20
        total = 143771 * 2**20
        if version is None:
            return SimpleNamespace(total=total, used=self.used + reserved)
        assert version == self.nvmlMemory_v2
        return SimpleNamespace(total=total, used=self.used, reserved=reserved)

    def says(self, function, answer):
        """Answer with a value from now on, or raise an error, or have no such function (None)."""

        def answering(*_arguments):
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.answers[function] = None if answer is None else answering

    def refuses(self, *functions):
        """Raise what NVML raises for what a device does not have."""
        for function in functions:
            self.says(function, NVMLError_NotSupported("Not Supported"))

    def __getattr__(self, name):
        answer = self.__dict__["answers"].get(name) if name.startswith("nvml") else None
        if answer is None:
            raise AttributeError(name)
        return answer


@pytest.fixture
def forget():
    """Let NVML be loaded anew, before and after."""
    nvml.load.cache_clear()
    yield
    nvml.load.cache_clear()


@pytest.fixture
def fake(monkeypatch, forget):
    fake = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return fake


@pytest.fixture
def driver_not_loaded():
    return NVMLError_DriverNotLoaded("Driver Not Loaded")


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory) -> Path:
    """A folder with a libcuda.so.1 that plays a GPU on the processor; FAIL, HANG and WRONG name a call."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_driver.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", folder / "libcuda.so.1", source], check=True
    )
    return folder
