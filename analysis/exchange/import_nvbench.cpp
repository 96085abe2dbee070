// SPDX-License-Identifier: MIT
// NVIDIA/nvbench: nvbench/json_printer.cu (devices, benchmarks, states, summaries) and
// nvbench/csv_printer.cu (a line for each state).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"
#include "core/files/csv.h"
#include "core/files/json_reader.h"
#include "core/name_rules.h"

namespace occupipe::analysis {
namespace {

struct Device {
    std::string id;
    std::string name;
    std::string capability;    // empty: not told
    std::optional<int> cores;  // absent: not told
};

// A figure as it is written; empty where there is none.
struct State {
    std::string benchmark;
    std::string device;  // its id; empty: not told
    std::map<std::string, std::string, std::less<>> axes;
    bool skipped = false;
    std::string seconds;           // nv/cold/time/gpu/mean
    std::string clock_hz;          // nv/cold/sm_clock_rate/mean
    std::string bytes_per_second;  // nv/cold/bw/global/bytes_per_second
    SourcePosition where;
    std::string key;  // "benchmarks[0].states[0]"
};

struct Results {
    std::vector<Device> devices;
    std::vector<State> states;
};

class JsonReader {
public:
    explicit JsonReader(const InputText& file) : document_(parse_json(file.text, file.name)) {}

    Results read() const {
        Results out;
        const DocumentNode& root = document_.root();
        const DocumentNode& devices = document_.required(root, "devices");
        for (const DocumentNode& one : document_.items(devices)) out.devices.push_back(device(one));
        if (out.devices.empty()) document_.fail(devices, "is empty");
        int benchmark = 0;
        for (const DocumentNode& one : document_.items(document_.required(root, "benchmarks"))) {
            const std::string& name = document_.text(document_.required(one, "name"));
            int number = 0;
            for (const DocumentNode& node : document_.items(document_.required(one, "states")))
                out.states.push_back(state(
                    name, node, fmt::format("benchmarks[{}].states[{}]", benchmark, number++)));
            ++benchmark;
        }
        return out;
    }

private:
    static std::string scalar(const DocumentNode* node) {
        return node != nullptr && node->kind == DocumentNode::Kind::scalar ? node->text : "";
    }

    Device device(const DocumentNode& node) const {
        constexpr std::int64_t most_cores = 100000;
        constexpr std::int64_t most_version = 9999;
        Device out{.id = scalar(Document::find(node, "id")),
                   .name = document_.text(document_.required(node, "name")),
                   .capability = {},
                   .cores = static_cast<int>(document_.integer(
                       document_.required(node, "number_of_sms"), 1, most_cores))};
        if (const DocumentNode* const version = Document::find(node, "sm_version")) {
            const std::int64_t sm = document_.integer(*version, 1, most_version);
            out.capability = fmt::format("{}.{}", sm / 100, sm % 100 / 10);
        }
        return out;
    }

    // Entry "value" of a list of named values.
    const DocumentNode* named(const DocumentNode& list, std::string_view key, std::string_view name,
                              const char* value) const {
        for (const DocumentNode& item : document_.items(list))
            if (scalar(Document::find(item, key)) == name) return Document::find(item, value);
        return nullptr;
    }

    std::string summary(const DocumentNode& state, std::string_view tag) const {
        const DocumentNode* const list = Document::find(state, "summaries");
        if (list == nullptr || list->kind != DocumentNode::Kind::sequence) return {};
        const DocumentNode* const data = named(*list, "tag", tag, "data");
        return data == nullptr ? "" : scalar(named(*data, "name", "value", "value"));
    }

    State state(const std::string& benchmark, const DocumentNode& node,
                const std::string& key) const {
        State out{.benchmark = benchmark,
                  .device = scalar(Document::find(node, "device")),
                  .axes = {},
                  .skipped = scalar(Document::find(node, "is_skipped")) == "true",
                  .seconds = summary(node, "nv/cold/time/gpu/mean"),
                  .clock_hz = summary(node, "nv/cold/sm_clock_rate/mean"),
                  .bytes_per_second = summary(node, "nv/cold/bw/global/bytes_per_second"),
                  .where = node.where,
                  .key = key};
        // A benchmark without axes has null there.
        const DocumentNode& axes = document_.required(node, "axis_values");
        if (axes.kind == DocumentNode::Kind::null) return out;
        for (const DocumentNode& axis : document_.items(axes))
            out.axes[scalar(Document::find(axis, "name"))] = scalar(Document::find(axis, "value"));
        return out;
    }

