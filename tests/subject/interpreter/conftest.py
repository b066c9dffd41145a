"""Follows a function of a few lines over small matrices, as the tool does in its child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent

import numpy as np
import pytest

from grader.subject.tools import elements

A, B = np.random.default_rng(11).integers(0, 256, (2, 5, 4))
X = np.random.default_rng(12).standard_normal((6, 4))
LARGER = np.where(A < B, B, A)
PRODUCT = X @ X.T
HEAD = """
import numpy as np
import numba
from numba import njit, jit, vectorize, prange, cuda
"""


@pytest.fixture
def follow(tmp_path, monkeypatch) -> Callable[..., str]:
    """The problem that following `f(A, B)`, or `f(X)`, shows; empty if its loops give the right result."""

    def follow(
        code: str, *, compiled: bool = False, large: Sequence[tuple[Sequence[int], str]] = (), **files: str
    ) -> str:
        args, expected = ((X,), PRODUCT) if "f(X)" in code else ((A, B), LARGER)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "work.py").write_text(HEAD + dedent(code))
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(dedent(text))
        answer = elements.main("work.py", "f", [args], compiled, large)
        if "problem" in answer:
            return answer["problem"]
        (value,) = answer["values"]
        if np.shape(value) != expected.shape or not np.allclose(np.array(value, float), expected):
            return "wrong"
        return "; ".join([*map(str, answer["unexecuted"]), *answer["notes"]])

    return follow
