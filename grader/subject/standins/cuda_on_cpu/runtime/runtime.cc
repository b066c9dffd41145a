// The runtime API: device memory, copies, errors, and streams in which everything happens at once.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "device.h"

struct CUstream_st {};
struct CUevent_st {
    double ms = -1;
};

namespace sim {
namespace {

cudaError_t last = cudaSuccess, sticky = cudaSuccess;

/// A call that is refused: the reason is written down as well.
cudaError_t refused(cudaError_t error, const std::string& why, void* caller) {
    report("refused_call", why, place_of(caller), false);
    return noted(error);
}

std::string bytes_of(const char* call, std::size_t bytes) {
    return std::string(call) + " of " + std::to_string(bytes) + " bytes ";
}

/// Why so many bytes there cannot be what the direction says of them, or nullptr if they can.
const char* wrong(const void* address, std::size_t bytes, bool on_device) {
    const Allocation* memory = owner(std::uintptr_t(address));
    if (memory && memory->kind == Kind::freed) return "memory that was freed";
    if (!on_device)
        return memory && memory->kind == Kind::device ? "memory of the device as if it were the host's"
                                                      : nullptr;
    if (!memory) return address ? "memory of the host as if it were the device's" : "a null pointer";
    return memory->holds(std::uintptr_t(address), bytes) ? nullptr : "more than was allocated there";
}

bool is_device(const void* address) { return in_arena(std::uintptr_t(address)); }

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const char* call,
                 void* caller) {
    if (sticky) return sticky;
    if (!bytes) return cudaSuccess;
    if (unsigned(kind) > cudaMemcpyDefault) return noted(cudaErrorInvalidMemcpyDirection);
    bool guess = kind == cudaMemcpyDefault;
    bool to_device =
        guess ? is_device(to) : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device =
        guess ? is_device(from) : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (const char* why = wrong(to, bytes, to_device))
        return refused(cudaErrorInvalidValue, bytes_of(call, bytes) + "to " + why, caller);
    if (const char* why = wrong(from, bytes, from_device))
        return refused(cudaErrorInvalidValue, bytes_of(call, bytes) + "from " + why, caller);
    memmove(to, from, bytes);
    record_copy(from_device, to_device, bytes);
    return cudaSuccess;
}

}  // namespace

cudaError_t noted(cudaError_t error) {
    if (error) last = error;
    return error;
}

void stay(cudaError_t error) { sticky = last = error; }

cudaError_t standing() { return sticky; }

cudaError_t allocate(void** address, std::size_t bytes, Reach reach, const char* call) {
    if (sticky) return sticky;
    if (!address) return noted(cudaErrorInvalidValue);
    record_call(call, bytes);
    *address = nullptr;
    if (!bytes) return cudaSuccess;
    Allocation* made = reserve(bytes, reach == Reach::device ? Kind::device : Kind::everywhere, call);
    if (!made) return noted(cudaErrorMemoryAllocation);
    *address = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
}

cudaError_t release(void* address, const char* call) {
    if (sticky) return sticky;
    Allocation* of = address ? owner(std::uintptr_t(address)) : nullptr;
    record_call(call, of ? of->end - of->begin : 0);
    if (!address) return cudaSuccess;
    bool whole = of && of->begin == std::uintptr_t(address) &&
                 (of->kind == Kind::device || of->kind == Kind::everywhere);
    if (!whole)
        return refused(
            cudaErrorInvalidValue,
            std::string(call) + (of && of->kind == Kind::freed ? " of memory that was freed already"
                                                               : " of what no allocation gave"),
            __builtin_return_address(0));
    give_back(of);
    return cudaSuccess;
}

cudaError_t copy_symbol(void* symbol, std::size_t size, std::size_t offset, void* other, std::size_t bytes,
                        bool to_it) {
    if (sticky) return sticky;
    if (offset > size || bytes > size - offset)
        return refused(
            cudaErrorInvalidValue,
            bytes_of("a copy", bytes) + "to or from a symbol of " + std::to_string(size) + " bytes",
            __builtin_return_address(0));
    char* at = static_cast<char*>(symbol) + offset;
    to_it ? memmove(at, other, bytes) : memmove(other, at, bytes);
    record_copy(!to_it, to_it, bytes);
    return cudaSuccess;
}

}  // namespace sim

