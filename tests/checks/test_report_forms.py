# ruff: noqa: E501, RUF001 - reports as students write them, in several languages
"""Times and speedups in the forms in which students write them, right, wrong and invented.

No right report loses a point without a person, in whatever form or language; one whose speedup does not
follow from its times loses it where times and speedup can be read without doubt, and waits otherwise.
"""

from __future__ import annotations

import pytest

from grader.checks.report import ClaimedRatio, ReportKind
from grader.checks.report_ratios import claim_key
from grader.model.observation import Observation, Outcome, Quantity
from grader.subject.tools import report

KIND = ReportKind()
CPU, NUMBA, GPU = "max_cpu|cpu|t_cpu", "max_numba|numba|njit", "max_gpu|gpu|cuda|t_gpu"
WHERE = {
    "part": "max_kernel|max_functions|maximum|part 2",
    "elsewhere": "matmul|matmul_kernel|matmul_functions|transpose|matmul_transpose_gpu|matmul_transpose_numba",
}
RATIOS = (ClaimedRatio(of=(CPU, GPU), **WHERE), ClaimedRatio(of=(NUMBA, GPU), **WHERE))
OPTIONS = ReportKind.Options(file="hw1.*", ratios=RATIOS, credit="per_case")

LOSES, WAITS, EARNS = "loses", "waits", "earns"
FORMS = {
    # form: (text with {cpu} and {numba} for the two speedups, right ones, what invented ones do)
    "list": (
        "max_cpu: 2.41 s, max_numba: 0.0123s, max_gpu: 0.0304s\n"
        "max_gpu is {cpu} times as fast as max_cpu\nmax_gpu is {numba} times as fast as max_numba\n",
        ("79.3", "0.405"),
        LOSES,
    ),
    "output of the course's script": (
        "[*] CPU: 2.4153\n[*] Numba: 0.0123\n[*] CUDA: 0.0304\n\n"
        "The speedup of max_gpu/max_cpu is {cpu}, and of max_gpu/max_numba {numba}.",
        ("79.45", "0.405"),
        LOSES,
    ),
    "table with the unit in its head": (
        "Function Time (ms) Speedup of max_gpu\nmax_cpu 264.1 {cpu}x\nmax_numba 2.31 {numba}x\nmax_gpu 3.35 1x\n",
        ("78.8", "0.69"),
        LOSES,
    ),
    "table of speedups over the slowest": (
        "| Method | Runtime [ms] | Speedup vs max_cpu |\n|---|---|---|\n| max_cpu | 264.1 | 1.0 |\n"
        "| max_numba | 2.31 | 114.3 |\n| max_gpu | 3.35 | {cpu} |\n\nSo max_gpu is {numba}x against max_numba.",
        ("78.8", "0.69"),
        LOSES,
    ),
    "a cell a line": (
        "Method\nTime (s)\nSpeedup\nCPU\n2.4153\n{cpu}\nNumba\n0.0123\n{numba}\nGPU\n0.0304\n1\n",
        ("79.45", "0.405"),
        WAITS,
    ),
    "sentences": (
        "The CPU version takes 2.41 s, the numba version takes 12.3 ms and the GPU version takes only 30.4 ms. "
        "So the GPU is {cpu} times faster than the CPU. "
        "Against numba the speedup of the GPU is {numba}, because of the copies.",
        ("79", "0.4"),
        LOSES,
    ),
    "down to": (
        "For max_cpu and max_gpu the time goes from 2.4s down to 30ms: x{cpu} faster. "
        "max_numba needs 12 ms, and we get a {numba}-fold change there.",
        ("80", "0.4"),
        WAITS,
    ),
    "quotients written out": (
        "T_cpu / T_gpu = 2.4153 / 0.0304 = {cpu}\nmax_numba / max_gpu = 0.0123 / 0.0304 = {numba}\n",
        ("79.45", "0.405"),
        LOSES,
    ),
    "timeit": (
        "max_cpu:\n2.41 s ± 12.3 ms per loop (mean ± std. dev. of 7 runs, 1 loop each)\n"
        "max_numba:\n12.3 ms ± 310 µs per loop (mean ± std. dev. of 7 runs, 100 loops each)\n"
        "max_gpu:\n30.4 ms ± 1.2 ms per loop (mean ± std. dev. of 7 runs, 10 loops each)\n\n"
        "max_gpu is {cpu}-fold faster than max_cpu. max_gpu is {numba}-fold faster than max_numba.",
        ("79", "0.40"),
        LOSES,
    ),
    "German, decimal commas": (
        "max_cpu braucht 2,41 s, max_numba 12,3 ms und max_gpu 30,4 ms. Damit ist max_gpu {cpu} mal schneller "
        "als max_cpu, aber nur {numba}-mal so schnell wie max_numba.",
        ("79", "0,4"),
        LOSES,
    ),
    "Hebrew": (
        "מדדנו את שלוש הפונקציות על ליבה אחת, והתוצאות הן:\n"
        "max_cpu: 2.41 שניות\nmax_numba: 0.0123 שניות\nmax_gpu: 0.0304 שניות\n"
        "הפונקציה max_gpu מהירה פי {cpu} מ-max_cpu\nהפונקציה max_gpu מהירה פי {numba} מ-max_numba\n",
        ("79", "0.4"),
        WAITS,
    ),
    "Spanish": (
        "max_cpu tarda 2,41 segundos, max_numba 12,3 milisegundos y max_gpu 30,4 milisegundos. "
        "max_gpu es {cpu} veces más rápido que max_cpu y {numba} veces más rápido que max_numba.",
        ("79", "0,4"),
        WAITS,
    ),
    "Chinese": (
        "max_cpu 需要 2.41 秒,max_numba 需要 12.3 毫秒,max_gpu 需要 30.4 毫秒。"
        "max_gpu 比 max_cpu 快{cpu}倍,max_gpu 比 max_numba 快{numba}倍。",
        ("79", "0.4"),
        WAITS,
    ),
    "powers of ten": (
        "max_cpu = 2.41e+00 s\nmax_numba = 1.23 × 10⁻² s\nmax_gpu = 3.04·10^-2 s\n"
        "Speedup max_gpu vs max_cpu: {cpu}\nSpeedup max_gpu vs max_numba: {numba}\n",
        ("79.3", "0.405"),
        LOSES,
    ),
    "captions": (
        "Figure 1: max_cpu (2.41 s) against max_gpu (30.4 ms), a speedup of {cpu}.\n\n"
        "Figure 2: max_numba (12.3 ms) against max_gpu (30.4 ms), a speedup of {numba}.\n",
        ("79.3", "0.40"),
        LOSES,
    ),
    "upside down": (
        "max_cpu: 2.41 s\nmax_numba: 0.0123 s\nmax_gpu: 0.0304 s\n"
        "max_gpu/max_cpu = {cpu}\nmax_gpu/max_numba = {numba}\n",
        ("0.0126", "2.47"),
        LOSES,
    ),
    "rows for several cores": (
        "cores | max_cpu | max_numba | max_gpu\n1 | 0.264 | 0.0031 | 0.0020\n2 | 0.265 | 0.0016 | 0.0021\n"
        "4 | 0.264 | 0.0009 | 0.0020\nThe speedup of max_gpu over max_cpu is {cpu}x.\n"
        "The speedup of max_gpu over max_numba is {numba}x.\n",
        ("132", "1.55"),
        LOSES,
    ),
    "the other kernel beside it": (
        "Part 2: CPU: 2.41 s, Numba: 0.0123 s, GPU: 0.0304 s\nmax_gpu over max_cpu: {cpu}x\n"
        "max_gpu over max_numba: {numba}x\nPart 3, matmul. Numba: 0.0412 s, GPU: 0.0206 s. The speedup is 2.0x.",
        ("79.3", "0.405"),
        WAITS,
    ),
    "roughly": (
        "max_cpu: 2.41 s\nmax_numba: 0.0123 s\nmax_gpu: 0.0304 s\nmax_gpu is more than {cpu} times faster than "
        "max_cpu and about {numba} times as fast as max_numba.",
        ("75", "0.4"),
        WAITS,
    ),
}