    Document document_;
};

// Columns are benchmark, device and its name, axes, "Skipped", then summaries that are not hidden.
Results read_csv(const InputText& file) {
    std::vector<CsvRecord> records = parse_csv(file.text, file.name);
    drop_repeated_headers(records);
    Results out;
    const std::vector<std::string>& header = records.front().fields;
    const auto column = [&](const CsvRecord& record, std::string_view name) -> std::string {
        const auto found = std::ranges::find(header, name);
        return found == header.end()
                   ? ""
                   : record.fields[static_cast<std::size_t>(found - header.begin())];
    };
    for (const char* const needed : {"Benchmark", "Device", "Device Name", "Skipped"})
        if (std::ranges::find(header, needed) == header.end())
            throw InputError(file.name, {1, 1}, needed,
                             "no such column; this is not nvbench's CSV");
    for (std::size_t i = 1; i < records.size(); ++i) {
        const CsvRecord& record = records[i];
        if (column(record, "Device Name") == "Device Name")
            throw InputError(file.name, {record.line, 1}, "",
                             "is the header of another table; give each a file of its own");
        State state{.benchmark = column(record, "Benchmark"),
                    .device = column(record, "Device"),
                    .axes = {},
                    .skipped = column(record, "Skipped") == "Yes",
                    .seconds = column(record, "GPU Time (sec)"),
                    .clock_hz = column(record, "Clock Rate"),
                    .bytes_per_second = column(record, "GlobalMem BW (bytes/sec)"),
                    .where = {record.line, 1},
                    .key = {}};
        for (std::size_t c = 3; c < header.size() && header[c] != "Skipped"; ++c)
            if (!record.fields[c].empty()) state.axes[header[c]] = record.fields[c];
        if (std::ranges::find(out.devices, state.device, &Device::id) == out.devices.end())
            out.devices.push_back({state.device, column(record, "Device Name"), {}, {}});
        out.states.push_back(std::move(state));
    }
    if (out.devices.empty()) throw InputError(file.name, {1, 1}, "", "has no state");
    return out;
}

class Importer {
public:
    Importer(const InputText& file, const DeviceHints& hints) : file_(file), hints_(hints) {}

    Imported read() {
        Results results = looks_like_json(file_.text) ? JsonReader(file_).read() : read_csv(file_);
        choose(results);
        if (device_.cores && !hints_.cores) hints_.cores = device_.cores;
        if (hints_.name.empty()) hints_.name = device_.name;
        std::size_t skipped = 0;
        std::vector<const State*> others;
        for (const State& state : results.states) {
            if (!state.device.empty() && state.device != device_.id) continue;
            if (state.skipped)
                ++skipped;
            else if (const auto lacking = missing_axis(state))
                others.push_back(&state);
            else
                add_row(state);
        }
        if (skipped > 0) out_.notes.push_back(fmt::format("{} skipped states left out", skipped));
        if (out_.rows.empty() && !others.empty()) return bounds(others);
        if (!others.empty())
            out_.notes.push_back(fmt::format(
                "{} states left out whose axes do not say what was measured in which shape",
                others.size()));
        if (out_.rows.empty())
            left_out_.refuse(InputError(file_.name, {1, 1}, "", "has no state that was measured"));
        left_out_.tell(out_.notes);
        context();
        return std::move(out_);
    }

private:
    // Of the devices that ran something; nvbench lists all of the machine.
    void choose(const Results& results) {
        std::vector<Device> ran;
        for (const Device& device : results.devices)
            if (std::ranges::find(results.states, device.id, &State::device) !=
                results.states.end())
                ran.push_back(device);
        if (ran.empty()) ran = results.devices;
        std::vector<std::string> names;
        names.reserve(ran.size());
        for (const Device& device : ran) names.push_back(device.name);
        device_ = ran[chosen_device(file_, names, hints_.device, false, out_.notes)];
    }

    static std::optional<std::string> missing_axis(const State& state) {
        for (const char* const key : {"group_warps", "concurrent_groups", "chains", "depth"})
            if (!state.axes.contains(key)) return key;
        return std::nullopt;
    }

    [[noreturn]] void fail(const State& state, const std::string& what,
                           const std::string& reason) const {
        throw InputError(file_.name, state.where,
                         state.key + (state.key.empty() || what.empty() ? "" : ".") + what, reason);
    }

    int axis(const State& state, const char* key, double most) const {
        const std::string& text = state.axes.find(key)->second;
        const auto value = positive_number(text);
        if (!value || *value != std::floor(*value) || *value > most)
            fail(state, "axis_values",
                 fmt::format("{}: '{}' is not a whole number from 1 to {:g}", key,
                             text.substr(0, 40), most));
        return static_cast<int>(*value);
    }

