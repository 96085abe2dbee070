// SPDX-License-Identifier: MIT
#include "ask/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "ask/assumed_latency.h"
#include "ask/group_start.h"
#include "ask/instruction_fetch.h"
#include "ask/interval.h"
#include "ask/issue_slots.h"
#include "ask/kernel_memory.h"
#include "ask/kernels_in.h"
#include "ask/memory/memory_costs.h"
#include "ask/memory/memory_pricing.h"
#include "ask/memory/warp_latencies.h"
#include "ask/shipped_files.h"
#include "ask/substitutes.h"
#include "ask/weak_values.h"
#include "ask/what_if.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/parallel.h"
#include "sim/models/registry.h"
#include "sim/models/shared_work.h"

namespace occupipe::analysis {

// What launches of a kernel found: the same for every profile of as many cores.
class KnownReuse {
public:
    struct Found {
        std::shared_ptr<const Kernel> kernel;
        std::vector<std::string> said;
    };

    template <class Make>
    Found get(const Launch& launch, int cores, const Make& make) {
        const Key key = {launch.group_warps, launch.concurrent_groups, launch.groups, cores};
        {
            const std::scoped_lock lock(mutex_);
            if (const auto known = found_.find(key); known != found_.end()) return known->second;
        }
        Found made = make();
        const std::scoped_lock lock(mutex_);
        constexpr std::size_t most = 64;  // a kernel may be large
        if (found_.size() >= most) found_.clear();
        return found_.try_emplace(key, std::move(made)).first->second;
    }

private:
    using Key = std::tuple<int, int, std::int64_t, int>;
    std::mutex mutex_;
    std::map<Key, Found> found_;
};

// All launches of a kernel on a profile share what does not depend on them.
class FirstProblem {
public:
    Problem at(const Priced& priced, const Launch& launch) {
        const std::scoped_lock lock(mutex_);
        if (!made_) made_.emplace(priced.memory.profile, priced.memory.kernel, launch);
        return made_->launch() == launch ? *made_ : made_->at(launch);
    }

private:
    std::mutex mutex_;
    std::optional<Problem> made_;
};

namespace {

bool waits_for_places(const PricedMemory& memory, const Launch& launch) {
    return memory.profile.find_instruction(group_start) != nullptr &&
           groups_take_turns(launch, memory.profile.cores);
}

// With the warps' own Λ, all issue slots, and the start of groups that take turns.
PricedMemory launched(PricedMemory memory, const Launch& launch) {
    vary_latencies(memory.kernel, memory.profile, memory.latencies, launch.group_warps);
    memory.kernel = with_issue_slots(std::move(memory.kernel), memory.profile);
    if (waits_for_places(memory, launch))
        memory.kernel = with_group_start(std::move(memory.kernel));
    return memory;
}

}  // namespace

// A kernel at launches, by what of them its warps' programs depend on.
class Launched {
public:
    std::shared_ptr<const Priced> at(const std::shared_ptr<const Priced>& priced,
                                     const Launch& launch) {
        const bool waits = waits_for_places(priced->memory, launch);
        if (!waits && priced->memory.latencies.empty() &&
            !takes_further_slots(priced->memory.profile))
            return priced;
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<const Priced>& made = made_[{launch.group_warps, waits}];
        if (made) return made;
        const auto one = std::make_shared<Priced>(*priced);
        one->memory = launched(std::move(one->memory), launch);
        one->shared = std::make_shared<SharedWork>();
        one->first = std::make_shared<FirstProblem>();
        one->launched.reset();
        return made = one;
    }

private:
    std::mutex mutex_;
    std::map<std::pair<int, bool>, std::shared_ptr<const Priced>> made_;
};

namespace {

using Kind = Note::Kind;

// A profile for a kernel, or for several as one.
struct Changed {
    GpuProfile profile, offered;
    Notes notes;
};

bool prices(const Kernel& kernel, const MemoryQuestion& memory) {
    return kernel.memory && memory.pricing != MemoryPricing::none;
}

// What memory is priced for gets no numbers of its class, but those of its levels.
std::set<std::string> ops_of_global_memory(const Kernel& kernel) {
    std::set<std::string> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (one.memory && (one.memory->sectors > 0 || one.memory->bytes == 0)) ops.insert(one.op);
    });
    return ops;
}

