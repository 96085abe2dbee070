// SPDX-License-Identifier: MIT
// Measures what AutoMatch asks of a GPU (core/match_device.h) through OpenCL or CUDA into a
// measurement file: peak by independent multiply-adds, bandwidth by reading working sets, latency
// by pointer chases, both in the groups' own memory and in the device's, synchronisation by the
// time from one kernel to the next. automatch/fit/ makes numbers of it.
//
// Each repetition is proved to have done its work: multiply-adds count themselves, a chase ends
// where the host's ends, and one work-item's words are read by the host, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "automatch/gpu/device.h"
#include "core/files/files.h"

namespace occupipe::automatch {

struct ProbePoint {
    enum class Kind { peak_f64, peak_f32, read_shared, chase_shared, read, chase, launch };
    Kind kind = Kind::peak_f64;
    std::string name;       // "match.read/working_set_bytes:65536/groups:64"
    std::size_t bytes = 0;  // of the working set
    unsigned launches = 1;  // back to back
};

// Working sets are powers of two, from 16 KiB to four times the last cache or more, if a quarter of
// the memory holds that; to 256 MiB where the last cache is not told.
std::vector<ProbePoint> probe_points(const ProbedFacts& facts, bool quick);

struct ProbeOptions {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    bool quick = false;
    double seconds_per_repetition = 0.002;
    int repetitions = 20;  // 12 where it is quick
    std::function<void(std::size_t done, std::size_t points, const std::string& name)> progress;
    const std::atomic<bool>* stop = nullptr;  // set: the point under way is left
    std::string version;                      // of the program, for the file's context
};

// False: stopped; the journal beside the output holds the rest. Throws InputError where the output
// exists or a journal beside it is of something else; DeviceError where a kernel fails or its
// result is wrong.
bool measure_probed_device(ProbedDevice& device, const ProbeOptions& options);

}  // namespace occupipe::automatch
