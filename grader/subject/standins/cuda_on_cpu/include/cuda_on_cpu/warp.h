// What the lanes of a warp do together.
#pragma once
#pragma GCC system_header
#include <cstring>

#include "kernel.h"

#define SIM_FULL 0xffffffffu

inline void __syncwarp(unsigned mask = SIM_FULL, SIM_HERE) {
    sim::meet({"__syncwarp", sim::Meeting::barrier, mask, file, line});
}
inline int __all_sync(unsigned mask, int predicate, SIM_HERE) {
    return int(sim::meet({"__all_sync", sim::Meeting::all, mask, file, line}, predicate != 0));
}
inline int __any_sync(unsigned mask, int predicate, SIM_HERE) {
    return int(sim::meet({"__any_sync", sim::Meeting::any, mask, file, line}, predicate != 0));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SIM_HERE) {
    return unsigned(sim::meet({"__ballot_sync", sim::Meeting::ballot, mask, file, line}, predicate != 0));
}
inline unsigned __activemask() { return sim::active_lanes(); }

namespace sim {

template <class T>
T exchange(const Call& call, T value, int source) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = meet(call, bits, source);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

inline int first_of(int width) { return lane() / width * width; }

/// Itself where `of` lies outside of the lane's part of the warp.
inline int within(int of, int width) {
    return of < first_of(width) || of >= first_of(width) + width ? lane() : of;
}

}  // namespace sim

#define SIM_SHUFFLE(name, Operand, lane_of)                                                      \
    template <class T>                                                                           \
    T name(unsigned mask, T value, Operand by, int width = warpSize, SIM_HERE) {                 \
        return sim::exchange({#name, sim::Meeting::exchange, mask, file, line}, value, lane_of); \
    }
SIM_SHUFFLE(__shfl_sync, int, sim::first_of(width) + (by & (width - 1)))
SIM_SHUFFLE(__shfl_up_sync, unsigned, sim::within(sim::lane() - int(by), width))
SIM_SHUFFLE(__shfl_down_sync, unsigned, sim::within(sim::lane() + int(by), width))
SIM_SHUFFLE(__shfl_xor_sync, int, sim::within(sim::lane() ^ by, width))
#undef SIM_SHUFFLE
