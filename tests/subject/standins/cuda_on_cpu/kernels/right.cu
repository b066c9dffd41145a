#include <cuda_runtime.h>
#include <math.h>
#include "host.cuh"

#define TILE 8
#define BLOCKS(n, size) (((n) + (size) - 1) / (size))

__global__ void multiply(const float *A, const float *B, float *C, int n) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];  // two declarators
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < BLOCKS(n, TILE); t++) {
    int i = t * TILE + threadIdx.x, j = t * TILE + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = row < n && i < n ? A[row * n + i] : 0;
    b[threadIdx.y][threadIdx.x] = column < n && j < n ? B[j * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) C[row * n + column] = sum;
}

ENTRY(matmul) {
  const int n = 21;
  Array<float> A(n * n), B(n * n), C(n * n);
  for (int i = 0; i < n * n; i++) A.host[i] = i % 7, B.host[i] = i % 5;
  multiply<<<dim3(BLOCKS(n, TILE), BLOCKS(n, TILE)),
             dim3(TILE, TILE)>>>(A.device(), B.device(), C.device(), n);
  C.fetch();
  double worst = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += A.host[i * n + k] * B.host[k * n + j];
      worst = fmax(worst, fabs(sum - C.host[i * n + j]));
    }
  out[0] = worst;
  return cudaGetLastError();
}

template <typename T, int SIZE>
__global__ void reduce(const T *x, T *total, int n) {
  __shared__ T part[SIZE];
  int t = threadIdx.x, i = blockIdx.x * SIZE + t;
  part[t] = i < n ? x[i] : T(0);
  __syncthreads();
  for (int half = SIZE / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, part[0]);
}

template <typename T>
T reduced(int n) {
  Array<T> x(n), total(1);
  for (int i = 0; i < n; i++) x.host[i] = T(i);
  reduce<T, 64><<<BLOCKS(n, 64), 64>>>(x.device(), total.device(), n);
  return total.fetch()[0];
}

ENTRY(reduction) {
  out[0] = reduced<float>(300);
  out[1] = reduced<double>(300);
  out[2] = reduced<int>(300);
  return cudaGetLastError();
}

extern __shared__ float of_file[];

__device__ float rows_sum(float mine, float *line) {
  line[threadIdx.x] = mine;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < blockDim.x; i++) sum += line[i];
  __syncthreads();
  return sum;
}

__global__ void softmax(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float most = -INFINITY;
  for (int k = 0; k < blockDim.x; k++) most = max(most, x[blockIdx.x * blockDim.x + k]);
  float e = __expf(x[i] - most);
  y[i] = e / rows_sum(e, of_file);
}

ENTRY(softmax_rows) {
  const int rows = 5, columns = 33;
  Array<float> x(rows * columns), y(rows * columns);
  for (int i = 0; i < rows * columns; i++) x.host[i] = 100 + i % 11;
  softmax<<<rows, columns, columns * sizeof(float)>>>(x.device(), y.device());
  y.fetch();
  for (int r = 0; r < rows; r++) {
    out[r] = 0;
    for (int c = 0; c < columns; c++) out[r] += y.host[r * columns + c];
  }
  return cudaGetLastError();
}

__global__ void reverse(int *x, int n) {
  extern __shared__ __align__(16) int line[];
  line[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = line[n - 1 - threadIdx.x];
}

ENTRY(reversed) {
  Array<int> x(50);
  for (int i = 0; i < 50; i++) x.host[i] = i;
  reverse<<<1, 50, 50 * sizeof(int)>>>(x.device(), 50);
  x.fetch();
  for (int i = 0; i < 50; i++) out[i] = x.host[i];
  return cudaGetLastError();
}

// One lane has the sum of a warp; the last warp is not a whole one.
__global__ void warps(const int *x, int *sums, int *votes) {
  int value = x[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffff, value, by);
  int first = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
  int before = __shfl_up_sync(0xffffffff, x[threadIdx.x], 1);
  int behind = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1, 8);
  sums[threadIdx.x] = value;
  unsigned odd = __ballot_sync(0xffffffff, x[threadIdx.x] % 2);
  if (threadIdx.x % 32 == 3) {
    int w = threadIdx.x / 32 * 6;
    votes[w] = first, votes[w + 1] = before, votes[w + 2] = behind;
    votes[w + 3] = __popc(odd);
  }
  int all = __all_sync(0xffffffff, x[threadIdx.x] < 32), any = __any_sync(0xffffffff, x[threadIdx.x] == 40);
  if (threadIdx.x % 32 == 3) votes[threadIdx.x / 32 * 6 + 4] = all, votes[threadIdx.x / 32 * 6 + 5] = any;
}

ENTRY(warp_functions) {
  Array<int> x(64), sums(64), votes(12);
  for (int i = 0; i < 64; i++) x.host[i] = i;
  warps<<<1, 64>>>(x.device(), sums.device(), votes.device());
  sums.fetch(), votes.fetch();
  out[0] = sums.host[0], out[1] = sums.host[63];
  for (int i = 0; i < 12; i++) out[2 + i] = votes.host[i];
  return cudaGetLastError();
}

