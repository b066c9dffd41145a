"""What goes wrong in a kernel is told with its name, block, thread and the line that was handed in."""

import pytest

CASES = {
    # function: status, fault, kernel, block, thread, mark of its line, words
    "missing_bounds_check": (
        *(700, "illegal_access", "no_check", [3, 0, 0], [4, 0, 0], "no_check"),
        "store of 4 bytes 0 bytes behind the end of the 400 bytes that cudaMalloc gave",
    ),
    "before_the_beginning": (
        *(700, "illegal_access", "shift", [0, 0, 0], [0, 0, 0], "element"),
        "load of 4 bytes 4 bytes before the 32 bytes that cudaMalloc gave",
    ),
    "pointer_of_the_host": (
        *(700, "illegal_access", "use_shape", [0, 0, 0], [0, 0, 0], "use_shape"),
        "load of 8 bytes in memory of the host",
    ),
    "null_pointer": (
        *(700, "illegal_access", "no_check", [0, 0, 0], [0, 0, 0], "no_check"),
        "store of 4 bytes at a null pointer",
    ),
    "freed_memory": (
        *(700, "illegal_access", "no_check", [0, 0, 0], [0, 0, 0], "no_check"),
        "store of 4 bytes in memory that was freed, from cudaMalloc",
    ),
    "no_dynamic_memory_asked_for": (
        *(700, "illegal_access", "reverse", [0, 0, 0], [0, 0, 0], "reverse"),
        "store of 4 bytes 0 bytes behind the end of the 0 bytes of dynamic shared memory that the launch"
        " asked for",
    ),
    "memcpy_overflows": (
        *(700, "illegal_access", "copy_all", [0, 0, 0], [0, 0, 0], "copy_all"),
        "store of 11 bytes across the end of the 10 bytes that cudaMalloc gave",
    ),
    "atomic_outside": (
        *(700, "illegal_access", "add", [0, 0, 0], [4, 0, 0], "add"),
        "store of 4 bytes 0 bytes behind the end of the 16 bytes that cudaMalloc gave",
    ),
    "misaligned": (
        *(716, "misaligned_access", "wide", [0, 0, 0], [0, 0, 0], "wide"),
        "an address that is no multiple of 16 is used for 'const struct float4'",
    ),
    "an_assertion_fails": (
        *(710, "assert", "asserts", [0, 0, 0], [3, 0, 0], "asserts"),
        "assertion `threadIdx.x < n' failed",
    ),
    "divergent_barrier": (
        *(719, "divergent_barrier", "some_wait", [0, 0, 0], [0, 0, 0], "some_wait"),
        "__syncthreads() is reached by 8 of 32 threads, and never by thread (8, 0, 0),"
        " which waits at __syncwarp() in line {others}",
    ),
    "a_mask_without_the_lane": (
        *(719, "divergent_barrier", "not_in_the_mask", [0, 0, 0], [3, 0, 0], "not_in_the_mask"),
        "__syncwarp() is called by lane 3, which its mask does not name",
    ),
    "two_barriers_for_one": (
        *(719, "divergent_barrier", "two_barriers", [0, 0, 0], [0, 0, 0], "two_barriers"),
        "__syncthreads() is reached by 8 of 40 threads, and never by thread (8, 0, 0),"
        " which waits at __syncthreads() in line {other_barrier}",
    ),
}


@pytest.mark.parametrize("function", CASES)
def test_a_fault_names_kernel_block_thread_and_line(run, line_of, function):
    status, kind, kernel, block, thread, mark, words = CASES[function]
    done = run("wrong", function, "forward")
    assert done.status == status
    fault = done.fault
    lines = {"others": line_of("others"), "other_barrier": line_of("two_barriers") + 2}
    assert fault == {
        "fault": kind,
        "fatal": True,
        "kernel": kernel,
        "block": block,
        "thread": thread,
        "file": "wrong.cu",
        "line": line_of(mark),
        "what": words.format(**lines),
    }
    assert done.record["faults"] == [fault]
    place = (
        f"wrong.cu:{fault['line']}: kernel {kernel}, block ({block[0]}, 0, 0), thread ({thread[0]}, 0, 0): "
    )
    assert done.said.splitlines() == [place + fault["what"]]


def test_an_overflow_of_one_shared_array_does_not_reach_the_next_one(run, line_of):
    done = run("wrong", "shared_array_overflows")
    index, access = done.reported
    assert (index["fault"], index["fatal"], index["line"]) == ("out_of_bounds", False, line_of("beyond_tile"))
    assert index["what"] == "index 16 is outside of an array of type 'float [16]'"
    assert (access["fault"], access["thread"], access["line"]) == (
        "illegal_access",
        [15, 0, 0],
        line_of("beyond_tile"),
    )
    assert access["what"].endswith("behind the end of the 64 bytes of the shared array tile")


def test_an_overflow_of_a_local_array_is_told(run, line_of):
    fault = run("wrong", "local_array_overflows").fault
    assert (fault["fault"], fault["line"]) == ("out_of_bounds", line_of("local_overflow"))


def test_after_a_fault_every_call_fails_as_on_a_gpu(run):
    done = run("wrong", "everything_fails_after_a_fault")
    assert done.out[:3] == [700, 700, 700]
    assert done.status == 700


def test_a_store_of_the_host_in_memory_of_the_device_ends_the_program(run, line_of):
    done = run("wrong", "the_host_stores_there")
    assert done.ended < 0
    assert (done.fault["fault"], done.fault["kernel"], done.fault["line"]) == (
        "host_access",
        None,
        line_of("host"),
    )


def test_the_host_cannot_copy_there_with_memcpy(run):
    done = run("wrong", "the_host_copies_there")
    assert done.ended < 0
    assert done.fault["what"] == "store by the host in memory of the device, from cudaMalloc"


def test_copies_that_cannot_be_are_refused_with_the_reason(run):
    done = run("wrong", "copies")
    assert done.out[:12] == [1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 2]
    assert [fault["what"] for fault in done.reported] == [
        "cudaMemcpy of 17 bytes to more than was allocated there",
        "cudaMemcpy of 16 bytes to memory of the device as if it were the host's",
        "cudaMemcpy of 16 bytes to memory of the host as if it were the device's",
        "cudaMemcpy of 16 bytes from more than was allocated there",
        "cudaMemset of 20 bytes in more than was allocated there",
        "cudaMemset of 16 bytes in memory of the host as if it were the device's",
        "cudaFree of what no allocation gave",
        "cudaFree of memory that was freed already",
    ]
    assert {fault["file"] for fault in done.reported} == {"wrong.cu"}