using namespace sim;
#define CALLER __builtin_return_address(0)

extern "C" {

#define SIM_TEXT(name, number, text) \
    case name: return text;
#define SIM_NAME(name, number, text) \
    case name: return #name;
const char* cudaGetErrorString(cudaError_t error) {
    switch (error) { SIM_ERRORS(SIM_TEXT) }
    return "unrecognized error code";
}
const char* cudaGetErrorName(cudaError_t error) {
    switch (error) { SIM_ERRORS(SIM_NAME) }
    return "unrecognized error code";
}

cudaError_t cudaGetLastError() {
    cudaError_t error = last;
    last = sticky;
    return error;
}
cudaError_t cudaPeekAtLastError() { return last; }

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return copy(to, from, bytes, kind, "cudaMemcpy", CALLER);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return noted(cudaErrorInvalidPitchValue);
    for (std::size_t row = 0; row < height; row++)
        if (cudaError_t error =
                copy(static_cast<char*>(to) + row * to_pitch,
                     static_cast<const char*>(from) + row * from_pitch, width, kind, "cudaMemcpy2D", CALLER))
            return error;
    return standing();
}
cudaError_t cudaMemset(void* address, int value, std::size_t bytes) {
    if (standing() || !bytes) return standing();
    if (const char* why = wrong(address, bytes, true))
        return refused(cudaErrorInvalidValue, bytes_of("cudaMemset", bytes) + "in " + why, CALLER);
    memset(address, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *total = device_bytes;
    *free = device_bytes - bytes_in_use();
    return standing();
}
cudaError_t cudaFree(void* address) { return release(address, "cudaFree"); }
cudaError_t cudaFreeHost(void* address) { return release(address, "cudaFreeHost"); }

cudaError_t cudaDeviceSynchronize() { return standing(); }
cudaError_t cudaDeviceReset() { return standing(); }
cudaError_t cudaSetDevice(int device) { return device ? noted(cudaErrorInvalidDevice) : standing(); }
cudaError_t cudaGetDevice(int* device) { return *device = 0, standing(); }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, standing(); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* of, int device) {
    if (device) return noted(cudaErrorInvalidDevice);
    memset(of, 0, sizeof *of);
    snprintf(of->name, sizeof of->name, "CPU");
    of->totalGlobalMem = device_bytes;
    of->sharedMemPerBlock = shared_bytes_per_block;
    of->sharedMemPerBlockOptin = shared_bytes_opted_in;
    of->sharedMemPerMultiprocessor = 228 << 10;
    of->totalConstMem = 64 << 10;
    of->regsPerBlock = 65536;
    of->warpSize = warpSize;
    of->maxThreadsPerBlock = int(threads_per_block);
    for (int axis = 0; axis < 3; axis++) {
        of->maxThreadsDim[axis] = int(block_limits[axis]);
        of->maxGridSize[axis] = int(grid_limits[axis]);
    }
    of->major = 9;
    of->multiProcessorCount = 132;
    of->maxThreadsPerMultiProcessor = int(threads_per_multiprocessor);
    of->maxBlocksPerMultiProcessor = int(blocks_per_multiprocessor);
    of->concurrentKernels = of->unifiedAddressing = of->managedMemory = of->canMapHostMemory = 1;
    return standing();
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp of;
    if (cudaError_t error = cudaGetDeviceProperties(&of, device)) return error;
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = of.maxThreadsPerBlock; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = int(of.sharedMemPerBlock); break;
        case cudaDevAttrWarpSize: *value = of.warpSize; break;
        case cudaDevAttrMultiProcessorCount: *value = of.multiProcessorCount; break;
        case cudaDevAttrComputeCapabilityMajor: *value = of.major; break;
        case cudaDevAttrComputeCapabilityMinor: *value = of.minor; break;
        default: return noted(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = new CUstream_st, standing(); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, standing(); }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, standing(); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, standing(); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->ms = double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
    return standing();
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
    if (from->ms < 0 || to->ms < 0) return noted(cudaErrorInvalidResourceHandle);
    *ms = float(to->ms - from->ms);
    return standing();
}
}
