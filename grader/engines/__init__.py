"""Ways to get workers run."""
