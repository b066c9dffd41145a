"""The kind `answer` over documents as the tool reads them: what is certain, what waits, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest

from grader.checks.answer import AnswerKind
from grader.cli.points_rows import AnswerTexts
from grader.contracts.call import Call
from grader.matching.criteria import Criterion, Match, NumberMatch
from grader.model.document import Document, HiddenText, Picture, TextBlock
from grader.model.drawing import MarkedText
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.rubric import Item
from grader.review.exhibit import exhibit

KIND = AnswerKind()
QUESTIONS = {"1": "Which memories are on the chip?", "2": "How many GPUs are there on this page?"}
CRITERIA = (Criterion(name="shape", points=2, match=Match(shape=((64, 3),))),)


def options(label=1, **keys) -> AnswerKind.Options:
    return AnswerKind.Options(
        **{
            "file": "answers.*",
            "question": label,
            "text": QUESTIONS[str(label)],
            "questions": QUESTIONS,
            "criteria": CRITERIA,
            "decides": True,
        }
        | keys
    )


@dataclass
class ToolContext:
    documents: dict[str, Document | Call]
    item: str = "q"
    seed: str = "s"
    read: list[str] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.documents))

    def tool_once(self, tool: str, file: str) -> Call:
        assert tool == "document"
        self.read.append(file)
        document = self.documents[file]
        if isinstance(document, Call):
            return document
        plain: Any = msgspec.to_builtins(document)
        return Call(outcome=Outcome.OBSERVED, value=plain)

    def missing(self, file: str) -> Observation:
        return Observation(item=self.item, outcome=Outcome.REFUSED, note=f"{file} was not handed in")


def document(*texts: str, path: str = "answers.md", **keys: Any) -> Document:
    blocks = tuple(TextBlock(text=text) for text in texts)
    return Document(**{"path": path, "format": "markdown", "pages": 1, "blocks": blocks} | keys)


def observe(*documents: Document, label=1, **keys):
    return KIND.observe(options(label, **keys), ToolContext({d.path: d for d in documents}))


def judge(observation, label=1, **keys):
    return KIND.award(options(label, **keys), observation, {})


def test_a_certain_answer_that_meets_all_criteria_is_decided():
    award = judge(observe(document("1. (64, 3)", "2. two")))
    assert (award.fraction, award.undecided, award.reason) == (1, False, "the answer says what it must")


def test_the_same_answer_waits_where_the_rubric_does_not_decide():
    award = judge(observe(document("1. (64, 3)", "2. two")), decides=False)
    assert (award.undecided, award.again, award.reason) == (True, False, "waits for a person")


def test_two_answers_to_one_number_are_both_shown_and_wait():
    observation = observe(document("Question 1: (64, 3)", "Question 2: two", "Question 1: (3, 64)"))
    assert "(64, 3)" in observation.facts["answer"]
    assert "(3, 64)" in observation.facts["answer"]
    award = judge(observation)
    assert award.undecided
    assert award.reason.startswith("waits for a person: ")


def test_answers_without_numbers_wait():
    award = judge(observe(document("(64, 3)")))
    assert award.undecided


def test_a_document_without_numbers_is_shown_whole_with_its_first_question():
    made = document("The chip holds registers.", "There are (64, 3) GPUs.", "That is all.")
    first, second = observe(made), observe(made, label=2)
    whole = "The chip holds registers.\nThere are (64, 3) GPUs.\nThat is all."
    assert first.facts["whole"] == second.facts["whole"] == whole
    assert whole in [getattr(drawing, "text", "") for drawing in KIND.show(options(), first)]
    told = [getattr(drawing, "text", "") for drawing in KIND.show(options(label=2), second)]
    assert "The whole text of answers.md stands with question 1." in told
    assert observe(document("1. (64, 3)")).facts["whole"] == ""


def test_an_unreadable_file_waits_with_its_reason_and_is_never_zero():
    broken = Document(path="answers.pdf", problem="is encrypted; hand in one without a password")
    award = judge(observe(broken))
    assert award.undecided
    assert "answers.pdf is encrypted" in award.reason


def test_a_scanned_page_waits_with_its_picture():
    page = Picture(page=1, width=10, height=10, thumbnail="aGk=")
    scan = document(path="answers.pdf", format="pdf", scanned=(1,), pictures=(page,))
    observation = observe(scan)
    assert judge(observation).undecided
    assert not observation.facts["certain"]


def test_a_picture_beside_a_right_answer_waits():
    picture = Picture(page=1, width=10, height=10, after=1, thumbnail="aGk=")
    observation = observe(document("1. (64, 3)", "2. two", pictures=(picture,)))
    assert judge(observation).undecided
    assert observation.facts["pictures"] == [[1, "aGk=", "1"]]
    item = Item(id="q1", title="", points=2, check="answer", options=options())
    assert exhibit(item, observation, KIND).pictures == ("aGk=",)


def test_a_picture_that_may_answer_several_questions_is_kept_with_the_first():
    page = Picture(page=1, width=700, height=900, thumbnail="aGk=")
    scan = document(path="answers.pdf", format="pdf", scanned=(1,), pictures=(page,))
    first, second = observe(scan), observe(scan, label=2)
    assert (first.facts["pictures"], second.facts["pictures"]) == ([[1, "aGk=", "1"]], [[1, "", "1"]])
    shown = KIND.show(options(label=2), second)
    assert "The pictures of the answer stand with question 1." in [getattr(d, "text", "") for d in shown]


def test_a_document_that_takes_too_long_waits():
    slow = ToolContext({"answers.md": Call(outcome=Outcome.TIMED_OUT, note="did not end")})
    award = judge(KIND.observe(options(), slow))
    assert award.undecided
    assert "too much time" in award.reason


def test_a_bug_of_our_tool_is_ours():
    bug = ToolContext({"answers.md": Call(outcome=Outcome.CRASHED, note="raised", traceback="Traceback")})
    assert KIND.observe(options(), bug).outcome is Outcome.NOT_OBSERVED


def test_a_tool_that_was_taken_over_decides_nothing():
    forged = ToolContext({"answers.md": Call(outcome=Outcome.OBSERVED, value={"blocks": 7})})
    assert judge(KIND.observe(options(), forged)).undecided


def test_an_answer_in_one_of_two_documents_is_found():
    other = document("Just notes.", path="answers.txt")
    numbered = document("1. (64, 3)", "2. two")
    observation = observe(numbered, other)
    assert "(64, 3)" in observation.facts["answer"]


def test_answers_in_two_documents_are_not_certain():
    award = judge(observe(document("1. (64, 3)"), document("1. (3, 64)", path="answers.txt")))
    assert award.undecided
    assert "it is answered in answers.md and in answers.txt" in award.reason


def test_the_answers_of_two_documents_stand_under_their_own_names():
    paged = Document(
        path="answers.pdf", format="pdf", pages=3, blocks=(TextBlock(text="1. (3, 64)", page=2),)
    )
    observation = observe(document("1. (64, 3)"), document("no numbers", path="answers.docx"), paged)
    drawn = [part for part in KIND.show(options(), observation) if isinstance(part, MarkedText)]
    answers = [(part.title, part.text) for part in drawn if part.title.startswith("Answer")]
    assert answers == [("Answer in answers.md", "(64, 3)"), ("Answer in answers.pdf, page 2", "(3, 64)")]
    assert [part.parts for part in drawn if part.spans] == [(("(", False), ("64, 3", True), (")", False))]
    item = Item(id="q1", title="", points=2, check="answer", options=options())
    texts = AnswerTexts(item, observation).text.splitlines()
    assert texts[0] == "(answers.md:)"
    assert "(answers.pdf, page 2:)" in texts
    parts = exhibit(item, observation, KIND).answers
    assert [(part.file, part.marked.text) for part in parts] == [
        ("answers.md", "(64, 3)"),
        ("answers.pdf", "(3, 64)"),
    ]


def test_no_document_is_said_of_the_pattern():
    assert KIND.observe(options(), ToolContext({})).note == "answers.* was not handed in"


def test_the_number_of_a_page_is_no_answer():
    blocks = tuple(
        TextBlock(text=text, page=page) for text, page in (("1. none", 1), ("2. I cannot say", 1), ("2", 2))
    )
    paged = Document(path="answers.pdf", format="pdf", pages=2, blocks=blocks)
    count = (Criterion(name="count", points=2, match=Match(number=NumberMatch(value=2))),)
    observation = observe(paged, label=2, criteria=count)
    ((start, end),) = observation.facts["aside"]
    assert observation.facts["answer"][start:end] == "2"
    assert judge(observation, label=2, criteria=count).undecided


def test_hidden_text_is_told_once_with_the_first_question():
    hiding = document(
        "1. (64, 3)", "2. x", hidden=(HiddenText(how="a comment", words=9, begins="give full"),)
    )
    assert judge(observe(hiding)).flags == (
        "answers.md hides 9 words on page 1 (a comment), which begins with: give full",
    )
    assert observe(hiding, label=2).facts["hidden"] == []


def test_points_of_a_person_come_first_and_feedback_is_a_hint():
    observation = observe(document("1. (64, 3)", "2. two"))
    points = {"points_given": Quantity(value=0.5), "points_possible": Quantity(value=2)}
    facts = {**observation.facts, "comment": "why?", "criteria_points": [["shape", 0.5, 2]]}
    criteria = (Criterion(name="shape", points=2, match=CRITERIA[0].match, feedback="Channels first."),)
    award = judge(replace(observation, quantities=points, facts=facts), criteria=criteria)
    assert (award.fraction, award.reason, award.hint, award.flags) == (
        0.25,
        "a person gave 0.5 of 2: why?",
        "Channels first.",
        (),
    )
    changed = judge(replace(observation, quantities=points, facts=facts), criteria=(), decides=False)
    assert "criteria have changed" in changed.flags[0]
    assert changed.fraction == 0.25


def test_items_of_one_document_share_their_questions():
    first, second = options(questions={}), options(2, questions={"3": "More?"})
    other = options(2, file="notes.*", text="Other?", questions={})
    completed = KIND.complete(first, (first, second, other), points=2)
    assert completed.questions == {**QUESTIONS, "3": "More?"}
    assert options(questions={3: "More?"}).questions == {"3": "More?"}, "a number in YAML"
    with pytest.raises(ValueError, match="another text; make them equal, or give this one its own number"):
        KIND.complete(first, (first, second, options(2, text="Which?")), points=2)
    with pytest.raises(ValueError, match="must add up to the item's, 3, got 2"):
        KIND.complete(first, (first,), points=3)


@pytest.mark.parametrize("keys", [{"criteria": ()}, {"criteria": (Criterion(name="style", points=2),)}])
def test_what_no_program_can_judge_cannot_decide(keys):
    with pytest.raises(ValueError, match="decides: needs criteria"):
        options(**keys)


def test_what_a_reader_may_not_know_is_drawn_nowhere():
    observation = observe(document("1. (64, 3)", "2. two"))
    shown = list(KIND.show(options(criteria=(), decides=False, model=""), observation))
    assert [drawing.title for drawing in shown] == ["Question", "Answer in answers.md"]
    assert shown[1].spans == ()


def test_an_observation_of_which_only_the_outcome_is_left_can_be_drawn():
    bare = Observation(item="q", outcome=Outcome.OBSERVED)
    assert [drawing.title for drawing in KIND.show(options(), bare)] == ["Question"]
