"""NVIDIA GPUs: which there are, how they fare, and what a program needs to reach them."""
