from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from grader.config.rubric import check_rubric, load_rubric
from grader.errors import CourseError
from grader.model.rubric import Item, LatePolicy, Rubric

GOOD = """\
schema: 1
assignment: hw1
points: 10
due: 2024-12-23T23:59:00+00:00
late: {grace: 15m, per_day: 10%, at_most: 36h}
items:
  - id: fast.right
    title: fast gives what slow gives
    points: 7.5
    check: matches
    of: utils.fast
    accept: [slow_too]
    tolerance: {float32: {rtol: 1e-3}}
  - id: fast.speed
    title: fast is fast
    points: 2.5
    check: speedup
    of: utils.fast
    over: utils.slow
    inputs: vectors
    at_least: 40
    needs: [fast.right]
    uses: [fast.right]
    visible: after_due
    hint: Think of no.
"""

Lines = Callable[[str], tuple[str, ...]]


@pytest.fixture
def lines(course: SimpleNamespace, kinds: Mapping[str, Any]) -> Lines:
    """All problems of a rubric with this text."""

    def check(text: str) -> tuple[str, ...]:
        course.rubric.write_text(text)
        return check_rubric(course.rubric, kinds=kinds, assignments=course.assignments)

    return check


def test_a_rubric_is_read_whole(course: SimpleNamespace, kinds: Mapping[str, Any]) -> None:
    course.rubric.write_text(GOOD)
    matches, speedup = kinds["matches"], kinds["speedup"]
    rubric = load_rubric(course.rubric, kinds=kinds, assignments=course.assignments)
    band = rubric.items[0].options.tolerance["float32"]
    assert (band.rtol, band.atol) == (1e-3, 0.0)
    assert rubric == Rubric(
        name="hw1",
        assignment="hw1",
        points=10.0,
        due=datetime(2024, 12, 23, 23, 59, tzinfo=UTC),
        late=LatePolicy(grace_s=900.0, per_day=0.1, at_most_days=1.5),
        digest="sha256:" + hashlib.sha256(GOOD.encode()).hexdigest(),
        items=(
            Item(
                id="fast.right",
                title="fast gives what slow gives",
                points=7.5,
                check="matches",
                options=matches.Options(of="utils.fast", accept=("slow_too",), tolerance={"float32": band}),
            ),
            Item(
                id="fast.speed",
                title="fast is fast",
                points=2.5,
                check="speedup",
                options=speedup.Options(of="utils.fast", over="utils.slow", inputs="vectors", at_least=40.0),
                needs=("fast.right",),
                uses=("fast.right",),
                visible="after_due",
                hint="Think of no.",
            ),
        ),
    )


def test_six_different_mistakes_give_six_located_lines(lines: Lines) -> None:
    text = (
        GOOD.replace("at_least: 40", "at_least: fast")
        .replace("of: utils.fast\n    accept", "of: utils.fats\n    accept")
        .replace("[slow_too]", "[slow_to]")
        .replace("hint:", "hnit:")
        .replace("needs: [fast.right]", "needs: [fast.wrong]")
        .replace("points: 10\n", "points: 11\n")
    )
    assert lines(text) == (
        "rubrics/hw1.yaml:3:1: points: must equal the sum of the items, 10, got 11",
        (
            "rubrics/hw1.yaml:11:5: items[0].of: no function of the reference is called "
            '"utils.fats"; did you mean utils.fast?'
        ),
        (
            "rubrics/hw1.yaml:12:14: items[0].accept[0]: no function of expected.py is "
            'called "slow_to"; did you mean slow_too?'
        ),
        'rubrics/hw1.yaml:21:5: items[1].at_least: must be a number > 0, got "fast"',
        (
            'rubrics/hw1.yaml:22:13: items[1].needs[0]: no item has the id "fast.wrong"; did '
            "you mean fast.right?"
        ),
        "rubrics/hw1.yaml:25:5: items[1].hnit: unknown key; did you mean hint?",
    )


def test_a_file_that_several_items_call_and_nobody_wrote_is_told_once(lines: Lines) -> None:
    text = GOOD.replace("utils.fast", "driver.fast").replace("utils.slow", "driver.slow")
    assert text.count("driver.") > 1
    assert lines(text) == (
        "rubrics/hw1.yaml:11:5: items[0].of: given/ has no driver.py, nor has reference/; "
        "write it, or name a function of another file",
    )


def test_load_raises_with_every_line(course: SimpleNamespace, kinds: Mapping[str, Any]) -> None:
    course.rubric.write_text(GOOD.replace("visible: after_due", "visible: later").replace("10%", "10"))
    with pytest.raises(CourseError) as caught:
        load_rubric(course.rubric, kinds=kinds, assignments=course.assignments)
    assert caught.value.problems == (
        "rubrics/hw1.yaml:5:20: late.per_day: must be a percentage from 0% to 100%, such as 10%, got 10",
        (
            "rubrics/hw1.yaml:24:5: items[1].visible: must be always, after_due, "
            'after_published or never, got "later"'
        ),
    )


