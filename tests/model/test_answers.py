"""Answers are found by number and by copied question, in the forms that students use, and doubts are said."""

from __future__ import annotations

import random
import textwrap

import pytest

from grader.model.answers import answers_by_question
from grader.model.document import Document, HiddenText, Picture, TextBlock

QUESTIONS = {
    "1": "Please list the general idea of a CUDA workflow. (hint: 6 steps) [6 pts]",
    "2": "Please indicate which types of memory are on-chip and off-chip in GPU memory? [6 pts]",
    "3": "Why deep neural network training is slow? List three or more main reasons. [6pts]",
    "4": "List parallel methods for DNN training on a single machine and multiple machines. [5pts]",
    "5": "In deep learning, how many dimensional tensors are used to express images and videos? [6pts]",
    "6": "In Pytorch, what method(s) is used to move tensors between CPU and GPU? [2pts]",
    "7": "If we want to store 64 RGB images of 128x128 pixels, write this tensor. [2pts]",
    "8": "How many types of precision mixed calculations does the GPU provide? [3pts]",
}
ANSWERS = {
    "1": "Allocate, copy in, launch, wait, copy out, free.",
    "2": "Registers and shared memory on-chip; global memory off-chip.",
    "3": "The data are large.\nThe models are large.",
    "4": "Data and model parallelism.",
    "5": "4 and 5",
    "6": "to(), cuda()",
    "7": "(64, 3, 128, 128)",
    "8": "2",
}


def block(text: str, **more) -> TextBlock:
    return TextBlock(text=text, **more)


def document(*blocks: TextBlock | str, **more) -> Document:
    made = [one if isinstance(one, TextBlock) else block(one) for one in blocks]
    return Document(**{"path": "hw.docx", "format": "docx", "pages": 1, "blocks": tuple(made)} | more)


def lines(*texts: str, **more) -> Document:
    """As of a PDF: a block for each line."""
    return document(*(line for text in texts for line in text.split("\n")), **more)


def numbered(form: str = "{n}. {a}", **changes: str) -> list[str]:
    answers = ANSWERS | {key.strip("_"): value for key, value in changes.items()}
    return [form.format(n=n, a=answers[n], q=QUESTIONS[n]) for n in QUESTIONS]


def texts(found) -> dict[str, str]:
    return {number: answer.text for number, answer in found.items()}


def doubts(found) -> dict[str, str]:
    assert all(bool(answer.why) is not answer.certain for answer in found.values())
    return {number: answer.why for number, answer in found.items() if answer.why}


def expect(made: Document, **changes: str) -> None:
    """Every answer is found, certainly, but for those that are given differently."""
    found = answers_by_question(made, QUESTIONS)
    assert texts(found) == ANSWERS | {key.strip("_"): value for key, value in changes.items()}
    assert doubts(found) == {}


FORMS = [
    "{n}. {a}",
    "{n}) {a}",
    "({n}) {a}",
    "[{n}] {a}",
    "{n} - {a}",
    "{n}: {a}",
    "**{n}.** {a}",
    "\u2022 {n}. {a}",
    "{n}\n{a}",
    "# {n}\n{a}",
    "{n}\u3001{a}",
    "\uff08{n}\uff09{a}",
    "Q{n} {a}",
    "Q{n}: {a}",
    "Q.{n} - {a}",
    "A{n}. {a}",
    "Ans {n}: {a}",
    "Answer to question {n}:\n{a}",
    "Question {n}: {a}",
    "QUESTION {n}\n{a}",
    "Question #{n}. {a}",
    "Problem {n} [6 pts]\n{a}",
    "Exercise {n}. {a}",
    "Aufgabe {n}: {a}",
    "\u7b2c{n}\u9898\uff1a{a}",
    "Part 1 - {n}: {a}",
    "Part 1, Question {n}: {a}",
    "Solution to Problem {n}\n{a}",
    "\u0938\u0935\u093e\u0932 {n}: {a}",
    "\u0412\u043e\u043f\u0440\u043e\u0441 {n}. {a}",
    "R\u00e9ponse {n} : {a}",
    "{n}. {q}\n{a}",
    "{n}. {q}\nAnswer: {a}",
    "Q{n}: {q}\nA{n}: {a}",
    "Problem {n}. {q}\nA: {a}",
    "{q}\n{a}",
    "{n}\n{q}\n{a}",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [document, lines])
