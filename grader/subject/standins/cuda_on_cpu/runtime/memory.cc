// The device's memory: a range of addresses of its own, with a hole behind every allocation.
#include <sys/mman.h>

#include <cstring>

#include "device.h"

namespace sim {
namespace {

constexpr std::size_t granule_bits = 16, granule_bytes = 1 << granule_bits;

struct Arena {
    std::uintptr_t begin = 0;
    std::size_t granules = 0, next = 0, in_use = 0;
    Allocation** owners = nullptr;  // by granule

    // Addresses alone cost nothing, and where they are plenty what was freed stays recognisable for long.
    Arena() {
        for (std::size_t bytes = std::size_t(64) << 30; bytes >= std::size_t(1) << 30; bytes /= 2) {
            void* at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (at == MAP_FAILED) continue;
            begin = (std::uintptr_t(at) + granule_bytes - 1) & ~(granule_bytes - 1);
            granules = (bytes >> granule_bits) - 1;
            owners = static_cast<Allocation**>(mmap(nullptr, granules * sizeof(Allocation*),
                                                    PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
            return;
        }
    }
    bool taken(std::size_t granule) const { return owners[granule] && owners[granule]->kind != Kind::freed; }

    /// The first of so many granules that follow each other and are free; `granules` if there are none.
    std::size_t find(std::size_t count) {
        std::size_t run = 0;
        for (std::size_t seen = 0, at = next; seen < granules + count; seen++, at++) {
            if (at == granules) at = run = 0;
            run = taken(at) ? 0 : run + 1;
            if (run == count) return at + 1 - count;
        }
        return granules;
    }
};

Arena& arena() {
    static Arena one;
    return one;
}

}  // namespace

Allocation* reserve(std::size_t bytes, Kind kind, const char* call) {
    Arena& a = arena();
    std::size_t count = bytes / granule_bytes + 2;  // at least one whole granule behind it is nobody's
    if (bytes > device_bytes - a.in_use || count >= a.granules) return nullptr;
    std::size_t first = a.find(count);
    if (first == a.granules) return nullptr;
    void* at = reinterpret_cast<void*>(a.begin + first * granule_bytes);
    if (mprotect(at, bytes ? bytes : 1, PROT_READ | PROT_WRITE)) return nullptr;
    auto* made = new Allocation{std::uintptr_t(at), std::uintptr_t(at) + bytes, kind, call, first, count};
    memset(at, poison, bytes);
    for (std::size_t i = 0; i < count; i++) a.owners[first + i] = i + 1 < count ? made : nullptr;
    a.next = first + count;
    a.in_use += bytes;
    return made;
}

void give_back(Allocation* of) {
    void* at = reinterpret_cast<void*>(of->begin);
    std::size_t bytes = of->end - of->begin;
    madvise(at, bytes ? bytes : 1, MADV_DONTNEED);
    mprotect(at, bytes ? bytes : 1, PROT_NONE);
    arena().in_use -= bytes;
    of->kind = Kind::freed;  // and never deleted: a later access is told whose the memory was
}

bool in_arena(std::uintptr_t address) {
    const Arena& a = arena();
    return (address - a.begin) >> granule_bits < a.granules;
}

Allocation* owner(std::uintptr_t address) {
    const Arena& a = arena();
    std::size_t granule = (address - a.begin) >> granule_bits;
    return granule < a.granules ? a.owners[granule] : nullptr;
}

Allocation* before(std::uintptr_t address) {
    const Arena& a = arena();
    for (std::size_t granule = ((address - a.begin) >> granule_bits) + 1; granule-- > 0;)
        if (a.owners[granule]) return a.owners[granule];
    return nullptr;
}

std::size_t bytes_in_use() { return arena().in_use; }

}  // namespace sim
