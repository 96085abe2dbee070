// SPDX-License-Identifier: MIT
#include "analysis/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "analysis/assumed_latency.h"
#include "analysis/weak_values.h"
#include "analysis/what_if.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

// One line, whatever is in it.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

std::string field(const std::string& text) { return csv_text(one_line(text)); }

std::int64_t at_least_one(std::size_t size) {
    return static_cast<std::int64_t>(std::max<std::size_t>(1, size));
}

// Gives the kernel's outermost loop another trip count.
void set_iterations(Kernel& kernel, std::int64_t count) {
    Repeat* loop = nullptr;
    std::size_t loops = 0;
    for (WarpProgram& program : kernel.warps)
        for (KernelItem& item : program.instructions)
            if (auto* const repeat = std::get_if<Repeat>(&item)) {
                loop = repeat;
                ++loops;
            }
    if (loops != 1)
        throw InputError(fmt::format("iterations: kernel '{}' has {} outermost loops, not one",
                                     kernel.name, loops));
    if (kernel.memory && loop->count != count)
        throw InputError(
            fmt::format("iterations: what kernel '{}' tells of its memory is that of {} iterations",
                        kernel.name, loop->count));
    loop->count = count;
}

// The models look at nothing else of a profile than subsystems and the kernel's instructions, but
// for these two.
bool sees_whole_profile(std::string_view model) {
    return model.starts_with("quantitative-roofline");
}

// Every prediction validates what it is given: less of it takes less time.
GpuProfile without_unused(const GpuProfile& profile, const Kernel& kernel) {
    std::set<std::string_view> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& one) { ops.insert(one.op); });
    GpuProfile small = profile;
    std::erase_if(small.instructions,
                  [&](const InstructionTiming& one) { return !ops.contains(one.name); });
    for (InstructionTiming& one : small.instructions) one.tables.clear();
    small.memory_levels.clear();
    small.provenance = {};
    return small;
}

// The same table cell for a number that there is not.
void append_numbers(const Prediction& p, std::string& csv) {
    fmt::format_to(std::back_inserter(csv), ",{},{},{},{},{},{},", p.groups_per_core, p.cycles,
                   p.seconds, p.warps_per_cycle, p.cycles_per_run, p.instructions_per_cycle);
    csv += field(p.limited_by);
    csv += ',';
    std::string busy;
    for (const Bound& bound : p.bounds)
        fmt::format_to(std::back_inserter(busy), "{}{}={}", busy.empty() ? "" : " ", bound.name,
                       bound.utilisation);
    csv += field(busy);
    csv += ',';
}

bool finite(const Prediction& p) {
    return std::isfinite(p.cycles) && std::isfinite(p.seconds) &&
           std::isfinite(p.warps_per_cycle) && std::isfinite(p.cycles_per_run) &&
           std::isfinite(p.instructions_per_cycle) &&
           std::ranges::all_of(p.bounds,
                               [](const Bound& one) { return std::isfinite(one.utilisation); });
}

}  // namespace

