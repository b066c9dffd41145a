"""A storm of faults over a class: in the end every score is right, and everything was said once."""

from __future__ import annotations

import random

import pytest

from grader.errors import NotObservedError

STUDENTS = 60


def storm(chance, share, faults):
    """Faults at random for a share of all requests, but for nothing that was not sent by us."""

    def choose(_):
        return chance.choice(faults) if chance.random() < share else None

    return choose


@pytest.mark.quick(1)
@pytest.mark.parametrize("comment", [True, False], ids=["comments", "grades alone"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.covering
def test_after_a_storm_everything_is_there_once(loopback_canvas, poster_for, seed, comment):
    chance = random.Random(seed)
    with loopback_canvas.LoopbackCanvas(students=STUDENTS, page_most=17) as canvas:
        grades = {number: chance.randrange(0, 41) / 4 for number in sorted(canvas.users)}
        a_persons = {number: chance.randrange(0, 41) / 4 for number in list(grades)[:10]}
        excused = set(list(grades)[10:14])
        for number, score in a_persons.items():
            canvas.grade(number, score)
        for number in excused:
            canvas.records[number]["excused"] = True
        canvas.bucket = (20.0, 0.3, 1.0)
        canvas.chooser = storm(chance, 0.25, loopback_canvas.FAULTS)
        names = {number: canvas.users[number]["login_id"] for number in grades}
        half = poster_for(canvas, {names[number]: points / 2 for number, points in grades.items()})
        whole = poster_for(canvas, {names[number]: points for number, points in grades.items()})
        whole.posted = half.posted
        for poster in (half, whole):
            runs = 0
            while not comes_through(poster, comment):
                runs += 1
                assert runs < 50
        canvas.chooser, canvas.bucket = (lambda _: None), None
        canvas.settle()
        assert whole.post(comment=comment) == {}
        assert canvas.violations == []
        assert canvas.throttled > 0
        expected = grades | a_persons | dict.fromkeys(excused)
        assert canvas.scores() == expected
        for number, points in grades.items():
            ours = [score for who, score, grader in canvas.graded if who == number and grader != 77]
            assert ours == sorted(set(ours)), "lowered, or graded twice"
            expected_points = {points / 2, points}
            if number in a_persons:
                expected_points &= {a_persons[number]}  # whose grade is the same gets the comment
            comments = canvas.comments_of(number)
            assert len(comments) == len(set(comments)), "the same comment twice"
            assert len(comments) == (len(expected_points) if comment and number not in excused else 0)


def comes_through(poster, comment):
    """Apply once more, whatever happens; whether nothing was left to do."""
    try:
        return poster.post(comment=comment) == {}
    except NotObservedError:
        return False
