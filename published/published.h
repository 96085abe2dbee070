// SPDX-License-Identifier: MIT
// What others published about devices, read from data files (published/*.yaml, built into
// the program; docs/how-to/self-check.md). Every number has a source; contradicting sources are
// both kept.
//
//   const Published& all = built_in_published();
//   for (const PublishedFigure& f : all.cpi("9.0", "fma.f32", 32))   // 0.25, CUDA guide
//       ...
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace occupipe::analysis {

struct PublishedSource {
    std::string id;  // "luo-2024"
    std::string title;
    std::string authors;
    std::optional<int> year;
    std::string where;   // address, DOI
    std::string read;    // where it was read, if not in the source itself
    std::string method;  // what exactly was measured or stated

    bool operator==(const PublishedSource&) const = default;
};

// One number, or the range that a source gives, in the unit of the question asked.
struct PublishedFigure {
    double low = 0;
    double high = 0;
    std::string source;  // id
    std::string device;  // as the source names it; empty: all of the compute capability
    std::string at;      // "Table IV"
};

// "luo-2024, Table IV, H800 PCIe"
std::string citation(const PublishedFigure& figure);
// The range that the figures span.
std::pair<double, double> span_of(std::span<const PublishedFigure> figures);

struct PublishedOperation {
    std::string name;
    std::vector<std::string> instructions;
    int results = 1;  // of one lane
};

struct PublishedThroughput {
    std::vector<std::string> capabilities;
    std::string source;
    std::vector<std::pair<std::string, double>> results;  // operation, results/cycle/core
};

struct PublishedLatency {
    std::vector<std::string> capabilities;
    std::vector<std::string> instructions;
    PublishedFigure figure;  // cycles
};

struct PublishedRate {
    std::vector<std::string> capabilities;
    std::vector<std::string> instructions;
    PublishedFigure figure;  // λ: cycles per warp-instruction and core
};

struct PublishedIssue {
    std::vector<std::string> capabilities;
    PublishedFigure figure;  // warp-instructions per cycle and core
};

struct PublishedBandwidth {
    PublishedFigure figure;  // bytes per second; `device` is part of a device's name
};

struct PublishedCoreTiming {
    std::string instruction;
    double cpi = 0;
    double latency = 0;
};

// A CPU core, recognised by CPUID.
struct PublishedCore {
    std::string name;
    std::string source;
    std::string vendor;
    int family = 0;
    std::vector<std::pair<int, int>> models;  // first and last, inclusive
    std::vector<PublishedCoreTiming> timings;
};

struct Published {
    std::vector<PublishedSource> sources;
    std::vector<PublishedOperation> operations;
    std::vector<PublishedThroughput> throughputs;
    std::vector<PublishedLatency> latencies;
    std::vector<PublishedRate> rates;
    std::vector<PublishedIssue> issues;
    std::vector<PublishedBandwidth> bandwidths;
    std::vector<PublishedCore> cores;

    // λ [cycles per warp-instruction and core] that a throughput means.
    std::vector<PublishedFigure> cpi(std::string_view capability, std::string_view instruction,
                                     int warp_size) const;
    // λ as others measured or stated it, of no throughput table.
    std::vector<PublishedFigure> rate(std::string_view capability,
                                      std::string_view instruction) const;
    // Λ [core cycles].
    std::vector<PublishedFigure> latency(std::string_view capability,
                                         std::string_view instruction) const;
    // Warp-instructions that a core can issue per cycle.
    std::vector<PublishedFigure> issue_width(std::string_view capability) const;
    // Peak bandwidth of the device's memory [bytes/s], of the longest name that is part of
    // `device_name`.
    std::vector<PublishedFigure> memory_bandwidth(std::string_view device_name) const;
    // nullptr when there is none.
    const PublishedCore* core(std::string_view vendor, int family, int model) const;
    const PublishedSource* source(std::string_view id) const;
    // Whether anything is known about the compute capability's throughput.
    bool knows_throughput(std::string_view capability) const;

    // Adds another file's contents. Throws InputError where both have a source of one id that
    // differs, or an operation of one name.
    void add(const Published& other);
};

// Throws InputError with file, line, column and key. `known`: sources that the file may name, too.
Published parse_published(const std::string& text, const std::string& file_name,
                          const Published& known = {});

// The files under published/.
const Published& built_in_published();

}  // namespace occupipe::analysis
