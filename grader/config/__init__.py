"""Reading and writing: YAML with positions, rubrics, courses, evidence and scorecards."""
