// SPDX-License-Identifier: MIT
// caps-tum/mt4g: its sample_results/*.json, and the CSV of its versions before 2025
// (src/capture.cu, sampleResults/*.csv).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

constexpr double kilo = 1e3;
constexpr double most_bytes = 1e15;
constexpr double least_resolved = 0.5;  // cycles: the clock that it reads counts whole ones

// A level of memory as a file has it.
struct Level {
    std::string key;
    std::optional<Estimate> latency;  // cycles
    std::optional<double> bytes;
    std::optional<double> confidence;  // of the size
};

// Levels that loads of global memory go through, nearest first: each from above the one before.
void add_levels(ImportedProfile& out, const std::vector<Level>& levels) {
    double above = 0;
    for (const Level& level : levels) {
        if (!level.latency || !level.bytes || *level.bytes < above + 1) {
            out.notes.push_back(
                fmt::format("memory.{}: left out: {}", level.key,
                            !level.latency ? "it has no latency"
                            : !level.bytes ? "it has no size"
                                           : "its size is not above that of the level before"));
            continue;
        }
        out.profile.memory_levels.push_back({.instruction = "ld.global.u32.working_set",
                                             .latency = *level.latency,
                                             .first_bytes = above + 1,
                                             .last_bytes = *level.bytes,
                                             .edge_confidence = level.confidence});
        above = *level.bytes;
    }
}

void add_shared(ImportedProfile& out, const std::optional<Estimate>& latency,
                std::optional<double> bytes) {
    if (!bytes) return;
    out.profile.limits.shared_memory_bytes = static_cast<std::int64_t>(*bytes);
    if (latency)
        out.profile.memory_levels.push_back({.instruction = "ld.shared.u32",
                                             .latency = *latency,
                                             .first_bytes = 1,
                                             .last_bytes = std::floor(*bytes),
                                             .edge_confidence = {}});
}

ImportedProfile finished(ImportedProfile out, const InputText& file) {
    out.notes.emplace_back(
        "left out: constant, texture and read-only caches, line sizes and "
        "bandwidths, which no profile has");
    out.notes.emplace_back(
        "the clock is the one that the driver states, not one that was measured");
    out.notes.emplace_back(
        "latencies and sizes alone: no λ, so that the profile has memory levels and no "
        "instruction, and predicts nothing");
    validate_imported(out.profile, file.name);
    return out;
}

class Reader {
public:
    Reader(const InputText& file, const DeviceHints& hints)
        : file_(file), hints_(hints), document_(parse_json(file.text, file.name)) {}

    ImportedProfile read() {
        const DocumentNode& root = document_.root();
        const DocumentNode& general = document_.required(root, "general");
        device(general, document_.required(root, "compute"));
        memory(document_.required(root, "memory"));
        left_out_.tell(out_.notes);
        provenance(Document::find(root, "meta"));
        return finished(std::move(out_), file_);
    }

private:
    // {"value": V, "unit": UNIT}
    double value(const DocumentNode& node, const char* unit) const {
        const DocumentNode& said = document_.required(node, "unit");
        if (document_.text(said) != unit)
            document_.fail(said, fmt::format("'{}' is not '{}'", document_.text(said), unit));
        const DocumentNode& number = document_.required(node, "value");
        const double found = document_.number(number);
        if (!(found > 0)) document_.fail(number, "is not above 0");
        return found;
    }

    std::optional<std::int64_t> count(const DocumentNode& map, const char* key) const {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        const DocumentNode* const node = Document::find(map, key);
        if (node == nullptr || node->kind == DocumentNode::Kind::null) return std::nullopt;
        const std::int64_t found = document_.integer(*node, 0, most);
        return found > 0 ? std::optional(found) : std::nullopt;
    }

