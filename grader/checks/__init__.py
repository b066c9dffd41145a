"""Kinds of checks, one per file; each looks in the examiner and judges on the host."""
