// SPDX-License-Identifier: MIT
#include "automatch/cpu/host.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "bench/harness/device_errors.h"
#include "core/error.h"

namespace occupipe::automatch {
namespace {

namespace fs = std::filesystem;

// Its first line; empty where there is none.
std::string line_of(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::optional<std::int64_t> number_in(const std::string& text) {
    std::int64_t value = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{}) return std::nullopt;
    const std::string_view unit(stop, text.data() + text.size());
    if (unit == "K") return value * 1024;
    if (unit == "M") return value * 1024 * 1024;
    return unit.empty() ? std::optional(value) : std::nullopt;
}

// "key : value" and "key: value" of /proc; the first of several.
std::string value_of(const fs::path& file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto end = line.find_last_not_of(" \t", colon - 1);
        if (line.substr(0, end + 1) != key) continue;
        const auto begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? std::string{} : line.substr(begin);
    }
    return {};
}

std::vector<int> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        throw DeviceError("sched_getaffinity: cannot tell which CPUs this process may use");
    std::vector<int> all;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
    return all;
}

std::vector<HostCache> caches_of(const fs::path& cpus, const Host& host) {
    struct Seen {
        HostCache cache;
        std::set<std::string> instances;
    };
    std::map<int, Seen> levels;
    for (const int cpu : host.cores)
        for (int index = 0;; ++index) {
            const fs::path folder = cpus / fmt::format("cpu{}/cache/index{}", cpu, index);
            const std::string type = line_of(folder / "type");
            if (type.empty()) break;
            const auto level = number_in(line_of(folder / "level"));
            const auto bytes = number_in(line_of(folder / "size"));
            if (type == "Instruction" || !level || !bytes || *bytes <= 0) continue;
            Seen& seen = levels[static_cast<int>(*level)];
            seen.cache.level = static_cast<int>(*level);
            seen.cache.bytes = *bytes;
            seen.cache.line_bytes = number_in(line_of(folder / "coherency_line_size")).value_or(0);
            const std::string shared = line_of(folder / "shared_cpu_list");
            seen.instances.insert(shared.empty() ? std::to_string(cpu) : shared);
        }
    std::vector<HostCache> all;
    for (auto& [level, seen] : levels) {
        seen.cache.instances = static_cast<std::int64_t>(seen.instances.size());
        all.push_back(seen.cache);
    }
    return all;
}

}  // namespace

std::vector<int> cpu_list(const std::string& text) {
    std::vector<int> all;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        if (part.find_first_not_of("0123456789-") != std::string::npos) return {};
        const auto dash = part.find('-');
        const auto first = number_in(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : number_in(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last > 65535) return {};
        for (auto cpu = *first; cpu <= *last; ++cpu) all.push_back(static_cast<int>(cpu));
    }
    return all;
}

Host host_of(const std::string& device) {
    constexpr std::string_view all = "cpu", some = "cpu:", one_by_one = "/1";
    if (device == all) return read_host();
    std::string list = device.starts_with(some) ? device.substr(some.size()) : std::string{};
    const bool scalar = list.ends_with(one_by_one);
    if (scalar) list.resize(list.size() - one_by_one.size());
    std::vector<int> cpus = cpu_list(list);
    if (cpus.empty())
        throw InputError(fmt::format(
            "--device {}: is none of cpu, cpu:LIST and cpu:LIST/1, such as cpu:0-3 or cpu:1/1",
            device));
    const std::vector<int> allowed = allowed_cpus();
    for (const int cpu : cpus)
        if (std::ranges::find(allowed, cpu) == allowed.end())
            throw InputError(
                fmt::format("--device {}: this process may not use CPU {}", device, cpu));
    Host host = read_host("/", std::move(cpus));
    host.one_by_one = scalar;
    host.name += fmt::format(" (CPU {}{})", list, scalar ? ", one number at a time" : "");
    return host;
}

Host read_host(const fs::path& root, std::vector<int> allowed) {
    Host host;
    host.logical = allowed.empty() ? allowed_cpus() : std::move(allowed);
    const fs::path cpus = root / "sys/devices/system/cpu";
    const fs::path info = root / "proc/cpuinfo";
    host.name = value_of(info, "model name");
    if (host.name.empty()) host.name = value_of(info, "Model");
    if (host.name.empty()) host.name = "CPU";
    host.vendor = value_of(info, "vendor_id");
    std::set<std::pair<std::string, std::string>> seen;
    for (const int cpu : host.logical) {
        const fs::path topology = cpus / fmt::format("cpu{}/topology", cpu);
        const std::string core = line_of(topology / "core_id");
        // Where nothing is told, each logical CPU is taken for a core.
        if (core.empty() || seen.insert({line_of(topology / "physical_package_id"), core}).second)
            host.cores.push_back(cpu);
    }
    host.caches = caches_of(cpus, host);
    if (host.caches.empty())
        throw DeviceError(
            "/sys/devices/system/cpu tells no caches, and without their sizes nobody knows which "
            "working sets are fast memory and which slow");
    const std::string available = value_of(root / "proc/meminfo", "MemAvailable");
    host.memory_bytes = number_in(available.substr(0, available.find(' '))).value_or(0) * 1024;
    return host;
}

}  // namespace occupipe::automatch
