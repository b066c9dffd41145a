// Runs the threads of a grid one after another, in any order, on fibers that can wait for each other.
#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "block.h"
#include "order.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace sim {

bool inside = false;
Settings settings;
Grid grid;

namespace {

constexpr std::size_t stack_bytes = 128 << 10, guard_bytes = 64 << 10, page_bytes = 4 << 10;

std::vector<Fiber*> fibers, idle;
std::vector<std::unique_ptr<Block>> places;

[[gnu::noinline]] void back_to_hub(Fiber* from) {
    if (!_setjmp(from->state)) _longjmp(grid.hub, 1);
}

void work() {
    for (;;) {
        grid.body(grid.argument);
        Thread* thread = grid.current;
        thread->ended = true;
        idle.push_back(thread->fiber);
        back_to_hub(thread->fiber);
    }
}

/// Behind bytes that nobody may touch; false if there is no memory for its stack.
///
/// A page more for each, and a different place within it: stacks that lie a power of two apart compete for
/// the same few lines of every cache, and all threads of a block use theirs in turn.
bool add_fiber() {
    constexpr std::size_t room = stack_bytes + page_bytes, step = 512;
    void* at = mmap(nullptr, guard_bytes + room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(static_cast<char*>(at) + guard_bytes, room, PROT_READ | PROT_WRITE))
        return false;
    auto* fiber = new Fiber;
    fiber->stack = std::uintptr_t(at) + guard_bytes + fibers.size() * step % page_bytes;
    fibers.push_back(fiber);
    idle.push_back(fiber);
    return true;
}

/// Run a thread until it ends, waits or gives way.
[[gnu::noinline]] void go_on(Thread* thread) {
    grid.current = thread;
    blockIdx = thread->block->index;
    threadIdx = thread->place;
    if (!thread->fiber) {
        if (idle.empty() && !add_fiber())
            return give_up(cudaErrorMemoryAllocation, "no_memory",
                           "there is no memory for one more thread's stack", {});
        thread->fiber = idle.back();
        idle.pop_back();
    }
    Fiber* fiber = thread->fiber;
    if (_setjmp(grid.hub)) return;
    if (fiber->begun) _longjmp(fiber->state, 1);
    fiber->begun = true;
    getcontext(&fiber->start);
    fiber->start.uc_stack.ss_sp = reinterpret_cast<void*>(fiber->stack);
    fiber->start.uc_stack.ss_size = stack_bytes;
    fiber->start.uc_link = nullptr;
    makecontext(&fiber->start, work, 0);
    setcontext(&fiber->start);
}

/// The numbers of the blocks in the order in which they begin.
class Coming {
 public:
    explicit Coming(std::uint64_t blocks) : blocks(blocks) {
        if (settings.order != Order::shuffled) return;
        shuffled.resize(blocks);
        for (std::uint64_t i = 0; i < blocks; i++) shuffled[i] = i;
        settings.arrange(shuffled);
    }
    bool any() const { return begun < blocks; }
    std::uint64_t next() {
        std::uint64_t i = begun++;
        return settings.order == Order::shuffled   ? shuffled[i]
               : settings.order == Order::reversed ? blocks - 1 - i
                                                   : i;
    }

