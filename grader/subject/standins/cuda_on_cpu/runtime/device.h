// What the parts of the runtime know of each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#define SIM_OWN
#include "cuda_runtime.h"

namespace sim {

// Compute capability 9.0 (CUDA C++ Programming Guide, Technical Specifications per Compute Capability).
constexpr unsigned grid_limits[] = {2147483647, 65535, 65535}, block_limits[] = {1024, 1024, 64};
constexpr unsigned threads_per_block = 1024, threads_per_multiprocessor = 2048,
                   blocks_per_multiprocessor = 32;
constexpr std::size_t shared_bytes_per_block = 48 << 10, shared_bytes_opted_in = 227 << 10;
constexpr std::size_t device_bytes = std::size_t(16) << 30;

constexpr int poison = 0xFF;  // NaN in every floating type, -1 in every signed one

// memory.cc

enum class Kind { device, everywhere, shared, dynamic_shared, heap, freed };

/// Memory of the device; its neighbours are out of bounds.
struct Allocation {
    std::uintptr_t begin, end;
    Kind kind;
    const char* call;
    std::size_t granule, granules;

    bool holds(std::uintptr_t address, std::size_t bytes) const {
        return address >= begin && address <= end && bytes <= end - address && kind != Kind::freed;
    }
};

/// Poisoned; nullptr if there is no room.
Allocation* reserve(std::size_t bytes, Kind kind, const char* call);
void give_back(Allocation*);
/// Whose the address is, or was until it was freed; nullptr outside of the arena and between allocations.
Allocation* owner(std::uintptr_t address);
/// The one that begins nearest before an address of the arena.
Allocation* before(std::uintptr_t address);
bool in_arena(std::uintptr_t address);
std::size_t bytes_in_use();

// schedule.cc

extern bool inside;  // whether a thread of a kernel runs, and not the host
struct Running {
    const char* kernel;
    uint3 block, thread;
};
Running running();
bool on_stack(std::uintptr_t address, std::size_t bytes);
/// Give up the kernel whose thread calls, and all of its threads.
[[noreturn]] void abandon();
/// Let other threads go on here now and then, if the order is one that interrupts.
void give_way();
std::size_t shared_limit();

// report.cc

struct Place {
    std::string file;
    int line = 0;
};
/// Where the program was before it came back to this address.
Place place_of(void* return_address);

/// Write down what went wrong and in which thread.
void report(const char* fault, const std::string& what, const Place& where, bool fatal);
/// The same for a kernel that cannot go on: it is given up, and `error` stays as it does on a GPU.
[[noreturn]] void fail(cudaError_t error, const char* fault, const std::string& what, const Place& where);
void record_launch(const Launch&);
void record_shared(std::size_t bytes);
void record_call(const char* call, std::size_t bytes);
void record_copy(bool from_device, bool to_device, std::size_t bytes);

// runtime.cc

/// Keep an error until somebody asks for it; returns it.
cudaError_t noted(cudaError_t error);
void stay(cudaError_t error);

}  // namespace sim
