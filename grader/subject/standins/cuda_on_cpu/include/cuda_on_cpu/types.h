// Vectors, dimensions and what CUDA's API returns, by the names and layouts of vector_types.h and
// driver_types.h.
#pragma once
#pragma GCC system_header
#include <cstddef>
#include <cstdint>

#define SIM_VECTORS(T, name, align2, align4)                           \
    struct name##1 { T x; };                                           \
    struct __attribute__((aligned(align2))) name##2 { T x, y; };       \
    struct name##3 { T x, y, z; };                                     \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; }; \
    inline name##1 make_##name##1(T x) { return {x}; }                 \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIM_VECTORS(signed char, char, 2, 4)
SIM_VECTORS(unsigned char, uchar, 2, 4)
SIM_VECTORS(short, short, 4, 8)
SIM_VECTORS(unsigned short, ushort, 4, 8)
SIM_VECTORS(int, int, 8, 16)
SIM_VECTORS(unsigned, uint, 8, 16)
SIM_VECTORS(long, long, 16, 16)
SIM_VECTORS(unsigned long, ulong, 16, 16)
SIM_VECTORS(long long, longlong, 16, 16)
SIM_VECTORS(unsigned long long, ulonglong, 16, 16)
SIM_VECTORS(float, float, 8, 16)
SIM_VECTORS(double, double, 16, 16)
#undef SIM_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 of) : x(of.x), y(of.y), z(of.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// Name, number and what cudaGetErrorString says of it (driver_types.h of CUDA 13).
// clang-format off
#define SIM_ERRORS(of)                                                                     \
    of(cudaSuccess, 0, "no error")                                                         \
    of(cudaErrorInvalidValue, 1, "invalid argument")                                       \
    of(cudaErrorMemoryAllocation, 2, "out of memory")                                      \
    of(cudaErrorInitializationError, 3, "initialization error")                            \
    of(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                 \
    of(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                           \
    of(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                \
    of(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                        \
    of(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")           \
    of(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                      \
    of(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                       \
    of(cudaErrorInvalidDevice, 101, "invalid device ordinal")                              \
    of(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                     \
    of(cudaErrorNotReady, 600, "device not ready")                                         \
    of(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")           \
    of(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")      \
    of(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")             \
    of(cudaErrorAssert, 710, "device-side assert triggered")                               \
    of(cudaErrorMisalignedAddress, 716, "misaligned address")                              \
    of(cudaErrorLaunchFailure, 719, "unspecified launch failure")                          \
    of(cudaErrorNotSupported, 801, "operation not supported")                              \
    of(cudaErrorUnknown, 999, "unknown error")
// clang-format on

#define SIM_ENUM(name, number, text) name = number,
enum cudaError { SIM_ERRORS(SIM_ENUM) };
#undef SIM_ENUM
typedef cudaError cudaError_t;

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef unsigned long long cudaTextureObject_t;
