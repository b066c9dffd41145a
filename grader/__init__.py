"""Grades homework of GPU-programming and deep-learning-systems courses."""

__version__ = "0.1.0"
