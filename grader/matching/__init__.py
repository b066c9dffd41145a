"""Answers in words against criteria: pure, in linear time, and without deciding anything."""