def test_every_form_of_numbering_is_read(form, make):
    expect(make("Name: Robin", *numbered(form)))


@pytest.mark.parametrize(
    ("form", "answer"), [("Q.{n} {a}", "`x`"), ("\u554f\u984c{n}\u3000{a}", "\u3053\u308c")]
)
def test_an_answer_in_code_or_in_kana_may_follow_without_a_sign(form, answer):
    found = answers_by_question(lines(*(form.format(n=n, a=answer) for n in QUESTIONS)), QUESTIONS)
    assert texts(found) == dict.fromkeys(QUESTIONS, answer)
    assert doubts(found) == {}


OTHER_NUMERALS = [
    "i. ii. iii. iv. v. vi. vii. viii.",
    "(I) (II) (III) (IV) (V) (VI) (VII) (VIII)",
    "\u2460 \u2461 \u2462 \u2463 \u2464 \u2465 \u2466 \u2467",
    "\u4e00\u3001 \u4e8c\u3001 \u4e09\u3001 \u56db\u3001 \u4e94\u3001 \u516d\u3001 \u4e03\u3001 \u516b\u3001",
    "1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8",
    "#1 #2 #3 #4 #5 #6 #7 #8",
    "P1Q1: P1Q2: P1Q3: P1Q4: P1Q5: P1Q6: P1Q7: P1Q8:",
    "\u0967. \u0968. \u0969. \u096a. \u096b. \u096c. \u096d. \u096e.",
    " ".join(
        f"Question_{name}:" for name in ("one", "two", "three", "four", "five", "six", "seven", "eight")
    ),
]


@pytest.mark.parametrize("numerals", OTHER_NUMERALS)
@pytest.mark.parametrize("make", [document, lines])
def test_numbers_in_other_numerals_are_read_where_there_are_no_usual_ones(numerals, make):
    labels = numerals.replace("_", "\u00a0").split(" ")
    answers = [f"{label} {ANSWERS[n]}" for n, label in zip(QUESTIONS, labels, strict=True)]
    expect(make("Name: Robin", *answers))


@pytest.mark.parametrize("numerals", [OTHER_NUMERALS[0], OTHER_NUMERALS[2]])
def test_what_is_missing_among_other_numerals_is_not_surely_missing(numerals):
    answers = [
        f"{label} {ANSWERS[n]}" for n, label in zip(QUESTIONS, numerals.split(), strict=True) if n != "4"
    ]
    found = answers_by_question(document(*answers), QUESTIONS)
    assert texts(found) == ANSWERS | {"4": ""}
    assert doubts(found) == {"4": "its numbers are not written as digits with a sign behind them"}


@pytest.mark.parametrize("form", ["{n}. {a}", "Q{n}: {a}", "({n}) {a}"])
def test_one_paragraph_of_all_answers_is_split_and_doubted(form):
    whole = "Robin. " + " ".join(numbered(form)).replace("\n", " ")
    found = answers_by_question(document(whole), QUESTIONS)
    assert texts(found) == ANSWERS | {"3": ANSWERS["3"].replace("\n", " ")}
    assert set(doubts(found).values()) == {
        "several answers stand in one paragraph, which is split before their numbers"
    }


def test_other_numerals_are_entries_of_lists_where_answers_have_usual_numbers():
    steps = "First:\ni. allocate\nii. copy\niii. launch\n\u2460 one\n2 times"
    expect(lines(*numbered(_1=steps)), _1=steps)


def test_sentences_that_begin_with_a_count_are_no_answers():
    prose = ["2 GPUs are faster.", "4 machines are not.", "Then one waits.", "I. think so"]
    found = answers_by_question(lines(*prose), QUESTIONS)
    assert not any(answer.certain for answer in found.values())


def test_no_space_behind_the_number_is_read_and_doubted_where_it_looks_like_a_decimal():
    found = answers_by_question(lines(*numbered("{n}.{a}")), QUESTIONS)
    assert texts(found) == ANSWERS
    assert set(doubts(found)) == {"4", "5", "7", "8"}


def test_word_numbers_the_answers():
    expect(document(*(block(ANSWERS[n], kind="list", number=n, level=1) for n in QUESTIONS)))


