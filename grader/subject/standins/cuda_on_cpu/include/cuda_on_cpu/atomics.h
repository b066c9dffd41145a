// Atomic functions (CUDA C++ Programming Guide, Atomic Functions): a thread gives way before one and never
// within.
#pragma once
#pragma GCC system_header
#include "kernel.h"

#define SIM_ATOMIC(name, result)                                     \
    template <class T, class U>                                      \
    SIM_PLAIN __attribute__((noinline)) T name(T* address, U by) {   \
        sim::touch(address, sizeof(T), __builtin_return_address(0)); \
        T old = *address, value = T(by);                             \
        *address = T(result);                                        \
        return old;                                                  \
    }                                                                \
    template <class T, class U>                                      \
    T name##_block(T* address, U by) {                               \
        return name(address, by);                                    \
    }                                                                \
    template <class T, class U>                                      \
    T name##_system(T* address, U by) {                              \
        return name(address, by);                                    \
    }

SIM_ATOMIC(atomicAdd, old + value)
SIM_ATOMIC(atomicSub, old - value)
SIM_ATOMIC(atomicExch, value)
SIM_ATOMIC(atomicMax, old < value ? value : old)
SIM_ATOMIC(atomicMin, value < old ? value : old)
SIM_ATOMIC(atomicAnd, old& value)
SIM_ATOMIC(atomicOr, old | value)
SIM_ATOMIC(atomicXor, old ^ value)
SIM_ATOMIC(atomicInc, old >= value ? T(0) : old + 1)
SIM_ATOMIC(atomicDec, old == T(0) || old > value ? value : old - 1)
#undef SIM_ATOMIC

template <class T, class U, class V>
SIM_PLAIN __attribute__((noinline)) T atomicCAS(T* address, U compare, V by) {
    sim::touch(address, sizeof(T), __builtin_return_address(0));
    T old = *address;
    if (old == T(compare)) *address = T(by);
    return old;
}