// A row of the profile is what a level costs at its width: a wider access that uses a narrower
// one's numbers would be priced as that.
void leave_to_levels(const Kernel& kernel, const GpuProfile& given,
                     const std::vector<std::string>& uses, GpuProfile& profile,
                     std::vector<std::string>& said) {
    const std::set<std::string> priced = ops_of_global_memory(kernel);
    if (!MemoryCosts(given).load_row()) return;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const std::size_t equals = uses[i].find('=');
        const std::string op = uses[i].substr(0, equals), from = uses[i].substr(equals + 1);
        if (!priced.contains(op) || words_of_lane(from) >= words_of_lane(op)) continue;
        std::erase_if(profile.instructions,
                      [&](const InstructionTiming& one) { return one.name == op; });
        if (const InstructionTiming* const own = given.find_instruction(op))
            profile.instructions.push_back(*own);
        said[i] = fmt::format("{} is priced by the levels of memory, not as {}, which moves less",
                              op, from);
    }
}

Changed changed(const Kernel& kernel, const GpuProfile& given, const ProfileChanges& changes,
                const MemoryQuestion& memory) {
    Changed out{.profile = given, .offered = {}, .notes = {}};
    GpuProfile& profile = out.profile;
    std::vector<std::string> used = apply_uses(changes.uses, kernel, profile);
    if (!used.empty() && prices(kernel, memory))
        leave_to_levels(kernel, given, changes.uses, profile, used);
    add_notes(out.notes, Kind::use, used);
    add_notes(out.notes, Kind::what_if, apply_what_ifs(changes.what_ifs, profile));
    validate(profile);
    out.offered = profile;
    Notes unasked;
    add_notes(unasked, Kind::assumption, assumed_in_profile(kernel, profile));
    add_notes(unasked, Kind::substitute, apply_stand_ins(kernel, profile));
    add_notes(out.notes, Kind::assumed_latency, assume_latencies(changes.classes, kernel, profile));
    if (changes.substitutes == Strength::of_class) {
        const bool priced = prices(kernel, memory);
        add_notes(unasked,
                  take_classes(kernel, profile, out.offered,
                               priced ? ops_of_global_memory(kernel) : std::set<std::string>(),
                               priced ? Wide::by_pass : Wide::as_one));
    }
    add_notes(out.notes, unasked);
    return out;
}

// Code of one architecture on a GPU of another: neither its instructions nor its occupancy are the
// GPU's. Empty where it is the same, or the GPU's is not known.
Notes other_architecture(const KernelIn& in, const GpuProfile& profile) {
    std::string digits = profile.device.compute_capability;
    std::erase(digits, '.');
    if (digits.empty() || digits == std::to_string(in.architecture)) return {};
    return {{Kind::architecture,
             fmt::format("the code is of sm_{}, '{}' of compute capability {}: instructions and "
                         "occupancy are those of the code",
                         in.architecture, profile.device.name, profile.device.compute_capability)}};
}

// Reuse is that of the kernel's own launch, which has other groups at once.
Notes other_concurrency(const Ready& ready, const Launch& launch) {
    const auto& reuse = ready.kernel().memory;
    if (!reuse || ready.priced->memory.rows.empty() ||
        ready.memory.pricing == MemoryPricing::none ||
        launch.concurrent_groups == reuse->concurrent_groups)
        return {};
    return {{Kind::reuse,
             fmt::format("reuse was found for {} groups at once on a core, the launch has {}",
                         reuse->concurrent_groups, launch.concurrent_groups)}};
}

// Whether the reuse in the kernel, which is that of its own launch, is this launch's.
bool finds_the_same(const Kernel& kernel, const Launch& launch, const GpuProfile& profile) {
    return kernel.launch && launch == *kernel.launch && kernel.memory->cores == profile.cores;
}

