"""Launches are refused, recorded and withheld; copies are counted."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

NOTHING = """
@cuda.jit
def nothing(*args):
    pass

result = None
"""


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ("1, 2048", "the block (2048, 1, 1) has size 2048 in x, allowed are 1 to 1024"),
        ("1, (64, 32)", "2048 threads per block, allowed are 1024"),
        ("1, (1, 1, 65)", "has size 65 in z, allowed are 1 to 64"),
        ("(1, 65536), 1", "the grid (1, 65536, 1) has size 65536 in y, allowed are 1 to 65535"),
        ("2**31, 1", "size 2147483648 in x, allowed are 1 to 2147483647"),
        ("0, 1", "has size 0 in x"),
        ("1, 0", "has size 0 in x"),
        ("1, 1, 0, 49153", "49153 dynamic bytes of shared memory per block, allowed are 49152"),
    ],
)
def test_what_a_gpu_refuses_is_refused_in_its_words_and_not_recorded(simulated, configuration, words):
    launch = f"""
from numba.cuda.cudadrv.driver import CudaAPIError
try:
    nothing[{configuration}]()
except CudaAPIError as error:
    result = str(error), simulator.launches()
"""
    said, launches = simulated(NOTHING + launch)
    assert said.startswith("[1] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE: ")
    assert words in said
    assert launches == []


def test_the_largest_possible_launches_are_not_refused(simulated):
    assert (
        simulated(
            NOTHING
            + """
for configuration in ((1, 1024), (1, (32, 32)), (1, (1, 1, 64)), ((1, 5), 1), (1, 1, 0, 49152)):
    nothing[configuration]()
result = len(simulator.launches())
"""
        )
        == 5
    )


def test_more_static_shared_memory_than_a_block_may_have_is_refused(simulated):
    code = """
    @cuda.jit
    def kernel():
        cuda.shared.array(6000, numba.float64)
        cuda.shared.array(SIZE, numba.int8)

    kernel[1, 32, 0, 100]()
    result = simulator.launches()[0]["shared_bytes"]
    """
    assert simulated(code.replace("SIZE", "1052")) == 49152
    with pytest.raises(Exception, match=r"49053 static and 100 dynamic bytes .* allowed are 49152 together"):
        simulated(code.replace("SIZE", "1053"))
    with pytest.raises(
        Exception, match=r"CudaAPIError: .*INVALID_PTX: too many resources.* 49153 bytes of shared"
    ):
        simulated(code.replace("SIZE", "1153"))


def test_a_configured_kernel_keeps_its_shape_when_the_kernel_is_configured_again(simulated):
    assert simulated(
        NOTHING
        + """
first, second = nothing[np.int64(4), 1024], nothing[2, 512]
first(); second(); first()
result = [(launch["grid"][0], launch["block"][0]) for launch in simulator.launches()]
"""
    ) == [[4, 1024], [2, 512], [4, 1024]]


def test_launches_are_recorded_in_three_dimensions_until_they_are_forgotten(simulated):
    before, after = simulated(
        """
        @cuda.jit
        def squares(a):
            shared = cuda.shared.array(4, numba.float64)
            i = cuda.grid(1)
            if i < a.size:
                a[i] = i * i

        squares[(2, 3), (4, 5, 6), 0, 8](np.zeros(5))
        squares.forall(5000)(np.zeros(5000))
        before = simulator.launches()
        simulator.forget()
        squares.forall(10, tpb=4)(np.zeros(10))
        squares.forall(0)(np.zeros(10))
        result = before, simulator.launches()
        """
    )
    assert before == [
        {"kernel": "squares", "grid": [2, 3, 1], "block": [4, 5, 6], "shared_bytes": 40},
        {"kernel": "squares", "grid": [5, 1, 1], "block": [1024, 1, 1], "shared_bytes": 32},
    ]
    assert after == [{"kernel": "squares", "grid": [3, 1, 1], "block": [4, 1, 1], "shared_bytes": 32}]


def test_copies_are_counted_whoever_asks_for_them(simulated):
    assert simulated(
        NOTHING
        + """
