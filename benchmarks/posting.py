"""What throttling costs a class of a thousand: requests, seconds, and the ratio to the unthrottled run.

python benchmarks/posting.py [--students N]

Scores are posted to the Canvas on loopback that the tests have, once many at a time and once one by one with
a comment each. Waiting is not done but added up: seconds are those of the run, and those that it would have
slept. The server is in the same process, so its work is in the seconds, too; a real Canvas takes longer for
each request, and then there is less to wait for. `least` is what the throttle takes from any client.
"""

from __future__ import annotations

import argparse
import sys
import time
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "lms"))
from loopback_canvas import ASSIGNMENT, COURSE, TOKEN, LoopbackCanvas

from grader.contracts.platform import Answer, Change
from grader.lms.canvas.poster import CanvasPlatform
from grader.lms.http import Http

BUCKET = (20.0, 10.0, 1.0)
"""Holds 20 requests, of which ten drain in a second."""
PAGE = 100


def main() -> int:
    """Print a line for each way, without and with throttling; 1 if anything is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--students", type=int, default=1000)
    students = parser.parse_args().students
    heads = ("requests", "refused", "ran s", "slept s", "least s", "ratio")
    print(f"{'':32}" + "".join(f"{head:>9}" for head in heads))
    good = True
    for way, comment in (("many at a time", False), ("one by one, comments", True)):
        free = None
        for bucket in (None, BUCKET):
            requests, refused, ran_s, slept_s, whole = post(students, comment=comment, bucket=bucket)
            free = free or ran_s + slept_s
            name = f"{way}{', throttled' if bucket else ''}"
            least_s = max(0.0, (requests - refused - BUCKET[0]) / BUCKET[1]) if bucket else 0.0
            seconds = f"{ran_s:>9.2f}{slept_s:>9.1f}{least_s:>9.1f}"
            print(f"{name:32}{requests:>9}{refused:>9}{seconds}{(ran_s + slept_s) / free:>9.2f}")
            good = good and whole
    return 0 if good else 1


def post(
    students: int, *, comment: bool, bucket: tuple[float, float, float] | None
) -> tuple[int, int, float, float, bool]:
    """Requests, how many of them were throttled, seconds of running and of sleeping, whether all is there."""
    slept = 0.0
    with LoopbackCanvas(students=students, page_most=PAGE) as canvas:
        began = time.perf_counter()
        canvas.bucket = bucket

        def sleep(seconds: float) -> None:
            nonlocal slept
            slept += seconds
            canvas.tick(seconds)

        http = Http(canvas.url, TOKEN, sleep=sleep)
        platform = CanvasPlatform(http, COURSE, ASSIGNMENT)
        changes = [
            Change(
                student=one.person.id,
                id=one.person.id,
                points=Decimal(place % 41) / 4,
                comment=f"said [grader 1.{place:016x}]" if comment else "",
                marker=f"[grader 1.{place:016x}]" if comment else "",
            )
            for place, one in enumerate(platform.grades())
        ]
        there = sum(receipt.answer is Answer.THERE for receipt in platform.apply(changes))
        ran_s = time.perf_counter() - began
        right = all(canvas.scores()[int(one.id)] == float(one.points or 0) for one in changes)
        whole = there == students and right and len(canvas.comments) == students * comment
        return http.requests, canvas.throttled, ran_s, slept, whole and not canvas.violations


if __name__ == "__main__":
    sys.exit(main())
