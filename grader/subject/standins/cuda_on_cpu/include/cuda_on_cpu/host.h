// The runtime API that host code calls, with CUDA's signatures.
#pragma once
#pragma GCC system_header
#include "types.h"

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76
};
enum {
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4,
    cudaMemAttachGlobal = 1,
    cudaMemAttachHost = 2,
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaDeviceScheduleAuto = 0,
    cudaDeviceMapHost = 8
};

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin,
        totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int l2CacheSize, memoryBusWidth, concurrentKernels, asyncEngineCount, unifiedAddressing, managedMemory;
    int canMapHostMemory, integrated, ECCEnabled, pciBusID, pciDeviceID;
};

extern "C" {
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemset(void* address, int value, std::size_t bytes);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaFree(void* address);
cudaError_t cudaFreeHost(void* address);

cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to);
}

namespace sim {
enum class Reach { device, everywhere };
cudaError_t allocate(void** address, std::size_t bytes, Reach reach, const char* call);
cudaError_t release(void* address, const char* call);
cudaError_t copy_symbol(void* symbol, std::size_t size, std::size_t offset, void* other, std::size_t bytes,
                        bool to_it);
cudaError_t opt_in_to_shared(int bytes);
/// What a call that does nothing here returns: the error that no later call gets rid of, if there is one.
cudaError_t standing();
}  // namespace sim

template <class T>
cudaError_t cudaMalloc(T** address, std::size_t bytes) {
    return sim::allocate((void**)address, bytes, sim::Reach::device, "cudaMalloc");
}
template <class T>
cudaError_t cudaMallocAsync(T** address, std::size_t bytes, cudaStream_t) {
    return sim::allocate((void**)address, bytes, sim::Reach::device, "cudaMallocAsync");
}
template <class T>
cudaError_t cudaMallocManaged(T** address, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
    return sim::allocate((void**)address, bytes, sim::Reach::everywhere, "cudaMallocManaged");
}
template <class T>
cudaError_t cudaMallocHost(T** address, std::size_t bytes, unsigned = 0) {
    return sim::allocate((void**)address, bytes, sim::Reach::everywhere, "cudaMallocHost");
}
template <class T>
cudaError_t cudaHostAlloc(T** address, std::size_t bytes, unsigned) {
    return sim::allocate((void**)address, bytes, sim::Reach::everywhere, "cudaHostAlloc");
}
template <class T>
cudaError_t cudaMallocPitch(T** address, std::size_t* pitch, std::size_t width, std::size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return sim::allocate((void**)address, *pitch * height, sim::Reach::device, "cudaMallocPitch");
}
inline cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
    return sim::release(address, "cudaFreeAsync");
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    *device = static_cast<T*>(host);
    return sim::standing();
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(address, value, bytes);
}
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    return sim::copy_symbol((void*)&symbol, sizeof(T), offset, (void*)from, bytes, true);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    return sim::copy_symbol((void*)&symbol, sizeof(T), offset, to, bytes, false);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
    *address = (void*)&symbol;
    return sim::standing();
}

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return sim::standing(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return sim::standing(); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return sim::standing(); }
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) {
    return sim::standing();
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return sim::standing(); }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return sim::standing(); }
inline cudaError_t cudaProfilerStart() { return sim::standing(); }
inline cudaError_t cudaProfilerStop() { return sim::standing(); }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, sim::standing(); }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, sim::standing(); }

template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
    return sim::standing();
}
/// Holds for all kernels: which one is launched is known here by its name alone.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute attribute, int value) {
    return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? sim::opt_in_to_shared(value)
                                                                    : sim::standing();
}