a = np.zeros((10, 10))
nothing[1, 1](cuda.to_device(a))
explicit = simulator.copies()
simulator.forget()
nothing[1, 1](a, cuda.In(a), cuda.Out(a), (a,))
implicit = simulator.copies()
simulator.forget()
d = cuda.device_array_like(a)
d.copy_to_device(a)
cuda.to_device(a, to=d)
d.copy_to_host(a)
d.copy_to_host()
result = explicit, implicit, simulator.copies()
"""
    ) == [
        {"host_to_device": {"count": 1, "bytes": 800}, "device_to_host": {"count": 0, "bytes": 0}},
        {"host_to_device": {"count": 3, "bytes": 2400}, "device_to_host": {"count": 3, "bytes": 2400}},
        {"host_to_device": {"count": 2, "bytes": 1600}, "device_to_host": {"count": 2, "bytes": 1600}},
    ]


def test_host_arrays_come_back_changed_and_hints_are_kept(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(a, b, c, d):
            for array in (a, b, d):
                array[0] = 1
            c[1] = a[0]

        a, b, c, d = (np.zeros(2) for _ in "abcd")
        d.flags.writeable = True
        kernel[1, 1](a, cuda.In(b), cuda.Out(c), cuda.to_device(d))
        result = a, b, np.isnan(c), d
        """
    ) == [[1, 0], [0, 0], [True, False], [0, 0]]


def test_a_read_only_array_can_be_read_in_a_kernel_and_not_be_stored_to(simulated):
    code = """
    @cuda.jit
    def kernel(a, b):
        STATEMENT

    a, result = np.ones(2), np.zeros(2)
    a.flags.writeable = False
    kernel[1, 1](a, result)
    """
    assert simulated(code.replace("STATEMENT", "b[0] = a[0]")) == [1, 0]
    with pytest.raises(Exception, match="read-only"):
        simulated(code.replace("STATEMENT", "a[0] = b[0]"))


def test_what_no_kernel_takes_is_refused(simulated):
    with pytest.raises(Exception, match="TypeError: a kernel takes arrays and numbers, and no list"):
        simulated(NOTHING + "nothing[1, 1]([1, 2])")
    with pytest.raises(Exception, match="ValueError: "):
        simulated(NOTHING + "nothing(1)")
    with pytest.raises(Exception, match="must specify at least the griddim and blockdim"):
        simulated(NOTHING + "nothing[1, 1, 0, 0, 0]()")


def test_numba_without_its_simulator_is_refused():
    if find_spec("numba") is None or find_spec("greenlet") is None:
        pytest.skip("numba or greenlet is not installed")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    said = subprocess.run(
        [sys.executable, "-c", "import grader.subject.standins.simulator"],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert said.stderr.splitlines()[-1] == (
        "ImportError: numba was imported without NUMBA_ENABLE_CUDASIM=1; set it before the program starts"
    )


def test_kernels_say_nothing_of_overflows_and_divisions_by_zero(simulated):
    assert simulated(
        """
        import warnings
        warnings.simplefilter("error")

        @cuda.jit
        def kernel(a, b):
            a[0] = a[0] + a[0]
            b[0] = b[0] / b[1]

        a, b = np.array([2**62]), np.array([1.0, 0.0])
        kernel[1, 1](a, b)
        result = a[0], bool(np.isinf(b[0]))
        """
    ) == [-(2**63), True]


def test_every_thread_of_a_grid_in_three_dimensions_knows_its_place(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(seen):
            x, y, z = cuda.grid(3)
            seen[x, y, z] += 1 + cuda.gridsize(1) + 100 * cuda.gridsize(2)[1] + 10000 * cuda.gridsize(3)[2]

        seen = np.zeros((4, 3, 10), np.int64)
        kernel[(2, 1, 5), (2, 3, 2)](seen)
        result = np.unique(seen)
        """
    ) == [100305]


def test_keywords_that_only_a_gpus_compiler_knows_change_nothing(simulated):
    code = """
        @cuda.jit(max_registers=32, lineinfo=True)
        def twice(x):
            i = cuda.grid(1)
            if i < x.size: x[i] *= 2
        x = np.arange(4)
        twice[1, 4](x)
        result = x
    """
    assert simulated(code) == [0, 2, 4, 6]
