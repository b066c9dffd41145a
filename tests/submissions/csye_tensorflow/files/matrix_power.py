import time

import tensorflow as tf

n = 10


def matpow(M, n):
    if n == 1:
        return M
    return tf.matmul(M, matpow(M, n - 1))


if __name__ == "__main__":
    with tf.device("/gpu:0"):
        A = tf.random.uniform((10000, 10000))
        B = tf.random.uniform((10000, 10000))
    t0 = time.time()
    with tf.device("/gpu:0"):
        (matpow(A, n) + matpow(B, n)).numpy()
    print("1 GPU:", time.time() - t0, "s")
    t0 = time.time()
    with tf.device("/gpu:0"):
        a = matpow(A, n)
    with tf.device("/gpu:1"):
        b = matpow(B, n)
    (a + b).numpy()
    print("2 GPUs:", time.time() - t0, "s")
