"""Grades submissions: open, plan, observe, score, report."""
