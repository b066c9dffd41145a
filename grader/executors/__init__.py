"""Ways to get an examiner started."""
