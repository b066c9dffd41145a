// What a kernel is written with: qualifiers, its place in the grid, shared memory, barriers, and how it is
// launched.
#pragma once
#pragma GCC system_header
#include "types.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ __inline__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000

#ifndef SIM_OWN  // to the runtime they are variables
#define SIM_OWN const
#endif
extern SIM_OWN uint3 threadIdx, blockIdx;
extern SIM_OWN dim3 blockDim, gridDim;
constexpr int warpSize = 32;

// Without checks of memory: for our own way into a kernel, which reads the arguments where the host keeps
// them.
#define SIM_PLAIN __attribute__((no_sanitize_thread))
#define SIM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace sim {

enum class Meeting { barrier, count, all, any, ballot, exchange };

struct Call {
    const char* name;
    Meeting meeting;
    unsigned mask;  // lanes of the warp; 0 for all threads of the block
    const char* file;
    int line;
};

/// Wait until all threads that have not ended have made the same call; what `meeting` makes of their values.
/// `source` is the lane whose value an exchange gives.
std::uint64_t meet(const Call& call, std::uint64_t value = 0, int source = 0);

/// Check an access as compiled ones are, for the line that called our caller; others may run before it.
void touch(const volatile void* address, std::size_t bytes, void* caller);

unsigned active_lanes();
int lane();

/// This block's memory for one declaration; poisoned when the first thread of the block comes by.
void* shared(const void* declaration, std::size_t bytes, const char* name);
/// As much as the launch asked for.
void* dynamic_shared();

/// A `__shared__` array that is declared outside of functions: another one in every block.
template <class Element, std::size_t bytes>
struct SharedOfFile {
    const char* name;
    operator Element*() const { return static_cast<Element*>(shared(this, bytes, name)); }
};
template <class Element>
struct DynamicOfFile {
    operator Element*() const { return static_cast<Element*>(dynamic_shared()); }
};

struct Launch {
    const char* kernel;
    dim3 grid, block;
    std::size_t dynamic_bytes;
    const char* file;
    int line;

    Launch(const char* kernel, dim3 grid, dim3 block, std::size_t dynamic_bytes = 0, cudaStream_t = nullptr,
           SIM_HERE)
        : kernel(kernel), grid(grid), block(block), dynamic_bytes(dynamic_bytes), file(file), line(line) {}

    /// What takes the kernel's arguments and runs it; `call` calls the kernel for one thread.
    template <class Kernel>
    auto of(Kernel call) const {
        return [launch = *this, call](auto... arguments) {
            auto thread = [&]() SIM_PLAIN { call(arguments...); };
            launch.run([](void* of) SIM_PLAIN { (*static_cast<decltype(thread)*>(of))(); }, &thread);
        };
    }

 private:
    void run(void (*thread)(void*), void* of) const;
};

}  // namespace sim

inline void __syncthreads(SIM_HERE) { sim::meet({"__syncthreads", sim::Meeting::barrier, 0, file, line}); }
inline int __syncthreads_count(int predicate, SIM_HERE) {
    return int(sim::meet({"__syncthreads_count", sim::Meeting::count, 0, file, line}, predicate != 0));
}
inline int __syncthreads_and(int predicate, SIM_HERE) {
    return int(sim::meet({"__syncthreads_and", sim::Meeting::all, 0, file, line}, predicate != 0));
}
inline int __syncthreads_or(int predicate, SIM_HERE) {
    return int(sim::meet({"__syncthreads_or", sim::Meeting::any, 0, file, line}, predicate != 0));
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
[[noreturn]] void __trap(SIM_HERE);
inline void __nanosleep(unsigned) {}
inline long long clock64() { return 0; }
