// Arrays on both sides, for the kernels beside this file.
#pragma once
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY(name) extern "C" int name(double *out)

template <typename T>
struct Array {
  T *host, *there = nullptr;
  int n;
  explicit Array(int n) : host((T *)calloc(n, sizeof(T))), n(n) {}
  ~Array() { cudaFree(there), free(host); }
  T *device() {
    if (!there) cudaMalloc(&there, n * sizeof(T));
    cudaMemcpy(there, host, n * sizeof(T), cudaMemcpyHostToDevice);
    return there;
  }
  T *fetch() {
    cudaMemcpy(host, there, n * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
  }
};

__global__ inline void fill_kernel(float *x, float value) {
  __shared__ float same;
  if (threadIdx.x == 0) same = value;
  __syncthreads();
  x[threadIdx.x] = same;
}

inline void fill(Array<float> &x, float value) { fill_kernel<<<1, x.n>>>(x.device(), value); }
