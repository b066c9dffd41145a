"""What a printed time is worth is told by the kernels between the two readings of the clock behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.coursecode import course_module
from grader.model.trace import Launch

FOLDER = Path(__file__).resolve().parents[2] / "assignments" / "csye7105_hw4"

timeline = course_module(FOLDER / "timeline.py")
Window = timeline.Window


def products(*times, device=0, asked=None):
    """Kernels of some seconds each, one after the other from the first time on."""
    begun, *lengths = times
    launches = []
    for length in lengths:
        when = begun if asked is None else asked
        launches.append(
            Launch(
                kernel="gemm",
                grid=(1,) * 3,
                block=(1,) * 3,
                seconds=length,
                device=device,
                asked_s=when,
                began_s=begun,
            )
        )
        begun += length
    return launches


class Counting:
    """A pattern that counts the characters which it has gone through."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.characters = 0

    def match(self, text, place):
        match = self.pattern.match(text, place)
        self.characters += match.end() - place
        return match


@pytest.mark.parametrize("line", ["one gpu " * 2000, "1 gpu " * 2000, "two gpus, one gpu: " * 1000 + "0.3"])
def test_what_a_program_prints_is_looked_at_once(line, monkeypatch):
    counting = Counting(timeline.BEFORE_NUMBER)
    monkeypatch.setattr(timeline, "BEFORE_NUMBER", counting)
    timeline.printed(line, 1)
    assert counting.characters <= len(line)


@pytest.mark.parametrize(
    ("output", "gpus", "seconds", "half"),
    [
        ("1 GPU: 0.328 s\n", 1, 0.328, 0.0005),
        ("2 GPUs: 0.165 s\n", 2, 0.165, 0.0005),
        ("Time on 1 GPU: 0.33 seconds\nTime on 2 GPUs: 0.17 seconds", 2, 0.17, 0.005),
        ("one GPU took 12 s", 1, 12, 0.5),
        ("two gpus = 1.5e-1", 2, 0.15, 0.005),
        ("2 GPUs (cuda): 165.2 ms", 2, 0.1652, 0.00005),
        ("1 GPU: 5 s\n1 GPU: 0.5 s", 1, 0.5, 0.05),
    ],
)
def test_the_last_printed_time_counts_with_the_digits_that_it_has(output, gpus, seconds, half):
    time = timeline.printed(output, gpus)
    assert (time.seconds, time.half) == pytest.approx((seconds, half))


@pytest.mark.parametrize("output", ["", "0.328", "GPU 1: 0.3", "12 GPUs: 0.3", "1 GPU is slow\n0.3"])
def test_other_numbers_are_no_time_on_one_gpu(output):
    assert timeline.printed(output, 1) is None


def test_a_time_is_the_difference_of_two_readings_of_one_clock():
    readings = [["time", 1000.0, 1.0], ["perf_counter", 1000.328, 1.2], ["time", 1000.328, 1.3283]]
    time = timeline.Printed(seconds=0.328, half=0.0005)
    assert list(timeline.windows_of(time, readings)) == [Window(begun_s=1.0, ended_s=1.3283)]
    assert not list(timeline.windows_of(timeline.Printed(seconds=0.4, half=0.0005), readings))


def test_the_mean_of_several_runs_is_found_as_well():
    readings = [["time", 0.0, 0.0], ["time", 0.984, 0.984]]
    time = timeline.Printed(seconds=0.328, half=0.0005)
    assert list(timeline.windows_of(time, readings)) == [Window(begun_s=0.0, ended_s=0.984)]


ONE = products(1.01, 0.1, 0.1, 0.1)
TWO = [*products(1.01, 0.15), *products(1.02, 0.15, device=1)]


@pytest.mark.parametrize(
    ("ended", "launches", "gpus", "name"),
    [
        (1.32, ONE, 1, ""),
        (1.18, TWO, 2, ""),
        (1.005, products(2, 0.1), 1, "nothing"),
        (1.15, products(1.01, 0.1, 0.1, 0.1, asked=1.005), 1, "unsynchronised"),
        (1.001, products(1.002, 0.1, 0.1, asked=1.0005), 1, "unsynchronised"),
        (1.32, ONE, 2, "one_device"),
        (1.18, TWO, 1, "two_devices"),
        (1.32, [*products(1.01, 0.15), *products(1.16, 0.15, device=1)], 2, "in_turn"),
        (2.9, products(2.59, 0.1, 0.1, 0.1), 1, "early"),
        (2.9, ONE, 1, "late"),
        # what fills the matrices runs on the GPU, too, but is no product
        (2.9, [*products(1.0, 0.001), *products(2.59, 0.1, 0.1, 0.1)], 1, "early"),
        # a small kernel on the second GPU is no work
        (1.32, [*ONE, *products(1.1, 0.001, device=1)], 2, "one_device"),
        (1.32, [*ONE, *products(1.1, 0.001, device=1)], 1, ""),
        # what comes after the clock was read, and was asked for after it, is another matter
        (1.32, [*ONE, *products(1.3205, 5.0)], 1, ""),
    ],
)
def test_every_way_to_time_something_else_has_a_name(ended, launches, gpus, name):
    found, sentence = timeline.misread(Window(begun_s=1.0, ended_s=ended), launches, gpus, 0.5)
    assert found == name
    assert bool(sentence) == bool(name)


def test_what_was_not_waited_for_is_told_in_seconds():
    launches = products(1.0, 0.1, 0.1, asked=1.0)
    sentence = timeline.misread(Window(begun_s=1.0, ended_s=1.05), launches, 1, 0.5)[1]
    assert sentence == "the clock was stopped 0.15 s before the GPUs were done"