def test_a_rubric_without_items_is_refused(lines: Lines) -> None:
    assert lines("schema: 1\nassignment: hw1\npoints: 0\nitems: []\n") == (
        "rubrics/hw1.yaml:4:1: items: is empty; write at least one item",
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("schema: 1", "schema: 2", "1:1: schema: this grader reads 1, got 2; update grader"),
        ("schema: 1", "schema: 0", "1:1: schema: this grader reads 1, got 0; write 1"),
        ("schema: 1\n", "", "1:1: schema: missing; give a whole number"),
        ("schema: 1", "schema: one", '1:1: schema: must be a whole number, got "one"'),
        (
            "assignment: hw1",
            "assignment: hw2",
            '2:1: assignment: no assignment is called "hw2"; did you mean hw1?',
        ),
        ("assignment: hw1\n", "", "1:1: assignment: missing; give text"),
        ("    points: 2.5\n", "", "14:5: items[1].points: missing; give a number"),
        ("points: 2.5", "points: -2.5", "16:5: items[1].points: must be 0 or more, got -2.5"),
        ("points: 2.5", "piont: 2.5", "16:5: items[1].piont: unknown key; did you mean points?"),
        (
            "check: speedup",
            "check: speedup\n    credit: all",
            "18:5: items[1].credit: unknown key; it belongs to matches; take it out, or name another check",
        ),
        (
            "check: speedup",
            "check: speedpu",
            '17:5: items[1].check: no kind of check is called "speedpu"; did you mean speedup?',
        ),
        ("check: speedup", "chek: speedup", "17:5: items[1].chek: unknown key; did you mean check?"),
        ("check: speedup", "check: 3", "17:5: items[1].check: must be text, got 3; put it in quotes"),
        (
            "inputs: vectors",
            "inputs: vector",
            '20:5: items[1].inputs: no family of inputs.py is called "vector"; did you mean vectors?',
        ),
        (
            "over: utils.slow",
            "over: utils.fast",
            "14:5: items[1]: of and over are the same function; name two",
        ),
        (
            "id: fast.speed",
            "id: fast speed",
            '14:5: items[1].id: must be of lower-case letters, digits and . _ - only, got "fast speed"',
        ),
        (
            "id: fast.speed",
            "id: fast.right",
            '14:5: items[1].id: "fast.right" is the id of items[0] too; give each its own',
        ),
        (
            "uses: [fast.right]",
            "uses: [zzz]",
            '23:12: items[1].uses[0]: no item has the id "zzz"; there are fast.right, fast.speed',
        ),
        ("rtol: 1e-3", "rtol: 0", "13:27: items[0].tolerance.float32.rtol: must be a number > 0, got 0"),
        (
            "late: {",
            "late: {colour: red, ",
            "5:8: late.colour: unknown key; there are at_most, grace, per_day",
        ),
        (
            "schema: 1\n",
            "schema: 1\ntitle: x\n",
            "2:1: title: unknown key; "
            "there are assignment, at_most, attempts, due, floor, items, late, points, schema",
        ),
        (  # keys that the item has, as id and title, take no place in the list
            "    accept: [slow_too]\n",
            "    accept: [slow_too]\n    hidden: true\n",
            "13:5: items[0].hidden: unknown key; "
            "there are bonus, devices, hint, needs, penalty, simulated, uses, visible and 3 more",
        ),
        ("points: 10\n", "points: 10\npoints: 10\n", "4:1: points: given twice, first in line 3; keep one"),
    ],
)
def test_one_mistake_is_one_line(lines: Lines, old: str, new: str, line: str) -> None:
    assert old in GOOD
    found = lines(GOOD.replace(old, new))
    expected = f"rubrics/hw1.yaml:{line}"
    if 'fast.right" is the id' in line or "fast speed" in line:
        # The other item needs and uses an id: what it says about that is another test's business.
        assert expected in found
    else:
        assert found == (expected,)


@pytest.mark.parametrize("check", ["chek: speedup", "check: speedpu"])
def test_a_slip_in_a_key_of_an_item_without_a_kind_is_told_and_an_option_is_not(
    lines: Lines, check: str
) -> None:
    text = GOOD.replace("points: 2.5", "piont: 2.5").replace("check: speedup", check)
    points, of_check = lines(text)
    assert points == "rubrics/hw1.yaml:16:5: items[1].piont: unknown key; did you mean points?"
    assert of_check.startswith("rubrics/hw1.yaml:17:5: items[1].che")


