// SPDX-License-Identifier: MIT
// te42kyfo/gpu-benches: the formats are those of the programs' own output statements
// (gpu-latency/main.cu, cuda-incore/main.cu, gpu-cache/main.cu, gpu-l2-cache/main.cu).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"

namespace occupipe::analysis {
namespace {

constexpr double kilo_bytes = 1024;  // what these programs print as kB
constexpr double mega = 1e6;
constexpr int default_warp_size = 32;

int warp_size_of(const DeviceHints& hints, std::vector<std::string>& notes) {
    if (!hints.warp_size)
        notes.push_back(
            fmt::format("warps are taken to have {} threads (warp_size)", default_warp_size));
    return hints.warp_size.value_or(default_warp_size);
}

void add_context(ImportedMeasurements& out, const InputText& file, const DeviceHints& hints,
                 int warp_size, double clock_hz, const char* source) {
    out.context.emplace_back("device_name", device_name_of(file, hints));
    if (hints.cores) out.context.emplace_back("cores", std::to_string(*hints.cores));
    out.context.emplace_back("warp_size", std::to_string(warp_size));
    out.context.emplace_back("clock_hz", fmt::format("{}", clock_hz));
    out.context.emplace_back("clock_source", source);
    if (!hints.cores)
        out.notes.emplace_back(
            "the number of cores is not in the file: 'fit' needs it for a profile "
            "(cores)");
}

// "clock: 1755 1755 …": the last one counts.
std::optional<double> clock_of(const InputText& file, const TextLine& line) {
    if (line.words.front().text != "clock:") return std::nullopt;
    if (line.words.size() < 2) fail_at(file, line, line.words.front(), "clock", "has no number");
    return mega * positive_at(file, line, line.words.back(), "clock");
}

}  // namespace

// ITERATIONS CLOCK_MHZ DATA_KB MILLISECONDS CYCLES, the least of seven times; or, of its newer
// version, MEAN MEDIAN 5TH 95TH cycles, and the mean of the times.
ImportedMeasurements import_gpu_latency(const InputText& file, const DeviceHints& hints) {
    ImportedMeasurements out;
    const int warp_size = warp_size_of(hints, out.notes);
    constexpr int threads = 64;  // of the one block that chases, all along one chain
    if (threads % warp_size != 0)
        throw InputError(
            file.name, {}, "warp_size",
            fmt::format("the {} threads that chase are not whole warps of {}", threads, warp_size));
    double clock_mhz = 0;
    double last_bytes = 0;
    std::size_t columns = 0;
    LeftOut left_out(file.name);
    for (const TextLine& line : numbered_lines(text_lines(file))) {
        static constexpr std::array<const char*, 8> keys = {
            "iterations", "clock [MHz]", "data set [kB]",  "time [ms]",
            "cycles",     "median",      "5th percentile", "95th percentile"};
        constexpr std::size_t older = 5;
        if (line.words.size() != older && line.words.size() != keys.size())
            fail_at(file, line, line.words.front(), "",
                    fmt::format("{} words; a row of gpu-latency has five numbers, iterations, MHz, "
                                "kB, ms, cycles, or eight, with three more of cycles",
                                line.words.size()));
        if (columns != 0 && line.words.size() != columns)
            fail_at(file, line, line.words.front(), "", "is a row of another version");
        columns = line.words.size();
        const auto at = [&](std::size_t i) {
            return positive_at(file, line, line.words[i], keys[i]);
        };
        const double iterations = at(0);
        const double mhz = at(1);
        const double kb = at(2);
        constexpr double most_iterations = 2e9;
        if (iterations != std::floor(iterations) || iterations > most_iterations)
            fail_at(file, line, line.words[0], keys[0], "is not a whole number below 2e9");
        if (clock_mhz != 0 && mhz != clock_mhz)
            fail_at(file, line, line.words[1], keys[1],
                    fmt::format("is {:g}, and {:g} before: the program measures it once", mhz,
                                clock_mhz));
        clock_mhz = mhz;
        // A row is named by its whole bytes: rows of one name would be repetitions.
        const double bytes = std::nearbyint(kb * kilo_bytes);
        if (bytes <= last_bytes)
            fail_at(file, line, line.words[2], keys[2],
                    "data sets have to ascend, by a byte at least");
        last_bytes = bytes;
        const auto figure = [&](std::size_t i) {
            return left_out.figure(line.words[i].text, {line.number, line.words[i].column},
                                   keys[i]);
        };
        const auto ms = figure(3);
        const auto cycles = ms ? figure(4) : std::nullopt;
        if (!cycles) continue;
        // The columns are one number twice, each rounded to its last digit.
        const double expected = *ms / 1e3 / iterations * mhz * mega;
        constexpr double half_digit = 0.05;
        const double allowed = half_digit + expected * half_digit / *ms + 1e-3 * expected;
        if (std::abs(*cycles - expected) > allowed)
            fail_at(
                file, line, line.words[4], keys[4],
                fmt::format("is {:g}, and time x clock / iterations is {:.4g}", *cycles, expected));
        out.rows.push_back({.subject = "ld.global.u64.working_set",
                            // The newer version chases with one thread.
                            .shape = {.group_warps = columns == older ? threads / warp_size : 1,
                                      .concurrent_groups = 1,
                                      .chains = 1,
                                      .depth = static_cast<std::int64_t>(iterations)},
                            .cycles = *cycles * iterations,
                            .seconds = *ms / 1e3,
                            .counters = {{"working_set_bytes", kb * kilo_bytes}},
                            .line = line.number});
    }
    if (out.rows.empty())
        left_out.refuse(
            InputError(file.name, {1, 1}, "", "has no row of gpu-latency's five or eight numbers"));
    left_out.tell(out.notes);
    const bool eight = columns == 8;
    add_context(out, file, hints, warp_size, clock_mhz * mega,
                "printed by gpu-latency, measured once at its start");
    out.context.emplace_back("real_time", eight ? "events around the launch, mean of several"
                                                : "the host's clock around the launch, least of "
                                                  "seven");
    out.notes.emplace_back(
        "supports memory_levels of a profile alone: latency over the working set. "
        "There is no λ of a load, and no instruction, in it");
    out.notes.emplace_back(
        eight ? "one value for each size, the mean; its median and percentiles are left out: no "
                "repetitions, so that errors come from the spread over sizes"
              : "one value for each size, the least of seven by the host's clock: no "
                "repetitions, so that errors come from the spread over sizes");
    return out;
}

namespace {

struct Incore {
    const InputText& file;
    ImportedMeasurements out;
    LeftOut left_out;

