from __future__ import annotations

import json

from grader import __version__
from grader.reports import score_json
from grader.reports.score_json import SCHEMA, ScoreJson


def written(card):
    return json.loads(ScoreJson().render(*card.all))


def test_holds_the_whole_card_and_where_it_comes_from(stored):
    card = stored("normal")
    file = written(card)
    assert (file["schema"], file["grader"]) == (SCHEMA, __version__)
    assert (file["points"], file["possible"], file["pending"]) == (5.5, 21.0, 3.0)
    assert file["standing"] == "provisional"
    assert file["submission_digest"] == card.evidence.submission.digest
    assert file["rubric_digest"] == card.rubric.digest
    assert file["submission"]["submitted_at"] == "2024-12-19T08:00:00+00:00"
    assert file["submission"]["dropped"] == ["__pycache__/utils.pyc"]
    assert file["exams"][0]["isolation"] == "bubblewrap"
    assert file["exams"][0]["environment"]["packages"]["numpy"] == "2.1.0"


def test_holds_a_line_per_item_with_what_a_student_reads_and_what_staff_reads(stored):
    lines = {line["item"]: line for line in written(stored("normal"))["lines"]}
    assert next(iter(lines)) == "utils.add"
    assert lines["utils.add"]["flags"] == ["changed its inputs in place"]
    assert lines["utils.weights"]["hint"] == "Which side is the input's?"
    assert lines["gpu"]["standing"] == "provisional"
    assert lines["max.cpu"]["outcome"] == "crashed"


def test_holds_hidden_items_because_it_is_the_staffs_file(make):
    card = make.graded([make.item("a", "secret", visible="never")], [make.seen("a")])
    assert written(card)["lines"][0]["title"] == "secret"


def test_keeps_letters_readable(stored):
    assert "שלום" in ScoreJson().render(*stored("hostile").all)


def test_every_field_is_described_at_the_top_of_its_module(stored):
    file = written(stored("normal"))
    keys = {*file, *file["lines"][0], *file["submission"], *file["exams"][0]}
    assert [key for key in sorted(keys) if key not in score_json.__doc__] == []