Sweep::Sweep(SweepSpec spec, const std::string& file_name, const std::string& text,
             const std::filesystem::path& folder, SweepLimit limit)
    : spec_(std::move(spec)), limit_(std::move(limit)) {
    std::string all = fmt::format("{}\n{}\n{}\n", OCCUPIPE_VERSION, limit_.text, text);
    const auto read = [&](const SweepName& name, const char* key, const auto& path_of,
                          const auto& parse) {
        try {
            const std::filesystem::path path = path_of(name, folder);
            const std::string content = read_text_file(path);
            all += content_hash(content) + '\n';
            return parse(content, path.string());
        } catch (const InputError& error) {
            throw InputError(file_name, name.where, key, error.what());
        }
    };
    for (const SweepName& name : spec_.kernels)
        kernels_.push_back(read(name, "kernels", sweep_kernel, parse_kernel));
    for (const SweepName& name : spec_.profiles)
        profiles_.push_back(read(name, "profiles", sweep_profile, parse_profile));
    made_of_ = content_hash(all);
    check_settings(file_name);
    check_changes(file_name);

    for (const SweepParameter& one : spec_.set) variants_ *= at_least_one(one.values.size());
    for (const std::size_t n : {spec_.iterations.size(), spec_.orders.size(), spec_.policies.size(),
                                spec_.selects.size()})
        variants_ *= at_least_one(n);
    first_row_.push_back(0);
    for (std::size_t k = 0; k < kernels_.size(); ++k)
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            Pair pair{.kernel = k, .profile = p, .launches = {}, .launches_refused = {}};
            try {
                pair.launches = launches_of(kernels_[k], profiles_[p]);
            } catch (const InputError& error) {
                pair.launches_refused = error.what();
                pair.launches = {LaunchChoice()};
            }
            const double rows = static_cast<double>(variants_) *
                                static_cast<double>(pair.launches.size()) *
                                static_cast<double>(spec_.models.size());
            if (static_cast<double>(first_row_.back()) + rows >
                static_cast<double>(most_sweep_rows))
                throw InputError(fmt::format("{}: asks for more than {:.3g} predictions", file_name,
                                             static_cast<double>(most_sweep_rows)));
            first_row_.push_back(first_row_.back() + static_cast<std::int64_t>(rows));
            pairs_.push_back(std::move(pair));
        }

    header_ = "row,kernel,profile";
    for (const SweepParameter& one : spec_.set) header_ += "," + field(one.name.text);
    if (!spec_.iterations.empty()) header_ += ",iterations";
    if (!spec_.orders.empty()) header_ += ",order";
    if (!spec_.policies.empty()) header_ += ",policy";
    if (!spec_.selects.empty()) header_ += ",select";
    header_ +=
        ",group_warps,concurrent_groups,groups,model,groups_per_core,cycles,seconds,"
        "warps_per_cycle,cycles_per_run,instructions_per_cycle,limited_by,busy,refused";
    if (spec_.assumptions) header_ += ",assumptions";
    header_ += '\n';
}

// A value that no profile takes is a mistake; one that some take is a row with a reason.
void Sweep::check_settings(const std::string& file_name) const {
    for (const SweepParameter& one : spec_.set)
        for (const std::string& value : one.values) {
            std::string reason;
            for (const GpuProfile& profile : profiles_) {
                GpuProfile changed = profile;
                try {
                    apply_what_ifs({one.name.text + "=" + value}, changed);
                    reason.clear();
                    break;
                } catch (const InputError& error) {
                    reason = error.what();
                    constexpr std::string_view option = "--set ";
                    if (reason.starts_with(option)) reason.erase(0, option.size());
                }
            }
            if (!reason.empty())
                throw InputError(file_name, one.name.where, "set." + one.name.text, reason);
        }
}

// The kernel's part of what is asked of all.
ProfileChanges Sweep::changes_of(const Kernel& kernel) const {
    ProfileChanges changes;
    for (const SweepName& use : spec_.uses) {
        const std::string op = use.text.substr(0, use.text.find('='));
        bool has_op = false;
        for_each_instruction(
            kernel, [&](const KernelInstruction& one) { has_op = has_op || one.op == op; });
        if (has_op) changes.uses.push_back(use.text);
    }
    for (const SweepName& one : spec_.classes) changes.classes.push_back(one.text);
    return changes;
}

// The same of `use` and `assume_latency`.
void Sweep::check_changes(const std::string& file_name) const {
    const auto check = [&](const SweepName& one, const char* key, const std::string& option,
                           const auto& apply) {
        std::string reason = "no kernel has this op";
        for (const Kernel& kernel : kernels_)
            for (const GpuProfile& profile : profiles_) {
                GpuProfile changed = profile;
                try {
                    if (apply(kernel, changed)) return;
                } catch (const InputError& error) {
                    reason = error.what();
                    if (reason.starts_with(option)) reason.erase(0, option.size());
                }
            }
        throw InputError(file_name, one.where, key, reason);
    };
    for (const SweepName& use : spec_.uses)
        check(use, "use", "--use ", [&](const Kernel& kernel, GpuProfile& profile) {
            const ProfileChanges changes = changes_of(kernel);
            if (std::ranges::find(changes.uses, use.text) == changes.uses.end() &&
                use.text.find('=') != std::string::npos)
                return false;
            apply_uses({use.text}, kernel, profile);
            return true;
        });
    for (const SweepName& one : spec_.classes)
        check(one, "assume_latency", "", [&](const Kernel& kernel, GpuProfile& profile) {
            assume_latencies({one.text}, kernel, profile);
            return true;
        });
}