    // `steps` are counted for all chains; each chain makes the whole part of its share.
    void row(const char* type, int warps, int chains, int steps, const TextWord& cycles_per_step,
             double clock_hz, int line) {
        const auto figure =
            left_out.figure(cycles_per_step.text, {line, cycles_per_step.column}, "cycles");
        if (!figure) return;
        const double cycles = *figure * steps * warps;
        out.rows.push_back({.subject = fmt::format("fma.{}", type),
                            .shape = {.group_warps = warps,
                                      .concurrent_groups = 1,
                                      .chains = chains,
                                      .depth = steps / chains},
                            .cycles = cycles,
                            .seconds = cycles / clock_hz,
                            .counters = {},
                            .line = line});
    }
};

// TYPE N WARPS STREAMS TIME SPREAD% CYCLES: of the three lines of a setting the first is FMA.
void read_incore_lines(Incore& in, const std::vector<TextLine>& lines, double clock_hz) {
    int place = 0;
    for (const TextLine& line : lines) {
        const std::string& type = line.words.front().text;
        if (type != "d" && type != "f") break;  // the matrices, which repeat the numbers
        constexpr std::size_t words = 7;
        if (line.words.size() != words)
            fail_at(in.file, line, line.words.front(), "",
                    fmt::format("{} words; a line of cuda-incore has seven", line.words.size()));
        const double steps = positive_at(in.file, line, line.words[1], "N");
        const double warps = positive_at(in.file, line, line.words[2], "warps");
        const double chains = positive_at(in.file, line, line.words[3], "streams");
        constexpr double most_steps = 1e6;
        constexpr double most = 64;
        if (steps != std::floor(steps) || steps > most_steps)
            fail_at(in.file, line, line.words[1], "N", "is not a whole number below 1e6");
        if (warps != std::floor(warps) || warps > most)
            fail_at(in.file, line, line.words[2], "warps", "is not a whole number below 65");
        if (chains != std::floor(chains) || chains > most || chains > steps)
            fail_at(in.file, line, line.words[3], "streams", "is not a whole number below 65");
        if (place++ % 3 == 0)
            in.row(type == "d" ? "f64" : "f32", static_cast<int>(warps), static_cast<int>(chains),
                   static_cast<int>(steps), line.words[6], clock_hz, line.number);
    }
}

// Matrices of 6 lines (1, 2, 4 … 32 warps) by 4 columns (1, 2, 4, 8 streams), three for a type
// (FMA, division, square root), single precision first.
void read_incore_matrices(Incore& in, const std::vector<TextLine>& lines, double clock_hz) {
    constexpr std::size_t columns = 4;
    constexpr std::size_t rows = 6;
    constexpr std::size_t of_a_type = 3 * rows;
    constexpr int steps = 1024;
    if (lines.size() != of_a_type && lines.size() != 2 * of_a_type)
        throw InputError(
            in.file.name, {lines.empty() ? 1 : lines.back().number, 1}, "",
            fmt::format("{} lines of numbers; cuda-incore prints three matrices of six "
                        "lines for each of float and double",
                        lines.size()));
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const TextLine& line = lines[i];
        if (line.words.size() != columns)
            fail_at(in.file, line, line.words.front(), "",
                    fmt::format("{} numbers; a line has four, for 1, 2, 4 and 8 streams",
                                line.words.size()));
        for (std::size_t c = 0; c < columns; ++c) {
            if (i % of_a_type >= rows) continue;
            in.row(i < of_a_type ? "f32" : "f64", 1 << (i % rows), 1 << c, steps, line.words[c],
                   clock_hz, line.number);
        }
    }
}

}  // namespace

