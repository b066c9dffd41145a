"""A plugin of grader for courses whose grades are kept on Lectern."""