// Memory that was priced for all launches, or for this one where it depends on how many groups
// there are.
std::shared_ptr<const Priced> priced_for(const Ready& ready, const Launch& launch) {
    const std::optional<Launch>& own = ready.kernel().launch;
    if (!prices(ready.kernel(), ready.memory) || ready.priced->memory.rows.empty() ||
        (own && own->groups == launch.groups))
        return ready.priced;
    Kernel kernel = ready.kernel();
    kernel.launch = own.value_or(launch);
    kernel.launch->groups = launch.groups;
    return priced(ready, std::move(kernel));
}

// Again, with the warps in the order in which the first round's prediction has them issue.
void price_again(const Ready& ready, const Launch& launch, const TellOptions& options,
                 std::shared_ptr<const Priced>& memory, Notes& notes) {
    Kernel launched = memory->memory.kernel;
    launched.launch = launch;
    IssueTimes times;
    if (launch.group_warps == ready.code()->occupancy.group_warps)
        times = issue_times(memory->memory.profile, launched,
                            {.policy = options.run.policy,
                             .select = options.run.select,
                             .order = options.run.order});
    else
        times.why_not = "the launch has groups of another size than were executed";
    if (!times.why_not.empty()) {
        notes.push_back({Kind::reuse, fmt::format("warps are taken to execute round robin, since "
                                                  "{}",
                                                  times.why_not)});
        return;
    }
    std::vector<std::string> same;
    memory = priced(ready, with_memory(*ready.code(), memory->told, launch, ready.profile.cores,
                                       same, &times, options.threads));
    notes.push_back(
        {Kind::reuse,
         "reuse was found in the order in which a first prediction has the warps issue"});
}

// Of all kernels, for what is done to a profile that they share.
Kernel all_of(const std::vector<LoadedKernel>& sources) {
    Kernel kernel = *sources.front().kernel;
    kernel.launch.reset();
    kernel.groups.reset();
    for (auto other = sources.begin() + 1; other != sources.end(); ++other)
        kernel.warps.insert(kernel.warps.end(), other->kernel->warps.begin(),
                            other->kernel->warps.end());
    for (WarpProgram& program : kernel.warps) program.share /= static_cast<double>(sources.size());
    return kernel;
}

// λ and Λ of all that the kernel executes.
std::vector<std::pair<double, double>> timings_of(const PricedMemory& memory) {
    std::vector<std::pair<double, double>> all;
    for_each_instruction(memory.kernel, [&](const KernelInstruction& one) {
        if (const InstructionTiming* const timing = memory.profile.find_instruction(one.op))
            all.emplace_back(timing->cpi.value, timing->latency ? timing->latency->value : 0);
    });
    return all;
}

// Settings of λ or Λ that this kernel does not depend on, such as those of a row that a level of
// memory is not priced by: another value leaves all that it executes as it is.
Notes without_effect(const Ready& ready, const Kernel& told, const PricedMemory& priced) {
    Notes notes;
    if (!ready.given) return notes;
    const auto now = timings_of(priced);
    const std::vector<std::string>& settings = ready.changes.what_ifs;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const std::optional<std::string> other = another_value(settings[i]);
        if (!other) continue;
        ProfileChanges changes = ready.changes;
        changes.what_ifs[i] = *other;
        const Changed made = changed(ready.kernel(), *ready.given, changes, ready.memory);
        if (now ==
            timings_of(price_memory(told, made.profile, ready.memory.pricing, ready.memory.caches)))
            notes.push_back({Kind::without_effect,
                             fmt::format("{} has no effect: the kernel takes nothing from it",
                                         settings[i].substr(0, settings[i].find('=')))});
    }
    return notes;
}

Ready ready_with(LoadedKernel source, Changed changed, std::shared_ptr<const GpuProfile> given,
                 const ProfileChanges& changes, const MemoryQuestion& memory) {
    Ready one{.source = std::move(source),
              .profile = std::move(changed.profile),
              .offered = std::move(changed.offered),
              .given = std::move(given),
              .changes = changes,
              .memory = memory,
              .notes = {}};
    one.notes = one.source.notes;
    add_notes(one.notes, changed.notes);
    if (one.code()) add_notes(one.notes, other_architecture(*one.code(), one.profile));
    if (!one.follows()) one.priced = priced(one, one.kernel());
    if (one.follows() && !one.source.reuse) one.source.reuse = std::make_shared<KnownReuse>();
    return one;
}

