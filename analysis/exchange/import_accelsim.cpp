// SPDX-License-Identifier: MIT
// Options and defaults as in accel-sim/gpgpu-sim_distribution (gpu-sim.cc, shader.cc, cuda-sim.cc)
// and accel-sim/accel-sim-framework (trace_driven.cc).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/unit_classes.h"
#include "analysis/exchange/unit_cycles.h"
#include "core/error.h"
#include "core/files/document.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

struct Option {
    std::string value;
    std::string file;
    SourcePosition where;
};

using Options = std::map<std::string, Option, std::less<>>;

// Words apart by blanks, or in double quotes, in which lines may end; # begins a comment.
struct Word {
    std::string text;
    SourcePosition where;
    bool quoted = false;
};

std::vector<Word> words_of(const InputText& file) {
    std::vector<Word> words;
    int line = 1;
    const std::string& text = file.text;
    std::size_t line_begin = mark_length(text);
    for (std::size_t i = line_begin; i < text.size();) {
        const char c = text[i];
        if (c == '\n') {
            ++line;
            line_begin = ++i;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++i;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
        } else {
            Word word{.text = {},
                      .where = {line, static_cast<int>(i - line_begin) + 1},
                      .quoted = c == '"'};
            if (word.quoted) {
                const std::size_t end = text.find('"', i + 1);
                if (end == std::string::npos)
                    throw InputError(file.name, word.where, "", "a quotation that does not end");
                word.text = text.substr(i + 1, end - i - 1);
                for (std::size_t j = i; j < end; ++j)
                    if (text[j] == '\n') {
                        ++line;
                        line_begin = j + 1;
                    }
                i = end + 1;
            } else {
                std::size_t end = i;
                while (end < text.size() && text[end] != '#' &&
                       std::isspace(static_cast<unsigned char>(text[end])) == 0)
                    ++end;
                word.text = text.substr(i, end - i);
                i = end;
            }
            words.push_back(std::move(word));
        }
    }
    return words;
}

bool names_option(const Word& word) {
    return !word.quoted && word.text.size() > 1 && word.text[0] == '-' &&
           std::isalpha(static_cast<unsigned char>(word.text[1])) != 0;
}

void read_options(const InputText& file, Options& options, std::vector<std::string>& notes) {
    const std::vector<Word> words = words_of(file);
    if (words.empty()) throw InputError(file.name, {1, 1}, "", "contains no options");
    require_text(file.text, file.name);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Word& word = words[i];
        if (!names_option(word))
            throw InputError(file.name, word.where, "",
                             fmt::format("'{}' is not an option: '-' and a letter begin one",
                                         word.text.substr(0, 40)));
        const std::string name = word.text.substr(1);
        if (i + 1 == words.size() || names_option(words[i + 1]))
            throw InputError(file.name, word.where, name, "has no value");
        if (const auto before = options.find(name);
            before != options.end() && before->second.value != words[i + 1].text)
            notes.push_back(fmt::format(
                "-{} is '{}' in {}:{} and '{}' in {}:{}: the later one counts, as in the simulator",
                name, before->second.value, before->second.file, before->second.where.line,
                words[i + 1].text, file.name, word.where.line));
        options[name] = {words[i + 1].text, file.name, word.where};
        ++i;
    }
}

class Reader {
public:
    Reader(const std::vector<InputText>& files, const DeviceHints& hints) : hints_(hints) {
        for (const InputText& file : files) read_options(file, options_, out_.notes);
        file_ = files.front().name;
        name_ = hints.name.empty() ? default_name(files) : hints.name;
    }

    ImportedProfile read(const std::vector<InputText>& files) {
        device();
        if (has("trace_opcode_latency_initiation_sp") || has("trace_opcode_latency_initiation_int"))
            traced();
        else
            driven_by_ptx();
        memory();
        if (out_.profile.instructions.empty())
            throw InputError(file_, {1, 1}, "",
                             "names no latency of an instruction: neither -trace_opcode_… nor "
                             "-ptx_opcode_… nor a memory's");
        provenance(files);
        out_.notes.push_back(
            "a configuration has no errors of its numbers: 'diff' compares them by 5 %");
        validate_imported(out_.profile, file_);
        return std::move(out_);
    }

private:
    static std::string default_name(const std::vector<InputText>& files) {
        const std::filesystem::path path = text_of_name(files.front().name);
        const std::string folder = path.parent_path().filename().string();
        return fmt::format("{} (simulator's configuration)",
                           folder.empty() ? path.stem().string() : folder);
    }

