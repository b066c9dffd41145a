#include <assert.h>
#include <string.h>
#include "host.cuh"

__global__ void no_check(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;  // here: no_check
}
ENTRY(missing_bounds_check) {
  Array<float> x(100);
  no_check<<<4, 32>>>(x.device());
  return cudaDeviceSynchronize();
}

__device__ float element(const float *x, int i) {
  return x[i];  // here: element
}
__global__ void shift(const float *x, float *y) { y[threadIdx.x] = element(x, (int)threadIdx.x - 1); }
ENTRY(before_the_beginning) {
  Array<float> x(8), y(8);
  shift<<<1, 8>>>(x.device(), y.device());
  return cudaDeviceSynchronize();
}

__global__ void use_shape(const long *shape, float *x) {
  x[0] = shape[0];  // here: use_shape
}
ENTRY(pointer_of_the_host) {
  Array<long> shape(1);
  Array<float> x(1);
  use_shape<<<1, 1>>>(shape.host, x.device());
  return cudaDeviceSynchronize();
}
ENTRY(null_pointer) {
  no_check<<<1, 1>>>(nullptr);
  return cudaDeviceSynchronize();
}
ENTRY(freed_memory) {
  float *x;
  cudaMalloc(&x, 400);
  cudaFree(x);
  no_check<<<1, 1>>>(x);
  return cudaDeviceSynchronize();
}

__global__ void reverse(int *x, int n) {
  extern __shared__ int line[];
  line[threadIdx.x] = x[threadIdx.x];  // here: reverse
  __syncthreads();
  x[threadIdx.x] = line[n - 1 - threadIdx.x];
}
ENTRY(no_dynamic_memory_asked_for) {
  Array<int> x(8);
  reverse<<<1, 8>>>(x.device(), 8);
  return cudaDeviceSynchronize();
}

__global__ void beyond_tile(float *x) {
  __shared__ float tile[16];
  __shared__ float next[16];
  next[threadIdx.x] = 0;
  tile[threadIdx.x + 1] = x[threadIdx.x];  // here: beyond_tile
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x] + next[threadIdx.x];
}
ENTRY(shared_array_overflows) {
  Array<float> x(16);
  beyond_tile<<<1, 16>>>(x.device());
  return cudaDeviceSynchronize();
}

__global__ void local_overflow(float *x, int n) {
  float v[4] = {0, 1, 2, 3};
  x[0] = v[n];  // here: local_overflow
}
ENTRY(local_array_overflows) {
  Array<float> x(1);
  local_overflow<<<1, 1>>>(x.device(), 4);
  return cudaDeviceSynchronize();
}

__global__ void copy_all(char *to, const char *from, int n) {
  memcpy(to, from, n);  // here: copy_all
}
ENTRY(memcpy_overflows) {
  Array<char> x(10), y(11);
  copy_all<<<1, 1>>>(x.device(), y.device(), 11);
  return cudaDeviceSynchronize();
}

__global__ void add(int *x) {
  atomicAdd(x + threadIdx.x, 1);  // here: add
}
ENTRY(atomic_outside) {
  Array<int> x(4);
  add<<<1, 5>>>(x.device());
  return cudaDeviceSynchronize();
}

__global__ void wide(float *x) {
  float4 four = *(float4 *)(x + 1);  // here: wide
  x[0] = four.x;
}
ENTRY(misaligned) {
  Array<float> x(8);
  wide<<<1, 1>>>(x.device());
  return cudaDeviceSynchronize();
}

__global__ void asserts(int n) {
  assert(threadIdx.x < n);  // here: asserts
}
ENTRY(an_assertion_fails) {
  asserts<<<1, 4>>>(3);
  return cudaDeviceSynchronize();
}

__global__ void some_wait(float *x) {
  if (threadIdx.x < 8) {
    x[threadIdx.x] = 0;
    __syncthreads();  // here: some_wait
  } else {
    __syncwarp();  // here: others
  }
}
ENTRY(divergent_barrier) {
  Array<float> x(32);
  some_wait<<<1, 32>>>(x.device());
  return cudaDeviceSynchronize();
}

__global__ void two_barriers(float *x) {
  if (threadIdx.x < 8)
    __syncthreads();  // here: two_barriers
  else
    __syncthreads();
  x[threadIdx.x] = 0;
}
ENTRY(two_barriers_for_one) {
  Array<float> x(40);
  two_barriers<<<1, 40>>>(x.device());
  return cudaDeviceSynchronize();
}

__global__ void not_in_the_mask() {
  if (threadIdx.x < 4) __syncwarp(0x7);  // here: not_in_the_mask
}
ENTRY(a_mask_without_the_lane) {
  not_in_the_mask<<<1, 8>>>();
  return cudaDeviceSynchronize();
}