def award(text, tmp_path, quantities=None):
    path = tmp_path / "hw1.md"
    path.write_text(text, encoding="utf-8")
    rows = [[claim_key(r), r.claim, *r.of, r.part, r.elsewhere] for r in RATIOS]
    facts = report.main(str(path), [], rows)
    counted = {name: Quantity(value=facts.pop(name), unit=name) for name in ("pages", "pictures", "words")}
    observation = Observation(
        item="report", outcome=Outcome.OBSERVED, quantities=counted, facts={"file": "hw1.md", **facts}
    )
    return KIND.award(OPTIONS, observation, quantities or {})


def scaled(number, factor):
    """An invented number, written as the right one is."""
    point = "," if "," in number else "."
    decimals = len(number.partition(point)[2])
    return f"{float(number.replace(',', '.')) * factor:.{decimals}f}".replace(".", point)


@pytest.mark.parametrize("form", FORMS)
def test_a_right_report_earns_its_ratios(form, tmp_path):
    text, (cpu, numba), _ = FORMS[form]
    verdict = award(text.format(cpu=cpu, numba=numba), tmp_path)
    assert (verdict.fraction, verdict.undecided, verdict.flags) == (1.0, False, ()), verdict.reason


@pytest.mark.parametrize("form", FORMS)
def test_an_invented_ratio_loses_its_points_alone_or_waits(form, tmp_path):
    text, (cpu, numba), outcome = FORMS[form]
    verdict = award(text.format(cpu=scaled(cpu, 3), numba=numba), tmp_path)
    assert (verdict.fraction, verdict.undecided) == ((0.5, False) if outcome == LOSES else (0.0, True)), (
        verdict.reason
    )
    assert verdict.undecided or "its times of max_cpu and max_gpu give " in verdict.reason
    verdict = award(text.format(cpu=scaled(cpu, 3), numba=scaled(numba, 30)), tmp_path)
    assert (verdict.fraction, verdict.undecided) == (0.0, outcome == WAITS), verdict.reason


