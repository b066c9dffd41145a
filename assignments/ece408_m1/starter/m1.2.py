"""Milestone 1 on the GPU."""

from inference import main

main("cuda")
