"""Launches, accuracies and shares in the sentences of a report."""

from __future__ import annotations

import pytest

from grader.subject.tools.launches import launches
from grader.subject.tools.shares import accuracies, shares


def shapes(text, kernel="max_kernel"):
    return [(blocks, threads) for blocks, threads, _, certain in launches(text, kernel) if certain]


@pytest.mark.parametrize(
    "text",
    [
        "max_kernel runs with 1000 blocks of 1000 threads: a block for each row",
        "max_kernel is launched with 1,000 blocks, each with 1,000 threads.",
        "We launch max_kernel[1000, 1000](A, B, C).",
        "max_kernel<<<1000, 1000>>>(a, b)",
        "The kernel runs in 1.000 Blöcken mit je 1.000 Threads.",
        "1000 בלוקים של 1000 תהליכונים",
        "使用1000个线程块\uff0c每个线程块1000个线程",
        "использует 1000 блоков по 1000 потоков",
        "1000 bloques con 1000 hilos cada uno",
        "1000 blocs de 1000 threads chacun",
    ],
)
def test_blocks_of_threads_are_read_in_several_languages(text):
    assert shapes(text) == [(1000, 1000)]


@pytest.mark.parametrize(
    "text",
    [
        "matmul_kernel runs in one block of 32 x 32 = 1024 threads",
        "matmul_kernel[1, (32, 32)](X, C)",
        "a single block with 1024 threads",
        "ein Block mit 1024 Threads",
    ],
)
def test_threads_in_two_dimensions_are_multiplied(text):
    assert shapes(text, "matmul_kernel") == [(1, 1024)]


@pytest.mark.parametrize(
    "text",
    [
        "512 threads per block",
        "each block has 512 threads",
        "threads_per_block = 512",
        "Blocks: 1000\nThreads per block: 512",
        "512 Threads pro Block",
    ],
)
def test_threads_of_a_block_are_read_without_blocks(text):
    assert shapes(text) == [(None, 512)]


@pytest.mark.parametrize(
    "text",
    [
        "1000 blocks and 1,000,000 threads in total",
        "1000 blocks, so 1,000,000 threads",
        "tiles of 16 x 16 elements, one block per tile",
        "A block can have at most 1024 threads, so 2048 threads per block would fail.",
        "If a block had 2048 threads, nothing would run.",
        "Wir können nicht 2048 Threads pro Block starten.",
        "one thread of a block for each element",
        "A single thread in the block adds the parts, the others wait.",
        "1 thread of every block writes",
        "ein Thread in jedem Block",
        "un hilo de cada bloque, un thread dans chaque bloc, один поток в блоке",
        "כל בלוק: חוט אחד בכל בלוק",
        "Each block has a thread that writes the sum.",
        "max_kernel gives each element a block and a thread.",
    ],
)
def test_totals_single_threads_and_what_cannot_be_are_no_launches(text):
    assert shapes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The final accuracy is 96.4 %.",
        "accuracy: 0.964",
        "Die Genauigkeit beträgt 96,4 %.",
        "准确率达到96.4%",
        "דיוק של 96.4%",
    ],
)
def test_accuracies_are_fractions(text):
    ((value, half, _, certain),) = accuracies(text)
    assert (round(value, 6), round(half, 6), bool(certain)) == (0.964, 0.0005, True)


@pytest.mark.parametrize(
    "text",
    ["Make sure the accuracy is above 95 %.", "an accuracy of 1e-7 in float32", "accuracy after 5 epochs"],
)
def test_demands_and_rounding_errors_are_no_accuracies(text):
    assert accuracies(text) == []


def test_an_accuracy_that_improved_is_not_certain():
    assert [certain for *_, certain in accuracies("accuracy improved by 120 %")] == [False]


def test_shares_of_one_time_stand_together():
    ((values, _, certain),) = shares("The copies take 80 % and the kernel takes 60 % of the time of a call.")
    assert (values, certain) == ([80.0, 60.0], True)


@pytest.mark.parametrize(
    "text",
    [
        "Copies take 94 % of the time on the T4 and 96 % of the time on the H200.",
        "With 1 core 90 % of the time is spent there, with 2 cores 80 %.",
    ],
)
def test_shares_on_two_machines_are_not_added_up(text):
    assert not any(certain for *_, certain in shares(text))