@pytest.mark.parametrize("uses", ["uses: [fast.right]", "uses: fast.right", "uses: [3]", "visible: always"])
def test_an_item_that_a_check_names_is_among_those_that_its_item_uses(lines: Lines, uses: str) -> None:
    found = lines(
        GOOD.replace("uses: [fast.right]", uses).replace(
            "at_least: 40", "at_least: 40\n    beside: [fast.right]"
        )
    )
    about = [line for line in found if "beside" in line]
    wrong = (
        'rubrics/hw1.yaml:22:14: items[1].beside[0]: no item in uses is called "fast.right"; there are none'
    )
    assert about == ([] if uses == "uses: [fast.right]" else [wrong])


def test_what_a_kind_objects_to_is_told_with_line_and_column(
    lines: Lines, kinds: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch, course: SimpleNamespace
) -> None:
    def objections(options: Any, assignment: str) -> Iterator[tuple[str, str]]:
        assert assignment == str(course.assignments["hw1"])
        if options.at_least > 30:
            yield "at_least", f"nothing is {options.at_least:g} times faster; give less"

    monkeypatch.setattr(kinds["speedup"], "objections", objections)
    (line,) = lines(GOOD)
    assert line.endswith("hw1.yaml:21:5: items[1].at_least: nothing is 40 times faster; give less")
    assert lines(GOOD.replace("at_least: 40", "at_least: 20")) == ()
    (line,) = lines(GOOD.replace("inputs: vectors", "inputs: matrices"))
    assert "matrices" in line


@pytest.mark.parametrize(
    ("devices", "given"), [("", 0), ("devices: {gpu: 1}", 1), ("devices: {gpu: 2}", None)]
)
def test_an_item_with_fewer_devices_than_its_kind_needs_is_refused(
    devices: str, given: int | None, lines: Lines, kinds: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds["speedup"], "gpus_needed", lambda options: 2)
    needs = "speedup needs 2 GPUs at least for these options"
    line = 22 if devices else 14
    message = f"rubrics/hw1.yaml:{line}:5: items[1].devices: {needs}, got {given}; write devices: {{gpu: 2}}"
    told = lines(GOOD.replace("    needs: [", f"    {devices}\n    needs: ["))
    assert told == ((message,) if given is not None else ())


def test_devices_that_are_wrong_are_told_once(
    lines: Lines, kinds: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds["speedup"], "gpus_needed", lambda options: 1)
    (line,) = lines(GOOD.replace("    needs: [", "    devices: {gpus: 1}\n    needs: ["))
    assert "did you mean gpu?" in line


def test_an_item_that_is_no_mapping_does_not_hide_the_others(lines: Lines) -> None:
    found = lines(GOOD.replace("at_least: 40", "at_least: 0") + "  - just text\n")
    assert found == (
        "rubrics/hw1.yaml:21:5: items[1].at_least: must be a number > 0, got 0",
        'rubrics/hw1.yaml:26:5: items[2]: must be a mapping, got "just text"',
    )


def test_circles_are_named_and_each_is_told_once(lines: Lines) -> None:
    item = "  - {{id: {0}, title: t, points: 0, check: matches, of: utils.fast, {1}: [{2}]}}\n"
    steps = [
        ("a", "needs", "b"),
        ("b", "uses", "c"),
        ("c", "needs", "a"),
        ("d", "uses", "d"),
        ("e", "needs", "a"),
    ]
    found = lines(GOOD + "".join(item.format(*step) for step in steps))
    assert found == (
        (
            "rubrics/hw1.yaml:26:66: items[2].needs: goes round in a circle (a -> b -> c -> "
            "a); take one of these out"
        ),
        "rubrics/hw1.yaml:29:66: items[5].uses: goes round in a circle (d -> d); take one of these out",
    )


def test_a_broken_file_of_the_assignment_is_told_once_and_its_names_are_not_held_against_the_rubric(
    course: SimpleNamespace, lines: Lines
) -> None:
    (course.homework / "reference" / "utils.py").write_text("def fast(:\n")
    (line,) = lines(GOOD.replace("utils.slow", "utils.anything"))
    assert line.startswith("assignments/hw1/reference/utils.py:1:10: not Python (")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: b: c", "rubrics/hw1.yaml:1:5: not YAML"),
        ("", "rubrics/hw1.yaml: is empty"),
        ("--- ~", "rubrics/hw1.yaml:1:5: must be a mapping, got nothing"),
        ("- 1", "rubrics/hw1.yaml:1:1: must be a mapping, got a list"),
    ],
)
def test_a_file_that_is_no_rubric_at_all_is_one_line(lines: Lines, text: str, start: str) -> None:
    (line,) = lines(text)
    assert line.startswith(start)


