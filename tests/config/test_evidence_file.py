from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.config.codec import to_plain
from grader.config.evidence_file import (
    BLOCK,
    EvidenceReader,
    EvidenceWriter,
    ItemObserved,
    Record,
    RunEnded,
    RunStarted,
    read_evidence,
)
from grader.errors import NotObservedError
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.submission import Submission
from grader.testing.hostile import HOSTILE, unsafe
from grader.text import BLOCK as LONGEST_TEXT

ALICE = Submission(
    student="alice", assignment="hw1", archive="alice.zip", digest="sha256:a", files=("utils.py",)
)
FIRST = WorkerRun(id="e1", started_at="2024-12-23T10:00:00Z", isolation="process")
SECOND = replace(FIRST, id="e2")


def saw(item: str, outcome: Outcome = Outcome.OBSERVED, run: str = "e1", note: str = "") -> ItemObserved:
    return ItemObserved(run=run, observation=Observation(item=item, outcome=outcome, note=note))


def started(run: WorkerRun = FIRST, submission: Submission = ALICE) -> RunStarted:
    return RunStarted(submission=submission, run=run)


def write(path: Path, *records: Record) -> None:
    with EvidenceWriter(path) as writer:
        for record in records:
            writer.write(record)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "evidence.jsonl"


def test_records_come_back_as_they_were_written(path: Path) -> None:
    records = (started(), saw("a"), saw("b", Outcome.CRASHED), RunEnded(run="e1"))
    write(path, *records)
    assert EvidenceReader(path).read() == records
    first, *_, last = path.read_text().splitlines()
    assert json.loads(first)["record"] == "run"
    assert json.loads(first)["schema"] == 1
    assert json.loads(last) == {"record": "end", "run": "e1"}


def test_a_reader_follows_and_gives_each_complete_record_once(path: Path) -> None:
    reader = EvidenceReader(path)
    assert reader.read() == ()
    with EvidenceWriter(path) as writer:
        writer.write(started())
        assert reader.read() == (started(),)
        assert reader.read() == ()
        writer.write(saw("a"))
        with path.open("ab") as file:
            file.write(b'{"record":"obs')
        assert reader.read() == (saw("a"),)
    write(path, saw("b"))
    assert reader.read() == (saw("b"),)


def said(text: str) -> tuple[Record, ...]:
    """Records in which a program, an archive and a machine chose every text that they can."""
    of_case = dict.fromkeys(("name", "called", "returned", "expected", "note"), text)
    case = Case(outcome=Outcome.CRASHED, agrees={text: True}, inputs={text: [text]}, **of_case)
    observation = Observation(
        item="a",
        outcome=Outcome.OBSERVED,
        note=text,
        cases=(case,),
        quantities={text: Quantity(value=text, unit=text)},
        facts={text: {text: [text, {text: text}]}},
        output=text,
    )
    run = replace(FIRST, environment={text: text})
    submission = replace(ALICE, archive=text, files=(text,), dropped=(text,))
    return started(run, submission), ItemObserved(run="e1", observation=observation)


@pytest.mark.parametrize("attack", HOSTILE)
def test_what_is_written_is_a_line_for_each_record_and_nothing_in_it_acts(path: Path, attack: str) -> None:
    write(path, *said(HOSTILE[attack]))
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    assert [unsafe(line) for line in lines] == [[], []]
    assert max(map(len, lines)) < 30 * LONGEST_TEXT


@pytest.mark.parametrize("attack", HOSTILE)
def test_what_somebody_else_wrote_is_read_as_if_we_had_written_it(path: Path, attack: str) -> None:
    records = said(HOSTILE[attack])
    names = {RunStarted: "run", ItemObserved: "observation"}
    path.write_text(
        "".join(json.dumps({"record": names[type(one)]} | to_plain(one)) + "\n" for one in records)
    )
    read = EvidenceReader(path).read()
    assert unsafe(json.dumps([to_plain(record) for record in read])) == []
    (path.parent / "ours").mkdir()
    ours = path.parent / "ours" / path.name
    write(ours, *records)
    assert read == EvidenceReader(ours).read()


def test_a_line_torn_at_any_byte_is_cut_off_and_nothing_else(path: Path) -> None:
    write(path, started(), saw("a", note="é\n\x00"), RunEnded(run="e1"))
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with EvidenceWriter(path) as writer:
            kept = path.read_bytes()
            assert kept == whole[: whole[:size].rfind(b"\n") + 1]
            writer.write(saw("z"))
        *before, last = EvidenceReader(path).read()
        assert last == saw("z")
        assert len(before) == kept.count(b"\n")


@given(
    lines=st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=4),
    torn=st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")),
    stretch=st.sampled_from([1, BLOCK // 4, BLOCK]),
)
def test_repair_never_touches_a_complete_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], torn: bytes, stretch: int
) -> None:
    path = tmp_path_factory.mktemp("repair") / "evidence.jsonl"
    complete = b"".join(line + b"\n" for line in lines)
    path.write_bytes(complete + torn * stretch)
    EvidenceWriter(path).close()
    assert path.read_bytes() == complete


def test_evidence_is_none_until_an_run_has_begun(path: Path) -> None:
    assert read_evidence(path) is None
    path.write_bytes(b'{"record":"run"')
    assert read_evidence(path) is None


def test_evidence_holds_all_runs_and_the_latest_observation_of_each_item(path: Path) -> None:
    write(path, started(), saw("a", note="old"), saw("b"), started(SECOND), saw("a", run="e2", note="new"))
    assert read_evidence(path) == Evidence(
        submission=ALICE,
        runs=(FIRST, SECOND),
        observations={"a": saw("a", note="new").observation, "b": saw("b").observation},
    )


