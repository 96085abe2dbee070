// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/sweep/sweep_text.h"
#include "ask/answer.h"
#include "ask/shipped_files.h"
#include "core/files/files.h"
#include "core/suggestions.h"

namespace occupipe::analysis {
namespace {

std::int64_t at_least_one(std::size_t size) {
    return static_cast<std::int64_t>(std::max<std::size_t>(1, size));
}

// Of a quantity that `set` names; empty: it has none.
std::string unit_of(std::string_view quantity) {
    if (quantity.ends_with(".latency")) return "core cycles";
    if (quantity.ends_with(".cpi")) return "core cycles per warp-instruction";
    if (quantity == "issue.limit") return "warp-instructions per core cycle";
    if (quantity == "clock_hz") return "Hz";
    return {};
}

// A number whose text is what is written of it.
template <typename Number>
bool is_written(const std::string& text) {
    Number value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size() &&
           fmt::format("{}", value) == text;
}

}  // namespace

Sweep::Sweep(SweepSpec spec, const std::string& file_name, const std::string& text,
             const std::filesystem::path& folder, SweepLimit limit)
    : spec_(std::move(spec)), limit_(std::move(limit)) {
    std::string all = fmt::format("{}\n{}\n{}\n", OCCUPIPE_VERSION, limit_.text, text);
    origin_.spec = text;
    origin_.limit = limit_.text;
    read_kernels(file_name, folder, all);
    read_profiles(file_name, folder, all);
    check_settings(file_name);
    check_changes(file_name);
    for (const SweepParameter& one : spec_.set) variants_ *= at_least_one(one.values.size());
    for (const std::size_t n : {spec_.iterations.size(), spec_.orders.size(), spec_.policies.size(),
                                spec_.selects.size()})
        variants_ *= at_least_one(n);
    find_pairs(file_name, folder, all);
    check_uses_of_code(file_name);
    made_of_ = content_hash(all);
    name_columns();
}

void Sweep::read_kernels(const std::string& file_name, const std::filesystem::path& folder,
                         std::string& all) {
    for (const SweepKernel& kernel : spec_.kernels) {
        kernels_.emplace_back();
        for (const std::string& name : kernel.parameters)
            if (std::ranges::find(parameters_, name) == parameters_.end())
                parameters_.push_back(name);
        if (kernel.code) continue;
        try {
            const std::filesystem::path path = sweep_kernel(kernel.name, folder);
            const std::string content = named_profile_text(path.string());
            origin_.inputs.emplace_back(kernel.name.text, content_hash(content));
            all += content_hash(content) + '\n';
            kernels_.back() = parse_kernel(content, path.string());
        } catch (const InputError& error) {
            throw InputError(file_name, kernel.name.where, "kernels", error.what());
        }
    }
    for (const SweepParameter& one : spec_.set)
        if (std::ranges::find(parameters_, one.name.text) != parameters_.end())
            throw InputError(file_name, one.name.where, "set",
                             fmt::format("'{}' is a kernel's parameter, too", one.name.text));
}

void Sweep::read_profiles(const std::string& file_name, const std::filesystem::path& folder,
                          std::string& all) {
    for (const SweepName& name : spec_.profiles) {
        try {
            const std::filesystem::path path = sweep_profile(name, folder);
            const std::string content = named_profile_text(path.string());
            origin_.inputs.emplace_back(name.text, content_hash(content));
            all += content_hash(content) + '\n';
            profiles_.push_back(named_profile(path.string()));
        } catch (const InputError& error) {
            throw InputError(file_name, name.where, "profiles", error.what());
        }
    }
}

Sweep::Pair Sweep::pair_of(std::size_t kernel, std::size_t combination, std::size_t profile,
                           CodeReader& reader) const {
    Pair pair{.kernel = kernel,
              .combination = combination,
              .profile = profile,
              .code = nullptr,
              .launches = {},
              .launches_refused = {}};
    const SweepKernel& asked = spec_.kernels[kernel];
    try {
        int own_group_warps = kernels_[kernel].launch.value_or(Launch()).group_warps;
        if (asked.code) {
            std::map<std::string, std::string> values;
            for (std::size_t i = 0; i < asked.parameters.size(); ++i)
                values[asked.parameters[i]] = asked.combinations[combination][i];
            pair.code = reader.launch(*asked.code, values, profiles_[profile]);
            own_group_warps = pair.code->group_warps;
        }
        pair.launches = launches_of(own_group_warps, profiles_[profile]);
    } catch (const InputError& error) {
        pair.launches_refused = error.what();
        pair.launches = {LaunchChoice()};
    }
    return pair;
}

// A launch of machine code that is impossible for all values and profiles is a mistake; one that is
// possible for some is a row with a reason.
void Sweep::find_pairs(const std::string& file_name, const std::filesystem::path& folder,
                       std::string& all) {
    CodeReader reader(folder);
    first_row_.push_back(0);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        const SweepKernel& kernel = spec_.kernels[k];
        bool possible = !kernel.code;
        const std::size_t first = pairs_.size();
        for (std::size_t c = 0; c < kernel.combinations.size(); ++c)
            for (std::size_t p = 0; p < profiles_.size(); ++p) {
                Pair pair = pair_of(k, c, p, reader);
                possible = possible || pair.code;
                if (pair.code) all += pair.code->hash + '\n';
                const double rows = static_cast<double>(variants_) *
                                    static_cast<double>(pair.launches.size()) *
                                    static_cast<double>(spec_.models.size());
                if (static_cast<double>(first_row_.back()) + rows >
                    static_cast<double>(most_sweep_rows))
                    throw InputError(fmt::format("{}: asks for more than {:.3g} predictions",
                                                 file_name, static_cast<double>(most_sweep_rows)));
                first_row_.push_back(first_row_.back() + static_cast<std::int64_t>(rows));
                pairs_.push_back(std::move(pair));
            }
        if (!possible)
            throw InputError(file_name, kernel.name.where, "kernels",
                             pairs_[first].launches_refused);
    }
    std::ranges::copy(reader.inputs(), std::back_inserter(origin_.inputs));
}

