// Which of the threads and blocks that could go on does so first.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "device.h"

namespace sim {

enum class Order { forward, reversed, shuffled };

/// Where threads are interrupted: after one to so many accesses.
constexpr unsigned between_pauses = 16;

struct Settings {
    Order order = Order::forward;
    std::uint64_t chance = 0;

    Settings() {
        const char *name = getenv("CUDA_ON_CPU_ORDER"), *seed = getenv("CUDA_ON_CPU_SEED");
        set(name ? name : "", seed ? strtoull(seed, nullptr, 0) : 0);
    }
    bool set(const char* name, std::uint64_t seed) {
        static const char* const names[] = {"forward", "reversed", "shuffled"};
        for (int i = 0; i < 3; i++)
            if (!strcmp(name, names[i])) return order = Order(i), chance = seed, true;
        return false;
    }
    /// SplitMix64.
    std::uint64_t draw(std::uint64_t below) {
        std::uint64_t x = chance += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return (x ^ x >> 31) % below;
    }
    template <class T>
    void arrange(std::vector<T>& those) {
        if (order == Order::reversed) std::reverse(those.begin(), those.end());
        if (order != Order::shuffled) return;
        for (std::size_t i = those.size(); i > 1; i--) std::swap(those[i - 1], those[draw(i)]);
    }
};

extern Settings settings;

}  // namespace sim
