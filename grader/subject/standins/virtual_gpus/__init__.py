"""Virtual GPUs for torch: a program for cuda:0, cuda:1, … runs on a torch that knows the CPU alone.

Tensors are torch's own, with a CUDA device and with memory of the host behind it; torch's kernels for the CPU
compute what is in them. What `table` does not name is refused. Nothing takes the time that it takes on a GPU,
random numbers are others, and each call has done its work when it returns.
"""