void Sweep::name_columns() {
    constexpr auto whole = ColumnType::whole, real = ColumnType::real, text = ColumnType::text;
    auto& columns = origin_.columns;
    const auto add = [&](bool there, const std::string& name, ColumnType type, const char* meaning,
                         const std::string& unit = {}, const char* absent = "") {
        if (there)
            columns.push_back(
                {.name = name, .type = type, .unit = unit, .meaning = meaning, .absent = absent});
    };
    add(true, "row", whole, "number of the row, from 0");
    add(true, "kernel", text, "as the spec names it");
    for (const std::string& name : parameters_) {
        bool all_whole = true, all_real = true;
        for (const SweepKernel& kernel : spec_.kernels)
            for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
                for (const auto& values : kernel.combinations) {
                    if (kernel.parameters[i] != name) continue;
                    all_whole = all_whole && is_written<std::int64_t>(values[i]);
                    all_real = all_real && is_written<double>(values[i]);
                }
        add(true, name,
            all_whole  ? whole
            : all_real ? real
                       : text,
            "parameter of the kernel's launch");
    }
    add(true, "profile", text, "as the spec names it");
    for (const SweepParameter& one : spec_.set)
        add(true, one.name.text, real, "as set in the profile", unit_of(one.name.text), "none");
    add(!spec_.iterations.empty(), "iterations", whole, "of the kernel's one outermost loop");
    add(!spec_.orders.empty(), "order", text, "in which instructions of a warp may issue");
    add(!spec_.policies.empty(), "policy", text, "which warp issues first");
    add(!spec_.selects.empty(), "select", text, "what a scheduler chooses first");
    add(true, "group_warps", whole, "of a group", "warps");
    add(true, "concurrent_groups", whole, "that a core holds at once", "groups");
    add(true, "groups", whole, "of the launch", "groups");
    add(true, "model", text, "as 'occupipe list models' has it");
    add(true, "groups_per_core", whole, "that the busiest core runs", "groups");
    add(true, "cycles", real, "for all groups of one core", "core cycles");
    add(true, "seconds", real, "of the launch", "s");
    add(true, "warps_per_cycle", real, "throughput of one core", "warps per core cycle");
    add(true, "cycles_per_run", real, "of the warps that are resident at once", "core cycles");
    add(true, "instructions_per_cycle", real, "of one core", "warp-instructions per core cycle");
    add(true, "limited_by", text, "a unit, 'issue' or 'latency'");
    add(true, "busy", ColumnType::shares, "of each unit, of the time", "1");
    add(true, "refused", text, "why there is no prediction");
    add(spec_.assumptions, "assumptions", text, "sentences, separated by '; '");
    for (const SweepColumn& one : columns)
        header_ += (header_.empty() ? "" : ",") + field(one.name);
    header_ += '\n';
}

bool Sweep::has_code() const {
    return std::ranges::any_of(spec_.kernels,
                               [](const SweepKernel& one) { return one.code.has_value(); });
}

// A value that no profile takes is a mistake, also not where `use` gives it an instruction more;
// one that some take is a row with a reason.
void Sweep::check_settings(const std::string& file_name) const {
    const auto takes = [&](const std::string& setting, const Kernel& kernel, std::string& reason) {
        ProfileChanges changes = changes_of(kernel);
        changes.classes.clear();
        changes.what_ifs = {setting};
        return std::ranges::any_of(profiles_, [&](const GpuProfile& profile) {
            try {
                analysis::check_changes(kernel, profile, changes);
                return true;
            } catch (const BadSetting& error) {
                reason = error.reason;
            } catch (const InputError& error) {
                reason = error.what();
            }
            return false;
        });
    };
    for (const SweepParameter& one : spec_.set)
        for (const std::string& value : one.values) {
            const std::string setting = one.name.text + "=" + value;
            std::string reason, unused;
            if (takes(setting, {}, reason)) continue;
            if (!std::ranges::any_of(
                    kernels_, [&](const Kernel& kernel) { return takes(setting, kernel, unused); }))
                throw InputError(file_name, one.name.where, "set." + one.name.text, reason);
        }
}

