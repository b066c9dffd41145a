"""A watch over cores for contexts of these tests: others compute whenever the submission is called."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

from grader.contracts.context import OTHERS_RAN


class QuietUnlessCalled:
    """Stands in for `CheckContext.quiet`; with `left_alone`, rounds without a submission's call are quiet."""

    untold = False

    def __init__(self, monkeypatch, harness_class, subject: str, left_alone: bool):
        self._called = False
        self._left_alone = left_alone
        plain = getattr(harness_class, subject)

        @contextmanager
        def watched(context, *args, **keys):
            with plain(context, *args, **keys) as child:
                yield SimpleNamespace(**{**vars(child), "call": self._noting(child.call)})

        monkeypatch.setattr(harness_class, subject, watched)

    def _noting(self, call):
        def noted(*args):
            self._called = True
            return call(*args)

        return noted

    def begin(self, *, anew=False):
        self._called = False

    def end(self):
        return OTHERS_RAN if self._called or not self._left_alone else ""
