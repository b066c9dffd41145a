"""The self-test of a course: its own submissions and references, compared with what they must earn."""
