// SPDX-License-Identifier: MIT
// A profile against all that is known about its device: published figures, the assembler's own
// count of cycles, another backend's profile, physics, and its own measurements. What does not
// agree comes back as findings, the most suspicious first.
//
//   const SelfCheck check = self_check({.profile = profile, .measurements = files});
//   check.findings[0].meaning   // "λ is 25 % below what NVIDIA's throughput table allows"
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/profilers/ncu_report.h"
#include "core/gpu_profile.h"
#include "core/measurement.h"
#include "published/published.h"

namespace occupipe::analysis {

// Which comparison.
enum class Check {
    physics,           // below what a core can issue, Λ below one cycle or below λ
    memory_order,      // a farther memory level that responds sooner
    counted_latency,   // Λ against the cycles that the assembler counts from step to step
    memory_bandwidth,  // λ of streams against the device memory's peak
    issue_limit,       // the issue limit against the highest throughput
    throughput,        // λ against the vendor's throughput table
    clock,             // the measured clock over the rows
    backends,          // λ of the same device by another backend
    latency,           // Λ against published latencies
    profiler,          // counts of Nsight Compute
    doubts,            // values whose own notes doubt them
    missing,           // rows that the device should have
};
std::string_view to_string(Check check);

enum class Level { serious, suspicious, notice };
std::string_view to_string(Level level);

// One comparison of one number.
struct Compared {
    Check check = Check::physics;
    std::string subject = {};                                 // "fma.f32"; empty: the whole profile
    std::string quantity = {};                                // "λ per core", "Λ"
    std::string unit = {};                                    // "cycles"
    std::optional<Estimate> measured = {};                    // in that unit
    std::optional<std::pair<double, double>> reference = {};  // the range that was expected
    std::optional<double> per_scheduler = {};  // λ of one scheduler's copy, where that differs
    std::string source = {};                   // whose the reference is
    // measured / nearest end of the reference - 1; 0 inside the range
    std::optional<double> relative = {};
};

struct Finding : Compared {
    double severity = 0;      // 0 … 100
    std::string meaning;      // what does not agree
    std::string explanation;  // what could explain it
    std::string look_at;      // what to look at next

    Level level() const;
};

struct SelfCheck {
    std::vector<Finding> findings;          // by severity, descending
    std::vector<Compared> agreements;       // in the order of the checks
    std::vector<std::string> not_compared;  // why a check had nothing to compare
    std::size_t serious() const;
};

// Cycles that the assembler counts between an instruction and the next one that needs its result.
struct CountedLatency {
    int least = 0;
    int most = 0;
    double mean = 0;  // over the steps; `least` where it is not known how often each occurs
    bool operator==(const CountedLatency&) const = default;
};
using CountedLatencies = std::map<std::string, CountedLatency>;

struct SelfCheckInput {
    const GpuProfile& profile;
    std::span<const MeasurementFile> measurements = {};
    std::span<const GpuProfile> others = {};  // of other backends; other devices are ignored
    CountedLatencies counted = {};            // beside what the measurements' contexts say
    std::vector<std::string> expected = {};   // rows that the device should have
    std::span<const NcuPoint> profiled = {};
    const Published* published = nullptr;  // nullptr: the built-in figures
};

SelfCheck self_check(const SelfCheckInput& input);

// "counted_latency.fma.f32": "4" or "4 to 6" in a measurement file's context. Throws InputError
// naming file and key where the value is neither.
CountedLatencies counted_latencies(const MeasurementFile& file);
// From a receipt's text (`measure --receipts`), "the assembler counts 4 cycles from step to step"
// or "the assembler counts from step to step: 6 (63 times), 10 (64 times) cycles": instruction and
// count; nullopt where the receipt is of several chains, of a mix, or has no count.
std::optional<std::pair<std::string, CountedLatency>> counted_latency_of_receipt(
    std::string_view receipt);

// Bytes per lane of a load or store: "ld.global.v4.f32" 16; nullopt when the name does not say.
std::optional<int> access_bytes(std::string_view instruction);

// How the profile was measured ("cuda", "opencl"); empty where it does not say.
std::string backend_of(const GpuProfile& profile);

}  // namespace occupipe::analysis
