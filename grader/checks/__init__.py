"""Kinds of checks, one per file; each looks in the worker and judges on the host."""
