"""The process that observes one submission: it alone holds the expected values and the clock."""
