"""Frozen value types, without access to files, clocks or processes."""