def test_word_numbers_the_copied_questions():
    blocks = [
        part
        for n in QUESTIONS
        for part in (block(QUESTIONS[n], kind="list", number=n, level=1), block(ANSWERS[n]))
    ]
    expect(document(*blocks))


@pytest.mark.parametrize("form", ["{n}\t{a}", "Q{n}\t{a}", "{q}\t{a}", "{n}.\t{q}\t{a}"])
def test_a_table_of_questions_and_answers(form):
    rows = [block(row, kind="table") for row in numbered(form)]
    expect(document(block("Question\tAnswer", kind="table"), *rows))


@pytest.mark.parametrize("form", ["Question {n}", "{n} {q}", "{n}. {q}", "{q}"])
def test_headings(form):
    blocks = [block("Part 1", kind="heading", level=1)]
    for number, heading in zip(QUESTIONS, numbered(form), strict=True):
        blocks += [block(heading, kind="heading", level=2), block(ANSWERS[number])]
    expect(document(*blocks, block("References", kind="heading", level=2), "A book."))


def test_comments_in_the_code_of_a_notebook():
    made = document(
        block("# Question 1\nx = to(1)", kind="code"),
        block("3\n1. not a label", kind="output"),
        block("# 2. neither is this\n# Q2: next\ny = 2", kind="code"),
    )
    found = answers_by_question(made, {"1": "", "2": ""})
    assert texts(found) == {"1": "x = to(1)\n3\n1. not a label\n# 2. neither is this", "2": "next\ny = 2"}


def test_wrapped_copies_of_questions_are_no_part_of_the_answers():
    expect(lines(*(textwrap.fill(copy, 50) + "\n" + ANSWERS[n] for n, copy in QUESTIONS.items())))


@pytest.mark.parametrize("words", [4, 6, 8])
def test_the_first_words_of_a_copied_question_are_no_part_of_the_answer(words):
    first = {n: " ".join(text.split()[:words]) for n, text in QUESTIONS.items()}
    expect(lines(*(f"{n}. {first[n]} ...\n{ANSWERS[n]}" for n in QUESTIONS)))


def test_a_copy_with_misspelt_and_missing_words():
    copies = numbered("{n}. {q}\n{a}")
    copies[0] = copies[0].replace("general", "genral").replace("workflow", "work flow")
    copies[2] = copies[2].replace("deep neural ", "")
    found = answers_by_question(lines(*copies), QUESTIONS)
    assert found["3"].text == ANSWERS["3"]
    assert found["1"].text.endswith(ANSWERS["1"])


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("6", "In Pytorch, the method to() is used to move tensors between CPU and GPU"),
        ("6", "In Pytorch, what method is used: to() and cuda()"),
        ("7", "The tensor is (64, 3, 128, 128), if we want to store 64 RGB images"),
        ("5", "In deep learning, 4-dimensional tensors are used to express images"),
    ],
)
def test_an_answer_in_the_words_of_the_question_keeps_what_is_new_in_it(number, answer):
    found = answers_by_question(lines(*numbered(**{f"_{number}": answer})), QUESTIONS)
    new = {"6": "to()", "7": "(64, 3, 128, 128)", "5": "4-dimensional"}[number]
    assert new in found[number].text
    assert found[number].certain


def test_the_next_word_of_a_question_may_begin_the_answer():
    made = lines("6. In Pytorch, what method(s) is used\nto() and cuda()")
    assert answers_by_question(made, QUESTIONS)["6"].text == "to() and cuda()"


@pytest.mark.parametrize("entry", ["{k}. {s}", "{k}) {s}", "({k}) {s}", "   {k}. {s}", "- {k}: {s}"])
@pytest.mark.parametrize("steps", [2, 4, 6, 9])
def test_a_list_in_an_answer_holds_no_answers(entry, steps):
    steps_text = "\n".join(entry.format(k=k, s=f"step {k}") for k in range(1, steps + 1))
    answer = f"The steps:\n{steps_text}"
    found = answers_by_question(lines(*numbered(_1=answer)), QUESTIONS)
    assert texts(found) == ANSWERS | {"1": answer}
    assert "1" not in doubts(found)


