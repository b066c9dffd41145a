"""Packs the hand-ins of a course from their sources, the same bytes every time."""
