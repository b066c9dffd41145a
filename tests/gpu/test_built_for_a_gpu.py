"""What is compiled for a leased GPU runs there, behind the wall, with the libraries it was linked against."""

from __future__ import annotations

from contextlib import ExitStack, closing
from textwrap import dedent

import numpy as np
import pytest

from grader.contracts.call import InputCase
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.harness.builds import Builds
from grader.harness.built import with_products
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.servers import Servers
from grader.model.assignment import Build, Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.namespaces import NamespacesSandbox
from grader.worker.devices import Devices

pytestmark = pytest.mark.gpu

LIMITS = Limits(import_wall_s=30.0, call_wall_s=30.0, memory_mb=4096)
PLAN = Build(
    command=(
        *("nvcc", "-arch={arch}", "-cudart", "shared", "-shared", "-Xcompiler", "-fPIC"),
        *("-o", "lib/libtwice.so", "twice.cu"),
    ),
    products=("lib/libtwice.so",),
    variable="LIBRARY",
    programs=("nvcc", "g++"),
)
KERNEL = """
    __global__ void twice(float *x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) x[i] *= 2;
    }
    extern "C" int run(float *x, int n) {
      float *there;
      if (cudaMalloc(&there, n * sizeof(float))) return -1;
      cudaMemcpy(there, x, n * sizeof(float), cudaMemcpyHostToDevice);
      twice<<<(n + 255) / 256, 256>>>(there, n);
      return cudaMemcpy(x, there, n * sizeof(float), cudaMemcpyDeviceToHost);
    }
"""
DRIVER = """
    import ctypes, os
    import numpy as np
    def twice(x):
        out = x.copy()
        library = ctypes.CDLL(os.environ["LIBRARY"] + "/lib/libtwice.so")
        status = library.run(out.ctypes.data_as(ctypes.c_void_p), out.size)
        assert status == 0, status
        return out
"""


def test_a_library_with_a_kernel_is_built_for_the_leased_gpu_and_loaded(tmp_path):
    tmp_path.chmod(0o755)
    workspace, reference, given = (tmp_path / name for name in ("workspace", "reference", "given"))
    for folder in (workspace, reference, given):
        folder.mkdir(mode=0o755)
    (workspace / "twice.cu").write_text(KERNEL)
    (given / "lib").mkdir()
    (given / "lib" / "README").write_text("The library comes here.\n")
    (given / "driver.py").write_text(dedent(DRIVER))
    with ExitStack() as resources:
        servers = Servers(
            (BubblewrapSandbox(), NamespacesSandbox()),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace, REFERENCE: reference},
            course_files=given,
            limits=LIMITS,
        )
        resources.enter_context(closing(servers))
        children = resources.enter_context(closing(ProcessPool(servers, LIMITS)))
        devices = Devices("a test", retire=children.retire_devices, say=print, waits=print)
        resources.enter_context(closing(devices))
        granted = devices.grant({"gpu": 1})
        builds = resources.enter_context(closing(Builds(PLAN, children, LIMITS, tmp_path / "cache")))
        architecture = "sm_{}{}".format(*devices.leased[0].compute_capability)
        built = builds.of(SUBMISSION, architecture=architecture)
        assert built.note == ""
        assert [kernel["architecture"] for kernel in built.kernels] == [architecture]
        setup = with_products(built, granted.setup(("numpy",)))
        x = np.arange(1000, dtype=np.float32)
        with children.subject(ProcessSpec(whose=SUBMISSION, module="driver", setup=setup)) as subject:
            call = subject.call("twice", InputCase(name="a case", args=(x,)))
        assert call.note == ""
        np.testing.assert_array_equal(call.value, 2 * x)