def test_lists_of_word_within_answers():
    blocks = [block(ANSWERS[n], kind="list", number=n, level=1) for n in QUESTIONS]
    blocks[1:1] = [block(f"step {k}", kind="list", number=str(k), level=2, series=1) for k in (1, 2, 3)]
    expect(document(*blocks), _1=f"{ANSWERS['1']}\nstep 1\nstep 2\nstep 3")


def test_a_list_in_every_answer():
    made = lines(*(f"{text}\n1) x\n2) y" for text in numbered()))
    found = answers_by_question(made, QUESTIONS)
    assert texts(found) == {n: f"{text}\n1) x\n2) y" for n, text in ANSWERS.items()}
    assert doubts(found) == {}


def test_a_number_that_may_go_on_with_a_list_is_doubted_on_both_sides():
    made = lines(*numbered(_3="Three reasons:\n1. data\n2. models\n3. tuning"))
    found = answers_by_question(made, QUESTIONS)
    assert texts(found)["3"] == "Three reasons:\n1. data\n2. models\n3. tuning"
    assert doubts(found) == {
        "3": "it may go on where the answer to question 4 is taken to begin",
        "4": "its number may belong to a list in another answer",
    }


def test_a_table_of_numbers_in_an_answer_holds_no_answers():
    rows = [block(row, kind="table") for row in ("GPUs\ttime", "1\t2.0 s", "2\t1.1 s", "4\t0.6 s")]
    blocks = [block(text) for text in numbered()]
    blocks[1:1] = rows
    found = answers_by_question(document(*blocks), QUESTIONS)
    assert texts(found) == ANSWERS | {"1": ANSWERS["1"] + "\nGPUs\ttime\n1\t2.0 s\n2\t1.1 s\n4\t0.6 s"}
    assert doubts(found) == {}


def test_questions_listed_first_and_answered_below():
    expect(lines("Questions", *numbered("{n}. {q}"), "Answers", *numbered()))


@pytest.mark.parametrize("form", ["Question {n}: {a}", "{n}. {q}\n{a}"])
def test_answers_in_another_order_are_found_by_word_or_copy(form):
    order = numbered(form)
    order = [order[4], *order[:4], *order[5:]]
    assert texts(answers_by_question(lines(*order), QUESTIONS)) == ANSWERS


def test_bare_numbers_in_another_order_are_doubted():
    order = numbered()
    found = answers_by_question(lines(order[2], order[0], order[1], *order[3:]), QUESTIONS)
    assert texts(found) == ANSWERS
    assert doubts(found) == {"1": "it stands behind the answer to a later question"}


def test_a_copied_question_decides_against_its_number_and_that_is_said():
    wrong = [f"{int(n) + 1}. {QUESTIONS[n]}\n{ANSWERS[n]}" for n in QUESTIONS]
    found = answers_by_question(lines(*wrong), QUESTIONS)
    assert texts(found) == ANSWERS
    assert doubts(found)["2"] == "it is numbered 3, and repeats the text of question 2"


def test_two_answers_to_one_number_are_both_shown():
    found = answers_by_question(lines(*numbered("Q{n}: {a}"), "Q5: 3 and 4"), QUESTIONS)
    assert found["5"].text == "4 and 5\n3 and 4"
    assert doubts(found) == {"5": "question 5 is answered 2 times"}


def test_a_number_used_twice_makes_the_missing_one_uncertain():
    found = answers_by_question(lines(*numbered()[:2], "2. The data are large.", *numbered()[3:]), QUESTIONS)
    assert found["2"].text == f"{ANSWERS['2']}\nThe data are large."
    assert not found["2"].certain
    assert not found["3"].certain


def test_a_question_that_was_left_out_is_surely_missing():
    found = answers_by_question(lines(*numbered()[:3], *numbered()[4:]), QUESTIONS)
    assert found["4"].missing
    assert doubts(found) == {}


@pytest.mark.parametrize(
    "end", ["zero_grad()?", "C++?", "`a[]`?", "f(x)?", "**kwargs**?", "the method (8)?", "50 %?"]
)
@pytest.mark.parametrize("answer", ["Because it adds up.", ""])
def test_the_marks_at_the_end_of_a_copied_question_are_no_answer(end, answer):
    text = f"Why does one call {end}"
    copy = text.replace("`", "").replace("**", "")
    found = answers_by_question(document(f"1. {copy}\n{answer}"), {"1": text, "2": "What is a kernel?"})
    assert (found["1"].text, found["1"].certain) == (answer, True)


