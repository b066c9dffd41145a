"""Rubric times evidence: arithmetic, nothing else."""