@pytest.mark.parametrize(
    ("cpu", "numba", "gpu"),
    [
        ("3,61,500 µs", "3,370 µs", "4,820 µs"),
        ("361'500 µs", "3'370 µs", "4'820 µs"),
        ("361\u202f500 µs", "3\u202f370 µs", "4\u202f820 µs"),
        ("3.615*10**-1 s", "3.37*10**-3 s", "4.82*10**-3 s"),
        ("٠٫٣٦١٥ s", "٠٫٠٠٣٣٧ s", "٠٫٠٠٤٨٢ s"),
        ("०.३६१५ s", "०.००३३७ s", "०.००४८२ s"),
    ],
)
def test_digits_of_other_countries_are_read_as_they_are_meant(cpu, numba, gpu, tmp_path):
    times = f"max_cpu: {cpu}\nmax_numba: {numba}\nmax_gpu: {gpu}\n"
    claims = "max_gpu is {} times as fast as max_cpu.\nmax_gpu is 0.70 times as fast as max_numba.\n"
    assert award(times + claims.format(75), tmp_path).fraction == 1.0
    lost = award(times + claims.format(225), tmp_path)
    assert (lost.fraction, lost.undecided) == (0.5, False)


@pytest.mark.parametrize(
    ("cpu", "gpu"),
    [
        ("7.23 s (20 runs)", "4.82 ms"),
        ("7.23 s for 20 calls", "4.82 ms per call"),
        ("7,23 s (20 Läufe)", "4,82 ms"),
        ("361.5 ms", "0.012 ms for the kernel and 4.81 ms for the copies"),
        ("361.5 ms", "0.012 ms (kernel) + 4.81 ms (copies)"),
    ],
)
def test_a_time_of_a_part_or_of_several_runs_costs_nothing_without_a_person(cpu, gpu, tmp_path):
    text = f"max_cpu: {cpu}\nmax_numba: 3.37 ms\nmax_gpu: {gpu}\nmax_cpu / max_gpu = 75.0\n"
    assert award(text, tmp_path).undecided
