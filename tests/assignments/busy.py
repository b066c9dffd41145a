"""A watch over cores for benches of these tests: others compute whenever the hand-in is called."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

from grader.bench.bench import OTHERS_RAN


class QuietUnlessCalled:
    """Stands in for `Bench.quiet`; with `left_alone` rounds without a call of the hand-in are quiet."""

    untold = False

    def __init__(self, monkeypatch, bench_class, subject: str, left_alone: bool):
        self._called = False
        self._left_alone = left_alone
        plain = getattr(bench_class, subject)

        @contextmanager
        def watched(bench, *args, **keys):
            with plain(bench, *args, **keys) as child:
                yield SimpleNamespace(**{**vars(child), "call": self._noting(child.call)})

        monkeypatch.setattr(bench_class, subject, watched)

    def _noting(self, call):
        def noted(*args):
            self._called = True
            return call(*args)

        return noted

    def begin(self, *, anew=False):
        self._called = False

    def end(self, own_s):
        return OTHERS_RAN if self._called or not self._left_alone else ""
