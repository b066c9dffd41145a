// What the compiler calls before loads and stores (-fsanitize=thread), and where it sees one go wrong
// (bounds, alignment).
#include <assert.h>
#include <elf.h>
#include <link.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>

#include "device.h"

namespace sim {
namespace {

/// Where the program's own variables lie: constants, tables, and those declared with __device__.
struct Image {
    struct Range {
        std::uintptr_t begin, end;
    };
    std::vector<Range> ranges;

    Image() {
        dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* of) {
                std::vector<Range> found;
                bool ours = false;
                for (int i = 0; i < object->dlpi_phnum; i++) {
                    const auto& header = object->dlpi_phdr[i];
                    if (header.p_type != PT_LOAD) continue;
                    std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
                    found.push_back({begin, begin + header.p_memsz});
                    ours |= std::uintptr_t(&threadIdx) - begin < header.p_memsz;
                }
                if (ours) *static_cast<std::vector<Range>*>(of) = found;
                return int(ours);
            },
            &ranges);
    }
    bool holds(std::uintptr_t address, std::size_t bytes) const {
        for (const Range& range : ranges)
            if (address >= range.begin && address + bytes <= range.end) return true;
        return false;
    }
};

const Image& image() {
    static const Image one;
    return one;
}

std::string count(std::size_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string of(const Allocation& memory) {
    std::string bytes = count(memory.end - memory.begin, "byte");
    switch (memory.kind) {
        case Kind::shared: return "the " + bytes + " of the shared array " + memory.call;
        case Kind::dynamic_shared:
            return "the " + bytes + " of dynamic shared memory that the launch asked for";
        default: return "the " + bytes + " that " + memory.call + " gave";
    }
}

std::string where_it_lies(std::uintptr_t address, std::size_t bytes) {
    if (address < 4096) return "at a null pointer";
    if (!in_arena(address)) return "in memory of the host";
    const Allocation* memory = owner(address);
    if (memory && memory->kind == Kind::freed)
        return std::string("in memory that was freed, from ") + memory->call;
    const Allocation* next = owner(address + bytes + (64 << 10) - 1);
    if (!memory && next && next->kind != Kind::freed && next->begin > address)
        return count(next->begin - address, "byte") + " before " + of(*next);
    if (!memory) memory = before(address);
    if (!memory) return "outside of all memory of the device";
    if (address < memory->end) return "across the end of " + of(*memory);
    return count(address - memory->end, "byte") + " behind the end of " + of(*memory);
}

std::string access(std::uintptr_t address, std::size_t bytes, bool store) {
    return std::string(store ? "store of " : "load of ") + count(bytes, "byte") + " " +
           where_it_lies(address, bytes);
}

[[gnu::cold, gnu::noinline]] void refuse(std::uintptr_t address, std::size_t bytes, bool store,
                                         void* caller) {
    if (inside)
        fail(cudaErrorIllegalAddress, "illegal_access", access(address, bytes, store), place_of(caller));
    report("host_access",
           std::string(store ? "store" : "load") + " by the host in memory of the device, from " +
               owner(address)->call,
           place_of(caller), true);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);  // what it meets with a GPU
}

inline void check(std::uintptr_t address, std::size_t bytes, bool store, void* caller) {
    const Allocation* memory = owner(address);
    if (!inside) {
        if (memory && memory->kind == Kind::device) refuse(address, bytes, store, caller);
        return;
    }
    bool allowed =
        memory ? memory->holds(address, bytes) : on_stack(address, bytes) || image().holds(address, bytes);
    if (!allowed) return refuse(address, bytes, store, caller);
    if (memory) give_way();
}

struct SourceLocation {
    const char* file;
    std::uint32_t line, column;
};
struct TypeDescriptor {
    std::uint16_t kind, info;
    char name[1];
};
struct OutOfBounds {
    SourceLocation where;
    const TypeDescriptor *array, *index;
};
struct TypeMismatch {
    SourceLocation where;
    const TypeDescriptor* type;
    unsigned char log_alignment, kind;
};

}  // namespace

void touch(const volatile void* address, std::size_t bytes, void* caller) {
    check(std::uintptr_t(address), bytes, true, caller);
}

}  // namespace sim

