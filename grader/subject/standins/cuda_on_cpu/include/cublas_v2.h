// cuBLAS of column-major matrices in single and double precision, on the CPU.
#pragma once
#pragma GCC system_header
#include "cuda_runtime.h"

#define CUBLAS_VERSION 130000
typedef struct cublasContext* cublasHandle_t;

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
};

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int element, const void* from, int from_step, void* to, int to_step);
cublasStatus_t cublasGetVector(int n, int element, const void* from, int from_step, void* to, int to_step);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb);

// For S and float, D and double: y ← αx + y and the like, by the cuBLAS documentation.
#define SIM_CUBLAS(X, T)                                                                                     \
    cublasStatus_t cublas##X##gemm_v2(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,    \
                                      int m, int n, int k, const T* alpha, const T* A, int lda, const T* B,  \
                                      int ldb, const T* beta, T* C, int ldc);                                \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                            \
        cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,             \
        const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb, long long strideB,      \
        const T* beta, T* C, int ldc, long long strideC, int batches);                                       \
    cublasStatus_t cublas##X##geam(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,       \
                                   int m, int n, const T* alpha, const T* A, int lda, const T* beta,         \
                                   const T* B, int ldb, T* C, int ldc);                                      \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t, cublasOperation_t trans, int m, int n, const T* alpha, \
                                      const T* A, int lda, const T* x, int incx, const T* beta, T* y,        \
                                      int incy);                                                             \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t, int m, int n, const T* alpha, const T* x, int incx,     \
                                     const T* y, int incy, T* A, int lda);                                   \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t, int n, const T* alpha, const T* x, int incx, T* y,     \
                                      int incy);                                                             \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t, int n, const T* x, int incx, T* y, int incy);          \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t, int n, const T* alpha, T* x, int incx);                \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t, int n, const T* x, int incx, const T* y, int incy,      \
                                     T* result);                                                             \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t, int n, const T* x, int incx, T* result);               \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t, int n, const T* x, int incx, T* result);
SIM_CUBLAS(S, float)
SIM_CUBLAS(D, double)
#undef SIM_CUBLAS
}

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