std::shared_ptr<const GpuProfile> given_to_change(const GpuProfile& profile,
                                                  const ProfileChanges& changes) {
    if (changes.what_ifs.empty()) return nullptr;
    return std::make_shared<const GpuProfile>(profile);
}

// What a model refuses, with the file: the model knows lines of it at most.
template <typename Run>
auto with_file(const std::string& file, const Run& run) {
    try {
        return run();
    } catch (const InputError& error) {
        const std::string what = error.what();
        throw InputError(what.find(file) == std::string::npos ? file + ": " + what : what);
    }
}

}  // namespace

bool Ready::follows() const {
    return source.in && source.in->memory && memory.pricing != MemoryPricing::none;
}

Ready ready(LoadedKernel source, const GpuProfile& profile, const ProfileChanges& changes,
            const MemoryQuestion& memory) {
    Changed made = changed(*source.kernel, profile, changes, memory);
    return ready_with(std::move(source), std::move(made), given_to_change(profile, changes),
                      changes, memory);
}

ReadyTogether ready_together(const std::vector<LoadedKernel>& sources, const GpuProfile& profile,
                             const ProfileChanges& changes, const MemoryQuestion& memory) {
    ReadyTogether all{.kernels = {}, .notes = {}, .all = all_of(sources)};
    Changed made = changed(all.all, profile, changes, memory);
    all.notes = std::exchange(made.notes, {});
    const auto given = given_to_change(profile, changes);
    for (const LoadedKernel& one : sources)
        all.kernels.push_back(ready_with(one, made, given, changes, memory));
    return all;
}

PricedMemory remade(const ReadyTogether& ready, const Kernel& told, const GpuProfile& profile) {
    const Ready& first = ready.kernels.front();
    const Changed made = changed(ready.all, profile, first.changes, first.memory);
    PricedMemory memory =
        price_memory(told, made.profile, first.memory.pricing, first.memory.caches);
    return told.launch ? launched(std::move(memory), *told.launch) : memory;
}

void check_changes(const Kernel& kernel, GpuProfile profile, const ProfileChanges& changes) {
    apply_uses(changes.uses, kernel, profile);
    apply_what_ifs(changes.what_ifs, profile);
    assume_latencies(changes.classes, kernel, profile);
}

std::vector<LackingOp> lacking(const Ready& ready) {
    return lacking_ops(ready.profile, ready.kernel(), ready.offered);
}

std::shared_ptr<const Priced> priced(const Ready& ready, Kernel told) {
    const auto made = std::make_shared<Priced>();
    Priced& one = *made;
    one.told = std::move(told);
    one.memory = price_memory(one.told, ready.profile, ready.memory.pricing, ready.memory.caches);
    add_notes(one.notes, without_effect(ready, one.told, one.memory));
    add_notes(one.notes, Kind::memory, one.memory.said);
    if (ready.code()) one.sample_error = ready.code()->seen.standard_error;
    GpuProfile& profile = one.memory.profile;
    const Kernel& kernel = one.memory.kernel;
    add_notes(one.notes, limit_by_fetch(kernel, profile));
    if (ready.changes.substitutes == Strength::of_class && prices(one.told, ready.memory))
        add_notes(one.notes, take_classes(kernel, profile, ready.offered, {}, Wide::by_pass));
    if (ready.memory.pricing != MemoryPricing::none)
        one.dram_bytes_per_warp = dram_bytes_per_warp(one.memory);
    for (const LackingOp& op : lacking_ops(profile, kernel, ready.offered))
        one.lacking.push_back(op.op);
    if (!one.lacking.empty()) {
        try {
            require_timings(profile, kernel, ready.source.file, ready.offered);
        } catch (const InputError& error) {
            one.refusal = error;
        }
        return made;
    }
    add_notes(one.notes, Kind::weak, weak_values(kernel, profile));
    one.shared = std::make_shared<SharedWork>();
    one.first = std::make_shared<FirstProblem>();
    one.launched = std::make_shared<Launched>();
    return made;
}

