"""The grades of a class in a database to which rows are only added; the newest score is the current one."""