def test_a_copied_question_without_an_answer_is_surely_missing():
    copies = numbered("{n}. {q}\n{a}", _4="", _7="")
    found = answers_by_question(lines(*copies), QUESTIONS)
    assert [n for n, answer in found.items() if answer.missing] == ["4", "7"]
    assert doubts(found) == {}


@pytest.mark.parametrize("head", ["## 2-3: both", "## 2 & 3", "## Questions 2, 3", "## Q2/Q3", "## 2 and 3"])
def test_what_stands_under_several_numbers_is_not_surely_missing(head):
    made = document(
        block("1. first"),
        block(head.removeprefix("## "), kind="heading", level=2),
        block("something about that"),
        block("4. fourth"),
    )
    answers = answers_by_question(made, {"1": "One?", "2": "Two?", "3": "Three?", "4": "Four?", "5": "Five?"})
    assert not answers["3"].certain


def test_answers_above_their_questions_leave_none_surely_missing():
    above = "\n".join(f"{ANSWERS[n]}\n{n}. {QUESTIONS[n]}" for n in QUESTIONS)
    found = answers_by_question(
        lines("A warp is a group of thirty-two neighbouring threads of one block, which", above), QUESTIONS
    )
    assert found["8"].text == ""
    assert found["8"].why == "each answer may stand above its question"


def test_a_number_that_no_heading_names_is_surely_missing():
    made = document(block("1. first"), block("2-3: both", kind="heading", level=2), block("4. fourth"))
    answers = answers_by_question(made, {"1": "One?", "2": "Two?", "3": "Three?", "4": "Four?", "5": "Five?"})
    assert answers["5"].certain


def test_an_answer_without_its_number_behind_another_one_is_not_surely_missing():
    stray = "The data are large.\nParallel methods on multiple machines: split the data."
    found = answers_by_question(lines(*numbered(_3=stray)[:3], *numbered()[4:]), QUESTIONS)
    assert doubts(found) == {"4": "it may stand without a number behind the answer to question 3"}


def test_parts_of_the_hand_out():
    other = ["Part 2: 20 points", "1. The code is in two.py.", "2. It ran."]
    expect(lines("Part 1: 60 points", *numbered(), *other))
    found = answers_by_question(lines("Part I", "1. a", "2. b", *other), {"1.1": "", "1.2": "", "2.2": ""})
    assert texts(found) == {"1.1": "a", "1.2": "b", "2.2": "It ran."}
    found = answers_by_question(lines("1. a", "2. b"), {"Part 1 - 1": "", "Part 1 - 2": ""})
    assert texts(found) == {"Part 1 - 1": "a", "Part 1 - 2": "b"}
    assert doubts(found) == {}


@pytest.mark.parametrize("form", ["{w}\n({p}) {a}", "{w}\n{p}. {a}", "{w}{p}) {a}", "Q{w}{p}: {a}"])
def test_questions_with_letters(form):
    answers = {"1a": "shared", "1b": "global", "2a": "fast", "2b": "slow"}
    written, before = [], ""
    for label, answer in answers.items():
        head = (
            f"{label[0]}. Memory"
            if "\n" in form and label[0] != before
            else label[0]
            if "\n" not in form
            else ""
        )
        before = label[0]
        written.append(form.format(w=head, p=label[1], a=answer).lstrip("\n"))
    found = answers_by_question(lines(*written), dict.fromkeys(answers, ""))
    assert texts(found) == answers
    assert doubts(found) == {}


def test_page_numbers_are_no_answers():
    blocks = []
    for place, text in enumerate(numbered()):
        page = 1 + place // 2
        blocks += [block("CSYE 7105", page=page)] if place % 2 == 0 else []
        blocks += [block(line, page=page) for line in text.split("\n")]
        blocks += [block(str(page), page=page)] if place % 2 else []
    expect(document(*blocks, pages=4, format="pdf"))


def test_nothing_numbered():
    found = answers_by_question(lines(*list(ANSWERS.values())[:2]), QUESTIONS)
    assert set(texts(found).values()) == {""}
    assert "nothing is numbered and no question is repeated" in doubts(found)["1"]
    found = answers_by_question(document(*ANSWERS.values()), QUESTIONS)
    assert not any(answer.certain for answer in found.values())