std::vector<LaunchChoice> Sweep::launches_of(const Kernel& kernel,
                                             const GpuProfile& profile) const {
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
                const std::set<int> fit = all_occupancies(
                    warps.value_or(kernel.launch.value_or(Launch()).group_warps), profile);
                concurrent.assign(fit.begin(), fit.end());
            }
            for (const std::optional<int> at_once : optional_values(concurrent))
                for (const std::optional<std::int64_t> groups : optional_values(set.groups))
                    all.push_back({warps, at_once, groups});
        }
    return all;
}

std::string Sweep::shape() const {
    std::string text =
        fmt::format("{} kernel{} x {} profile{}", kernels_.size(), kernels_.size() == 1 ? "" : "s",
                    profiles_.size(), profiles_.size() == 1 ? "" : "s");
    if (variants_ > 1) text += fmt::format(" x {} settings", variants_);
    return text + fmt::format(" x launches x {} model{}", spec_.models.size(),
                              spec_.models.size() == 1 ? "" : "s");
}

// What one combination of settings makes of a kernel and a profile.
struct SweepWorker::Variant {
    std::int64_t pair = -1;
    std::int64_t number = -1;
    std::string refused;  // why there is nothing to predict with
    std::string cells;    // ",saxpy,rtx-2070,…" up to the launch
    Kernel kernel;        // before memory was priced: its launch and groups
    GpuProfile profile;   // the same
    PricedMemory memory;
    GpuProfile small;     // memory.profile without what only few models look at
    std::string lacking;  // why the models cannot be asked: no numbers of an instruction
    std::vector<std::string> assumptions;
    std::vector<std::string> weak;
    ModelOptions options;
    std::vector<const Model*> models;
};

SweepWorker::SweepWorker(const Sweep& sweep, std::function<bool()> stopped)
    : sweep_(sweep), stopped_(std::move(stopped)), variant_(std::make_unique<Variant>()) {
    variant_->models = find_models(sweep.spec().models);
}

SweepWorker::~SweepWorker() = default;

void SweepWorker::prepare(std::int64_t pair, std::int64_t number) {
    Variant& now = *variant_;
    if (now.pair == pair && now.number == number) return;
    const SweepSpec& spec = sweep_.spec();
    const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
    now.pair = pair;
    now.number = number;
    now.refused.clear();
    now.lacking.clear();
    now.options = ModelOptions{};
    now.options.max_simulated = sweep_.limit().instructions;

    // The last of them changes fastest.
    std::int64_t rest = number;
    const auto take = [&rest](const auto& values) {
        const auto size = static_cast<std::int64_t>(values.size());
        const auto& value = values[static_cast<std::size_t>(rest % size)];
        rest /= size;
        return value;
    };
    if (!spec.selects.empty()) now.options.select = take(spec.selects);
    if (!spec.policies.empty()) now.options.policy = take(spec.policies);
    if (!spec.orders.empty()) now.options.order = take(spec.orders);
    std::optional<std::int64_t> iterations;
    if (!spec.iterations.empty()) iterations = take(spec.iterations);
    std::vector<std::string> values(spec.set.size());
    for (std::size_t i = spec.set.size(); i-- > 0;) values[i] = take(spec.set[i].values);

    now.cells =
        "," + field(spec.kernels[of.kernel].text) + "," + field(spec.profiles[of.profile].text);
    ProfileChanges changes = sweep_.changes_of(sweep_.kernels_[of.kernel]);
    for (std::size_t i = 0; i < values.size(); ++i) {
        now.cells += "," + values[i];
        changes.what_ifs.push_back(spec.set[i].name.text + "=" + values[i]);
    }
    if (iterations) now.cells += fmt::format(",{}", *iterations);
    if (now.options.order) now.cells += fmt::format(",{}", to_string(*now.options.order));
    if (now.options.policy) now.cells += fmt::format(",{}", to_string(*now.options.policy));
    if (now.options.select) now.cells += fmt::format(",{}", to_string(*now.options.select));

    now.kernel = sweep_.kernels_[of.kernel];
    try {
        if (iterations) set_iterations(now.kernel, *iterations);
        ProfileForKernel ready =
            profile_for_kernel(now.kernel, sweep_.profiles_[of.profile], changes);
        now.profile = std::move(ready.profile);
        now.assumptions = std::move(ready.asked);
        std::ranges::move(ready.unasked, std::back_inserter(now.assumptions));
        now.memory = price_memory(now.kernel, now.profile, spec.memory, {});
        try {
            require_timings(now.memory.profile, now.memory.kernel, spec.kernels[of.kernel].text,
                            ready.offered);
        } catch (const InputError& error) {
            now.lacking = error.what();
            return;
        }
        now.weak = weak_values(now.memory.kernel, now.memory.profile);
        now.small = without_unused(now.memory.profile, now.memory.kernel);
        if (spec.memory != MemoryPricing::none)
            now.options.memory.dram_bytes_per_warp = dram_bytes_per_warp(now.memory);
    } catch (const InputError& error) {
        now.refused = error.what();
    }
}