@pytest.mark.parametrize(
    ("earlier", "later", "kept"),
    [
        (Outcome.OBSERVED, Outcome.NOT_OBSERVED, Outcome.OBSERVED),
        (Outcome.CRASHED, Outcome.NOT_OBSERVED, Outcome.CRASHED),
        (Outcome.SKIPPED, Outcome.NOT_OBSERVED, Outcome.NOT_OBSERVED),
        (Outcome.NOT_OBSERVED, Outcome.OBSERVED, Outcome.OBSERVED),
        (Outcome.OBSERVED, Outcome.TIMED_OUT, Outcome.TIMED_OUT),
    ],
)
def test_what_saw_nothing_never_takes_the_place_of_what_did(
    path: Path, earlier: Outcome, later: Outcome, kept: Outcome
) -> None:
    write(path, started(), saw("a", earlier), saw("a", later))
    evidence = read_evidence(path)
    assert evidence is not None
    assert evidence.observations["a"].outcome is kept


def test_of_a_task_that_has_changed_an_old_observation_hides_no_new_problem(path: Path) -> None:
    before = Observation(item="a", outcome=Outcome.OBSERVED, digest="sha256:before")
    after = Observation(
        item="a", outcome=Outcome.NOT_OBSERVED, digest="sha256:after", note="expected.py:3: …"
    )
    write(path, started(), *(ItemObserved(run="e1", observation=record) for record in (before, after)))
    evidence = read_evidence(path)
    assert evidence is not None
    assert evidence.observations["a"] == after


def test_a_later_not_observed_updates_an_earlier_one(path: Path) -> None:
    write(path, started(), saw("a", Outcome.NOT_OBSERVED, note="1"), saw("a", Outcome.NOT_OBSERVED, note="2"))
    evidence = read_evidence(path)
    assert evidence is not None
    assert evidence.observations["a"].note == "2"


def test_evidence_of_another_submission_is_not_mixed_in(path: Path) -> None:
    again = replace(ALICE, digest="sha256:b")
    write(path, started(), saw("a"), saw("b"), started(SECOND, again), saw("b", run="e2"))
    evidence = read_evidence(path)
    assert evidence is not None
    assert (evidence.submission, evidence.runs, list(evidence.observations)) == (again, (SECOND,), ["b"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "is not a record of a run"),
        (b"", "is not a record of a run"),
        (b"[1]", "is not a record of a run"),
        (b"\xff", "is not a record of a run"),
        (b'{"record":["end"]}', "is not a record of a run"),
        (b'{"record":"finish"}', "is not a record of a run"),
        (b'{"record":"end","rum":"e1"}', "rum: unknown key; did you mean run?"),
        (b'{"record":"end","run":1}', "run: must be text, got 1; put it in quotes"),
    ],
)
def test_a_corrupt_line_in_the_middle_is_located_and_says_what_to_do(
    path: Path, line: bytes, said: str
) -> None:
    write(path, started())
    path.write_bytes(path.read_bytes() + line + b"\n")
    write(path, saw("a"))
    with pytest.raises(NotObservedError) as caught:
        read_evidence(path)
    assert caught.value.problems == (f"evidence.jsonl:2: {said}; move the file away to observe again",)


def test_evidence_of_a_newer_grader_is_left_alone(path: Path) -> None:
    path.write_text('{"record":"run","schema":2,"colour":"red"}\n')
    with pytest.raises(NotObservedError) as caught:
        read_evidence(path)
    line = "evidence.jsonl:1: written by a newer grader (schema 2, this one reads 1): update grader"
    assert caught.value.problems == (line,)


def test_a_place_that_cannot_be_written_is_one_line(path: Path) -> None:
    with pytest.raises(NotObservedError) as caught:
        EvidenceWriter(path / "none" / "e.jsonl")
    line = (
        "evidence.jsonl/none/e.jsonl: cannot be written (No such file or directory); "
        "check the results folder and its disk"
    )
    assert caught.value.problems == (line,)


def test_a_place_that_cannot_be_read_is_one_line(path: Path) -> None:
    path.mkdir()
    with pytest.raises(NotObservedError) as caught:
        read_evidence(path)
    assert caught.value.problems == (
        "evidence.jsonl: cannot be read (Is a directory); check its permissions",
    )


def test_a_full_disk_is_one_line() -> None:
    writer = EvidenceWriter(Path("/dev/full"))
    with pytest.raises(NotObservedError) as caught:
        writer.write(started())
    writer.close()
    line = "/dev/full: cannot be written (No space left on device); check the results folder and its disk"
    assert caught.value.problems == (line,)


def test_a_record_that_was_written_in_part_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, started())
    before = path.read_bytes()
    whole = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, data[:10]))
    with EvidenceWriter(path) as writer, pytest.raises(NotObservedError) as caught:
        writer.write(saw("a"))
    assert caught.value.problems == ("evidence.jsonl: could not be written whole; make room on the disk",)
    assert path.read_bytes() == before


def test_the_file_is_closed_on_exec_so_that_no_subject_inherits_it(path: Path) -> None:
    with EvidenceWriter(path) as writer:
        assert not os.get_inheritable(writer._fd)


def test_one_at_a_time_writes(path):
    with EvidenceWriter(path), pytest.raises(NotObservedError, match="another run is writing"):
        EvidenceWriter(path, wait_s=0.0)
    EvidenceWriter(path, wait_s=0.0).close()
