"""`grader review`: local web pages on which people give points; all of them are rows of the gradebook."""