std::int64_t SweepWorker::append(std::int64_t first, std::int64_t end, std::string& csv) {
    using Clock = std::chrono::steady_clock;
    Variant& now = *variant_;
    const SweepSpec& spec = sweep_.spec();
    const auto models = static_cast<std::int64_t>(now.models.size());
    std::int64_t refused = 0;
    for (std::int64_t row = first; row < end; ++row) {
        const auto& starts = sweep_.first_row_;
        const auto pair = std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1;
        const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
        const std::int64_t within = row - starts[static_cast<std::size_t>(pair)];
        const auto launches = static_cast<std::int64_t>(of.launches.size());
        prepare(pair, within / (launches * models));
        const LaunchChoice& choice =
            of.launches[static_cast<std::size_t>(within / models % launches)];
        const Model& model = *now.models[static_cast<std::size_t>(within % models)];

        std::optional<Launch> launch;
        std::vector<std::string> fitted;
        std::optional<Prediction> prediction;
        std::string reason = !now.refused.empty() ? now.refused : of.launches_refused;
        if (stopped_()) throw Interrupted("interrupted");
        if (reason.empty()) {
            try {
                launch = chosen_launch(choice, now.kernel, now.profile, fitted);
                if (!now.lacking.empty()) throw InputError(now.lacking);
                ModelOptions options = now.options;
                const Clock::time_point begin = Clock::now();
                options.checkpoint = [&](const RunProgress&) {
                    if (stopped_()) throw Interrupted("interrupted");
                    const std::chrono::duration<double> elapsed = Clock::now() - begin;
                    if (sweep_.limit().seconds > 0 && elapsed.count() > sweep_.limit().seconds)
                        throw LimitReached("too long");
                };
                prediction =
                    model.predict(sees_whole_profile(model.name) ? now.memory.profile : now.small,
                                  now.memory.kernel, *launch, options);
                if (!finite(*prediction)) reason = "the model's result is not a finite number";
            } catch (const InputError& error) {
                reason = error.what();
            } catch (const LimitReached&) {
                reason = fmt::format("no answer within --limit {}", sweep_.limit().text);
            }
        }
        fmt::format_to(std::back_inserter(csv), "{}{}", row, now.cells);
        const auto cell = [&](const auto& known, auto chosen) {
            csv += ',';
            if (launch)
                fmt::format_to(std::back_inserter(csv), "{}", known);
            else if (chosen)
                fmt::format_to(std::back_inserter(csv), "{}", *chosen);
        };
        const Launch shown = launch.value_or(Launch());
        cell(shown.group_warps, choice.group_warps);
        cell(shown.concurrent_groups, choice.concurrent_groups);
        cell(shown.groups, choice.groups);
        csv += ',';
        csv += model.name;
        if (!reason.empty()) {
            ++refused;
            csv += ",,,,,,,,," + field(reason);
            if (spec.assumptions) csv += ',';
        } else {
            append_numbers(*prediction, csv);
            if (spec.assumptions) {
                std::string said;
                const auto add = [&said](const std::string& one) {
                    said += said.empty() ? "" : "; ";
                    said += one;
                };
                std::ranges::for_each(prediction->assumptions, add);
                std::ranges::for_each(now.assumptions, add);
                std::ranges::for_each(fitted, add);
                const auto reuse = now.kernel.memory;
                if (reuse && !now.memory.rows.empty() && spec.memory != MemoryPricing::none &&
                    launch->concurrent_groups != reuse->concurrent_groups)
                    add(fmt::format(
                        "reuse was found for {} groups at once on a core, the launch has {}",
                        reuse->concurrent_groups, launch->concurrent_groups));
                std::ranges::for_each(now.memory.said, add);
                std::ranges::for_each(now.weak, add);
                csv += ',';
                csv += field(said);
            }
        }
        csv += '\n';
    }
    return refused;
}

}  // namespace occupipe::analysis
