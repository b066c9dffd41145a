"""Threads wait for each other as on a GPU, and those that would wait for ever are named."""

import pytest

DIVERGENT = """
@cuda.jit
def halves(n):
    if cuda.threadIdx.x < n:
        BARRIER

halves[2, 32](16)
result = None
"""


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
@pytest.mark.parametrize(
    "barrier", ["syncthreads()", "syncthreads_count(1)", "syncwarp()", "all_sync(0xFFFFFFFF, 1)"]
)
def test_a_barrier_that_some_threads_never_reach_is_named_in_every_order(simulated, order, barrier):
    code = f"simulator.run_in({order!r}, 1)" + DIVERGENT.replace("BARRIER", f"cuda.{barrier}")
    name = barrier.partition("(")[0]
    with pytest.raises(Exception, match="DivergentBarrier") as caught:
        simulated(code)
    assert f": {name}() in line 5 of halves is reached by 16 of 32 threads of block (" in str(caught.value)
    assert "and never by thread (16, 0, 0): " in str(caught.value)


def test_two_barriers_in_two_branches_are_not_one(simulated):
    code = """
    @cuda.jit
    def kernel():
        if cuda.threadIdx.x % 2:
            cuda.syncthreads()
        else:
            cuda.syncthreads()

    kernel[1, 8]()
    """
    with pytest.raises(Exception, match=r"DivergentBarrier: syncthreads\(\) in line 7 .* by 4 of 8 threads"):
        simulated(code)


def test_after_an_error_the_next_launch_is_a_fresh_one(simulated):
    assert (
        simulated(
            DIVERGENT.replace(
                "halves[2, 32](16)", "try: halves[2, 32](16)\nexcept RuntimeError: halves[2, 32](32)"
            ).replace("BARRIER", "cuda.syncthreads()")
            + "result = len(simulator.launches())"
        )
        == 2
    )


def test_every_round_of_a_loop_waits(simulated):
    assert simulated(
        """
        @cuda.jit
        def kernel(a):
            t = cuda.threadIdx.x
            for _ in range(8):
                left = a[t - 1] if t else a[7]
                cuda.syncthreads()
                a[t] = left
                cuda.syncthreads()

        result = np.arange(8)
        kernel[1, 8](result)
        """
    ) == list(range(8))


def test_barriers_in_device_functions_of_any_name_and_file_are_barriers(simulated):
    assert simulated(
        """
        from numba.cuda import syncthreads as together, threadIdx, shared
        import numba.cuda as c

        @c.jit(device=True)
        def left(s, t):
            together()
            return s[t - 1] if t else s[s.size - 1]

        def kernel(a):
            s = shared.array(4, numba.int64)
            s[threadIdx.x] = a[threadIdx.x]
            a[threadIdx.x] = left(s, threadIdx.x)

        result = np.arange(4)
        c.jit(kernel)[1, 4](result)
        """
    ) == [3, 0, 1, 2]


def test_votes_of_a_block_and_of_a_warp(simulated):
    block, warp = simulated(
        """
        @cuda.jit
        def kernel(block, warp):
            t = cuda.threadIdx.x
            block[t, 0] = cuda.syncthreads_count(t % 3 == 0)
            block[t, 1] = cuda.syncthreads_and(t < 40)
            block[t, 2] = cuda.syncthreads_or(t == 39)
            full = 0xFFFFFFFF
            warp[t, 0] = cuda.ballot_sync(full, t % 32 < 3)
            warp[t, 1] = cuda.all_sync(full, t < 32)
            warp[t, 2] = cuda.any_sync(full, t == 39)
            warp[t, 3] = cuda.eq_sync(full, t // 32)

        block, warp = np.zeros((40, 3), np.int64), np.zeros((40, 4), np.int64)
        kernel[1, 40](block, warp)
        result = block, warp
        """
    )
    assert block == [[14, 1, 1]] * 40
    assert warp == [[7, 1, 0, 1]] * 32 + [[7, 0, 1, 1]] * 8


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
def test_shuffles_reduce_a_warp_in_every_order(simulated, order):
    said = simulated(
        f"""
        simulator.run_in({order!r}, 5)

        @cuda.jit
        def kernel(sums, moved):
            t = cuda.grid(1)
            value = t
            for step in (16, 8, 4, 2, 1):
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
            if cuda.laneid == 0:
                sums[t // 32] = value
            moved[t, 0] = cuda.shfl_up_sync(0xFFFFFFFF, t, 2)
            moved[t, 1] = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)
            moved[t, 2] = cuda.shfl_sync(0xFFFFFFFF, t, 7)

        sums, moved = np.zeros(4, np.int64), np.zeros((128, 3), np.int64)
        kernel[2, 64](sums, moved)
        result = sums, moved[64:68]
        """
    )
    assert said == [
        [sum(range(first, first + 32)) for first in (0, 32, 64, 96)],
        [[64, 65, 71], [65, 64, 71], [64, 67, 71], [65, 66, 71]],
    ]


def test_a_warp_goes_on_while_another_one_polls(simulated):
    assert simulated(
        """
        simulator.run_in("shuffled", 2)

        @cuda.jit
        def kernel(flag, out):
            if cuda.threadIdx.x >= 32:
                cuda.syncwarp()
                cuda.atomic.add(flag, 0, 1)
            else:
                while cuda.atomic.add(flag, 0, 0) < 32:
                    pass
                out[0] = 1

        result = np.zeros(1, np.int64)
        kernel[1, 64](np.zeros(1, np.int64), result)
        """
    ) == [1]


def test_part_of_a_warp_may_wait_alone_and_whoever_is_not_part_of_it_may_not(simulated):
    code = """
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 4:
            out[t] = cuda.shfl_down_sync(MASK, t * 10, 1)

    result = np.zeros(4, np.int64)
    kernel[1, 32](result)
    """
    assert simulated(code.replace("MASK", "0xF")) == [10, 20, 30, 30]
    with pytest.raises(
        Exception, match=r"ValueError: thread \(3, 0, 0\) .* lane 3 is not in the mask 0x00000007"
    ):
        simulated(code.replace("MASK", "0x7"))


def test_a_grid_of_one_block_can_wait_as_a_whole(simulated):
    code = """
    @cuda.jit
    def kernel(a):
        a[cuda.threadIdx.x] = 1
        cuda.cg.this_grid().sync()
        a[cuda.threadIdx.x] += a[(cuda.threadIdx.x + 1) % 4]

    result = np.zeros(4, np.int64)
    kernel[BLOCKS, 4](result)
    """
    assert simulated(code.replace("BLOCKS", "1"))[0] == 2
    with pytest.raises(Exception, match="a barrier of the whole grid is simulated for a single block only"):
        simulated(code.replace("BLOCKS", "2"))


def test_a_barrier_outside_of_a_kernel_is_an_error(simulated):
    with pytest.raises(Exception, match="only a kernel can do that"):
        simulated("cuda.syncthreads()")