def test_a_rubric_that_is_not_there_is_one_line(course: SimpleNamespace) -> None:
    (line,) = check_rubric(course.rubric, kinds={}, assignments={})
    assert (
        line
        == "rubrics/hw1.yaml: cannot be read (No such file or directory); check its name and its permissions"
    )


def test_points_that_floats_cannot_add_exactly_still_add_up(lines: Lines) -> None:
    item = "  - {{id: i{}, title: t, points: 0.1, check: matches, of: utils.fast}}\n"
    text = GOOD.replace("points: 10\n", "points: 11\n") + "".join(item.format(n) for n in range(10))
    assert lines(text) == ()


def test_an_option_called_like_a_key_of_every_item_is_refused(
    course: SimpleNamespace, kinds: Mapping[str, Any]
) -> None:
    from dataclasses import make_dataclass

    clash = SimpleNamespace(name="clash", Options=make_dataclass("Options", [("title", str)]))
    course.rubric.write_text(GOOD.replace("check: speedup", "check: clash"))
    with pytest.raises(CourseError) as caught:
        check_rubric(course.rubric, kinds={**kinds, "clash": clash}, assignments=course.assignments)
    assert caught.value.problems == ("check kind clash: every item has a key title; rename the option",)


EXTRAS = """\
floor: -5
at_most: 12.5
items:
  - {id: more, title: t, points: 3, check: matches, of: utils.fast, bonus: true, simulated: earns}
  - {id: less, title: t, points: 2, check: matches, of: utils.fast, penalty: true, on_flag: holds,
     devices: {gpu: 2}, group: together}
"""
WITH_EXTRAS = GOOD.replace("items:\n", EXTRAS)


def test_bonus_and_penalty_are_not_in_the_points_of_a_rubric(
    course: SimpleNamespace, kinds: Mapping[str, Any]
) -> None:
    course.rubric.write_text(WITH_EXTRAS)
    rubric = load_rubric(course.rubric, kinds=kinds, assignments=course.assignments)
    assert (rubric.points, rubric.floor, rubric.at_most) == (10.0, -5.0, 12.5)
    more, less, *others = rubric.items
    assert (more.counts, more.simulated, more.points) == ("bonus", "earns", 3.0)
    assert (less.counts, less.on_flag, less.devices, less.group) == (
        "penalty",
        "holds",
        {"gpu": 2},
        "together",
    )
    assert [(i.counts, i.simulated, i.on_flag, i.devices, i.group) for i in others] == [
        ("earns", "informs", "notes", {}, "")
    ] * 2


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "points: 10\n",
            "points: 13\n",
            "3:1: points: must equal the sum of the items that are no bonus and no penalty, 10, got 13",
        ),
        (
            "penalty: true",
            "penalty: true, bonus: true",
            "10:69: items[1].penalty: an item cannot be a bonus and a penalty; take one of these out",
        ),
        (
            "gpu: 2",
            "gpus: 2",
            '11:16: items[1].devices.gpus: no kind of device is called "gpus"; did you mean gpu?',
        ),
        (
            "gpu: 2",
            "gpu: 0",
            "11:16: items[1].devices.gpu: must be 1 or more, got 0; leave it out if none is needed",
        ),
        ("at_most: 12.5", "at_most: -5", "7:1: at_most: must be more than the floor, -5, got -5"),
        (
            "simulated: earns",
            "simulated: yes",
            '9:82: items[0].simulated: must be earns or informs, got "yes"',
        ),
    ],
)
def test_one_mistake_about_what_counts_is_one_line(lines: Lines, old: str, new: str, line: str) -> None:
    assert old in WITH_EXTRAS
    assert lines(WITH_EXTRAS.replace(old, new)) == (f"rubrics/hw1.yaml:{line}",)


def test_a_grace_may_be_longer_than_what_follows_it(
    course: SimpleNamespace, kinds: Mapping[str, Any]
) -> None:
    course.rubric.write_text(
        GOOD.replace("{grace: 15m, per_day: 10%, at_most: 36h}", "{grace: 1d, at_most: 0s}")
    )
    rubric = load_rubric(course.rubric, kinds=kinds, assignments=course.assignments)
    assert rubric.late == LatePolicy(grace_s=86_400.0, at_most_days=0.0)


def test_what_is_shown_after_a_deadline_needs_a_deadline(lines: Lines) -> None:
    undated = "".join(
        line for line in GOOD.splitlines(keepends=True) if not line.startswith(("due:", "late:"))
    )
    assert lines(GOOD) == ()
    (line,) = lines(undated)
    assert line.endswith(
        "items[1].visible: would never be shown, because the rubric has no due; give one, or write never"
    )
