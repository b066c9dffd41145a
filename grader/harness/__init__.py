"""Everything a check may use: the student's process, inputs, oracles, comparison, timing."""
