// Threads of a block that has begun, and the memory that they share.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstring>
#include <string>
#include <vector>

#include "device.h"

namespace sim {

struct Block;
struct Fiber;

/// A thread and, while it waits, for what.
struct Thread {
    Block* block;
    unsigned number;
    uint3 place;
    Fiber* fiber = nullptr;
    bool ended = false;
    Call call = {};
    std::uint64_t value = 0, answer = 0;
    int source = 0;

    unsigned warp() const { return number / warpSize; }
    unsigned lane() const { return number % warpSize; }
    bool meets(const Thread& other) const {
        return call.line == other.call.line && !strcmp(call.name, other.call.name) &&
               call.mask == other.call.mask && (!call.mask || warp() == other.warp()) &&
               !strcmp(call.file, other.call.file);
    }
    bool awaits(const Thread& other) const {
        return !call.mask || (warp() == other.warp() && call.mask >> other.lane() & 1);
    }
};

/// What a block's threads share; the next block in the same place gets the same memory.
struct Room {
    struct Array {
        const void* declaration;
        Allocation* memory;
        bool present;
    };
    std::vector<Array> arrays;
    Allocation* dynamic = nullptr;
};

/// A block that has begun; several take turns in the same place.
struct Block {
    uint3 index;
    std::vector<Thread> threads;
    std::vector<Thread*> runnable, waiting;
    Room room;
    std::size_t static_bytes = 0;

    /// Become the block of this number.
    void begin(std::uint64_t number, std::size_t dynamic_bytes);
    /// Let those go on who have all come to where they wait for each other.
    void release();

 private:
    std::size_t awaited_by(const Thread& leader) const;
    /// Give up, since nobody can go on.
    void stuck();
};

/// A stack for one thread after another.
struct Fiber {
    jmp_buf state;
    ucontext_t start;
    std::uintptr_t stack;
    bool begun = false;
};

/// The launch that runs.
struct Grid {
    const char* kernel;
    void (*body)(void*);
    void* argument;
    Thread* current;
    unsigned pause = 0;
    jmp_buf hub;
    bool given_up;
};

extern Grid grid;

/// Give up the launch from outside of its threads, in the name of one of them.
void give_up(cudaError_t error, const char* fault, const std::string& what, const Place& where);
/// Called by the thread that runs: let others go on until it is this one's turn again.
void park(std::vector<Thread*>& queue);
std::string text(uint3 of);

}  // namespace sim