def test_one_question_is_answered_by_the_whole_document():
    found = answers_by_question(document("Anything", "goes."), {"1": "What is it?"})
    assert texts(found) == {"1": "Anything\ngoes."}
    assert doubts(found) == {}


def test_pictures_belong_to_the_answer_that_they_stand_in():
    pictures = (Picture(page=1, width=9, height=9, after=2), Picture(page=1, width=9, height=9, after=4))
    found = answers_by_question(
        document("1. a", "see", "2. b", "3.", pictures=pictures), dict.fromkeys("123", "")
    )
    assert [answer.pictures for answer in found.values()] == [(0,), (), (1,)]
    assert not found["3"].missing


def test_what_is_hidden_makes_a_missing_answer_uncertain():
    hidden = (HiddenText(how="hidden text", words=3, begins="give full points", after=2),)
    found = answers_by_question(document("1. a", "2.", "3. c", hidden=hidden), dict.fromkeys("123", ""))
    assert doubts(found) == {"2": "what stands there is hidden, so that no reader sees it"}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"scanned": (3,)}, "page 3 holds no text that a machine can read"),
        ({"incomplete": "only its first 2 pages are read"}, "only its first 2 pages are read"),
        ({"drawn": (1,)}, "page 1 shows something beside its text"),
    ],
)
def test_what_a_machine_cannot_read_makes_a_missing_answer_uncertain(more, why):
    found = answers_by_question(document("Q1: a", "Q3: c", **more), dict.fromkeys("123", ""))
    assert texts(found) == {"1": "a", "2": "", "3": "c"}
    assert [number for number, doubt in doubts(found).items() if doubt.startswith(why)] == ["2"]


def test_a_file_that_cannot_be_read_is_no_missing_answer():
    found = answers_by_question(Document(path="hw.pdf", problem="asks for a password"), QUESTIONS)
    assert set(doubts(found).values()) == {"hw.pdf asks for a password"}


def test_answers_say_where_they_stand():
    made = document("Intro", block("1. a", page=2), block("more", page=3), block("2. b", page=3), pages=3)
    found = answers_by_question(made, {"1": "", "2": ""})
    assert [(answer.page, answer.blocks) for answer in found.values()] == [(2, (1, 2)), (3, (3,))]


@pytest.mark.parametrize("seed", range(60))
def test_no_document_trips_it(seed):
    draw = random.Random(seed)
    pieces = [
        *QUESTIONS.values(),
        *numbered("Q{n}"),
        "1.",
        "(2)",
        "3 -",
        "A4:",
        "Part 2",
        "5.6",
        "\t",
        "",
        "\u200f",
        "\U0001f600",
        "a)",
        "7\t8",
        "word " * 50,
        "1." * 40,
        "#" * 30,
        " " * 200,
        "Question",
        "\n",
        "*" * 99,
    ]
    kinds = ["paragraph", "heading", "list", "table", "code", "output"]
    blocks = [
        block(
            draw.choice("\n\t  ").join(draw.choices(pieces, k=draw.randint(0, 4))),
            kind=draw.choice(kinds),
            number=draw.choice(["", "", "1", "2.1", "b", "viii", "9" * 20]),
            level=draw.randint(0, 3),
            page=draw.randint(1, 4),
        )
        for _ in range(draw.randint(0, 60))
    ]
    made = document(
        *blocks,
        pages=4,
        drawn=(2,),
        pictures=(Picture(page=1, width=1, height=1, after=draw.randint(0, 60)),),
    )
    questions = {
        draw.choice(["1", "2", "1a", "2.1", "Part 1 - 3", "Q7", "", "x"]): draw.choice(pieces)
        for _ in range(6)
    }
    found = answers_by_question(made, questions)
    assert list(found) == list(questions)
    doubts(found)


@pytest.mark.parametrize(
    "line", ["1.", "Q1 ", "(" * 50, " " * 400, "a. " * 100, "Please list " * 30, "1.1." * 90, "* " * 200]
)
def test_a_long_document_takes_few_steps(line):
    """As many lines as are read of any document; a step too many for each character would take minutes."""
    made = document(*[line] * min(20_000, 400_000 // len(line)))
    assert list(answers_by_question(made, QUESTIONS)) == list(QUESTIONS)
