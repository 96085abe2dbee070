// SPDX-License-Identifier: MIT
// Other tools' files as profiles or measurements: what they say, nothing else. Every reader throws
// InputError naming file, line and key of what it does not understand. A figure that is no number
// above 0 leaves itself out, and is told.
//   const Imported read = find_import_format("clpeak")->read({{"gpu.log", text}}, hints);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::analysis {

struct InputText {
    std::string name;  // of the file
    std::string text;
};

// What such files often do not say and a profile or a measurement needs.
struct DeviceHints {
    std::string name;
    std::optional<int> cores;
    std::optional<int> warp_size;
    std::optional<double> clock_hz;
    std::optional<int> access_bytes;  // of one lane's load: 4, 8 or 16
    std::optional<int> device;        // which of several in the file, from 1
};

struct ImportedProfile {
    GpuProfile profile;
    std::vector<std::string> notes;  // what it lacks, what was left out: a sentence each
};

// Accel-Sim and GPGPU-Sim: one or several of gpgpusim.config and trace.config, read as the
// simulator does, a later option replacing an earlier one. Latencies and intervals come from the
// -trace_opcode_* options where there are any, else from -ptx_opcode_*.
ImportedProfile import_accelsim(const std::vector<InputText>& files, const DeviceHints& hints);

// mt4g's JSON, or the CSV of its first versions (caps-tum/mt4g): device facts, limits, and the
// latencies of memory levels.
ImportedProfile import_mt4g(const InputText& file, const DeviceHints& hints);

// clpeak's output, text or XML: throughput alone, so that λ is an upper bound. Of several devices
// the first is taken.
ImportedProfile import_clpeak(const InputText& file, const DeviceHints& hints);

// mixbench's output, of any of its versions: the greatest throughput of each kind.
ImportedProfile import_mixbench(const InputText& file, const DeviceHints& hints);

// Google Benchmark's JSON of any program: the greatest bytes_per_second, taken for loads.
ImportedProfile import_google_benchmark(const InputText& file, const DeviceHints& hints);

// gpu-cache and gpu-l2-cache of gpu-benches: throughput over the data set, so that λ is an upper
// bound for each size.
ImportedProfile import_gpu_cache(const InputText& file, const DeviceHints& hints);

struct ImportedRow {
    std::string subject;  // "fma.f64", "ld.global.u64.working_set/working_set_bytes:1024"
    MeasurementShape shape;
    double cycles = 0;
    double seconds = 0;
    std::vector<std::pair<std::string, double>> counters;
    int line = 0;  // in the file
};

struct ImportedMeasurements {
    std::vector<std::pair<std::string, std::string>> context;
    std::vector<ImportedRow> rows;
    std::vector<std::string> notes;
};

using Imported = std::variant<ImportedProfile, ImportedMeasurements>;

// gpu-latency of gpu-benches: a chase over working sets.
ImportedMeasurements import_gpu_latency(const InputText& file, const DeviceHints& hints);
// cuda-incore of gpu-benches: the matrices of its newer version, or the lines of its older one.
ImportedMeasurements import_cuda_incore(const InputText& file, const DeviceHints& hints);
// nvbench's JSON or CSV: states whose axes say what was measured in which shape. Where there is no
// such state, a profile from the greatest memory bandwidth that states tell.
Imported import_nvbench(const InputText& file, const DeviceHints& hints);

struct ImportFormat {
    std::string_view name;  // "clpeak"
    std::size_t most_files = 1;
    bool several_devices = false;
    Imported (*read)(const std::vector<InputText>& files, const DeviceHints& hints);
};
std::span<const ImportFormat> import_formats();
const ImportFormat* find_import_format(std::string_view name);  // nullptr where there is none

// As a measurement file (Google Benchmark's JSON), with the hash of `file`. Throws InputError at
// the row's line where our own reader would refuse it.
std::string measurement_text(const ImportedMeasurements& measurements, const InputText& file,
                             const std::string& format);

}  // namespace occupipe::analysis