namespace {

std::string op_of(const SweepName& use) { return use.text.substr(0, use.text.find('=')); }

bool has_op(const Kernel& kernel, const std::string& op) {
    bool found = false;
    for_each_instruction(kernel,
                         [&](const KernelInstruction& one) { found = found || one.op == op; });
    return found;
}

}  // namespace

// The kernel's part of what is asked of all.
ProfileChanges Sweep::changes_of(const Kernel& kernel) const {
    ProfileChanges changes;
    for (const SweepName& use : spec_.uses)
        if (has_op(kernel, op_of(use))) changes.uses.push_back(use.text);
    for (const SweepName& one : spec_.classes) changes.classes.push_back(one.text);
    return changes;
}

// The same of `use` and `assume_latency`, but for machine code, whose instructions nobody knows
// before it was executed.
void Sweep::check_changes(const std::string& file_name) const {
    if (has_code()) {
        for (const SweepName& use : spec_.uses)
            if (use.text.find('=') == std::string::npos)
                throw InputError(file_name, use.where, "use", "is not OP=INSTRUCTION");
        return;
    }
    const auto check = [&](const SweepName& one, const char* key, const auto& apply) {
        std::string reason = "no kernel has this op";
        for (const Kernel& kernel : kernels_)
            for (const GpuProfile& profile : profiles_) {
                try {
                    if (apply(kernel, profile)) return;
                } catch (const BadSetting& error) {
                    reason = error.reason;
                } catch (const InputError& error) {
                    reason = error.what();
                }
            }
        throw InputError(file_name, one.where, key, reason);
    };
    for (const SweepName& use : spec_.uses)
        check(use, "use", [&](const Kernel& kernel, const GpuProfile& profile) {
            const ProfileChanges changes = changes_of(kernel);
            if (std::ranges::find(changes.uses, use.text) == changes.uses.end() &&
                use.text.find('=') != std::string::npos)
                return false;
            analysis::check_changes(kernel, profile, {.uses = {use.text}});
            return true;
        });
    for (const SweepName& one : spec_.classes)
        check(one, "assume_latency", [&](const Kernel& kernel, const GpuProfile& profile) {
            analysis::check_changes(kernel, profile, {.classes = {one.text}});
            return true;
        });
}

// Parameters may take an op away from some launches; one that no code has is a mistake. Which
// instructions are executed nobody knows yet.
void Sweep::check_uses_of_code(const std::string& file_name) {
    if (!has_code() || spec_.uses.empty()) return;
    std::map<const CodeLaunch*, std::set<std::string>> ops;
    std::set<std::string> all;
    for (const Pair& pair : pairs_)
        if (pair.code && !ops.contains(pair.code.get()))
            all.merge(std::set(ops[pair.code.get()] = possible_ops(*pair.code)));
    for (const SweepName& use : spec_.uses) {
        const std::string op = op_of(use);
        const auto having = std::ranges::count_if(pairs_, [&](const Pair& pair) {
            return pair.code ? ops.at(pair.code.get()).contains(op)
                             : has_op(kernels_[pair.kernel], op);
        });
        if (having == 0)
            throw InputError(file_name, use.where, "use",
                             fmt::format("no kernel has the op '{}'{}", op,
                                         near_text(op, {all.begin(), all.end()})));
        if (static_cast<std::size_t>(having) < pairs_.size())
            warnings_.push_back(
                fmt::format("use: {} of {} combinations of kernel, parameters and profile have "
                            "the op '{}'; the others are predicted without it",
                            having, pairs_.size(), op));
    }
}

std::vector<LaunchChoice> Sweep::launches_of(int own_group_warps, const GpuProfile& profile) const {
    std::vector<LaunchChoice> all;
    const auto optional_values = [](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        std::vector<std::optional<Value>> out(values.begin(), values.end());
        if (out.empty()) out.emplace_back();
        return out;
    };
    for (const SweepLaunches& set : spec_.launches)
        for (const std::optional<int> warps : optional_values(set.group_warps)) {
            std::vector<int> concurrent = set.concurrent_groups;
            if (set.all_occupancies) {
                const std::set<int> fit = all_occupancies(warps.value_or(own_group_warps), profile);
                concurrent.assign(fit.begin(), fit.end());
            }
            for (const std::optional<int> at_once : optional_values(concurrent))
                for (const std::optional<std::int64_t> groups : optional_values(set.groups))
                    all.push_back({warps, at_once, groups});
        }
    return all;
}

std::string Sweep::shape() const {
    const std::size_t kernels = pairs_.size() / profiles_.size();
    std::string text = fmt::format("{} kernel{} x {} profile{}", kernels, kernels == 1 ? "" : "s",
                                   profiles_.size(), profiles_.size() == 1 ? "" : "s");
    if (variants_ > 1) text += fmt::format(" x {} settings", variants_);
    return text + fmt::format(" x launches x {} model{}", spec_.models.size(),
                              spec_.models.size() == 1 ? "" : "s");
}

}  // namespace occupipe::analysis
