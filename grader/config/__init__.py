"""Reads and writes YAML with positions, rubrics, courses, evidence and scorecards."""
