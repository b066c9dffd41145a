"""What a new course and a new assignment begin with."""
