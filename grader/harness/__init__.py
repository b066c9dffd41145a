"""What a check works with: subjects, inputs, expected values, comparison, seeds, the stopwatch."""
