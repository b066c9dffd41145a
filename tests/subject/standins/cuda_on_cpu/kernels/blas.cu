#include <cublas_v2.h>
#include "host.cuh"

// Row-major C = op(A) op(B), as courses write it: the column-major product of the transposed ones.
static int product(bool ta, bool tb, double *out) {
  const int m = 3, n = 4, k = 5;
  Array<float> A(m * k), B(k * n), C(m * n);
  for (int i = 0; i < m * k; i++) A.host[i] = i % 4 - 1;
  for (int i = 0; i < k * n; i++) B.host[i] = i % 3;
  for (int i = 0; i < m * n; i++) C.host[i] = 1;
  cublasHandle_t handle;
  cublasCreate(&handle);
  float alpha = 2, beta = 3;
  int status = cublasSgemm(handle, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha,
                           B.device(), tb ? k : n, A.device(), ta ? m : k, &beta, C.device(), n);
  C.fetch();
  double worst = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; l < k; l++) sum += (ta ? A.host[l * m + i] : A.host[i * k + l]) * (tb ? B.host[j * k + l] : B.host[l * n + j]);
      worst = max(worst, (double)abs(2 * sum + 3 - C.host[i * n + j]));
    }
  out[0] = worst;
  cublasDestroy(handle);
  return status;
}
ENTRY(plain) { return product(false, false, out); }
ENTRY(first_transposed) { return product(true, false, out); }
ENTRY(second_transposed) { return product(false, true, out); }
ENTRY(both_transposed) { return product(true, true, out); }

ENTRY(vectors) {
  Array<double> x(4), y(4), M(8);
  for (int i = 0; i < 4; i++) x.host[i] = i, y.host[i] = 1;
  for (int i = 0; i < 8; i++) M.host[i] = i;
  cublasHandle_t handle;
  cublasCreate(&handle);
  double two = 2, one = 1, zero = 0;
  cublasDaxpy(handle, 4, &two, x.device(), 1, y.device(), 1);
  y.fetch();
  out[0] = y.host[3];
  cublasDdot(handle, 2, x.there, 2, y.there, -2, out + 1);  // 0 * 5 + 2 * 1
  // [[0 2 4 6], [1 3 5 7]] x
  cublasDgemv(handle, CUBLAS_OP_N, 2, 4, &one, M.device(), 2, x.there, 1, &zero, y.there, 1);
  y.fetch();
  out[2] = y.host[0], out[3] = y.host[1];
  Array<double> T(8);
  cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 2, &one, M.there, 2, &zero, nullptr, 4, T.device(), 4);
  out[4] = T.fetch()[1];
  cublasDestroy(handle);
  return cublasDdot(handle, 2, x.there, 1, y.there, 1, out + 5);
}

ENTRY(too_small) {
  Array<float> A(4), B(4), C(3);
  float one = 1;
  cublasHandle_t handle;
  cublasCreate(&handle);
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, A.device(), 2, B.device(), 2, &one,  // here: call
                     C.device(), 2);
}