PricedMemory reprice(const Ready& ready, const Kernel& told, const GpuProfile& completed,
                     const Launch& launch) {
    return launched(price_memory(told, completed, ready.memory.pricing, ready.memory.caches),
                    launch);
}

Told at_launch(const std::shared_ptr<const Priced>& priced, const Launch& launch) {
    Told one{.launch = launch, .priced = priced, .mean = priced};
    one.refusal = priced->refusal;
    if (one.refusal) return one;
    one.priced = priced->launched->at(priced, launch);
    try {
        one.problem = one.priced->first->at(*one.priced, launch);
    } catch (const InputError& error) {
        one.refusal = error;
    }
    return one;
}

Told told(const Ready& ready, const Launch& launch, const TellOptions& options) {
    Notes notes;
    const KernelIn* const in = ready.code();
    if (in && !options.occupancy_asked && launch.concurrent_groups != in->occupancy.groups)
        notes.push_back(
            {Kind::reuse,
             fmt::format("{} group{} at once on a core {} predicted, not the {} of "
                         "the code's occupancy",
                         launch.concurrent_groups, launch.concurrent_groups == 1 ? "" : "s",
                         launch.concurrent_groups == 1 ? "is" : "are", in->occupancy.groups)});
    if (!ready.follows()) {
        add_notes(notes, other_concurrency(ready, launch));
        Told one = at_launch(priced_for(ready, launch), launch);
        one.notes = std::move(notes);
        return one;
    }
    std::shared_ptr<const Priced> memory;
    if (finds_the_same(ready.kernel(), launch, ready.profile)) {
        memory = priced(ready, ready.kernel());
    } else {
        const KnownReuse::Found found = ready.source.reuse->get(launch, ready.profile.cores, [&] {
            KnownReuse::Found made;
            made.kernel = std::make_shared<const Kernel>(with_memory(*in, ready.kernel(), launch,
                                                                     ready.profile.cores, made.said,
                                                                     nullptr, options.threads));
            return made;
        });
        add_notes(notes, Kind::reuse, found.said);
        memory = priced(ready, *found.kernel);
    }
    if (ready.memory.predicted_order) price_again(ready, launch, options, memory, notes);
    Told one = at_launch(memory, launch);
    one.notes = std::move(notes);
    return one;
}

void require_numbers(const Told& told) {
    if (told.priced->refusal) throw InputError(*told.priced->refusal);
}

Prediction predict(const Told& told, const Model& model, const ModelOptions& options) {
    if (told.refusal) throw InputError(*told.refusal);
    const Priced& priced = model.observable ? *told.priced : *told.mean;
    ModelOptions own = options;
    own.shared = priced.shared.get();
    if (priced.dram_bytes_per_warp) own.memory.dram_bytes_per_warp = priced.dram_bytes_per_warp;
    Prediction made = model.predict(
        model.observable ? *told.problem : priced.first->at(priced, told.launch), own);
    made.interval = interval_of(told, model, made);
    return made;
}

Notes too_short(const Ready& ready, const Launch& launch, double cycles) {
    if (!ready.code()) return {};
    std::string said = shorter_than_absent(*ready.code(), ready.profile, launch, cycles);
    if (said.empty()) return {};
    return {{Kind::too_short, std::move(said)}};
}

Notes notes_of(const Ready& ready, const Notes& fitted, const Told& told, const Prediction& made,
               const Model& model, const RunQuestion& run) {
    Notes all;
    add_notes(all, Kind::model, made.assumptions);
    add_notes(all, ready.notes);
    add_notes(all, fitted);
    add_notes(all, told.notes);
    add_notes(all, told.priced->notes);
    constexpr double worth_telling = 0.05;  // of the time
    const auto& launch = told.problem ? told.problem->gpu().launch_seconds : std::nullopt;
    if (launch && *launch > worth_telling * made.seconds)
        all.push_back(
            {Kind::launch, fmt::format("{:.3g} us of the time is launch overhead", 1e6 * *launch)});
    const double begun = made.seconds - (launch ? *launch : 0);
    if (told.problem && begun > 1.001 * made.cycles / told.problem->gpu().clock_hz)
        all.push_back({Kind::launch, fmt::format("{} groups take {:.3g} us to start, longer than "
                                                 "their work",
                                                 made.launch.groups, 1e6 * begun)});
    add_notes(all, Kind::unused, unused_memory(model, run.behaviour));
    add_notes(all, too_short(ready, told.launch, made.cycles));
    std::ranges::stable_sort(all, {}, [](const Note& one) { return rank(one.kind); });
    return all;
}

