// cuBLAS on the CPU: column-major, checked against what was allocated, in plain loops.
#include <cmath>
#include <cstring>

#include "device.h"

#include "cublas_v2.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    bool alive = true;
};

namespace sim {
namespace {

/// A vector, or a matrix, in memory of the device.
template <class T>
struct Seen {
    T* begin;
    long long elements;

    Seen(T* begin, long long n, long long step)
        : begin(begin), elements(n > 0 ? (n - 1) * std::llabs(step) + 1 : 0) {}
    Seen(T* begin, long long rows, long long columns, long long ld)
        : begin(begin), elements(rows > 0 && columns > 0 ? (columns - 1) * ld + rows : 0) {}
    bool allocated() const {
        if (elements == 0) return true;
        const Allocation* memory = owner(std::uintptr_t(begin));
        return memory && memory->holds(std::uintptr_t(begin), std::size_t(elements) * sizeof(T));
    }
};

/// What forbids a call: a dead handle, an error before it, sizes that cannot be, or memory that is not there.
template <class... Operands>
cublasStatus_t forbidden(const char* call, cublasHandle_t handle, bool sizes, void* caller,
                         const Operands&... operands) {
    if (!handle || !handle->alive) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (standing() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!sizes) {
        report("refused_call", std::string(call) + " is called with sizes that cannot be", place_of(caller),
               false);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if ((operands.allocated() && ...)) return CUBLAS_STATUS_SUCCESS;
    stay(cudaErrorIllegalAddress);
    report("illegal_access", std::string(call) + " is given more elements than were allocated on the device",
           place_of(caller), true);
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

#define SIM_UNLESS_FORBIDDEN(call, sizes, ...) \
    if (cublasStatus_t status = forbidden(call, handle, sizes, caller, __VA_ARGS__)) return status;

/// The element where a vector with a step of either sign begins.
template <class T>
T* first(T* x, int n, int step) {
    return step < 0 ? x - (long long)(n - 1) * step : x;
}

/// op(A) with its rows one after another, so that products run along both operands.
template <class T>
std::vector<T> packed(const T* a, int ld, cublasOperation_t op, int rows, int columns) {
    std::vector<T> into(std::size_t(rows) * columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            into[std::size_t(i) * columns + j] =
                op == CUBLAS_OP_N ? a[i + (long long)j * ld] : a[j + (long long)i * ld];
    return into;
}

template <class T>
T dot(const T* x, const T* y, int n) {
    T sums[8] = {};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) sums[k] += x[i + k] * y[i + k];
    for (; i < n; i++) sums[0] += x[i] * y[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

cublasOperation_t other(cublasOperation_t op) { return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N; }

/// Not even NaN comes through where the factor is zero.
template <class T>
T scaled(T by, T value) {
    return by == T(0) ? T(0) : by * value;
}

template <class T>
void product(cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, T alpha, const T* A,
             int lda, const T* B, int ldb, T beta, T* C, int ldc) {
    std::vector<T> rows = packed(A, lda, transa, m, k), columns = packed(B, ldb, other(transb), n, k);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            T& c = C[i + (long long)j * ldc];
            c = alpha * dot(&rows[std::size_t(i) * k], &columns[std::size_t(j) * k], k) + scaled(beta, c);
        }
}

template <class T>
cublasStatus_t gemm(const char* call, void* caller, cublasHandle_t handle, cublasOperation_t transa,
                    cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* A, int lda,
                    long long strideA, const T* B, int ldb, long long strideB, const T* beta, T* C, int ldc,
                    long long strideC, int batches) {
    bool an = transa == CUBLAS_OP_N, bn = transb == CUBLAS_OP_N;
    bool sizes = m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, an ? m : k) &&
                 ldb >= std::max(1, bn ? k : n) && ldc >= std::max(1, m);
    for (int i = 0; i < batches; i++) {
        const T *a = A + i * strideA, *b = B + i * strideB;
        T* c = C + i * strideC;
        SIM_UNLESS_FORBIDDEN(call, sizes, Seen(a, an ? m : k, an ? k : m, lda),
                             Seen(b, bn ? k : n, bn ? n : k, ldb), Seen(c, m, n, ldc))
        product(transa, transb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
    }
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t geam(const char* call, void* caller, cublasHandle_t handle, cublasOperation_t transa,
                    cublasOperation_t transb, int m, int n, const T* alpha, const T* A, int lda,
                    const T* beta, const T* B, int ldb, T* C, int ldc) {
    bool an = transa == CUBLAS_OP_N, bn = transb == CUBLAS_OP_N;
    // A matrix whose factor is zero is not read, and need not be there.
    int ma = *alpha == T(0) ? 0 : m, mb = *beta == T(0) ? 0 : m;
    bool sizes = m >= 0 && n >= 0 && lda >= (an ? m : n) && ldb >= (bn ? m : n) && ldc >= m;
    SIM_UNLESS_FORBIDDEN(call, sizes, Seen(A, an ? ma : n, an ? n : ma, lda),
                         Seen(B, bn ? mb : n, bn ? n : mb, ldb), Seen(C, m, n, ldc))
    std::vector<T> a = ma ? packed(A, lda, transa, m, n) : std::vector<T>(std::size_t(m) * n);
    std::vector<T> b = mb ? packed(B, ldb, transb, m, n) : std::vector<T>(std::size_t(m) * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            std::size_t at = std::size_t(i) * n + j;
            C[i + (long long)j * ldc] = scaled(*alpha, a[at]) + scaled(*beta, b[at]);
        }
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t gemv(const char* call, void* caller, cublasHandle_t handle, cublasOperation_t trans, int m,
                    int n, const T* alpha, const T* A, int lda, const T* x, int incx, const T* beta, T* y,
                    int incy) {
    int rows = trans == CUBLAS_OP_N ? m : n, columns = trans == CUBLAS_OP_N ? n : m;
    SIM_UNLESS_FORBIDDEN(call, m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy, Seen(A, m, n, lda),
                         Seen(x, columns, incx), Seen(y, rows, incy))
    x = first(x, columns, incx), y = first(y, rows, incy);
    for (int i = 0; i < rows; i++) {
        T sum = 0, &into = y[(long long)i * incy];
        for (int j = 0; j < columns; j++)
            sum += (trans == CUBLAS_OP_N ? A[i + (long long)j * lda] : A[j + (long long)i * lda]) *
                   x[(long long)j * incx];
        into = *alpha * sum + scaled(*beta, into);
    }
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t ger(const char* call, void* caller, cublasHandle_t handle, int m, int n, const T* alpha,
                   const T* x, int incx, const T* y, int incy, T* A, int lda) {
    SIM_UNLESS_FORBIDDEN(call, m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy, Seen(A, m, n, lda),
                         Seen(x, m, incx), Seen(y, n, incy))
    x = first(x, m, incx), y = first(y, n, incy);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            A[i + (long long)j * lda] += *alpha * x[(long long)i * incx] * y[(long long)j * incy];
    return CUBLAS_STATUS_SUCCESS;
}

/// For pairs of elements of two vectors.
template <class T, class U, class Each>
cublasStatus_t along(const char* call, void* caller, cublasHandle_t handle, int n, T* x, int incx, U* y,
                     int incy, Each each) {
    SIM_UNLESS_FORBIDDEN(call, true, Seen(x, n, incx), Seen(y, n, incy))
    x = first(x, n, incx), y = first(y, n, incy);
    for (int i = 0; i < n; i++) each(x[(long long)i * incx], y[(long long)i * incy]);
    return CUBLAS_STATUS_SUCCESS;
}

cudaError_t moved(int rows, int columns, int element, const void* a, int lda, void* b, int ldb,
                  cudaMemcpyKind kind) {
    return cudaMemcpy2D(b, std::size_t(ldb) * element, a, std::size_t(lda) * element,
                        std::size_t(rows) * element, columns, kind);
}

cublasStatus_t mapped(cudaError_t error) {
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace sim

using namespace sim;
#define CALLER __builtin_return_address(0)

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (standing() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    record_call("cublasCreate", 0);
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!handle || !handle->alive) return CUBLAS_STATUS_NOT_INITIALIZED;
    record_call("cublasDestroy", 0);
    handle->alive = false;  // and not deleted, so that it is known for dead
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    if (!handle || !handle->alive) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    if (!handle || !handle->alive) return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t) {
    return handle && handle->alive ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
    return handle && handle->alive ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS: return "success";
        case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
        case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was passed";
        case CUBLAS_STATUS_MAPPING_ERROR: return "a copy failed";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "the function failed to launch on the GPU";
        default: return "failed";
    }
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb) {
    return mapped(moved(rows, columns, element, a, lda, b, ldb, cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb) {
    return mapped(moved(rows, columns, element, a, lda, b, ldb, cudaMemcpyDeviceToHost));
}
cublasStatus_t cublasSetVector(int n, int element, const void* from, int from_step, void* to, int to_step) {
    return mapped(moved(1, n, element, from, from_step, to, to_step, cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetVector(int n, int element, const void* from, int from_step, void* to, int to_step) {
    return mapped(moved(1, n, element, from, from_step, to, to_step, cudaMemcpyDeviceToHost));
}

#define SIM_CUBLAS(X, T)                                                                                     \
    cublasStatus_t cublas##X##gemm_v2(                                                                       \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,      \
        const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc) {            \
        return gemm("cublas" #X "gemm", CALLER, handle, transa, transb, m, n, k, alpha, A, lda, 0, B, ldb,   \
                    0, beta, C, ldc, 0, 1);                                                                  \
    }                                                                                                        \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                            \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,      \
        const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb, long long strideB,      \
        const T* beta, T* C, int ldc, long long strideC, int batches) {                                      \
        return gemm("cublas" #X "gemmStridedBatched", CALLER, handle, transa, transb, m, n, k, alpha, A,     \
                    lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batches);                          \
    }                                                                                                        \
    cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa,                          \
                                   cublasOperation_t transb, int m, int n, const T* alpha, const T* A,       \
                                   int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {             \
        return geam("cublas" #X "geam", CALLER, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb,   \
                    C, ldc);                                                                                 \
    }                                                                                                        \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,          \
                                      const T* alpha, const T* A, int lda, const T* x, int incx,             \
                                      const T* beta, T* y, int incy) {                                       \
        return gemv("cublas" #X "gemv", CALLER, handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy); \
    }                                                                                                        \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t handle, int m, int n, const T* alpha, const T* x,        \
                                     int incx, const T* y, int incy, T* A, int lda) {                        \
        return ger("cublas" #X "ger", CALLER, handle, m, n, alpha, x, incx, y, incy, A, lda);                \
    }                                                                                                        \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx,    \
                                      T* y, int incy) {                                                      \
        T by = *alpha;                                                                                       \
        return along("cublas" #X "axpy", CALLER, handle, n, x, incx, y, incy,                                \
                     [by](const T& a, T& b) { b += by * a; });                                               \
    }                                                                                                        \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {  \
        return along("cublas" #X "copy", CALLER, handle, n, x, incx, y, incy,                                \
                     [](const T& a, T& b) { b = a; });                                                       \
    }                                                                                                        \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {        \
        T by = *alpha;                                                                                       \
        return along("cublas" #X "scal", CALLER, handle, n, x, incx, x, incx,                                \
                     [by](T& a, const T&) { a *= by; });                                                     \
    }                                                                                                        \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t handle, int n, const T* x, int incx, const T* y,         \
                                     int incy, T* result) {                                                  \
        double sum = 0;                                                                                      \
        auto status = along("cublas" #X "dot", CALLER, handle, n, x, incx, y, incy,                          \
                            [&](T a, T b) { sum += double(a) * b; });                                        \
        *result = T(sum);                                                                                    \
        return status;                                                                                       \
    }                                                                                                        \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {       \
        double sum = 0;                                                                                      \
        auto status = along("cublas" #X "nrm2", CALLER, handle, n, x, incx, x, incx,                         \
                            [&](T a, T) { sum += double(a) * a; });                                          \
        *result = T(std::sqrt(sum));                                                                         \
        return status;                                                                                       \
    }                                                                                                        \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {       \
        double sum = 0;                                                                                      \
        auto status = along("cublas" #X "asum", CALLER, handle, n, x, incx, x, incx,                         \
                            [&](T a, T) { sum += std::fabs(double(a)); });                                   \
        *result = T(sum);                                                                                    \
        return status;                                                                                       \
    }
SIM_CUBLAS(S, float)
SIM_CUBLAS(D, double)
}
