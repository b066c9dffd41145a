"""Café"""


def sigmoid(x):
    return 1
