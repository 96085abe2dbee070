// SPDX-License-Identifier: MIT
// NVIDIA/nvbench, nvbench/json_printer.cu: devices, benchmarks, states, summaries.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "core/files/json_reader.h"
#include "core/name_rules.h"

namespace occupipe::analysis {
namespace {

class Reader {
public:
    Reader(const InputText& file, const DeviceHints& hints)
        : file_(file), hints_(hints), document_(parse_json(file.text, file.name)) {}

    ImportedMeasurements read() {
        const DocumentNode& root = document_.root();
        device(document_.required(root, "devices"));
        for (const DocumentNode& benchmark :
             document_.items(document_.required(root, "benchmarks")))
            states(benchmark);
        if (out_.rows.empty())
            document_.fail(document_.required(root, "benchmarks"),
                           "has no state that was measured");
        out_.context.emplace_back("real_time", "nvbench: mean of cold runs by the GPU's events");
        out_.notes.emplace_back(
            "a state is one row, the mean of its samples: there are no repetitions "
            "for 'fit' to learn an error from");
        out_.notes.emplace_back(
            "the whole kernel was timed, launch included; cycles are that time x "
            "the clock");
        return std::move(out_);
    }

private:
    // nvbench writes some numbers as text: 64-bit ones, and those that JSON does not have.
    double number(const DocumentNode& node) const {
        if (!node.quoted) return document_.number(node);
        const std::string& text = document_.text(node);
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
            document_.fail(node, fmt::format("'{}' is not a finite number", text.substr(0, 40)));
        return value;
    }

    double positive(const DocumentNode& node) const {
        const double value = number(node);
        constexpr double most = 1e18;
        if (!(value > 0) || value > most) document_.fail(node, "is not a number above 0");
        return value;
    }

    int whole(const DocumentNode& node, double most) const {
        const double value = positive(node);
        if (value != std::floor(value) || value > most)
            document_.fail(node, fmt::format("is not a whole number from 1 to {:g}", most));
        return static_cast<int>(value);
    }

    void device(const DocumentNode& devices) {
        const auto& items = document_.items(devices);
        if (items.empty()) document_.fail(devices, "is empty");
        if (items.size() > 1)
            document_.fail(devices, "has several devices: a measurement file is of one");
        const DocumentNode& one = items.front();
        constexpr double most_cores = 1e5;
        const std::string name =
            hints_.name.empty() ? document_.text(document_.required(one, "name")) : hints_.name;
        const int cores = hints_.cores
                              ? *hints_.cores
                              : whole(document_.required(one, "number_of_sms"), most_cores);
        out_.context.emplace_back("device_name", name);
        out_.context.emplace_back("device_vendor", "NVIDIA");
        if (const DocumentNode* const version = Document::find(one, "sm_version")) {
            constexpr double most = 9999;
            const int sm = whole(*version, most);
            out_.context.emplace_back("compute_capability",
                                      fmt::format("{}.{}", sm / 100, sm % 100 / 10));
        }
        out_.context.emplace_back("cores", std::to_string(cores));
        out_.context.emplace_back("warp_size", std::to_string(hints_.warp_size.value_or(32)));
        if (hints_.clock_hz)
            out_.context.emplace_back("clock_hz", fmt::format("{}", *hints_.clock_hz));
    }

    // Entry "value" of a list of named values.
    const DocumentNode* named(const DocumentNode& list, std::string_view key, std::string_view name,
                              const char* value) const {
        for (const DocumentNode& item : document_.items(list)) {
            const DocumentNode* const own = Document::find(item, key);
            if (own != nullptr && own->kind == DocumentNode::Kind::scalar && own->text == name)
                return Document::find(item, value);
        }
        return nullptr;
    }

    const DocumentNode* summary(const DocumentNode& state, std::string_view tag) const {
        const DocumentNode* const list = Document::find(state, "summaries");
        if (list == nullptr || list->kind != DocumentNode::Kind::sequence) return nullptr;
        const DocumentNode* const data = named(*list, "tag", tag, "data");
        return data == nullptr ? nullptr : named(*data, "name", "value", "value");
    }

    void states(const DocumentNode& benchmark) {
        const std::string& name = document_.text(document_.required(benchmark, "name"));
        for (const DocumentNode& state : document_.items(document_.required(benchmark, "states"))) {
            const DocumentNode* const skipped = Document::find(state, "is_skipped");
            if (skipped != nullptr && skipped->kind == DocumentNode::Kind::scalar &&
                skipped->text == "true") {
                ++skipped_;
                continue;
            }
            one_state(name, state);
        }
        if (skipped_ > 0) out_.notes.push_back(fmt::format("{} skipped states left out", skipped_));
        skipped_ = 0;
    }

    void one_state(const std::string& benchmark, const DocumentNode& state) {
        const DocumentNode& axes = document_.required(state, "axis_values");
        ImportedRow row;
        row.line = state.where.line;
        const DocumentNode* const instruction = named(axes, "name", "instruction", "value");
        row.subject = instruction == nullptr ? benchmark : document_.text(*instruction);
        if (const auto fault = name_fault(row.subject))
            document_.fail(axes, fmt::format("instruction '{}': {}", row.subject, *fault));
        const auto axis = [&](const char* key, double most) {
            const DocumentNode* const node = named(axes, "name", key, "value");
            if (node == nullptr)
                document_.fail(
                    axes,
                    fmt::format("has no axis '{}': the time of a whole kernel says nothing about "
                                "an instruction unless axes group_warps, concurrent_groups, "
                                "chains and depth say what it executed in which shape",
                                key));
            return whole(*node, most);
        };
        constexpr double most_warps = 1024;
        constexpr double most_depth = 2e9;
        row.shape = {.group_warps = axis("group_warps", most_warps),
                     .concurrent_groups = axis("concurrent_groups", most_warps),
                     .chains = axis("chains", most_warps),
                     .depth = axis("depth", most_depth)};
        const DocumentNode* const time = summary(state, "nv/cold/time/gpu/mean");
        if (time == nullptr) document_.fail(state, "has no summary nv/cold/time/gpu/mean");
        row.seconds = positive(*time);
        const DocumentNode* const witnessed = summary(state, "nv/cold/sm_clock_rate/mean");
        double clock = 0;
        if (witnessed != nullptr) {
            clock = positive(*witnessed);
            row.counters.emplace_back("clock_hz", clock);
        } else if (hints_.clock_hz) {
            clock = *hints_.clock_hz;
        } else {
            document_.fail(
                state,
                "has no summary nv/cold/sm_clock_rate/mean: without the clock that ran there "
                "are no cycles; clock_hz names it");
        }
        row.cycles = row.seconds * clock;
        out_.rows.push_back(std::move(row));
    }

    const InputText& file_;
    const DeviceHints& hints_;
    Document document_;
    ImportedMeasurements out_;
    int skipped_ = 0;
};

}  // namespace

ImportedMeasurements import_nvbench(const InputText& file, const DeviceHints& hints) {
    return Reader(file, hints).read();
}

}  // namespace occupipe::analysis
