"""An answer under another question's number is not taken for a missing one."""

from __future__ import annotations

import random

import pytest

from grader.model.answer_labels import order_of
from grader.model.answers import answers_by_question
from grader.model.document import Document, TextBlock

QUESTIONS = {
    "1": "What is profiling?",
    "2": "Name the MPI functions.",
    "3": "In AMP, what are the roles of GradScaler and autocast?",
}


def read(*texts):
    blocks = tuple(TextBlock(text=text) for text in texts)
    return answers_by_question(Document(path="answers.txt", format="text", pages=1, blocks=blocks), QUESTIONS)


def test_a_missing_answer_may_stand_under_the_number_of_another_question():
    answers = read("1. To measure.", "2. GradScaler scales the loss, autocast picks the precision.")
    assert (answers["3"].missing, answers["3"].certain) == (True, False)
    assert answers["3"].why == "it may stand under question 2"
    assert answers["2"].certain


def test_an_answer_is_missing_where_no_other_one_speaks_of_it():
    answers = read("1. To measure.", "2. MPI_Allreduce and MPI_Bcast, without autocast.")
    assert (answers["3"].missing, answers["3"].certain) == (True, True)


def test_a_question_with_its_number_and_nothing_behind_it_is_not_answered():
    answers = read("1. To measure.", "2. GradScaler and autocast are new to me.", "3.")
    assert (answers["3"].missing, answers["3"].certain) == (True, True)


@pytest.mark.parametrize(
    "texts",
    [
        ("1. To measure. 2. MPI_Bcast, MPI_Reduce 3. It scales.",),
        ("1. To measure.      3. It scales.", "2. MPI_Bcast, MPI_Reduce"),
        ("Q.1 To measure.", "Q.2 MPI_Bcast", "Q.3 it scales."),
        ("Question 1 To measure.", "Question 2 MPI_Bcast", "Question 3 it scales."),
        ("1) To measure.", "2) MPI_Bcast (3) it scales."),
    ],
)
def test_an_answer_whose_number_stands_within_another_one_is_not_missing(texts):
    answer = read(*texts)["3"]
    assert not (answer.missing and answer.certain)


@pytest.mark.parametrize(
    "text", ["2. 3 functions.", "2. 1.3 and 3.5", "2. MPI_3.", "2. fig 33. shows it", "2. column 3: 128"]
)
def test_a_number_in_an_answer_is_not_taken_for_a_label(text):
    answer = read("1. To measure.", text)["3"]
    assert (answer.missing, answer.certain) == (True, True)


def test_questions_are_sorted_as_in_a_handout():
    labels = ["1", "2", "2a", "2b", "3.1", "3.2", "9", "10", "11", "Part 12 - 1", "Part 12 - 2"]
    assert sorted(random.Random(7).sample(labels, len(labels)), key=order_of) == labels


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3. 7", "it has the number 3, and the question is 2"),
        ("1) It is 7.", "it has the number 1, and the question is 2"),
        ("Question 3: 7", "it has the number 3, and the question is 2"),
        ("7", ""),
        ("2. 7", ""),
        ("It is 7. And 3. of it is lost.", ""),
        ("7.5 ms", ""),
    ],
)
def test_the_only_answer_is_uncertain_under_the_number_of_another_question(text, why):
    blocks = (TextBlock(text=text),)
    document = Document(path="answers.txt", format="text", pages=1, blocks=blocks)
    answer = answers_by_question(document, {"2": ""})["2"]
    assert (answer.certain, answer.why, "7" in answer.text) == (not why, why, True)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (("Page 1", "Page 2"), ""),
        (("Seven.", "Seven.", "Seven."), "the same text stands on each of its pages, and nothing else"),
    ],
)
def test_pages_of_running_heads_alone_are_no_answer(texts, why):
    blocks = tuple(TextBlock(text=text, page=page) for page, text in enumerate(texts, start=1))
    document = Document(path="answers.pdf", format="pdf", pages=len(texts), blocks=blocks)
    answer = answers_by_question(document, {"2": ""})["2"]
    assert (answer.missing, answer.certain, answer.why) == (True, not why, why)
