"""Milestone 1 on the CPU."""

from inference import main

main("cpu")