    void device(const DocumentNode& general, const DocumentNode& compute) {
        GpuProfile& profile = out_.profile;
        profile.device.name =
            hints_.name.empty() ? document_.text(document_.required(general, "name")) : hints_.name;
        if (const DocumentNode* vendor = Document::find(general, "vendor"))
            profile.device.vendor = document_.text(*vendor);
        if (const DocumentNode* capability = Document::find(general, "computeCapability");
            capability != nullptr && profile.device.vendor == "NVIDIA") {
            constexpr std::int64_t most = 99;
            profile.device.compute_capability = fmt::format(
                "{}.{}", document_.integer(document_.required(*capability, "major"), 0, most),
                document_.integer(document_.required(*capability, "minor"), 0, most));
        }
        profile.clock_hz = hints_.clock_hz
                               ? *hints_.clock_hz
                               : kilo * value(document_.required(general, "clockRate"), "kHz");
        constexpr std::int64_t most_cores = 100000;
        constexpr std::int64_t most_lanes = 1024;
        file_cores_ = static_cast<int>(
            document_.integer(document_.required(compute, "multiProcessorCount"), 1, most_cores));
        profile.cores = hints_.cores.value_or(file_cores_);
        profile.warp_size = hints_.warp_size
                                ? *hints_.warp_size
                                : static_cast<int>(document_.integer(
                                      document_.required(compute, "warpSize"), 1, most_lanes));
        Limits& limits = profile.limits;
        if (const auto threads = count(compute, "maxThreadsPerMultiProcessor");
            threads && *threads >= profile.warp_size)
            limits.warps = *threads / profile.warp_size;
        if (const auto threads = count(compute, "maxThreadsPerBlock");
            threads && *threads >= profile.warp_size)
            limits.group_warps = *threads / profile.warp_size;
        limits.groups = count(compute, "maxBlocksPerMultiProcessor");
        if (limits.groups && is_amd()) {
            out_.notes.push_back(fmt::format(
                "compute.maxBlocksPerMultiProcessor: {} is left out: on AMD, HIP states "
                "a quotient of threads there, no limit of a core",
                *limits.groups));
            limits.groups.reset();
        }
        limits.registers = count(compute, "regsPerMultiProcessor");
    }

    bool is_amd() const { return out_.profile.device.vendor == "AMD"; }

    // Mean of a chase, and its standard error where the sample tells.
    std::optional<Estimate> latency(const std::string& key, const DocumentNode& level) {
        const DocumentNode* const node = Document::find(level, "latency");
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return std::nullopt;
        const DocumentNode& unit = document_.required(*node, "unit");
        if (document_.text(unit) != "cycles")
            document_.fail(unit, fmt::format("'{}' is not 'cycles'", document_.text(unit)));
        const DocumentNode& mean = document_.required(*node, "mean");
        const auto found =
            figure(mean, fmt::format("memory.{}.latency.mean", key), 0, "is not above 0");
        if (!found) return std::nullopt;
        Estimate estimate{.value = *found, .std_error = {}, .note = {}};
        const DocumentNode* const deviation = Document::find(*node, "stdev");
        const auto sample = count(*node, "measurements");
        // Of one measurement it is no number.
        if (deviation != nullptr && deviation->kind == DocumentNode::Kind::scalar && sample) {
            const double sigma = document_.number(*deviation);
            if (sigma < 0) document_.fail(*deviation, "is below 0");
            // Equal numbers are equal to the clock's resolution.
            estimate.std_error =
                std::max(sigma, least_resolved) / std::sqrt(static_cast<double>(*sample));
        }
        return estimate;
    }

    // A number above `above`; where it is none, which nlohmann's JSON writes as null, it is left
    // out.
    std::optional<double> figure(const DocumentNode& node, const std::string& key, double above,
                                 const char* otherwise) {
        const bool null = node.kind == DocumentNode::Kind::null;
        const double value = null ? 0 : document_.number(node);
        if (value > above && value <= most_bytes) return value;
        left_out_.add(node.where, key, otherwise);
        return std::nullopt;
    }

    // {"value": V, "unit": "bytes"}, or "size" in the place of "value"; absent where it is no map.
    std::optional<double> bytes(const std::string& level, const DocumentNode& map,
                                const char* key) {
        const DocumentNode* const node = Document::find(map, key);
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return std::nullopt;
        const DocumentNode& unit = document_.required(*node, "unit");
        if (document_.text(unit) != "bytes")
            document_.fail(unit, fmt::format("'{}' is not 'bytes'", document_.text(unit)));
        const DocumentNode* number = Document::find(*node, "size");
        if (number == nullptr) number = &document_.required(*node, "value");
        return figure(*number, fmt::format("memory.{}.{}", level, key), std::nextafter(1.0, 0.0),
                      "is not from 1 to 1e15 bytes");
    }

