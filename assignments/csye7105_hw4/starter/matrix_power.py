"""A to the power of n plus B to the power of n, with one matrix on each GPU."""

SIZE = 10_000
N = 10


def power_sum(A, B, n, devices):
    """Aⁿ + Bⁿ (products of matrices, not of their elements).

    `devices` holds one name or two, as in ["cuda:0", "cuda:1"]. A lies on the first of them and B on the
    last; the sum belongs on the first.
    """
    raise NotImplementedError("your code")


def main():
    """Print two times, in this form:

    1 GPU: 0.123 s
    2 GPUs: 0.123 s
    """
    raise NotImplementedError("your code")


if __name__ == "__main__":
    main()
