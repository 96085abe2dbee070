// SPDX-License-Identifier: MIT
// Measures what AutoMatch asks of a CPU (core/match_device.h), natively, into a measurement file:
// peak by independent multiply-adds, bandwidth by reading working sets, latency by pointer chases,
// synchronisation by a barrier of all threads. automatch/fit/ makes numbers of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "automatch/cpu/host.h"
#include "core/files/files.h"

namespace occupipe::automatch {

struct HostPoint {
    enum class Kind { peak, read, chase, barrier };
    Kind kind = Kind::peak;
    std::string name;       // "match.read/working_set_bytes:65536/threads:2/…"
    std::size_t loop = 0;   // of peak_loops()
    std::size_t bytes = 0;  // of the working set, all threads together
};

// Largest working set [bytes]: four times the last cache, if a quarter of the memory holds it.
std::size_t largest_working_set(const Host& host);
std::vector<HostPoint> host_points(const Host& host, bool quick);

struct HostOptions {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    bool quick = false;
    std::function<void(std::size_t done, std::size_t points, const std::string& name)> progress;
    const std::atomic<bool>* stop = nullptr;  // set: the point under way is left
    std::string version;                      // of the program, for the file's context
};

struct HostResult {
    bool complete = false;  // false: stopped; the journal beside the output holds the rest
    std::size_t points = 0;
    std::size_t disturbed = 0;  // points of this session without enough undisturbed repetitions
};

// Throws InputError where the output exists or a journal beside it is of something else.
HostResult measure_host(const Host& host, const HostOptions& options);

}  // namespace occupipe::automatch
