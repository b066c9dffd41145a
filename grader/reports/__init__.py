"""One format per file."""