    void add_row(const State& state) {
        ImportedRow row;
        row.line = state.where.line;
        const auto instruction = state.axes.find("instruction");
        row.subject = instruction == state.axes.end() ? state.benchmark : instruction->second;
        if (const auto fault = name_fault(row.subject))
            fail(state, "axis_values", fmt::format("instruction '{}': {}", row.subject, *fault));
        constexpr double most_warps = 1024;
        constexpr double most_depth = 2e9;
        row.shape = {.group_warps = axis(state, "group_warps", most_warps),
                     .concurrent_groups = axis(state, "concurrent_groups", most_warps),
                     .chains = axis(state, "chains", most_warps),
                     .depth = axis(state, "depth", most_depth)};
        const auto seconds = figure(state, state.seconds, "nv/cold/time/gpu/mean");
        if (!seconds) return;
        if (state.clock_hz.empty() && !hints_.clock_hz)
            fail(state, "",
                 "has no summary nv/cold/sm_clock_rate/mean: without the clock that ran there "
                 "are not cycles; clock_hz names it");
        const auto clock = state.clock_hz.empty()
                               ? hints_.clock_hz
                               : figure(state, state.clock_hz, "nv/cold/sm_clock_rate/mean");
        if (!clock) return;
        if (!state.clock_hz.empty()) row.counters.emplace_back("clock_hz", *clock);
        row.seconds = *seconds;
        row.cycles = row.seconds * *clock;
        out_.rows.push_back(std::move(row));
    }

    // As written in the summary of this tag.
    std::optional<double> figure(const State& state, const std::string& text, const char* tag) {
        if (!text.empty()) return left_out_.figure(text, state.where, state.key + " " + tag);
        left_out_.add(state.where, state.key, fmt::format("has no summary {}", tag));
        return std::nullopt;
    }

    void context() {
        auto& context = out_.context;
        context.emplace_back("device_name", hints_.name);
        context.emplace_back("device_vendor", "NVIDIA");
        if (!device_.capability.empty())
            context.emplace_back("compute_capability", device_.capability);
        if (hints_.cores)
            context.emplace_back("cores", std::to_string(*hints_.cores));
        else
            out_.notes.emplace_back(
                "the number of cores is not in the file: 'fit' needs it for a profile (cores)");
        context.emplace_back("warp_size", std::to_string(hints_.warp_size.value_or(lanes)));
        if (hints_.clock_hz) context.emplace_back("clock_hz", fmt::format("{}", *hints_.clock_hz));
        context.emplace_back("real_time", "nvbench: mean of cold runs by the GPU's events");
        out_.notes.emplace_back(
            "a state is one row, the mean of its samples: there are no repetitions "
            "for 'fit' to learn an error from");
        out_.notes.emplace_back(
            "the whole kernel was timed, launch included; cycles are that time x "
            "the clock");
    }

    // Kernels of any kind: the memory bandwidth that they tell.
    ImportedProfile bounds(const std::vector<const State*>& states) {
        std::vector<Throughput> throughputs;
        std::optional<double> clock;
        for (const State* const state : states) {
            if (state->bytes_per_second.empty()) continue;
            const auto rate =
                figure(*state, state->bytes_per_second, "nv/cold/bw/global/bytes_per_second");
            if (!rate) continue;
            if (const auto ran = positive_number(state->clock_hz); ran && clock.value_or(0) < *ran)
                clock = ran;
            throughputs.push_back({.instruction = "ld.global.f32",
                                   .per_second = *rate,
                                   .reference = fmt::format("nvbench, {}: GlobalMem BW {} B/s",
                                                            state->benchmark, *rate)});
        }
        if (throughputs.empty())
            left_out_.refuse(InputError(
                file_.name, states.front()->where,
                states.front()->key + (states.front()->key.empty() ? "" : ".axis_values"),
                fmt::format("has no axis '{}': the time of a whole kernel says nothing about an "
                            "instruction unless axes group_warps, concurrent_groups, chains and "
                            "depth say what it executed in which shape, and no state tells a "
                            "bandwidth of global memory",
                            *missing_axis(*states.front()))));
        ImportedProfile out;
        out.notes = std::move(out_.notes);
        out.notes.push_back(fmt::format(
            "no state's axes say what was measured in which shape: {} of {} states tell the "
            "bandwidth of global memory, reads and writes together, and the greatest is taken for "
            "loads",
            throughputs.size(), states.size()));
        if (!hints_.clock_hz) hints_.clock_hz = clock;
        if (!hints_.warp_size) hints_.warp_size = lanes;
        out.profile.device.name = hints_.name;
        out.profile.device.vendor = "NVIDIA";
        out.profile.device.compute_capability = device_.capability;
        set_rate_facts(out.profile, file_, hints_, {});
        add_bounds(out, throughputs);
        add_origin(out.profile, file_, "nvbench: bandwidth of global memory of whole kernels");
        left_out_.tell(out.notes);
        validate_imported(out.profile, file_.name);
        return out;
    }

    static constexpr int lanes = 32;

    const InputText& file_;
    DeviceHints hints_;
    Device device_;
    ImportedMeasurements out_;
    LeftOut left_out_{file_.name};
};

}  // namespace

Imported import_nvbench(const InputText& file, const DeviceHints& hints) {
    return Importer(file, hints).read();
}

}  // namespace occupipe::analysis