Answer asked(const Question& question, const GpuProfile& profile, const Asking& asking) {
    const bool code = is_code(question.source);
    if (code && question.launches.choice.group_warps) throw InputError(no_group_warps_of_code);
    LoadedKernel source = read_source(
        question.source, profile, question.memory.pricing != MemoryPricing::none, asking.reading);
    if (question.memory.predicted_order && !(source.in && source.in->memory))
        throw InputError(
            "--memory-behaviour order=predicted: for CUDA source, PTX and machine code, and not "
            "with --memory none");
    Answer answer{.ready = ready(std::move(source), profile, question.changes, question.memory)};
    const Ready& ready = answer.ready;
    answer.models = find_models(question.models);
    std::vector<std::string> fitted;
    for (const Launch& launch : launches_of(question.launches.choice, question.launches.occupancy,
                                            ready.kernel(), ready.profile, fitted)) {
        answer.launches.push_back(told(
            ready, launch,
            {.occupancy_asked = question.launches.occupancy.has_value(), .run = question.run}));
        require_numbers(answer.launches.back());
    }
    add_notes(answer.fitted, Kind::fitted, fitted);
    if (!question.memory.caches.empty() && answer.launches.front().priced->memory.rows.empty())
        throw InputError(
            "--cache: the kernel does not say what its instructions ask of the memory; 'occupipe "
            "extract' writes kernels that do");
    return answer;
}

Notes notes_before(const Answer& answer) {
    Notes all;
    add_new_notes(all, answer.ready.notes);
    add_new_notes(all, answer.fitted);
    for (const Told& one : answer.launches) {
        add_new_notes(all, one.notes);
        add_new_notes(all, one.priced->notes);
    }
    return all;
}

void predict_all(Answer& answer, const Question& question, const Asking& asking) {
    ModelOptions options = question.run.options();
    options.max_simulated = asking.max_simulated;
    options.checkpoint = asking.checkpoint;
    const std::size_t launches = answer.launches.size();
    answer.predictions.resize(answer.models.size() * launches);
    std::vector<Notes> notes(answer.predictions.size());
    if (asking.expect) asking.expect(answer.predictions.size());
    const std::ptrdiff_t observed =
        std::ranges::find_if(answer.models, &Model::observable) - answer.models.begin();
    parallel_for(answer.predictions.size(), [&](std::size_t i) {
        const Model& model = *answer.models[i / launches];
        const Told& told = answer.launches[i % launches];
        ModelOptions own = options;
        if (launches == 1 && std::cmp_equal(i, observed)) own.observers = asking.observers;
        Prediction made =
            with_file(answer.ready.source.file, [&] { return predict(told, model, own); });
        notes[i] = notes_of(answer.ready, answer.fitted, told, made, model, question.run);
        made.assumptions = texts(notes[i]);
        answer.predictions[i] = std::move(made);
        if (asking.done) asking.done();
    });
    for (Notes& one : notes) {
        std::erase_if(one, [](const Note& note) { return note.kind != Kind::too_short; });
        add_new_notes(answer.too_short, one);
    }
}

Answer answer(const Question& question, const Asking& asking) {
    const GpuProfile profile = named_profile(question.gpu);
    Answer all = asked(question, profile, asking);
    predict_all(all, question, asking);
    return all;
}

PricedMemory memory_view(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked) {
    return price_memory(kernel, profile, MemoryPricing::none, asked);
}

}  // namespace occupipe::analysis
