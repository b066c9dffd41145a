"""Sandboxes: the part of the machine that a subject server sees, by layer."""
