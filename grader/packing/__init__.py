"""Builds the course's own submissions from their sources, reproducibly."""
