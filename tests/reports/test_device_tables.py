"""What was observed of a GPU is shown as it was seen, and what was not seen is not shown as nothing."""

from __future__ import annotations

import re

import pytest

from grader.checks.drawings.gpu import gpu_drawings
from grader.config.codec import to_plain
from grader.model.drawing import Breakdown, ValueTable, listed
from grader.model.trace import Proven, Series, Traffic
from grader.reports.html import Html

AT_MOST = ValueTable(head=(), rows=()).at_most
LAUNCHED = ("max_kernel", (1000, 1, 1), (32, 32, 1), 0.00005)


def rows(source):
    """The cells of every table, row by row."""
    tables = re.findall(r"<tbody>(.*?)</tbody>", source)
    return [
        [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
        for table in tables
    ]


@pytest.fixture
def observed(make):
    """An observation of these launches."""

    def observed(*launches, quantities=None, **keys):
        return make.seen("a", facts=make.traced(*launches, **keys), quantities=quantities or {})

    return observed


@pytest.fixture
def shown(make):
    return lambda observation: make.rendered(gpu_drawings(observation))


def test_kernels_copies_and_allocations_stand_in_tables(observed, shown):
    kernels, copies, allocations = rows(shown(observed(LAUNCHED, LAUNCHED)))
    assert kernels == [["max_kernel", "1000", "32 x 32", "2", "100 µs"]]
    assert copies == [
        ["device to host", "7.63 MiB", "1", "900 µs"],
        ["host to device", "15.3 MiB", "2", "2.1 ms"],
    ]
    assert allocations == [["cuMemAlloc", "22.9 MiB", "3"]]


def test_launches_of_other_shapes_stand_apart(observed, shown):
    kernels, *_ = rows(shown(observed(LAUNCHED, (*LAUNCHED[:2], (1024, 1, 1), None))))
    assert [row[2] for row in kernels] == ["32 x 32", "1024"]


def test_of_kernels_that_were_only_counted_no_table_is_promised(observed, shown):
    observation = observed(source="virtual_gpus", launch_count=63, unseen=("launches",))
    assert "63 kernels ran. " in shown(observation)
    assert "the table is of" not in shown(observation)


def test_a_long_table_says_how_much_more_there_is(observed, shown):
    many = [(f"k{i}", (1, 1, 1), (1, 1, 1), None) for i in range(AT_MOST + 3)]
    source = shown(observed(*many))
    assert len(rows(source)[0]) == AT_MOST
    assert "And 3 more." in source


def test_what_a_source_cannot_see_is_named_and_not_shown(observed, shown):
    keys = {"unseen": ("allocations", "peak_bytes"), "source": "torch.profiler"}
    source = shown(observed(LAUNCHED, **keys))
    *_, unseen = gpu_drawings(observed(LAUNCHED, **keys))
    assert unseen.for_staff, "students did not ask for it"
    assert "cuMemAlloc" not in source
    assert "22.9 MiB" not in source
    assert "Seen by torch.profiler" in source
    assert "Not to be seen that way: how much memory was allocated, the most memory" in source


def test_launches_beyond_those_that_are_kept_are_counted(observed, shown):
    assert "500 kernels were launched; the table is of the first 1." in shown(
        observed(LAUNCHED, launch_count=500)
    )


def test_a_record_with_gaps_shows_nothing_of_it(observed, shown):
    source = shown(observed(LAUNCHED, complete=False, problem="a launch of ours is missing"))
    assert "counts neither way" in source
    assert "max_kernel" not in source


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        ("device", "the result is that of the kernels&#39; inputs"),
        ("host", "the result is that of the program&#39;s inputs, and was made on the CPU"),
        ("unclear", "it is not clear from whose inputs the result was made"),
    ],
)
def test_says_what_came_of_the_call_with_exchanged_inputs(observed, shown, proof, said):
    observation = observed(LAUNCHED, proof=proof)
    assert f"got other inputs than the program: {said}." in shown(observation)
    (drawing,) = [drawing for drawing in gpu_drawings(observation) if "other inputs" in drawing.caption]
    assert drawing.for_staff, "students read what came of it in the line of their points"