#define HERE __builtin_return_address(0)
#define SIM_ACCESS(bytes)                                                                        \
    void __tsan_read##bytes(std::uintptr_t address) { sim::check(address, bytes, false, HERE); } \
    void __tsan_write##bytes(std::uintptr_t address) { sim::check(address, bytes, true, HERE); }

// std::atomic of the host, and what guards static variables.
#define SIM_RMW(bits, T, name)                                          \
    T __tsan_atomic##bits##_##name(volatile T* address, T value, int) { \
        return __atomic_##name(address, value, __ATOMIC_SEQ_CST);       \
    }
#define SIM_STD_ATOMIC(bits, T)                                                                              \
    SIM_RMW(bits, T, fetch_add)                                                                              \
    SIM_RMW(bits, T, fetch_sub)                                                                              \
    SIM_RMW(bits, T, fetch_and)                                                                              \
    SIM_RMW(bits, T, fetch_or)                                                                               \
    SIM_RMW(bits, T, fetch_xor)                                                                              \
    SIM_RMW(bits, T, fetch_nand)                                                                             \
    T __tsan_atomic##bits##_exchange(volatile T* address, T value, int) {                                    \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                                        \
    T __tsan_atomic##bits##_load(const volatile T* address, int) {                                           \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                        \
    void __tsan_atomic##bits##_store(volatile T* address, T value, int) {                                    \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int, int) { \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                                \
    }                                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int, int) {   \
        return __atomic_compare_exchange_n(address, expected, value, true, __ATOMIC_SEQ_CST,                 \
                                           __ATOMIC_SEQ_CST);                                                \
    }

extern "C" {

SIM_ACCESS(1)
SIM_ACCESS(2)
SIM_ACCESS(4)
SIM_ACCESS(8)
SIM_ACCESS(16)
void __tsan_read_range(std::uintptr_t address, std::size_t bytes) { sim::check(address, bytes, false, HERE); }
void __tsan_write_range(std::uintptr_t address, std::size_t bytes) { sim::check(address, bytes, true, HERE); }
SIM_STD_ATOMIC(8, std::uint8_t)
SIM_STD_ATOMIC(16, std::uint16_t)
SIM_STD_ATOMIC(32, std::uint32_t)
SIM_STD_ATOMIC(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void*, void*) {}

// An index beyond the array's own dimension may still be within the whole: a stray access is seen as such.
void __ubsan_handle_out_of_bounds(sim::OutOfBounds* of, std::uintptr_t index) {
    sim::report("out_of_bounds",
                "index " + std::to_string(std::intptr_t(index)) + " is outside of an array of type " +
                    of->array->name,
                {of->where.file, int(of->where.line)}, false);
}

void __ubsan_handle_type_mismatch_v1(sim::TypeMismatch* of, std::uintptr_t address) {
    if (!sim::inside) return;  // a CPU does not mind
    sim::fail(cudaErrorMisalignedAddress, "misaligned_access",
              std::string("an address that is no multiple of ") + std::to_string(1 << of->log_alignment) +
                  " is used for " + of->type->name,
              {of->where.file, int(of->where.line)});
    (void)address;
}

void __wrap___assert_fail(const char* text, const char* file, unsigned line, const char* function) {
    if (!sim::inside) __assert_fail(text, file, line, function);
    sim::fail(cudaErrorAssert, "assert", std::string("assertion `") + text + "' failed", {file, int(line)});
}

// Linked in the place of the plain ones, which are these only for the runtime itself.
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
    if (bytes)
        sim::check(std::uintptr_t(from), bytes, false, HERE),
            sim::check(std::uintptr_t(to), bytes, true, HERE);
    return memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
    if (bytes)
        sim::check(std::uintptr_t(from), bytes, false, HERE),
            sim::check(std::uintptr_t(to), bytes, true, HERE);
    return memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
    if (bytes) sim::check(std::uintptr_t(to), bytes, true, HERE);
    return memset(to, value, bytes);
}
void* __wrap_malloc(std::size_t bytes) {
    if (!sim::inside) return malloc(bytes);
    sim::Allocation* made = sim::reserve(bytes, sim::Kind::heap, "malloc");
    return made ? reinterpret_cast<void*>(made->begin) : nullptr;
}
void __wrap_free(void* address) {
    sim::Allocation* of = sim::owner(std::uintptr_t(address));
    if (!of) return free(address);
    if (of->kind == sim::Kind::heap) sim::give_back(of);
}
}
