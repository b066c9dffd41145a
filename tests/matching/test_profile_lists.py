"""Lists of kernels and API calls are read in the forms in which reports and profilers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.matching.profile_lists import is_api_call, is_copy, profile_lists, short_name

PROFILES = Path(__file__).with_name("profiles")
TABBED = """Kernel\tTime\tCummulative Time
CUDA memcpy HtoD\t37.73%\t37.73%
volta_scudnn_128x32_relu_interior_nn_v1\t21.47%\t59.20%
cuda::detail::implicit_convolve_sgemm\t21.32%\t80.52%"""
SPACED = """Kernel Time Cumulative Time
CUDA memcpy HtoD 37.73% 37.73%
volta_scudnn_128x32_relu_interior_nn_v1 21.47% 59.20%
cuda::detail::implicit_convolve_sgemm 21.32% 80.52%"""
PIPES = """| Kernel | Share (%) | Running sum (%) |
|---|---:|---:|
| CUDA memcpy HtoD | 37.73 | 37.73 |
| `volta_scudnn_128x32_relu_interior_nn_v1` | 21.47 | 59.20 |
| cuda::detail::implicit_convolve_sgemm | 21.32 | 80.52 |"""
COMMAS = """Kernel\tZeit\tSumme
CUDA memcpy HtoD\t37,73 %\t37,73 %
volta_scudnn_128x32_relu_interior_nn_v1\t21,47 %\t59,20 %
cuda::detail::implicit_convolve_sgemm\t21,32 %\t80,52 %"""
ENTRIES = """1. CUDA memcpy HtoD: 37.73 % (cumulative 37.73 %)
2. volta_scudnn_128x32_relu_interior_nn_v1: 21.47 % (cumulative 59.20 %)
3. cuda::detail::implicit_convolve_sgemm: 21.32 % (cumulative 80.52 %)
Together these take 80.52 % of the time."""
WRAPPED = """CUDA memcpy HtoD 37.73% 37.73%
volta_scudnn_128x32_relu_interior_nn_v1
21.47% 59.20%
void cuda::detail::implicit_convolve_sgemm<float, float, 1024, 5, 5,
3, 3, 3, 1, true, false, true>(int, int, int) 21.32% 80.52%"""
OURS = """Kernels on NVIDIA H200 (cuda:0): 4.2 ms in 166 launches
  share  running sum     time  calls  name
 37.73%       37.73%   1.2 ms     20  CUDA memcpy HtoD
 21.47%       59.20%   1.1 ms     20  volta_scudnn_128x32_relu_interior_nn_v1
 21.32%       80.52%   1.1 ms     20  void cuda::detail::implicit_convolve_sgemm<float, 1024, 5>(int, int)"""
NAMES = ["HtoD", "volta_scudnn_128x32_relu_interior_nn_v1", "implicit_convolve_sgemm"]

NVPROF = (PROFILES / "nvprof.txt").read_text()
NSYS = (PROFILES / "nsys.txt").read_text()
TORCH = (PROFILES / "torch.txt").read_text()


@pytest.mark.parametrize("text", [TABBED, SPACED, PIPES, COMMAS, ENTRIES, WRAPPED, OURS])
def test_a_list_in_any_form_has_names_shares_and_running_sums(text):
    (only,) = profile_lists(text)
    assert [short_name(row.name) for row in only.rows] == NAMES
    assert [row.share for row in only.rows] == [37.73, 21.47, 21.32]
    assert [row.running for row in only.rows] == [37.73, 59.20, 80.52]
    assert {row.half for row in only.rows} == {0.005}
    assert not only.unread


def test_a_forgotten_percent_sign_of_the_last_sum_does_not_hide_it():
    (only,) = profile_lists("a_kernel\t60%\t60%\nb_kernel\t36.92%\t96.92")
    assert [row.running for row in only.rows] == [60, 96.92]


def test_a_forgotten_percent_sign_is_read_in_plain_text_too():
    (only,) = profile_lists("a_kernel 60% 60%\nb_kernel 36.92% 96.92")
    assert [row.running for row in only.rows] == [60, 96.92]


def test_output_of_nvprof_is_two_lists_and_calls_are_no_sums():
    kernels, calls = profile_lists(NVPROF)
    assert (kernels.section, calls.section) == ("kernels", "api")
    assert [row.share for row in kernels.rows] == [40.02, 20.15, 11.75]
    assert [short_name(row.name) for row in kernels.rows][1:] == [
        "MapPlanLargeKernel",
        "volta_scudnn_128x64_relu_interior_nn_v1",
    ]
    assert [row.name for row in calls.rows] == ["cudaStreamCreateWithFlags", "cudaMemGetInfo"]
    assert {row.running for row in (*kernels.rows, *calls.rows)} == {None}


def test_output_of_nsys_has_shares_without_a_sign():
    kernels, calls = profile_lists(NSYS)
    assert (kernels.section, calls.section) == ("kernels", "api")
    assert [row.share for row in kernels.rows] == [62.1, 37.9]
    assert [short_name(row.name) for row in kernels.rows] == [
        "vectorized_elementwise_kernel",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n",
    ]
    assert [(row.name, row.share) for row in calls.rows] == [("cudaLaunchKernel", 91.0)]


def test_of_a_table_of_torch_profiler_the_share_of_the_device_counts():
    (only,) = profile_lists(TORCH)
    assert [(row.name, row.share) for row in only.rows] == [("sm90_xmma_gemm", 60.0), ("my_kernel", 40.0)]


@pytest.mark.parametrize(
    "text",
    [
        "The accuracy is 81.77% and the GPU is 3 times faster.",
        "These kernels together consume 94.84% of the program time.",
        "Total\t94.84%",
        "Kernels: 94 %",
        "volta_sgemm\t12.3 ms\nactivation\t3.1 ms",
        "177%CPU (0avgtext+0avgdata 5955540maxresident)k",
    ],
)
def test_other_percentages_are_no_list(text):
    assert not any(one.rows for one in profile_lists(text))


def test_a_sentence_about_a_kernel_is_noted_as_unread():
    (only,) = profile_lists("The kernel volta_sgemm takes about 37% of the time, and activation_fw 20%.")
    assert not only.rows
    assert len(only.unread) == 1


def test_two_tables_are_two_lists():
    text = f"{TABBED}\nAnd these are the API calls\nName\tTime\ncudaFree\t60%\ncudaMalloc\t40%"
    assert [len(one.rows) for one in profile_lists(text)] == [3, 2]


@pytest.mark.parametrize(
    ("name", "api", "copy"),
    [
        ("cudaMalloc", True, False),
        ("cuLaunchKernelEx", True, False),
        ("cuMemcpyHtoDAsync_v2", True, False),
        ("cudaMemcpy", True, False),
        ("cuda::detail::activation_fw_4d_kernel", False, False),
        ("cudnn::ops::nchwToNhwcKernel", False, False),
        ("cunn_SoftMaxForward", False, False),
        ("cutlass_80_simt_sgemm", False, False),
        ("cuApplyLayerNorm", False, False),
        ("[CUDA memcpy HtoD]", False, True),
        ("CUDA memset", False, True),
        ("Memcpy HtoD (Pageable -> Device)", False, True),
        ("memcpy_kernel", False, False),
    ],
)
def test_names_tell_calls_and_copies_from_kernels(name, api, copy):
    assert (is_api_call(name), is_copy(name)) == (api, copy)


def test_a_hostile_text_is_read_in_time_that_grows_with_it():
    for text in (
        "<" * 50_000 + " 3%",
        "1.1 " * 30_000,
        "a_b 1% " * 20_000,
        "1 " * 50_000 + "%",
        "a\t" * 50_000,
    ):
        profile_lists(text)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm>(cutlass_80_simt_sgemm::Par…", "cutlass_80_simt_sgemm"),
        ("void at::native::(anonymous namespace)::pool<float, int>(int, float const*", "pool"),
        ("Kernel2", "Kernel2"),
        ("<<", "<<"),
    ],
)
def test_a_short_name_is_what_tells_kernels_apart(name, short):
    assert short_name(name) == short


def test_a_long_name_that_is_broken_within_is_one_name():
    name = "sm80_xmma_fprop_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_f32_nhwckrsc"
    (only,) = profile_lists(f"{name[:50]}\n{name[50:]}\n60.0% 60.0%\nrelu_kernel 35.0% 95.0%")
    assert [row.name for row in only.rows] == [name, "relu_kernel"]


def test_a_line_whose_name_cannot_be_seen_is_noted_as_unread():
    (only,) = profile_lists("gemm_kernel 60.0% 60.0%\n20.0% 80.0%\nrelu_kernel 15.0% 95.0%")
    assert only.unread == ("20.0% 80.0%",)
