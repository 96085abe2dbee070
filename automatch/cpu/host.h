// SPDX-License-Identifier: MIT
// The CPUs that this process may use, as the system tells: cores, caches, memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::automatch {

struct HostCache {
    int level = 0;
    std::int64_t bytes = 0;       // of one
    std::int64_t instances = 0;   // that the cores below reach
    std::int64_t line_bytes = 0;  // 0: not told
};

struct Host {
    std::string name;  // "Intel(R) Xeon(R) Processor"
    std::string vendor;
    std::vector<int> cores;         // a logical CPU of each physical core
    std::vector<int> logical;       // all
    std::vector<HostCache> caches;  // of data, by level
    bool one_by_one = false;        // to be measured without vectors
    std::int64_t memory_bytes = 0;  // available now; 0: not told
};

// `root`: a folder with sys/ and proc/, for tests; `allowed`: logical CPUs, empty: those that the
// scheduler gives this process. Throws DeviceError where caches are not told.
Host read_host(const std::filesystem::path& root = "/", std::vector<int> allowed = {});

// A part of this computer as --device has it: "cpu" (all CPUs), "cpu:0-3,8" (these), "cpu:1/1"
// (this one, and without vectors). Throws InputError for other words and CPUs that are not there.
Host host_of(const std::string& device);

// "0-3,8" → 0 1 2 3 8; empty where it is not such a list.
std::vector<int> cpu_list(const std::string& text);

}  // namespace occupipe::automatch
