# ruff: noqa: RUF001 - reports as students write them, in several scripts
"""Lists of kernels and API calls are read in the forms in which reports and profilers write them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader.matching.cuda_names import is_api_call, is_copy, short_name
from grader.matching.profile_lists import profile_lists

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
        ("[CUDA Unified Memory memcpy DtoH]", False, True),
        ("H2D memory copy", False, True),
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


@pytest.mark.parametrize(
    "text",
    [
        "Kernel\tN\tTime (ms)\tTime (%)\tSum (%)\na_gemm\t4\t12.1\t60.0\t60.0\nb_relu\t2\t7.0\t35.0\t95.0",
        "Kernel\tTime (ms)\tRunning time (ms)\tTime (%)\na_gemm\t12.1\t12.1\t60.0\nb_relu\t7.0\t19.1\t35.0",
        "#\tTime(%)\tTime\tCalls\tAvg\tName\n1\t60.0%\t12.1ms\t4\t302us\ta_gemm\n2\t35.0%\t7.0ms\t2\t350us\tb_relu",
        "Kernel\tShare\tRunning sum\na_gemm\t0.600\t0.600\nb_relu\t0.350\t0.950",
        "Kernel\tShare\na_gemm\t60.0%\nb_relu\t35.0%\nother kernels\t5.0%\nRemaining (12 kernels)\t0.0%",
        "Kernel | Time | %\n--- | --- | ---\na_gemm | 12.1 | 60.0\nb_relu | 7.0 | 35.0",
    ],
)
def test_columns_beside_the_shares_are_not_taken_for_them(text):
    (only,) = profile_lists(text)
    assert [(row.name, row.share) for row in only.rows] == [("a_gemm", 60.0), ("b_relu", 35.0)]
    assert [row.running for row in only.rows] in ([60.0, 95.0], [None, None])


@pytest.mark.parametrize(
    "text",
    [
        "Kernel\tTime\tCumulative\na_gemm\t12.1\t12.1\nb_relu\t7.0\t19.1",
        "Kernel\tTime (ms)\tCumulative (ms)\na_gemm\t12.1\t12.1\nb_relu\t7.0\t19.1",
    ],
)
def test_times_are_not_taken_for_shares(text):
    assert not any(one.rows for one in profile_lists(text))


@pytest.mark.parametrize(
    "text",
    [
        # LaTeX, as it is written and as a reader of Markdown leaves it
        "Name & Time & Cumulative \\\\ \\hline\n\\texttt{one\\_kernel} & 60.50\\% & 60.50\\% \\\\\n"
        "\\texttt{two\\_kernel} & 31.25\\% & 91.75\\% \\\\",
        "Name & Time (%) & Cumulative (%) \\ \\hline\n\\verb|one_kernel| & 60.50 & 60.50 \\\n"
        "\\verb|two_kernel| & 31.25 & 91.75 \\",
        "name,share,running\none_kernel,60.50%,60.50%\ntwo_kernel,31.25%,91.75%",
        "kernel\tfraction of time\trunning\none_kernel\t0.6050\t0.6050\ntwo_kernel\t0.3125\t0.9175",
    ],
)
def test_lists_of_latex_commas_and_fractions_are_read(text):
    rows = [row for one in profile_lists(text) for row in one.rows]
    assert [(row.name, round(row.share, 6), round(row.running, 6)) for row in rows] == [
        ("one_kernel", 60.5, 60.5),
        ("two_kernel", 31.25, 91.75),
    ]


def test_times_before_bracketed_percentages_are_no_part_of_a_name():
    rows = [row for one in profile_lists("1. one_kernel: 8.438 ms (27.2 %)") for row in one.rows]
    assert [(row.name, row.share) for row in rows] == [("one_kernel", 27.2)]


def test_a_decimal_comma_is_no_comma_between_cells():
    rows = [row for one in profile_lists("one_kernel 27,22% 27,22%") for row in one.rows]
    assert [(row.share, row.running) for row in rows] == [(27.22, 27.22)]


@pytest.mark.parametrize(
    "head", ["累计 (%)\t占比 (%)\t内核", "Yhteensä (%)\tOsuus (%)\tYdin", "Cumulative\tTime %\tName"]
)
def test_running_sums_may_stand_first_in_any_language(head):
    rows = [
        row
        for one in profile_lists(f"{head}\n60.5\t60.5\tone_kernel\n91.75\t31.25\ttwo_kernel")
        for row in one.rows
    ]
    assert [(row.share, row.running) for row in rows] == [(60.5, 60.5), (31.25, 91.75)]


@pytest.mark.parametrize(
    "text",
    [
        "a_gemm: 60.5 percent\nb_relu: 31.25 per cent",
        "a_gemm: 60,5 Prozent\nb_relu: 31,25 pour cent",
        "a_gemm\t६०.५%\nb_relu\t३१.२५%",
        "a_gemm\t٦٠٫٥٪\nb_relu\t٣١٫٢٥٪",
        "a_gemm → 60.5%\nb_relu -> 31.25%",
    ],
)
def test_percent_may_be_a_word_and_digits_those_of_any_script(text):
    rows = [row for one in profile_lists(text) for row in one.rows]
    assert [(row.name, row.share) for row in rows] == [("a_gemm", 60.5), ("b_relu", 31.25)]


@pytest.mark.parametrize(
    "text",
    [
        "Kernel\tOf all\tOf kernels\tSum\na_gemm\t42.0%\t60.0%\t60.0%\nb_relu\t24.5%\t35.0%\t95.0%",
        "a_gemm: 60.0%, sum 0.0% + 60.0% = 60.0%\nb_relu: 35.0%, sum 60.0% + 35.0% = 95.0%",
        "Kernel\tShare (%)\tOf program (%)\tSum (%)\na_gemm\t60.0\t4.1\t60.0\nb_relu\t35.0\t2.4\t95.0",
    ],
)
def test_of_several_columns_those_that_agree_are_shares_and_sums(text):
    (only,) = profile_lists(text)
    assert [(row.share, row.running) for row in only.rows] == [(60.0, 60.0), (35.0, 95.0)]
    assert not only.unsure


def test_the_number_of_a_line_is_no_share_where_another_column_has_it():
    head = "# Kernel Calls Total (ms) Time (%) Cumulative (%)"
    lists = profile_lists(f"{head}\n1 a_gemm 40 8.44 60.0 60.0\n2 b_relu 80 4.48 35.0 95.0")
    assert not any(one.rows for one in lists)


@pytest.mark.parametrize("piece", ["1", "1 ", "1-", "1e11-", "1.", "1,1 s "])
def test_digits_without_a_name_are_read_in_time_that_grows_with_them(piece):
    begun = time.process_time()
    profile_lists(f"{PIPES}\n| {piece * 200}z | 5.00 | 85.52 |\n\n{SPACED}\n{piece * 200}z 5.00% 85.52%\n")
    assert time.process_time() - begun < 20  # milliseconds; of what is tried in all ways, years


@pytest.mark.parametrize(
    "line",
    [
        "a " + "1 " * 200_000 + "a_gemm 5%",
        "a_gemm 5% " + "abc" * 130_000,
        "1% " + "with at " * 50_000 + "a 5%",
    ],
    ids=["numbers", "one word", "verbs"],
)
def test_a_line_as_long_as_a_report_is_read_in_time_that_grows_with_it(line):
    """A search that begins anew at each of its words takes hours."""
    profile_lists(f"a_gemm 50%\n{line}\n")
