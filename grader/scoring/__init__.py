"""Scores evidence by a rubric: pure functions."""
