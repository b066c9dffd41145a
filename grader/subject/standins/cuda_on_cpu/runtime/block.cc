// Where the threads of a block wait for each other, and what they bring there and take from it.
#include "block.h"

#include <algorithm>

namespace sim {
namespace {

std::size_t opted_in = shared_bytes_per_block;

uint3 unrolled(std::uint64_t number, dim3 of) {
    return {unsigned(number % of.x), unsigned(number / of.x % of.y), unsigned(number / of.x / of.y)};
}

/// What each takes along from where all have come.
void answer(const std::vector<Thread*>& came) {
    std::uint64_t votes = 0, count = 0;
    for (Thread* thread : came) {
        count += thread->value != 0;
        votes |= std::uint64_t(thread->value != 0) << thread->lane();
    }
    for (Thread* thread : came) {
        switch (thread->call.meeting) {
            case Meeting::barrier: break;
            case Meeting::count: thread->answer = count; break;
            case Meeting::all: thread->answer = count == came.size(); break;
            case Meeting::any: thread->answer = count > 0; break;
            case Meeting::ballot: thread->answer = votes; break;
            case Meeting::exchange:
                thread->answer = thread->value;
                for (Thread* other : came)
                    if (int(other->lane()) == thread->source) thread->answer = other->value;
        }
    }
}

/// Whom a report is to name.
void name(const Thread& thread) {
    blockIdx = thread.block->index;
    threadIdx = thread.place;
}

}  // namespace

std::string text(uint3 of) {
    return "(" + std::to_string(of.x) + ", " + std::to_string(of.y) + ", " + std::to_string(of.z) + ")";
}

void Block::begin(std::uint64_t at, std::size_t dynamic_bytes) {
    index = unrolled(at, gridDim);
    unsigned count = blockDim.x * blockDim.y * blockDim.z;
    threads.clear();
    threads.reserve(count);
    runnable.clear();
    waiting.clear();
    for (unsigned i = 0; i < count; i++) {
        threads.push_back({this, i, unrolled(i, blockDim)});
        runnable.push_back(&threads.back());
    }
    static_bytes = 0;
    for (auto& array : room.arrays) array.present = false;
    if (!room.dynamic) room.dynamic = reserve(shared_bytes_opted_in, Kind::dynamic_shared, "a launch");
    if (!room.dynamic)
        return give_up(cudaErrorMemoryAllocation, "no_memory", "there is no memory to share in a block", {});
    room.dynamic->end = room.dynamic->begin + dynamic_bytes;
    memset(reinterpret_cast<void*>(room.dynamic->begin), poison, dynamic_bytes);
}

std::size_t Block::awaited_by(const Thread& leader) const {
    return std::count_if(threads.begin(), threads.end(),
                         [&](const Thread& t) { return !t.ended && leader.awaits(t); });
}

void Block::release() {
    std::vector<Thread*> left, still;
    left.swap(waiting);
    while (!left.empty()) {
        const Thread leader = *left[0];
        std::vector<Thread*> came, others;
        for (Thread* thread : left) (thread->meets(leader) ? came : others).push_back(thread);
        bool complete = came.size() == awaited_by(leader);
        if (complete) answer(came);
        // Hardware waits for those that are left, the guide wants all of them.
        if (complete && !leader.call.mask && came.size() < threads.size()) {
            name(leader);
            report("ended_before_barrier",
                   std::string(leader.call.name) +
                       "() is reached only by the threads that have not returned before",
                   {leader.call.file, leader.call.line}, false);
        }
        auto& to = complete ? runnable : still;
        to.insert(to.end(), came.begin(), came.end());
        left.swap(others);
    }
    waiting.swap(still);
    std::sort(runnable.begin(), runnable.end(), [](Thread* a, Thread* b) { return a->number < b->number; });
    if (runnable.empty()) stuck();
}

void Block::stuck() {
    const Thread& first = *waiting[0];
    auto came =
        std::count_if(waiting.begin(), waiting.end(), [&](Thread* thread) { return thread->meets(first); });
    for (const Thread& thread : threads) {
        if (thread.ended || !first.awaits(thread) || thread.meets(first)) continue;
        name(first);
        return give_up(cudaErrorLaunchFailure, "divergent_barrier",
                       std::string(first.call.name) + "() is reached by " + std::to_string(came) + " of " +
                           std::to_string(awaited_by(first)) + " threads, and never by thread " +
                           text(thread.place) + ", which waits at " + thread.call.name + "() in line " +
                           std::to_string(thread.call.line),
                       {first.call.file, first.call.line});
    }
}

std::size_t shared_limit() { return opted_in; }

cudaError_t opt_in_to_shared(int bytes) {
    if (bytes < 0 || std::size_t(bytes) > shared_bytes_opted_in) return noted(cudaErrorInvalidValue);
    opted_in = std::max(opted_in, std::size_t(bytes));
    return standing();
}

std::uint64_t meet(const Call& call, std::uint64_t value, int source) {
    Thread* me = grid.current;
    if (call.mask && !(call.mask >> me->lane() & 1))
        fail(cudaErrorLaunchFailure, "divergent_barrier",
             std::string(call.name) + "() is called by lane " + std::to_string(me->lane()) +
                 ", which its mask does not name",
             {call.file, call.line});
    me->call = call;
    me->value = value;
    me->source = source;
    park(me->block->waiting);
    return grid.current->answer;
}

int lane() { return int(grid.current->lane()); }

unsigned active_lanes() {
    unsigned mask = 0;
    for (const Thread& thread : grid.current->block->threads)
        if (!thread.ended && thread.warp() == grid.current->warp()) mask |= 1u << thread.lane();
    return mask;
}

void* shared(const void* declaration, std::size_t bytes, const char* name) {
    Block& block = *grid.current->block;
    auto& arrays = block.room.arrays;
    auto found =
        std::find_if(arrays.begin(), arrays.end(), [&](auto& a) { return a.declaration == declaration; });
    if (found == arrays.end()) {
        Allocation* memory = reserve(bytes, Kind::shared, name);
        if (!memory)
            fail(cudaErrorMemoryAllocation, "no_memory", "there is no memory to share in a block", {});
        arrays.push_back({declaration, memory, false});
        found = arrays.end() - 1;
    }
    if (!found->present) {
        found->present = true;
        block.static_bytes += bytes;
        std::size_t dynamic_bytes = block.room.dynamic->end - block.room.dynamic->begin;
        record_shared(block.static_bytes + dynamic_bytes);
        if (block.static_bytes > shared_bytes_per_block || block.static_bytes + dynamic_bytes > opted_in) {
            noted(cudaErrorInvalidValue);
            report("refused_launch",
                   std::to_string(block.static_bytes) + " static and " + std::to_string(dynamic_bytes) +
                       " dynamic bytes of shared memory per block, allowed are " + std::to_string(opted_in) +
                       " together",
                   place_of(__builtin_return_address(0)), true);
            abandon();
        }
        memset(reinterpret_cast<void*>(found->memory->begin), poison, bytes);
    }
    return reinterpret_cast<void*>(found->memory->begin);
}

void* dynamic_shared() { return reinterpret_cast<void*>(grid.current->block->room.dynamic->begin); }

}  // namespace sim