    void memory(const DocumentNode& node) {
        std::vector<Level> levels;
        // AMD's vector first-level cache is "vL1" in some versions; what is not there is left out.
        static constexpr std::array<const char*, 6> keys = {"l1", "vL1", "vl1", "l2", "l3", "main"};
        for (const char* key : keys) {
            const DocumentNode* const level = Document::find(node, key);
            if (level == nullptr || level->kind != DocumentNode::Kind::map) continue;
            const bool last = std::string_view(key) == "main";
            levels.push_back({.key = key,
                              .latency = latency(key, *level),
                              .bytes = bytes(key, *level, last ? "totalGlobalMem" : "size"),
                              .confidence = last ? std::nullopt : confidence(*level)});
        }
        add_levels(out_, levels);
        if (const DocumentNode* const shared = Document::find(node, "shared"))
            add_shared(out_, latency("shared", *shared), shared_bytes(*shared));
        if (out_.profile.memory_levels.empty())
            document_.fail(node, "has no level with a latency and a size");
    }

    // Of a core. HIP states that of all cores on AMD.
    std::optional<double> shared_bytes(const DocumentNode& shared) {
        const auto stated = bytes("shared", shared, "sharedMemPerMultiProcessor");
        const auto of_group = bytes("shared", shared, "sharedMemPerBlock");
        if (!is_amd() || !stated || !of_group || *stated != *of_group * file_cores_ ||
            *stated == *of_group)
            return stated;
        out_.notes.push_back(
            fmt::format("memory.shared: {:.0f} bytes are those of all {} cores, as HIP states them "
                        "on AMD; a core has {:.0f}, as much as a group may have",
                        *stated, file_cores_, *of_group));
        return of_group;
    }

    std::optional<double> confidence(const DocumentNode& level) const {
        const DocumentNode* const node = Document::find(level, "size");
        const DocumentNode* const number =
            node == nullptr ? nullptr : Document::find(*node, "confidence");
        if (number == nullptr || number->kind == DocumentNode::Kind::null) return std::nullopt;
        const double found = document_.number(*number);
        if (found < 0 || found > 1) document_.fail(*number, "is not between 0 and 1");
        return found;
    }

    void provenance(const DocumentNode* meta) {
        const auto text = [](const std::string& words) {
            Annotation annotation;
            annotation.text = words;
            return annotation;
        };
        auto& entries = out_.profile.provenance.entries;
        add_origin(out_.profile, file_,
                   "mt4g: p-chase of one thread; sizes and latencies of memory levels");
        if (meta == nullptr || meta->kind != DocumentNode::Kind::map) return;
        for (const char* key : {"driver", "runtime", "timestamp"})
            if (const DocumentNode* const node = Document::find(*meta, key);
                node != nullptr && node->kind == DocumentNode::Kind::scalar)
                entries.emplace_back(key, text(node->text));
    }

    const InputText& file_;
    const DeviceHints& hints_;
    Document document_;
    int file_cores_ = 0;
    ImportedProfile out_;
    LeftOut left_out_{file_.name};
};

// SECTION; KEY; VALUE; "UNIT"; KEY; VALUE; …: a section a line.
class CsvReader {
public:
    CsvReader(const InputText& file, const DeviceHints& hints) : file_(file), hints_(hints) {
        for (const TextLine& line : text_lines(file)) {
            Section section{.line = line, .cells = {}};
            std::string_view rest = line.text;
            for (bool more = true; more;) {
                const std::size_t end = rest.find(';');
                more = end != std::string_view::npos;
                section.cells.push_back(bare(rest.substr(0, end)));
                if (more) rest.remove_prefix(end + 1);
            }
            sections_[section.cells.front()] = std::move(section);
        }
    }

    ImportedProfile read() {
        device();
        add_levels(out_, {level("L1_DATA_CACHE"), level("L2_DATA_CACHE"), level("MAIN_MEMORY")});
        const Level shared = level("SHARED_MEMORY");
        add_shared(out_, shared.latency, shared.bytes);
        if (out_.profile.memory_levels.empty())
            left_out_.refuse(
                InputError(file_.name, {1, 1}, "", "has no level with a latency and a size"));
        left_out_.tell(out_.notes);
        add_origin(out_.profile, file_,
                   "mt4g: p-chase of one thread; sizes and latencies of memory levels");
        return finished(std::move(out_), file_);
    }

private:
    struct Section {
        TextLine line;
        std::vector<std::string> cells;
    };

    static std::string bare(std::string_view cell) {
        constexpr std::string_view around = " \t\r\"";
        const std::size_t begin = cell.find_first_not_of(around);
        if (begin == std::string_view::npos) return {};
        return std::string(cell.substr(begin, cell.find_last_not_of(around) - begin + 1));
    }

    const Section& required(const std::string& name) const {
        const auto found = sections_.find(name);
        if (found == sections_.end()) throw InputError(file_.name, {}, name, "is missing");
        return found->second;
    }

