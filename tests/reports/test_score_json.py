from __future__ import annotations

import json
import math

from grader import __version__
from grader.model.observation import Quantity
from grader.reports import score_json
from grader.reports.score_json import SCHEMA, ScoreJson


def written(card):
    return json.loads(ScoreJson().render(card.staff))


def test_holds_the_whole_mark_and_where_it_comes_from(stored):
    card = stored("normal")
    file = written(card)
    assert (file["schema"], file["assignment"], file["students"]) == (SCHEMA, "cdp_hw1", ["alice"])
    assert file["points"] == {
        "earned": 5.5,
        "pending": 3.0,
        "possible": 21.0,
        "bonus": 0.0,
        "penalty": 0.0,
        "raw": 5.5,
        "adjusted": {"alice": 5.5},
        "open": {"alice": 3.0},
        "final": {"alice": None},
    }
    assert (file["standing"], file["whole"], file["late"]) == ("provisional", True, [])
    assert file["digests"] == {"rubric": card.rubric.digest, "submission": card.evidence.submission.digest}
    assert file["submission"]["submitted_at"] == "2024-12-19T08:00:00+00:00"
    assert file["submission"]["dropped"] == ["__pycache__/utils.pyc"]
    assert file["environment"]["grader"] == __version__
    assert file["environment"]["runs"][0]["isolation"] == "bubblewrap"
    assert file["environment"]["runs"][0]["machine"]["packages"]["numpy"] == "2.1.0"


def test_holds_what_the_archives_name_told(stored):
    told = ("marked_late", "lms_id", "attempt")
    assert [written(stored("normal"))["submission"][name] for name in told] == [False, None, None]
    assert [written(stored("marked_late"))["submission"][name] for name in told] == [True, "12345", 2]


def test_each_of_a_team_has_a_total_and_a_lateness_of_its_own(stored):
    file = written(stored("team"))
    assert file["students"] == ["alice", "bob"]
    assert file["points"]["final"] == {"alice": 8.8, "bob": 11.0}
    alice, bob = file["late"]
    assert (alice["student"], alice["days"], alice["late_s"], alice["lost"]) == ("alice", 2, 97_200.0, 2.2)
    assert (bob["due"], bob["lost"]) == ("2024-12-21T08:00:00+00:00", 0.0)


def test_holds_an_item_with_what_a_student_reads_and_what_staff_reads(stored):
    items = {item["id"]: item for item in written(stored("normal"))["items"]}
    assert next(iter(items)) == "utils.add"
    assert items["utils.add"]["flags"] == ["changed its inputs in place"]
    assert items["utils.weights"]["hint"] == "Which side is the input's?"
    assert items["utils.weights"]["seconds"] == 0.0123
    assert items["max.cpu"]["outcome"] == "crashed"
    assert [
        items[name]["status"] for name in ("utils.add", "utils.weights", "max.cpu", "max.fast", "gpu")
    ] == [
        "earned",
        "partly earned",
        "not earned",
        "skipped",
        "pending",
    ]


def test_holds_what_was_measured_also_if_json_has_no_such_number(make):
    measured = {"worst": Quantity(value=math.nan), "time": Quantity(value=0.5, unit="s", taken_by="subject")}
    card = make.graded([make.item("a", "A")], [make.seen("a", quantities=measured)])
    assert written(card)["items"][0]["measured"] == {
        "worst": {"value": "nan", "unit": "", "taken_by": "worker"},
        "time": {"value": 0.5, "unit": "s", "taken_by": "subject"},
    }


def test_keeps_letters_readable(stored):
    assert "שלום" in ScoreJson().render(stored("hostile").staff)


def test_every_field_is_described_at_the_top_of_its_module(stored):
    file = written(stored("team"))
    keys = {*file, *file["points"], *file["late"][0], *file["items"][0], *file["submission"]}
    keys |= {*file["environment"], *file["environment"]["runs"][0], *file["digests"]}
    assert [key for key in sorted(keys) if key not in score_json.__doc__] == []