ImportedMeasurements import_cuda_incore(const InputText& file, const DeviceHints& hints) {
    Incore in{.file = file, .out = {}, .left_out = LeftOut(file.name)};
    const int warp_size = warp_size_of(hints, in.out.notes);
    std::vector<TextLine> lines = text_lines(file);
    if (lines.empty()) throw InputError(file.name, {1, 1}, "", "contains no numbers");
    double clock_hz = 0;
    if (const auto clock = clock_of(file, lines.front())) {
        clock_hz = *clock;
        lines.erase(lines.begin());
    }
    if (lines.empty()) throw InputError(file.name, {1, 1}, "", "contains no numbers");
    const std::string& first = lines.front().words.front().text;
    const bool by_line = first == "d" || first == "f";
    if (hints.clock_hz) clock_hz = *hints.clock_hz;
    if (clock_hz == 0)
        clock_hz = needed(hints.clock_hz, file, "clock_hz",
                          "the clock that the program multiplied its times with");
    if (by_line)
        read_incore_lines(in, lines, clock_hz);
    else
        read_incore_matrices(in, lines, clock_hz);
    if (in.out.rows.empty())
        in.left_out.refuse(InputError(file.name, {1, 1}, "", "has no row of an FMA"));
    in.left_out.tell(in.out.notes);
    add_context(in.out, file, hints, warp_size, clock_hz,
                "the one that cuda-incore took, not witnessed");
    in.out.context.emplace_back("real_time", "cycles over clock_hz, not timed");
    in.out.context.emplace_back("loop_cost", "inside: additions, comparisons and the loop itself");
    in.out.notes.emplace_back(
        "cycles are the program's: time by the host's clock x the clock that it "
        "took (a constant 1380 MHz in its first versions), once each");
    in.out.notes.emplace_back(
        "division and square root are left out: their steps hold an addition as "
        "well, and their number is not that of the chains");
    if (by_line) in.out.notes.emplace_back("of a setting's three lines the first is read, the FMA");
    return std::move(in.out);
}

namespace {

struct CacheRow {
    double bytes = 0;
    std::optional<double> bytes_per_second;
    bool of_all_cores = false;  // gpu-l2-cache
};

// DATA kB [SET kB] TIME ms SPREAD % BANDWIDTH GB/s …
CacheRow cache_row(const InputText& file, const TextLine& line, LeftOut& left_out) {
    std::vector<TextWord> words;
    // "4ms" and "1.0%" are a number and its unit without a blank.
    for (const TextWord& word : line.words) {
        const std::size_t unit = word.text.ends_with("ms")  ? word.text.size() - 2
                                 : word.text.ends_with('%') ? word.text.size() - 1
                                                            : 0;
        if (unit == 0) {
            words.push_back(word);
        } else {
            words.push_back({word.text.substr(0, unit), word.column});
            words.push_back({word.text.substr(unit), word.column + static_cast<int>(unit)});
        }
    }
    const auto unit = [&](std::size_t i, const char* text) {
        return i < words.size() && words[i].text == text;
    };
    // gpu-l2-cache prints the data of a block first, then those of all.
    const std::size_t second = unit(3, "kB") ? 2 : 0;
    if (!unit(1, "kB") || !unit(second + 3, "ms") || !unit(second + 5, "%") ||
        !unit(second + 7, "GB/s"))
        fail_at(file, line, line.words.front(), "",
                "is not a row of gpu-cache or gpu-l2-cache: KB kB, [KB kB,] MS ms, SPREAD %, GB/s");
    CacheRow row;
    row.bytes = kilo_bytes * positive_at(file, line, words[second], "data set");
    const TextWord& bandwidth = words[second + 6];
    row.bytes_per_second =
        left_out.figure(bandwidth.text, {line.number, bandwidth.column}, "Eff. bw");
    if (row.bytes_per_second) *row.bytes_per_second *= 1e9;
    row.of_all_cores = second != 0;
    return row;
}

}  // namespace

