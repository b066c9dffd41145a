"""Evaluates a student's functions from their syntax tree, over arrays that give single elements only.

None of the student's code runs: each construct of the language that may be used is evaluated here, each
library function is looked up in a table, and what stands in no table is refused with its line. What a
function computes in here it can only have computed an element at a time, in plain Python.
"""