 private:
    std::uint64_t blocks, begun = 0;
    std::vector<std::uint64_t> shuffled;
};

/// Run all blocks, several at a time only where threads are interrupted.
void run_grid(std::size_t dynamic_bytes) {
    Coming coming(std::uint64_t(gridDim.x) * gridDim.y * gridDim.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    bool interrupts = settings.order == Order::shuffled;
    std::size_t fitting =
        interrupts ? std::min(blocks_per_multiprocessor, threads_per_multiprocessor / threads) : 1;
    while (places.size() < fitting) places.push_back(std::make_unique<Block>());
    std::vector<Block*> resident, free;
    for (std::size_t i = fitting; i-- > 0;) free.push_back(places[i].get());
    std::vector<Thread*> round;
    while (!grid.given_up) {
        for (; !free.empty() && coming.any(); free.pop_back()) {
            free.back()->begin(coming.next(), dynamic_bytes);
            resident.push_back(free.back());
        }
        if (resident.empty()) return;
        round.clear();
        for (Block* block : resident) {
            round.insert(round.end(), block->runnable.begin(), block->runnable.end());
            block->runnable.clear();
        }
        settings.arrange(round);
        for (std::size_t i = 0; i < round.size() && !grid.given_up; i++) go_on(round[i]);
        for (Block* block : resident)
            if (!grid.given_up && block->runnable.empty() && !block->waiting.empty()) block->release();
        auto ended = std::stable_partition(resident.begin(), resident.end(), [](const Block* block) {
            return !block->runnable.empty() || !block->waiting.empty();
        });
        free.insert(free.end(), ended, resident.end());
        resident.erase(ended, resident.end());
    }
}

}  // namespace

void park(std::vector<Thread*>& queue) {
    Thread* thread = grid.current;
    queue.push_back(thread);
    back_to_hub(thread->fiber);
}

void give_up(cudaError_t error, const char* fault, const std::string& what, const Place& where) {
    stay(error);
    report(fault, what, where, true);
    grid.given_up = true;
}

void abandon() {
    grid.given_up = true;
    _longjmp(grid.hub, 1);
}

bool on_stack(std::uintptr_t address, std::size_t bytes) {
    std::uintptr_t begin = grid.current->fiber->stack;
    return address >= begin && address + bytes <= begin + stack_bytes;
}

Running running() { return {grid.kernel, blockIdx, threadIdx}; }

void give_way() {
    if (settings.order != Order::shuffled || grid.pause-- > 0) return;
    grid.pause = unsigned(settings.draw(between_pauses));
    park(grid.current->block->runnable);
}

void Launch::run(void (*thread)(void*), void* of) const {
    if (standing() != cudaSuccess) return;
    gridDim = grid;
    blockDim = block;
    auto refuse = [&](cudaError_t error, const std::string& why) {
        noted(error);
        report("refused_launch", std::string(kernel) + ": " + why, {file, line}, true);
    };
    const char* axes = "xyz";
    const unsigned sizes[2][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
    for (int of_block = 0; of_block < 2; of_block++)
        for (int axis = 0; axis < 3; axis++) {
            unsigned size = sizes[of_block][axis], limit = (of_block ? block_limits : grid_limits)[axis];
            if (size >= 1 && size <= limit) continue;
            return refuse(cudaErrorInvalidConfiguration,
                          std::string("the ") + (of_block ? "block " : "grid ") +
                              text(of_block ? block : grid) + " has size " + std::to_string(size) + " in " +
                              axes[axis] + ", allowed are 1 to " + std::to_string(limit));
        }
    std::uint64_t threads = std::uint64_t(block.x) * block.y * block.z;
    if (threads > threads_per_block)
        return refuse(
            cudaErrorInvalidConfiguration,
            std::to_string(threads) + " threads per block, allowed are " + std::to_string(threads_per_block));
    if (dynamic_bytes > shared_limit())
        return refuse(cudaErrorInvalidValue, std::to_string(dynamic_bytes) +
                                                 " dynamic bytes of shared memory per block, allowed are " +
                                                 std::to_string(shared_limit()));
    record_launch(*this);
    sim::grid.kernel = kernel;
    sim::grid.body = thread;
    sim::grid.argument = of;
    sim::grid.given_up = false;
    inside = true;
    run_grid(dynamic_bytes);
    inside = false;
    if (!sim::grid.given_up) return;
    // What ran on them is never gone on with.
    idle = fibers;
    for (Fiber* fiber : fibers) fiber->begun = false;
}

}  // namespace sim

void __trap(const char* file, int line) {
    sim::fail(cudaErrorLaunchFailure, "trap", "__trap() was called", {file, line});
}

extern "C" {

/// Run blocks and threads `forward`, `reversed` or `shuffled` from now on; 0, or -1 for any other order.
int sim_order(const char* name, std::uint64_t seed) { return sim::settings.set(name, seed) ? 0 : -1; }
}