def test_says_what_timed_calls_copied_and_computed(observed, shown):
    observation = observed(LAUNCHED)
    observation.facts["watched"]["series"] = to_plain(
        Series(
            calls=18,
            launches=1,
            kernels_s=8e-6,
            to_device_bytes=16_000_000,
            to_host_bytes=8_000_000,
            needed_to_device_bytes=2_000_000,
            needed_to_host_bytes=1_000_000,
            call_s=0.004,
            exchanges=5,
            proof=Proven.DEVICE,
        )
    )
    source = shown(observation)
    assert "In a timed call kernels ran for 8 µs of 4 ms (0.002 of it)." in source
    assert "Each of 18 timed calls copied at least 15.3 MiB to the GPU and 7.63 MiB back" in source
    assert "its arguments fill 1.91 MiB and its result 977 KiB" in source
    assert "In 5 calls among them its kernels got other inputs than the program: the result is that" in source


@pytest.mark.parametrize("kept", ["text", {"trace": {}}, {"trace": {"source": "cupti"}, "new": 1}, 7])
def test_a_record_of_another_form_costs_the_drawing_and_tells_staff_alone(make, kept):
    items = [make.item("a", "A", check="drawn", options=make.drawn_options)]
    card = make.graded(items, [make.seen("a", facts={"watched": kept}, output="…")])
    assert "drawn cannot draw this observation" in Html().render(card.staff)
    assert "cannot draw" not in Html().render(card.student())


def test_facts_that_never_left_this_process_are_read_as_well(make):
    facts = make.traced(LAUNCHED)
    facts["watched"]["trace"]["launches"] = tuple(facts["watched"]["trace"]["launches"])
    assert list(gpu_drawings(make.seen("a", facts=facts)))


def split_of(observation, call_s):
    return next((one for one in gpu_drawings(observation, call_s=call_s) if isinstance(one, Breakdown)), None)


@pytest.mark.parametrize(
    ("took", "parts"), [(0.005, (0.001, 0.003, 0.001)), (0.002, (0.001, 0.003, 0.0))], ids=["rest", "overlap"]
)
def test_a_timed_call_is_split_into_kernels_copies_and_the_rest(observed, make, took, parts):
    split = split_of(observed((*LAUNCHED[:3], 0.001)), took)
    assert [part.value.value for part in split.parts] == pytest.approx(parts)
    bar = make.rendered([split])
    whole = sum(parts)
    assert f'aria-label="kernels 1 ms ({0.001 / whole:.0%}), copies 3 ms' in bar
    widths = [float(width) for width in re.findall(r'width="([\d.]+)%" height="20"', bar)]
    assert widths == pytest.approx([100 * part / whole for part in parts], abs=0.01)
    assert ("longer there than the whole timed call" in bar) == (parts[2] == 0)


@pytest.mark.parametrize(
    ("kernels_s", "keys"),
    [
        (0.001, {"complete": False, "problem": "gone"}),
        (0.001, {"copies": {"host_to_device": Traffic(count=1, bytes=8)}}),
        (None, {}),
        (0.001, {"launch_count": 2}),
    ],
    ids=["with gaps", "copies without times", "kernels without times", "more launches than are kept"],
)
def test_what_cannot_be_told_is_not_split(observed, kernels_s, keys):
    assert split_of(observed((*LAUNCHED[:3], kernels_s), **keys), 0.005) is None


def test_what_was_not_timed_is_not_split(observed):
    assert split_of(observed(LAUNCHED), None) is None


def test_what_stands_in_a_table_is_not_listed_again(observed, make):
    names = ("launches", "kernels_s", "host_to_device_bytes", "host_to_device_s", "rounds")
    quantities = {name: make.quantity(7) for name in names}
    assert quantities.keys() - listed(gpu_drawings(observed(LAUNCHED))) == {"rounds"}
    item = make.item("a", "A", check="drawn", options=make.drawn_options)
    card = make.graded([item], [observed(LAUNCHED, quantities=quantities)])
    assert re.findall(r"<li>(.*?)</li>", Html().render(card.staff)) == ["rounds: 7"]


@pytest.mark.parametrize(("simulated", "open_points"), [("informs", True), ("earns", False)])
def test_a_simulated_item_says_so_and_what_it_means(make, simulated, open_points):
    items = [make.item("a", "A", simulated=simulated), make.item("b", "B")]
    card = make.graded(items, [make.seen("a", simulated=True, output="…"), make.seen("b", output="…")])
    source = Html().render(card.staff)
    assert source.count("<li>simulated</li>") == source.count("Seen in a simulator, not on a GPU") == 1
    assert ("The points stay open until a GPU has run it." in source) == open_points
