"""NVIDIA GPUs: inventory, state, health probe, and the files that a program needs to use them."""