// As `right.cu` has it, without the barrier before the sum.
__global__ void reduce(const float *x, float *total) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = part[0];
}
ENTRY(missing_barrier) {
  Array<float> x(64), total(1);
  for (int i = 0; i < 64; i++) x.host[i] = i;
  reduce<<<1, 64>>>(x.device(), total.device());
  out[0] = total.fetch()[0];
  return cudaDeviceSynchronize();
}

__global__ void add_up(int *sum) { *sum += 1; }
ENTRY(missing_atomic) {
  Array<int> sum(1);
  add_up<<<1, 128>>>(sum.device());
  out[0] = sum.fetch()[0];
  return cudaDeviceSynchronize();
}
ENTRY(missing_atomic_between_blocks) {
  Array<int> sum(1);
  add_up<<<128, 1>>>(sum.device());
  out[0] = sum.fetch()[0];
  return cudaDeviceSynchronize();
}

__global__ void mark(int *x) { x[0] = 1; }
static int launched(dim3 grid, dim3 block, size_t bytes, double *out) {
  Array<int> x(1);
  mark<<<grid, block, bytes>>>(x.device());  // here: launched
  out[0] = cudaPeekAtLastError();
  int error = cudaGetLastError();
  out[1] = cudaGetLastError();
  out[2] = x.fetch()[0];
  return error;
}
ENTRY(many_threads) { return launched(1, dim3(50, 40), 0, out); }
ENTRY(deep_block) { return launched(1, dim3(1, 1, 65), 0, out); }
ENTRY(no_blocks) { return launched(0, 32, 0, out); }
ENTRY(high_grid) { return launched(dim3(1, 65536), 1, 0, out); }
ENTRY(much_shared) { return launched(1, 1, 49153, out); }
ENTRY(as_much_as_there_may_be) { return launched(dim3(2, 2), dim3(32, 32), 49152, out); }
ENTRY(opted_in_to_more) {
  cudaFuncSetAttribute(mark, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  return launched(1, 1, 100000, out);
}
__global__ void large(int *x) {
  __shared__ double a[4000], b[4000];
  a[0] = b[0] = 1;
  x[0] = a[0] + b[0];
}
ENTRY(much_static_shared) {
  Array<int> x(1);
  large<<<1, 1>>>(x.device());
  int error = cudaGetLastError();
  out[0] = x.fetch()[0];
  return error;
}

ENTRY(everything_fails_after_a_fault) {
  Array<float> x(1);
  no_check<<<1, 2>>>(x.device());
  float *y;
  out[0] = cudaMalloc(&y, 4);
  out[1] = cudaMemcpy(x.host, x.there, 4, cudaMemcpyDeviceToHost);
  out[2] = cudaGetLastError();
  return cudaGetLastError();
}

__global__ void read_shared(float *x) {
  __shared__ float never[4];
  x[threadIdx.x] = never[threadIdx.x];
}
ENTRY(never_written) {
  float *x, got[4];
  cudaMalloc(&x, sizeof got);
  cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
  out[0] = got[3];
  cudaMemset(x, 0, sizeof got);
  read_shared<<<1, 4>>>(x);
  cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
  out[1] = got[3];
  return cudaGetLastError();
}

ENTRY(the_host_stores_there) {
  float *x;
  cudaMalloc(&x, 40);
  x[3] = 1;  // here: host
  return 0;
}
ENTRY(the_host_copies_there) {
  char *x, text[40] = "text";
  cudaMalloc(&x, 40);
  memcpy(x, text, (size_t)(out[0] + 40));
  return 0;
}
ENTRY(managed_memory) {
  float *x, *y;
  cudaMallocManaged(&x, 12);
  cudaMallocHost(&y, 12);
  no_check<<<1, 3>>>(x);
  no_check<<<1, 3>>>(y);
  out[0] = x[2] + y[2];
  return cudaDeviceSynchronize();
}

ENTRY(copies) {
  float host[4] = {}, *x, *y;
  cudaMalloc(&x, 16);
  cudaMalloc(&y, 16);
  out[0] = cudaMemcpy(x, host, 17, cudaMemcpyHostToDevice);
  out[1] = cudaMemcpy(x, host, 16, cudaMemcpyDeviceToHost);
  out[2] = cudaMemcpy(host, x, 16, cudaMemcpyHostToDevice);
  out[3] = cudaMemcpy(host, x + 1, 16, cudaMemcpyDeviceToHost);
  out[4] = cudaMemset(x, 0, 20);
  out[5] = cudaMemset(host, 0, 16);
  out[6] = cudaFree(x + 1);
  out[7] = cudaFree(x);
  out[8] = cudaFree(x);
  out[9] = cudaFree(nullptr);
  out[10] = cudaMemcpy(host, y, 16, cudaMemcpyDefault);
  out[11] = cudaMalloc(&x, (size_t)1 << 40);
  return cudaGetLastError();
}
