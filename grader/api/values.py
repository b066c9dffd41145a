"""Names for comparing values, in `observe` and in `expected.py`; imports numpy."""

from __future__ import annotations

from grader.harness.compare import Comparison, compare
from grader.harness.distributions import Array, Uniform
from grader.harness.render import call_text, describe, value_text

__all__ = ["Array", "Comparison", "Uniform", "call_text", "compare", "describe", "value_text"]
