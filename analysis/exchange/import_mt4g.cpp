// SPDX-License-Identifier: MIT
// caps-tum/mt4g, its sample_results/*.json.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

constexpr double kilo = 1e3;
constexpr double most_bytes = 1e15;
constexpr double least_resolved = 0.5;  // cycles: the clock that it reads counts whole ones

class Reader {
public:
    Reader(const InputText& file, const DeviceHints& hints)
        : file_(file), hints_(hints), document_(parse_json(file.text, file.name)) {}

    ImportedProfile read() {
        const DocumentNode& root = document_.root();
        const DocumentNode& general = document_.required(root, "general");
        device(general, document_.required(root, "compute"));
        memory(document_.required(root, "memory"));
        provenance(Document::find(root, "meta"));
        out_.notes.emplace_back(
            "latencies and sizes alone: no λ, so that the profile has memory levels and no "
            "instruction, and predicts nothing");
        validate_imported(out_.profile, file_.name);
        return std::move(out_);
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
        profile.cores =
            hints_.cores ? *hints_.cores
                         : static_cast<int>(document_.integer(
                               document_.required(compute, "multiProcessorCount"), 1, most_cores));
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
        limits.registers = count(compute, "regsPerMultiProcessor");
        out_.notes.emplace_back(
            "the clock is the one that the driver states, not one that was measured");
    }

    struct Level {
        const char* key;  // in "memory"
        const char* instruction;
    };

    // Mean of a chase, and its standard error where the sample tells.
    std::optional<Estimate> latency(const DocumentNode& level) const {
        const DocumentNode* const node = Document::find(level, "latency");
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return std::nullopt;
        const DocumentNode& unit = document_.required(*node, "unit");
        if (document_.text(unit) != "cycles")
            document_.fail(unit, fmt::format("'{}' is not 'cycles'", document_.text(unit)));
        const DocumentNode& mean = document_.required(*node, "mean");
        Estimate estimate{.value = document_.number(mean), .std_error = {}, .note = {}};
        if (!(estimate.value > 0)) document_.fail(mean, "is not above 0");
        const DocumentNode* const deviation = Document::find(*node, "stdev");
        const auto sample = count(*node, "measurements");
        if (deviation != nullptr && sample) {
            const double sigma = document_.number(*deviation);
            if (sigma < 0) document_.fail(*deviation, "is below 0");
            // Equal numbers are equal to the clock's resolution.
            estimate.std_error =
                std::max(sigma, least_resolved) / std::sqrt(static_cast<double>(*sample));
        }
        return estimate;
    }

    double bytes_in(const DocumentNode& node) const {
        const double bytes = document_.number(node);
        if (!(bytes >= 1) || bytes > most_bytes)
            document_.fail(node, fmt::format("is not from 1 to {:.0f} bytes", most_bytes));
        return bytes;
    }

    std::optional<double> size(const DocumentNode& level) const {
        const DocumentNode* const node = Document::find(level, "size");
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return std::nullopt;
        const DocumentNode& unit = document_.required(*node, "unit");
        if (document_.text(unit) != "bytes")
            document_.fail(unit, fmt::format("'{}' is not 'bytes'", document_.text(unit)));
        const DocumentNode* number = Document::find(*node, "size");
        if (number == nullptr) number = &document_.required(*node, "value");
        return bytes_in(*number);
    }

    // Levels that loads of global memory go through, nearest first: each from above the one before.
    void memory(const DocumentNode& node) {
        double above = 0;
        // AMD's vector first-level cache is "vL1" in some versions; what is not there is left out.
        static constexpr std::array<const char*, 6> keys = {"l1", "vL1", "vl1", "l2", "l3", "main"};
        for (const char* key : keys) {
            const DocumentNode* const level = Document::find(node, key);
            if (level == nullptr || level->kind != DocumentNode::Kind::map) continue;
            const auto cycles = latency(*level);
            const bool last = std::string_view(key) == "main";
            std::optional<double> bytes = last ? total(*level) : size(*level);
            if (!cycles || !bytes || *bytes < above + 1) {
                out_.notes.push_back(
                    fmt::format("memory.{}: left out: {}", key,
                                !cycles  ? "it has no latency"
                                : !bytes ? "it has no size"
                                         : "its size is not above that of the level before"));
                continue;
            }
            out_.profile.memory_levels.push_back(
                {.instruction = "ld.global.u32.working_set",
                 .latency = *cycles,
                 .first_bytes = above + 1,
                 .last_bytes = *bytes,
                 .edge_confidence = last ? std::nullopt : confidence(*level)});
            above = *bytes;
        }
        if (const DocumentNode* const shared = Document::find(node, "shared")) {
            if (const auto bytes = capacity(*shared, "sharedMemPerMultiProcessor"))
                out_.profile.limits.shared_memory_bytes = static_cast<std::int64_t>(*bytes);
            const auto cycles = latency(*shared);
            if (cycles && out_.profile.limits.shared_memory_bytes)
                out_.profile.memory_levels.push_back(
                    {.instruction = "ld.shared.u32",
                     .latency = *cycles,
                     .first_bytes = 1,
                     .last_bytes = static_cast<double>(*out_.profile.limits.shared_memory_bytes),
                     .edge_confidence = {}});
        }
        if (out_.profile.memory_levels.empty())
            document_.fail(node, "has no level with a latency and a size");
        out_.notes.emplace_back(
            "left out: constant, texture and read-only caches, line sizes and "
            "bandwidths, which no profile has");
    }

    std::optional<double> capacity(const DocumentNode& map, const char* key) const {
        const DocumentNode* const node = Document::find(map, key);
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return std::nullopt;
        value(*node, "bytes");
        return bytes_in(document_.required(*node, "value"));
    }
    std::optional<double> total(const DocumentNode& level) const {
        return capacity(level, "totalGlobalMem");
    }

    std::optional<double> confidence(const DocumentNode& level) const {
        const DocumentNode* const node = Document::find(level, "size");
        const DocumentNode* const number =
            node == nullptr ? nullptr : Document::find(*node, "confidence");
        if (number == nullptr) return std::nullopt;
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
        entries.emplace_back("origin", text("mt4g: p-chase of one thread; sizes and latencies of "
                                            "memory levels"));
        entries.emplace_back("results_file", text(content_hash(file_.text)));
        if (meta == nullptr || meta->kind != DocumentNode::Kind::map) return;
        for (const char* key : {"driver", "runtime", "timestamp"})
            if (const DocumentNode* const node = Document::find(*meta, key);
                node != nullptr && node->kind == DocumentNode::Kind::scalar)
                entries.emplace_back(key, text(node->text));
    }

    const InputText& file_;
    const DeviceHints& hints_;
    Document document_;
    ImportedProfile out_;
};

}  // namespace

ImportedProfile import_mt4g(const InputText& file, const DeviceHints& hints) {
    return Reader(file, hints).read();
}

}  // namespace occupipe::analysis