ImportedProfile import_gpu_cache(const InputText& file, const DeviceHints& hints) {
    ImportedProfile out;
    const int warp_size = warp_size_of(hints, out.notes);
    std::optional<double> clock_hz = hints.clock_hz;
    std::vector<CacheRow> rows;
    LeftOut left_out(file.name);
    const std::vector<TextLine> lines = text_lines(file);
    for (const TextLine& line : lines)
        if (const auto clock = clock_of(file, line); clock && !hints.clock_hz) clock_hz = clock;
    double last_bytes = 0;
    std::optional<bool> of_all_cores;
    for (const TextLine& line : numbered_lines(lines)) {
        const CacheRow row = cache_row(file, line, left_out);
        if (row.bytes <= last_bytes)
            throw InputError(file.name, {line.number, line.words.front().column}, "data set",
                             "data sets have to ascend");
        if (of_all_cores && row.of_all_cores != *of_all_cores)
            throw InputError(file.name, {line.number, line.words.front().column}, "",
                             "is a row of the other program");
        of_all_cores = row.of_all_cores;
        last_bytes = row.bytes;
        if (row.bytes_per_second) rows.push_back(row);
    }
    if (rows.empty()) left_out.refuse(InputError(file.name, {1, 1}, "", "has no row of gpu-cache"));
    left_out.tell(out.notes);
    const int cores = needed(hints.cores, file, "cores", "λ is of one core");
    const double clock = needed(clock_hz, file, "clock_hz", "λ is in cycles of the core");
    // CUDA builds load float and double, HIP builds float4.
    const int access_bytes = hints.access_bytes.value_or(rows.front().of_all_cores ? 8 : 4);
    const char* const name = access_bytes == 4   ? "ld.global.f32"
                             : access_bytes == 8 ? "ld.global.f64"
                                                 : "ld.global.v4.f32";
    if (!hints.access_bytes)
        out.notes.push_back(fmt::format(
            "a lane is taken to load {} bytes at once, as where the program is built with "
            "CUDA; built with HIP it loads 16 (access_bytes)",
            access_bytes));
    constexpr const char* why =
        "throughput at one occupancy: λ is at most this, the cost of addition and loop included";
    GpuProfile& profile = out.profile;
    profile.device.name = device_name_of(file, hints);
    profile.cores = cores;
    profile.warp_size = warp_size;
    profile.clock_hz = clock;
    profile.subsystems.push_back({.name = "mem", .scope = Scope::core, .contention = {}});
    ParameterTable table;
    table.over = "data_set_bytes";
    table.note = rows.front().of_all_cores
                     ? "bytes that all cores together read again and again"
                     : "bytes that each core reads again and again, the same for all";
    for (const CacheRow& row : rows)
        if (const auto cpi =
                cpi_bound(profile, name, access_bytes, *row.bytes_per_second, why, out.notes))
            table.rows.push_back({.at = row.bytes, .cpi = cpi, .latency = {}});
    if (!table.rows.empty()) {
        InstructionTiming timing;
        timing.name = name;
        timing.subsystem = "mem";
        timing.cpi = *table.rows.back().cpi;
        timing.latency_unknown = "throughput was measured, no latency";
        timing.source = Source::measured;
        timing.reference = fmt::format("{}, gpu-benches", device_name_of(file, {}));
        timing.note = "of the largest data set";
        timing.tables.push_back(std::move(table));
        profile.instructions.push_back(std::move(timing));
    }
    add_origin(profile, file,
               "gpu-cache or gpu-l2-cache of gpu-benches: bandwidth over the data set, least of "
               "several runs by the host's clock");
    out.notes.emplace_back(
        "bandwidth alone: λ of one load is an upper bound for each data set; there "
        "is no Λ, and nothing that 'fit' could read, so that this is a profile and "
        "no measurement");
    validate_imported(profile, file.name);
    return out;
}

}  // namespace occupipe::analysis