__global__ void count_in_block(int *counts) {
  int many = __syncthreads_count(threadIdx.x % 3 == 0);
  int all = __syncthreads_and(threadIdx.x < 10), any = __syncthreads_or(threadIdx.x == 9);
  if (threadIdx.x == 0) counts[0] = many, counts[1] = all, counts[2] = any;
}

ENTRY(votes_of_a_block) {
  Array<int> counts(3);
  count_in_block<<<1, 10>>>(counts.device());
  counts.fetch();
  for (int i = 0; i < 3; i++) out[i] = counts.host[i];
  return cudaGetLastError();
}

__constant__ float factors[4];
__device__ int calls;

__global__ void apply(float *x) {
  float local[4];
  for (int k = 0; k < 4; k++) local[k] = factors[k];
  int i = threadIdx.x;
  x[i] *= local[i % 4];
  atomicMax(&calls, i);
  atomicCAS(&calls, 7, 70);
}

ENTRY(symbols) {
  const float host_factors[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(factors, host_factors, sizeof host_factors);
  Array<float> x(8);
  for (int i = 0; i < 8; i++) x.host[i] = 1;
  apply<<<1, 8>>>(x.device());
  x.fetch();
  for (int i = 0; i < 8; i++) out[i] = x.host[i];
  int made;
  cudaMemcpyFromSymbol(&made, calls, sizeof made);
  out[8] = made;
  return cudaGetLastError();
}

// Handed-out code of courses returns like this before a barrier, and GPUs wait only for those that are left.
__global__ void mean(const float *x, float *result, int n) {
  extern __shared__ float values[];
  int i = threadIdx.x;
  if (i >= n) return;
  values[i] = x[i];
  __syncthreads();
  if (i == 0) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += values[k];
    *result = sum / n;
  }
}

ENTRY(returns_before_a_barrier) {
  Array<float> x(10), result(1);
  for (int i = 0; i < 10; i++) x.host[i] = i;
  mean<<<1, 32, 10 * sizeof(float)>>>(x.device(), result.device(), 10);
  out[0] = result.fetch()[0];
  return cudaGetLastError();
}

// A lock that spins gets its turn although threads are interrupted while they hold it.
__global__ void locked(int *lock, int *sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *sum += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

ENTRY(a_lock) {
  Array<int> lock(1), sum(1);
  locked<<<4, 16>>>(lock.device(), sum.device());
  out[0] = sum.fetch()[0];
  return cudaGetLastError();
}

struct Pair {
  double first, second;
  float more[6];
};

__global__ void by_value(Pair pair, float4 *where) {
  where[threadIdx.x] = make_float4(pair.first, pair.second, pair.more[5], rsqrtf(4));
}

ENTRY(arguments_by_value) {
  Array<float4> where(2);
  Pair pair = {1, 2, {0, 0, 0, 0, 0, 6}};
  by_value<<<1, 2>>>(pair, where.device());
  float4 got = where.fetch()[1];
  out[0] = got.x, out[1] = got.y, out[2] = got.z, out[3] = got.w;
  return cudaGetLastError();
}

#define RUN(kernel, n, ...) \
  kernel<<<BLOCKS(n, 32), \
           32>>>(__VA_ARGS__)

__global__ void maybe(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x ? x[i] : -1;
}

ENTRY(launched_by_a_macro) {
  Array<float> y(40);
  RUN(maybe, 40, nullptr, y.device(), 40);
  out[0] = y.fetch()[39];
  maybe<<<2, 32>>>( NULL , y.device(), 40);
  fill(y, 3);
  out[1] = y.fetch()[39];
  return cudaGetLastError();
}

__shared__ int of_block[4];

__global__ void between_blocks(int *x) {
  of_block[threadIdx.x] = blockIdx.x;
  __syncthreads();
  int *copy = (int *)malloc(4 * sizeof(int));
  memcpy(copy, of_block, 4 * sizeof(int));
  x[blockIdx.x * 4 + threadIdx.x] = copy[3 - threadIdx.x];
  free(copy);
}

ENTRY(shared_memory_of_the_file) {
  Array<int> x(32);
  between_blocks<<<8, 4>>>(x.device());
  x.fetch();
  for (int i = 0; i < 32; i++) out[i] = x.host[i];
  return cudaGetLastError();
}

ENTRY(rows_with_a_pitch) {
  float host[6] = {0, 1, 2, 3, 4, 5}, back[6] = {}, *rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, 3 * sizeof(float), 2);
  cudaMemcpy2D(rows, pitch, host, 12, 12, 2, cudaMemcpyHostToDevice);
  cudaMemcpy2D(back, 12, rows, pitch, 12, 2, cudaMemcpyDeviceToHost);
  cudaEvent_t from, to;
  float ms = -1;
  cudaEventCreate(&from), cudaEventCreate(&to);
  cudaEventRecord(from), cudaEventRecord(to);
  cudaEventElapsedTime(&ms, from, to);
  out[0] = back[5], out[1] = pitch % 512, out[2] = ms >= 0;
  return cudaGetLastError();
}
