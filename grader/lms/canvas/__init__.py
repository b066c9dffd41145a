"""Canvas over its REST API: grades, comments with a page attached, and rubric assessments."""
