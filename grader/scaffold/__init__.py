"""Files of a new course and a new assignment."""
