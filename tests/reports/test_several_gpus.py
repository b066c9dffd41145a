"""What several GPUs did is shown GPU by GPU, and of one GPU alone nothing is said twice."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from grader.checks import placement
from grader.checks.drawings.gpu import MOST_GPUS, MOST_TRANSFERS, gpu_drawings
from grader.checks.placement import Placement
from grader.checks.watched import watched_of
from grader.model.drawing import Bars, Breakdown, ValueTable, listed
from grader.model.trace import DeviceWork, Traffic
from grader.reports.html import Html
from grader.reports.layout import SHORTEST, bars, value

MIB = 2**20
IDLE = DeviceWork(device=2)


@pytest.fixture
def two(make):
    """Two GPUs of which the first does three quarters of the work."""
    return (make.work(0, 2, 0.003, 96 * MIB), make.work(1, 40, 0.001, 24 * MIB))


@pytest.fixture
def observed(make):
    def observed(*devices, quantities=None, **keys):
        return make.seen("a", facts=make.on_gpus(*devices, **keys), quantities=quantities or {})

    return observed


def tables(observation):
    """Every table: its head, and its rows as texts."""
    drawn = (one for one in gpu_drawings(observation) if isinstance(one, ValueTable))
    return [(list(one.head), [list(map(value, row)) for row in one.rows[: one.at_most]]) for one in drawn]


def pictures(observation):
    """Title, and figure and width of each bar, of every picture."""
    drawn = (one for one in gpu_drawings(observation) if isinstance(one, Bars))
    return {one.title: [(row.name, row.value, row.width) for row in bars(one)] for one in drawn}


def test_peak_memory_and_shares_are_drawn_and_said(observed, two, make):
    observation = observed(*two)
    assert pictures(observation) == {
        "Peak memory, by GPU": [("GPU 0", "96 MiB", 92.0), ("GPU 1", "24 MiB", 23.0)],
        "Share of the kernels' time, by GPU": [("GPU 0", "75%", 75.0), ("GPU 1", "25%", 25.0)],
    }
    source = make.rendered(gpu_drawings(observation))
    assert ">GPU 0: 96 MiB</p>" in source
    assert '<rect class="time" x="0" y="1" width="23.00%"' in source


def test_where_no_times_are_known_shares_are_those_of_the_number_of_kernels(observed, make):
    shares = pictures(observed(make.work(0, 3), make.work(1, 1)))
    assert shares == {
        "Share of the number of kernels, by GPU": [("GPU 0", "75%", 75.0), ("GPU 1", "25%", 25.0)]
    }


def test_a_small_share_is_neither_nothing_nor_invisible(observed, make):
    (rows,) = pictures(observed(make.work(0, 9_996), make.work(1, 4))).values()
    assert [text for _, text, _ in rows] == ["more than 99.9%", "less than 0.1%"]
    assert rows[1][2] == SHORTEST


def test_a_gpu_that_did_nothing_stands_there_with_nothing(observed, two):
    observation = observed(two[0], had=3)
    memory, shares = pictures(observation).values()
    assert memory == [("GPU 0", "96 MiB", 92.0), ("GPU 1", "0 bytes", 0.0), ("GPU 2", "0 bytes", 0.0)]
    assert [width for _, _, width in shares] == [100.0, 0.0, 0.0]
    assert [row[:2] for row in tables(observation)[0][1]] == [["GPU 0", "2"], ["GPU 1", "0"], ["GPU 2", "0"]]


def test_memory_that_nobody_saw_is_not_drawn_as_none(observed, make):
    observation = observed(make.work(0, 2, 0.003), make.work(1, 1, 0.001), source="torch.profiler")
    assert "Peak memory, by GPU" not in pictures(observation)
    assert tables(observation)[0][0] == ["GPU", "Kernels", "Time"]


def test_each_gpu_has_a_row_with_kernels_time_and_memory(observed, two):
    head, rows = tables(observed(*two))[0]
    assert head == ["GPU", "Kernels", "Time", "Peak memory"]
    assert rows == [["GPU 0", "2", "3 ms", "96 MiB"], ["GPU 1", "40", "1 ms", "24 MiB"]]


def test_copies_are_told_from_where_to_where_and_not_by_direction_as_well(observed, make, two):
    transfers = (
        make.moved(1, None, 4, 1e-6),
        make.moved(1, 0, 2048, 2e-6),
        make.moved(1, 1, 1024, 1e-6),
        make.moved(None, 1, MIB, 0.001),
        make.moved(None, 0, 2 * MIB, 0.002),
    )
    within = {"host_to_host": Traffic(count=1, bytes=8, seconds=1e-6)}
    (_, _), (head, rows) = tables(observed(*two, transfers=transfers, copies=within))
    assert head == ["Copied", "Size", "Times", "Time"]
    assert rows == [
        ["host to GPU 0", "2 MiB", "2", "2 ms"],
        ["host to GPU 1", "1 MiB", "2", "1 ms"],
        ["GPU 1 to GPU 0", "2 KiB", "2", "2 µs"],
        ["within GPU 1", "1 KiB", "2", "1 µs"],
        ["GPU 1 to host", "4 bytes", "2", "1 µs"],
        ["within the host", "8 bytes", "1", "1 µs"],
    ]


def test_a_column_of_which_nothing_is_known_is_left_out(observed, make, two):
    (_, _), (head, rows) = tables(observed(*two, transfers=(make.moved(None, 0, 1024),)))
    assert (head, rows) == (["Copied", "Size", "Times"], [["host to GPU 0", "1 KiB", "2"]])


def test_without_transfers_copies_stand_by_direction(observed, two):
    assert tables(observed(*two))[1][1] == [["host to device", "8.58 MiB", "9", "1 ms"]]


def test_kernels_of_different_gpus_are_rows_of_their_own(observed, two):
    launched = ((0, "conv2d"), (1, "conv2d"), (0, "conv2d"))
    _, (head, rows), _ = tables(observed(*two, launched=launched))
    assert head == ["Kernel", "Device", "Grid", "Block", "Times", "Time"]
    assert rows == [
        ["conv2d", "GPU 0", "64", "256", "2", "1 ms"],
        ["conv2d", "GPU 1", "64", "256", "1", "500 µs"],
    ]


def test_kernels_that_all_ran_on_one_gpu_need_no_column_for_it(observed, two):
    _, (head, _), _ = tables(observed(*two, launched=((1, "conv2d"), (1, "relu"))))
    assert "Device" not in head


def test_names_have_the_room_of_their_longest_word(observed, make, two):
    observation = observed(*two, launched=((0, "conv2d"), (1, "conv2d")))
    source = make.rendered(gpu_drawings(observation))
    heads = re.findall(r'<table class="seen" style="--first: (\w+)"><thead><tr><th scope="col">(\w+)', source)
    assert heads[:2] == [("3ch", "GPU"), ("6ch", "Kernel")]


def test_of_one_gpu_alone_nothing_is_shown_that_was_not_shown_before(observed, make):
    lone = observed(make.work(0, 2, 0.003, 96 * MIB), transfers=(make.moved(None, 0, 1024),))
    assert pictures(lone) == {}
    assert [head for head, _ in tables(lone)] == [["Copied", "Size", "Times", "Time"]]
    assert "cuda:0" not in make.rendered(gpu_drawings(lone))
    names = {"gpu_0_kernels", "gpu_0_peak_bytes", "host_to_gpu_0_bytes"}
    assert not names & listed(gpu_drawings(lone))


@pytest.mark.parametrize("had", ["many", True, -2, 0, 10_000, None])
def test_what_is_no_number_of_gpus_adds_none(observed, two, had):
    observation = observed(*two)
    observation = replace(observation, facts=dict(observation.facts) | {"devices": had})
    assert [len(rows) for head, rows in tables(observation) if head[0] == "GPU"] == [2]


def test_a_record_with_gaps_shows_nothing_of_it(observed, two):
    observation = observed(*two, complete=False, problem="a launch of ours is missing")
    assert pictures(observation) == {}
    assert tables(observation) == []


def test_every_quantity_that_placement_measures_stands_in_a_table(observed, make, two):
    transfers = (make.moved(None, 0, 1024), make.moved(0, 1, 2048), make.moved(1, None, 4))
    trace = watched_of(observed(*two, transfers=transfers).facts).trace
    quantities = dict(placement._quantities(trace)) | {"wall_s": make.quantity(0.5, "s")}
    observation = observed(*two, transfers=transfers, quantities=quantities)
    options = Placement.Options(of="split.placed", inputs="pictures")
    card = make.graded([make.item("a", "A", check="placement", options=options)], [observation])
    source = Html().render(card.staff)
    assert re.findall(r"<li>(.*?)</li>", source) == ["time: 500 ms"]
    assert {"gpu_1_kernels_s", "gpu_1_peak_bytes", "gpu_0_to_gpu_1_bytes"} < quantities.keys()


def test_what_a_table_has_no_row_for_is_still_listed(observed, make):
    many = tuple(make.work(n, 1) for n in range(MOST_GPUS + 1))
    ways = tuple(make.moved(0, n, 8) for n in range(MOST_TRANSFERS + 1))
    observation = observed(*many, transfers=ways)
    hidden = listed(gpu_drawings(observation))
    assert f"gpu_{MOST_GPUS - 1}_kernels" in hidden
    assert f"gpu_{MOST_GPUS}_kernels" not in hidden
    assert f"gpu_0_to_gpu_{MOST_TRANSFERS - 1}_bytes" in hidden
    assert f"gpu_0_to_gpu_{MOST_TRANSFERS}_bytes" not in hidden
    assert [len(rows) for _, rows in tables(observation)] == [MOST_GPUS, MOST_TRANSFERS]
    source = make.rendered(gpu_drawings(observation))
    assert source.count("And 1 more.") == 2


def test_a_total_of_all_gpus_is_called_one(observed, make, two):
    seen = observed(*two, peak_bytes=110 * MIB)
    source = make.rendered(gpu_drawings(seen))
    assert "At one time it had at most 110 MiB of device memory, all GPUs together." in source
    assert "GPU 0 is what the program calls cuda:0." in source
    unseen = observed(*two, unseen=("peak_bytes", "api"))
    source = make.rendered(gpu_drawings(unseen))
    assert "at one time, all GPUs together, calls of CUDA." in source


def test_collectives_are_said_to_be_counted_for_no_gpu(observed, make, two):
    launched = ((0, "gemm"), (1, "ncclDevKernel_Broadcast_RING_LL"))
    seen = observed(*two, launched=launched, launch_count=44)
    said = "2 kernels of collectives (NCCL) are counted for no GPU: they wait for each other."
    assert said in make.rendered(gpu_drawings(seen))
    every = observed(*two, launched=launched, launch_count=42)
    assert "collectives" not in make.rendered(gpu_drawings(every))
    alone = observed(two[0], launched=launched, launch_count=44)
    assert "collectives" not in make.rendered(gpu_drawings(alone))


@pytest.mark.parametrize(("devices", "split"), [((0, 0), True), ((0, 1), False)])
def test_what_gpus_take_side_by_side_is_no_part_of_the_time_of_a_call(observed, two, devices, split):
    launched = [(device, "conv2d") for device in devices]
    drawn = gpu_drawings(observed(*two, launched=launched), call_s=0.005)
    assert any(isinstance(one, Breakdown) for one in drawn) == split


def test_a_page_shows_the_picture_and_stays_unfolded(stored):
    source = Html().render(stored("several_gpus").staff)
    both = source[source.index('id="item-1"') : source.index('id="item-2"')]
    assert "<details open>" in both
    assert both.index("Peak memory, by GPU") < both.index(">Time<") < both.index("Where the parts")