    bool has(std::string_view name) const { return options_.contains(name); }

    const Option& required(std::string_view name, const std::string& why) const {
        const auto found = options_.find(name);
        if (found == options_.end())
            throw InputError(file_, {}, "-" + std::string(name), "is missing: " + why);
        return found->second;
    }

    [[noreturn]] void fail(std::string_view name, const Option& option,
                           const std::string& reason) const {
        throw InputError(option.file, option.where, "-" + std::string(name), reason);
    }

    double number(std::string_view name, const Option& option, std::string_view text) const {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        constexpr double most = 1e12;
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
            value < 0 || value > most)
            fail(name, option, fmt::format("'{}' is not a number of at least 0", text));
        return value;
    }

    std::vector<double> numbers(std::string_view name, char separator) const {
        const Option& option = options_.find(name)->second;
        std::vector<double> out;
        std::string_view rest = option.value;
        while (true) {
            const std::size_t end = rest.find(separator);
            out.push_back(number(name, option, rest.substr(0, end)));
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
        return out;
    }

    int whole(std::string_view name, int least) const {
        const Option& option = options_.find(name)->second;
        const double value = number(name, option, option.value);
        constexpr double most = 1e9;
        if (value != std::floor(value) || value < least || value > most)
            fail(name, option,
                 fmt::format("'{}' is not a whole number of at least {}", option.value, least));
        return static_cast<int>(value);
    }

    int whole_or(std::string_view name, int least, int otherwise) const {
        return has(name) ? whole(name, least) : otherwise;
    }

    // What the simulator takes where the files do not say it.
    int whole_or_default(std::string_view name, int simulators) {
        if (has(name)) return whole(name, 1);
        out_.notes.push_back(
            fmt::format("no -{}: {}, the simulator's own default", name, simulators));
        return simulators;
    }

    void device() {
        GpuProfile& profile = out_.profile;
        profile.device.name = name_;
        profile.device.vendor = "NVIDIA";
        if (has("gpgpu_compute_capability_major") && has("gpgpu_compute_capability_minor"))
            profile.device.compute_capability =
                fmt::format("{}.{}", whole("gpgpu_compute_capability_major", 1),
                            whole("gpgpu_compute_capability_minor", 0));
        if (hints_.cores) {
            profile.cores = *hints_.cores;
        } else {
            required("gpgpu_n_clusters", "a profile needs the number of cores (cores)");
            const double cores = static_cast<double>(whole("gpgpu_n_clusters", 1)) *
                                 whole_or_default("gpgpu_n_cores_per_cluster", 3);
            if (cores > 1e6)
                fail("gpgpu_n_clusters", options_.find("gpgpu_n_clusters")->second,
                     "is more cores than a GPU has");
            profile.cores = static_cast<int>(cores);
        }
        profile.warp_size = hints_.warp_size.value_or(32);
        if (has("gpgpu_shader_core_pipeline")) {
            const auto parts = numbers("gpgpu_shader_core_pipeline", ':');
            const Option& option = options_.find("gpgpu_shader_core_pipeline")->second;
            if (parts.size() != 2 || parts[1] < 1 || parts[1] > 1024 ||
                parts[1] != std::floor(parts[1]) || std::fmod(parts[0], parts[1]) != 0 ||
                parts[0] < parts[1])
                fail("gpgpu_shader_core_pipeline", option,
                     fmt::format("'{}' is not THREADS:WARP_SIZE", option.value));
            profile.warp_size = static_cast<int>(parts[1]);
            profile.limits.warps = static_cast<std::int64_t>(parts[0] / parts[1]);
        }
        if (hints_.clock_hz) {
            profile.clock_hz = *hints_.clock_hz;
        } else {
            required("gpgpu_clock_domains", "a profile needs the core's clock (clock_hz)");
            const auto domains = numbers("gpgpu_clock_domains", ':');
            if (!(domains.front() >= 1))
                fail("gpgpu_clock_domains", options_.find("gpgpu_clock_domains")->second,
                     "the core's clock, the first one, is below 1 MHz");
            profile.clock_hz = domains.front() * 1e6;
        }
        const auto limit = [&](const char* name, std::optional<std::int64_t>& member) {
            if (has(name)) member = whole(name, 1);
        };
        limit("gpgpu_shader_cta", profile.limits.groups);
        limit("gpgpu_shader_registers", profile.limits.registers);
        limit("gpgpu_shmem_size", profile.limits.shared_memory_bytes);
        profile.issue.schedulers = whole_or_default("gpgpu_num_sched_per_core", 1);
        if (profile.issue.schedulers > most_schedulers)
            fail("gpgpu_num_sched_per_core", options_.find("gpgpu_num_sched_per_core")->second,
                 "is more schedulers than a core has");
        if (has("gpgpu_max_insn_issue_per_warp"))
            profile.issue.limit = static_cast<double>(profile.issue.schedulers) *
                                  whole("gpgpu_max_insn_issue_per_warp", 1);
        if (has("gpgpu_scheduler")) scheduler(options_.find("gpgpu_scheduler")->second);
        sub_cores_ = whole_or("gpgpu_sub_core_model", 0, 0) == 1;
    }

    void scheduler(const Option& option) {
        const std::string& word = option.value;
        if (word == "lrr")
            out_.profile.issue.policy = Policy::lrr;
        else if (word == "gto")
            out_.profile.issue.policy = Policy::gto;
        else if (word == "old")
            out_.profile.issue.policy = Policy::oldest;
        else
            out_.notes.push_back(
                fmt::format("-gpgpu_scheduler {}: a policy that no profile has; "
                            "left out",
                            word.substr(0, 60)));
    }

    struct Units {
        std::string subsystem;
        int count = 0;
    };

    // As the simulator: no unit of its own means another one's work.
    Units units(std::string_view name) {
        const std::string option = fmt::format("gpgpu_num_{}_units", name);
        if (!has(option) && name == "int") {
            out_.notes.push_back("no -gpgpu_num_int_units: integers run on the SP units");
            return units("sp");
        }
        // Beside units of another kind none of double precision is the simulator's own default.
        if (!has(option) && name == "dp" && has("gpgpu_num_sp_units")) {
            out_.notes.push_back(
                "no -gpgpu_num_dp_units: 0, the simulator's own default; double precision runs on "
                "the SFU");
            return units("sfu");
        }
        required(option,
                 "λ is the initiation interval over the units of a core; name "
                 "gpgpusim.config beside trace.config");
        const int count = whole(option, 0);
        if (count == 0 && name == "int") return units("sp");
        if (count == 0 && name == "dp") return units("sfu");
        if (count == 0)
            fail(option, options_.find(option)->second, "there is no unit, and so no λ");
        return {std::string(name), count};
    }

    void add(std::string_view instruction, const Units& units, double latency, double interval,
             const std::string& reference, std::string note = {}) {
        GpuProfile& profile = out_.profile;
        if (profile.find_instruction(instruction) != nullptr) return;
        const bool each = sub_cores_ && units.count == profile.issue.schedulers && units.count > 1;
        if (profile.find_subsystem(units.subsystem) == nullptr)
            profile.subsystems.push_back({.name = units.subsystem,
                                          .scope = each ? Scope::scheduler : Scope::core,
                                          .contention = {}});
        InstructionTiming timing;
        timing.name = instruction;
        timing.subsystem = units.subsystem;
        timing.cpi = {
            .value = each ? interval : interval / units.count, .std_error = {}, .note = {}};
        timing.latency = Estimate{.value = latency, .std_error = {}, .note = {}};
        timing.source = Source::assumed;
        timing.reference = reference;
        timing.note = std::move(note);
        profile.instructions.push_back(std::move(timing));
    }

    static std::string place(std::string_view name, const Option& option) {
        return fmt::format("-{} {}, {}:{}", name, option.value, text_of_name(option.file),
                           option.where.line);
    }

    void check_cycles(std::string_view name, double latency, double interval) const {
        const Option& option = options_.find(name)->second;
        if (interval < 1 || interval != std::floor(interval) || latency != std::floor(latency))
            fail(name, option,
                 fmt::format("'{}': cycles are whole, the interval at least 1", option.value));
        if (latency > most_unit_cycles)
            fail(name, option,
                 fmt::format("'{}': a unit of the simulator takes at most {} cycles", option.value,
                             most_unit_cycles));
        if (latency < interval)
            fail(name, option,
                 fmt::format("'{}': the latency is below the initiation interval, "
                             "which the simulator cannot run",
                             option.value));
    }

    // LATENCY,INITIATION; false where there is none.
    bool trace_pair(const std::string& name, double& latency, double& interval) {
        if (!has(name)) {
            out_.notes.push_back(
                fmt::format("no -{}: its instructions are not in the profile", name));
            return false;
        }
        const auto pair = numbers(name, ',');
        if (pair.size() != 2)
            fail(name, options_.find(name)->second,
                 fmt::format("'{}' is not LATENCY,INITIATION", options_.find(name)->second.value));
        check_cycles(name, pair[0], pair[1]);
        latency = pair[0];
        interval = pair[1];
        return true;
    }

    void traced() {
        for (const UnitClass& unit : unit_classes()) {
            const std::string name = fmt::format("trace_opcode_latency_initiation_{}", unit.name);
            double latency = 0;
            double interval = 0;
            if (!trace_pair(name, latency, interval)) continue;
            const Units count = units(unit.name);
            for (const std::string_view instruction : unit.candidates)
                add(instruction, count, latency, interval,
                    place(name, options_.find(name)->second));
        }
        tensor();
        if (has("ptx_opcode_latency_fp"))
            out_.notes.push_back(
                "-ptx_opcode_…: left out, since the -trace_opcode_… options are there, which count "
                "when the simulator is driven by traces");
    }

    // HMMA of a trace runs on the third specialised unit where that is enabled.
    void tensor() {
        const std::string_view instruction = tensor_instruction(out_.profile);
        std::string name = "trace_opcode_latency_initiation_tensor";
        Units count{"tensor", whole_or("gpgpu_num_tensor_core_units", 0, 0)};
        if (has("specialized_unit_3")) {
            const Option& option = options_.find("specialized_unit_3")->second;
            const std::size_t first = option.value.find(',');
            const std::size_t second = option.value.find(',', first + 1);
            if (first == std::string::npos || second == std::string::npos)
                fail("specialized_unit_3", option, "is not ENABLED,UNITS,LATENCY,…,NAME");
            const double enabled =
                number("specialized_unit_3", option, option.value.substr(0, first));
            const double several = number("specialized_unit_3", option,
                                          option.value.substr(first + 1, second - first - 1));
            constexpr double most = 1024;
            if (several != std::floor(several) || several > most)
                fail("specialized_unit_3", option, "has no whole number of units below 1024");
            if (enabled == 1) {
                name = "trace_opcode_latency_initiation_spec_op_3";
                count.count = static_cast<int>(several);
            }
        }
        double latency = 0;
        double interval = 0;
        if (!has(name)) return;
        if (!trace_pair(name, latency, interval)) return;
        if (instruction.empty() || count.count < 1) {
            out_.notes.push_back(fmt::format("-{}: left out; {}", name,
                                             count.count < 1
                                                 ? "there is no tensor unit"
                                                 : "no instruction of a profile is one HMMA "
                                                   "of this compute capability"));
            return;
        }
        add(instruction, count, latency, interval, place(name, options_.find(name)->second),
            "one HMMA of a trace");
    }

    void driven_by_ptx() {
        struct Kind {
            const char* type;
            const char* unit;
            std::vector<const char*> columns;
        };
        const std::vector<Kind> kinds = {
            {"int",
             "int",
             {"add.s32", "max.s32", "mul.s32", "mad.s32", "div.s32", "shfl.sync.idx.b32"}},
            {"fp", "sp", {"add.f32", "max.f32", "mul.f32", "fma.f32", "div.f32"}},
            {"dp", "dp", {"add.f64", "max.f64", "mul.f64", "fma.f64", "div.f64"}}};
        for (const Kind& kind : kinds) ptx_lists(kind.type, kind.unit, kind.columns);
        if (!has("ptx_opcode_latency_sfu") || !has("ptx_opcode_initiation_sfu")) return;
        const auto latency = numbers("ptx_opcode_latency_sfu", ',');
        const auto interval = numbers("ptx_opcode_initiation_sfu", ',');
        check_cycles("ptx_opcode_latency_sfu", latency.front(), interval.front());
        const Units count = units("sfu");
        for (const std::string_view instruction : unit_classes()[3].candidates)
            add(instruction, count, latency.front(), interval.front(),
                place("ptx_opcode_latency_sfu", options_.find("ptx_opcode_latency_sfu")->second));
    }

    void ptx_lists(const std::string& type, const std::string& unit,
                   const std::vector<const char*>& columns) {
        const std::string latency_name = "ptx_opcode_latency_" + type;
        const std::string interval_name = "ptx_opcode_initiation_" + type;
        if (!has(latency_name)) return;
        const Option& latency_option = options_.find(latency_name)->second;
        required(interval_name, fmt::format("-{} is there", latency_name));
        const auto latencies = numbers(latency_name, ',');
        const auto intervals = numbers(interval_name, ',');
        constexpr std::size_t without_shuffle = 5;
        if (latencies.size() < without_shuffle || latencies.size() > columns.size())
            fail(latency_name, latency_option,
                 fmt::format("has {} numbers, not ADD,MAX,MUL,MAD,DIV", latencies.size()));
        if (intervals.size() != latencies.size())
            fail(interval_name, options_.find(interval_name)->second,
                 fmt::format("has {} numbers, and -{} has {}", intervals.size(), latency_name,
                             latencies.size()));
        const Units count = units(unit);
        const Units special = units("sfu");
        constexpr std::size_t division = 4;
        for (std::size_t i = 0; i < latencies.size(); ++i) {
            check_cycles(latency_name, latencies[i], intervals[i]);
            add(columns[i], i == division ? special : count, latencies[i], intervals[i],
                place(latency_name, latency_option), i == division ? "runs on the SFU" : "");
        }
    }

    // λ of memory follows from the whole simulation: a core has one load/store unit, which takes an
    // access a cycle at most.
    void load(LoadFrom from, double latency, const std::string& reference,
              const std::string& note) {
        GpuProfile& profile = out_.profile;
        const std::string subsystem = from == LoadFrom::shared ? "shared" : "mem";
        if (profile.find_subsystem(subsystem) == nullptr)
            profile.subsystems.push_back(
                {.name = subsystem, .scope = Scope::core, .contention = {}});
        for (const std::string_view name : load_names(from)) {
            InstructionTiming timing;
            timing.name = name;
            timing.subsystem = subsystem;
            timing.cpi = {.value = 1,
                          .std_error = {},
                          .kind = Estimate::Kind::lower_bound,
                          .note =
                              "one load/store unit, one access a cycle at most; what banks, "
                              "queues and DRAM leave of it is not in a configuration"};
            timing.latency = Estimate{.value = latency, .std_error = {}, .note = {}};
            timing.source = Source::assumed;
            timing.reference = reference;
            timing.note = note;
            profile.instructions.push_back(std::move(timing));
        }
    }

    void memory() {
        const auto cycles = [&](const char* name) -> std::optional<double> {
            if (!has(name)) {
                out_.notes.push_back(fmt::format("no -{}: its loads are not in the profile", name));
                return std::nullopt;
            }
            return whole(name, 1);
        };
        const auto shared = cycles("gpgpu_smem_latency");
        if (shared)
            load(LoadFrom::shared, *shared,
                 place("gpgpu_smem_latency", options_.find("gpgpu_smem_latency")->second), "");
        const auto first = cycles("gpgpu_l1_latency");
        if (first)
            load(LoadFrom::l1, *first,
                 place("gpgpu_l1_latency", options_.find("gpgpu_l1_latency")->second), "");
        const auto second = cycles("gpgpu_l2_rop_latency");
        if (first && second)
            load(LoadFrom::l2, *first + *second,
                 place("gpgpu_l2_rop_latency", options_.find("gpgpu_l2_rop_latency")->second),
                 "first-level latency + l2_rop_latency; interconnect and queues come on top");
        const auto memory = cycles("dram_latency");
        if (first && second && memory)
            load(LoadFrom::memory, *first + *second + *memory,
                 place("dram_latency", options_.find("dram_latency")->second),
                 "first-level latency + l2_rop_latency + dram_latency; interconnect, queues and "
                 "DRAM timing come on top");
    }

    void provenance(const std::vector<InputText>& files) {
        const auto text = [](const std::string& value) {
            Annotation annotation;
            annotation.text = value;
            return annotation;
        };
        auto& entries = out_.profile.provenance.entries;
        entries.emplace_back("origin", text("configuration of a simulator (Accel-Sim/GPGPU-Sim): "
                                            "chosen numbers, nothing was measured"));
        Annotation list;
        for (const InputText& file : files)
            list.items.push_back(text(fmt::format(
                "{} {}", text_of_name(std::filesystem::path(file.name).filename().string()),
                content_hash(file.text))));
        entries.emplace_back("configuration", std::move(list));
        entries.emplace_back(
            "latency",
            text("of the unit, as configured; the simulator's operand collection and "
                 "write-back come on top, so that a dependent instruction waits longer"));
        entries.emplace_back("cpi", text("initiation interval over the units of a core"));
    }

    const DeviceHints& hints_;
    Options options_;
    ImportedProfile out_;
    std::string file_;
    std::string name_;
    bool sub_cores_ = false;
};

}  // namespace

ImportedProfile import_accelsim(const std::vector<InputText>& files, const DeviceHints& hints) {
    return Reader(files, hints).read(files);
}

}  // namespace occupipe::analysis