    // What follows the key, where `unit` (if any) follows that; empty where it is not there.
    static std::string cell(const Section& section, std::string_view key,
                            std::string_view unit = {}) {
        const auto& cells = section.cells;
        for (std::size_t i = 1; i + 1 < cells.size(); ++i)
            if (cells[i] == key && (unit.empty() || (i + 2 < cells.size() && cells[i + 2] == unit)))
                return cells[i + 1];
        return {};
    }

    int whole(const Section& section, const std::string& key, const std::string& text,
              double most) const {
        const auto value = positive_number(text);
        if (!value || *value != std::floor(*value) || *value > most)
            throw InputError(
                file_.name, {section.line.number, 1}, key,
                fmt::format("'{}' is not a whole number from 1 to {:g}", text.substr(0, 40), most));
        return static_cast<int>(*value);
    }

    void device() {
        GpuProfile& profile = out_.profile;
        profile.device.name =
            hints_.name.empty() ? cell(required("GPU_INFORMATION"), "GPU_name") : hints_.name;
        const std::string vendor = cell(required("GPU_INFORMATION"), "GPU_vendor");
        profile.device.vendor = vendor == "Nvidia" ? "NVIDIA" : vendor;
        const Section& compute = required("COMPUTE_RESOURCE_INFORMATION");
        // "7.50"
        std::string capability = cell(compute, "CUDA_compute_capability");
        if (const std::size_t point = capability.find('.'); point != std::string::npos &&
                                                            capability.size() == point + 3 &&
                                                            capability.ends_with('0'))
            capability.pop_back();
        profile.device.compute_capability = capability;
        std::string cores = cell(compute, "Number_of_streaming_multiprocessors");
        if (cores.empty()) cores = cell(compute, "Number_of_SM");
        constexpr double most_cores = 1e5;
        profile.cores =
            hints_.cores ? *hints_.cores
                         : whole(compute, "Number_of_streaming_multiprocessors", cores, most_cores);
        constexpr int lanes = 32;  // these versions measured NVIDIA alone
        profile.warp_size = hints_.warp_size.value_or(lanes);
        const Section& other = required("ADDITIONAL_INFORMATION");
        if (hints_.clock_hz) {
            profile.clock_hz = *hints_.clock_hz;
        } else {
            for (const auto& [unit, hertz] : {std::pair("GHz", 1e9), std::pair("MHz", 1e6)})
                if (const auto value = positive_number(cell(other, "GPU_Clock_Rate", unit)))
                    profile.clock_hz = *value * hertz;
            if (profile.clock_hz == 0)
                throw InputError(file_.name, {other.line.number, 1}, "GPU_Clock_Rate",
                                 "has no number above 0 of GHz or MHz");
        }
        if (const auto found = sections_.find("REGISTER_INFORMATION"); found != sections_.end())
            if (const std::string text = cell(found->second, "Registers_per_SM"); !text.empty())
                profile.limits.registers = whole(found->second, "Registers_per_SM", text, 1e9);
    }

    Level level(const std::string& name) {
        Level out{.key = name, .latency = {}, .bytes = {}, .confidence = {}};
        const auto found = sections_.find(name);
        if (found == sections_.end() || found->second.cells.size() < 3) return out;  // "N/A"
        const Section& section = found->second;
        const SourcePosition where{section.line.number, 1};
        if (const auto cycles = left_out_.figure(cell(section, "Load_Latency", "cycles"), where,
                                                 name + ".Load_Latency"))
            out.latency = Estimate{.value = *cycles, .std_error = {}, .note = {}};
        double unit = 1;
        for (const char* const word : {"B", "KiB", "MiB", "GiB"}) {
            if (const std::string text = cell(section, "Size", word); !text.empty())
                if (const auto size = left_out_.figure(text, where, name + ".Size"))
                    out.bytes = std::min(std::round(*size * unit), most_bytes);
            unit *= 1024;
        }
        const auto sign = std::ranges::find(section.cells, ">=");
        if (sign != section.cells.end())
            out_.notes.push_back(
                fmt::format("{}: its size is at least the one that is stated", name));
        return out;
    }

    const InputText& file_;
    const DeviceHints& hints_;
    std::map<std::string, Section> sections_;
    ImportedProfile out_;
    LeftOut left_out_{file_.name};
};

}  // namespace

ImportedProfile import_mt4g(const InputText& file, const DeviceHints& hints) {
    if (file.text.find("COMPUTE_RESOURCE_INFORMATION") != std::string::npos)
        return CsvReader(file, hints).read();
    return Reader(file, hints).read();
}

}  // namespace occupipe::analysis
