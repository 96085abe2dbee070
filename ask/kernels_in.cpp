// SPDX-License-Identifier: MIT
#include "ask/kernels_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "ask/kernel_memory.h"
#include "bench/instructions/instruction_table.h"
#include "core/error.h"
#include "extract/both_observers.h"
#include "extract/signature.h"
#include "isa/decode.h"
#include "published/shelf.h"
#include "sim/machine/machine.h"

namespace occupipe::analysis {
namespace {

constexpr double most_change = 0.05;  // of the instructions of a warp, without a warning
constexpr double confidence = 0.95;

void find_launches(const std::vector<PlanStep>& steps, const isa::Kernel* kernel,
                   const isa::Cubin& cubin, std::vector<const KernelLaunch*>& found) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
            if (kernel == nullptr || &extract::find_kernel(cubin, launch->kernel) == kernel)
                found.push_back(launch);
        } else if (const auto* repeat = std::get_if<RepeatSteps>(&step)) {
            find_launches(repeat->steps, kernel, cubin, found);
        }
    }
}

// How a group may learn of another one of its launch; empty where the code has no such thing. A
// plain load of what another group writes would be a race.
std::string how_groups_talk(const std::vector<isa::Instruction>& code) {
    for (const isa::Instruction& one : code) {
        const bool atomic = one.opcode == "ATOM" || one.opcode == "ATOMG";
        const bool has_result = std::ranges::any_of(one.operands, [](const isa::Operand& operand) {
            return operand.written && operand.number &&
                   operand.kind == isa::Operand::Kind::registers;
        });
        if (atomic && (has_result || one.has("CAS") || one.has("EXCH")))
            return fmt::format("the result of {} at {:#x} may depend on other groups", one.opcode,
                               one.address);
        const bool load = one.opcode == "LDG" || one.opcode == "LD";
        if (load && one.has("STRONG") && (one.has("GPU") || one.has("SYS")))
            return fmt::format("{} at {:#x} may read what other groups wrote", one.opcode,
                               one.address);
    }
    return {};
}

// Sets what the executed groups tell of the others; returns whether these are known to `wanted`,
// as far as a sample can tell. The first and the last group stand for themselves.
bool judge_sample(GroupsSeen& seen, const std::map<std::uint64_t, std::uint64_t>& executed,
                  double wanted) {
    seen.executed = executed.size();
    seen.standard_error = 0;
    seen.unseen_share = 0;
    if (seen.executed == seen.groups) return true;
    seen.standard_error.reset();
    double ends = 0;
    std::vector<double> others;
    for (const auto& [group, instructions] : executed) {
        const auto value = static_cast<double>(instructions);
        if (group == 0 || group == seen.groups - 1)
            ends += value;
        else
            others.push_back(value);
    }
    const auto n = static_cast<double>(others.size());
    // One group of each of n parts: a share p of groups is missed with a probability of at most
    // (1 − p)^n, whatever parts they lie in (means of geometric and arithmetic kind).
    seen.unseen_share = others.empty() ? 1 : 1 - std::pow(1 - confidence, 1 / n);
    if (others.size() < 2) return false;
    // What changes along the launch is no error, since every part of it is there: by successive
    // differences (K. M. Wolter, Introduction to Variance Estimation, 2nd ed., section 8.2).
    double squares = 0;
    for (std::size_t i = 1; i < others.size(); ++i)
        squares += (others[i] - others[i - 1]) * (others[i] - others[i - 1]);
    // Equal counts tell nothing of how others scatter, and more of them would cost time for every
    // kernel whose groups are alike. Where an end is unlike them, they may be too few to show which
    // others are like it.
    if (squares == 0) {
        constexpr std::size_t enough = 8;
        const auto first = static_cast<double>(executed.begin()->second);
        const auto last = static_cast<double>(executed.rbegin()->second);
        return others.size() >= enough || (first == others[0] && last == others[0]);
    }
    const auto all = static_cast<double>(seen.groups - 2);
    const double mean = std::accumulate(others.begin(), others.end(), 0.0) / n;
    const double variance = squares / (2 * (n - 1));
    const double error = all * std::sqrt(variance / n * (1 - n / all));
    seen.standard_error = error / (ends + all * mean);
    return *seen.standard_error <= wanted;
}

// The first groups of the launch that caches are looked at with.
std::uint64_t groups_for_caches(std::uint64_t groups, std::uint64_t each,
                                const KernelsInOptions& options) {
    const auto cores = static_cast<std::uint64_t>(*options.memory_cores);
    const std::uint64_t least = std::min(
        cores, std::max(options.least_memory_groups, options.most_memory_instructions / each));
    return std::min(groups, std::max(options.memory_instructions / each, least));
}

// At random, to begin with: what one of the launch executes in the mean is found from these.
std::uint64_t first_at_random(std::uint64_t random, const KernelsInOptions& options) {
    constexpr std::uint64_t few = 2;
    return options.sample_instructions == 0 ? random : std::min(few, random);
}

// At random, beside these first groups that caches are looked at with.
std::uint64_t groups_at_random(std::uint64_t first, std::uint64_t random,
                               const KernelsInOptions& options) {
    constexpr std::uint64_t many = 64;
    const bool long_groups = std::cmp_less(first, *options.memory_cores);
    return long_groups ? first_at_random(random, options) : std::max(random, many);
}

// Of a group of the launch, as far as those of the sample were executed; at least 1.
std::uint64_t mean_instructions(const extract::GroupSample& sample,
                                const std::map<std::uint64_t, std::uint64_t>& executed) {
    double sum = 0, groups = 0;
    for (const extract::SampledGroup& one : sample.groups()) {
        const auto known = executed.find(one.group);
        if (known == executed.end()) continue;
        sum += one.weight * static_cast<double>(known->second);
        groups += one.weight;
    }
    return static_cast<std::uint64_t>(std::max(1.0, sum / groups));
}

// The first groups and those of the sample, without those that were executed; ascending.
std::vector<std::uint64_t> not_executed(std::uint64_t first, const extract::GroupSample& sample,
                                        const std::map<std::uint64_t, std::uint64_t>& executed) {
    std::vector<std::uint64_t> rest;
    const auto take = [&](std::uint64_t group) {
        if (!executed.contains(group)) rest.push_back(group);
    };
    for (std::uint64_t group = 0; group < first; ++group) take(group);
    for (const extract::SampledGroup& one : sample.groups())
        if (one.group >= first) take(one.group);
    return rest;
}

// In the mean of the groups that models predict.
double instructions_per_warp(const KernelIn& in) {
    const std::vector<double> shares =
        sim::LaunchGroups(in.kernel(), *in.kernel().launch).program_shares();
    double sum = 0;
    std::size_t program = 0;
    for (const extract::ExtractedClass& one : in.extracted.classes)
        if (one.taken) sum += shares[program++] * static_cast<double>(one.instructions);
    return sum;
}

Notes assumptions_of(const KernelIn& in) {
    Notes said = not_priced(in.execution);
    const auto& limit = in.occupancy.limits.front();
    said.push_back(
        {Note::Kind::occupancy,
         fmt::format("a core of sm_{} holds {} group{} of {} warp{} at once, {:.0f} % of its "
                     "warps; limited by "
                     "{}",
                     in.architecture, in.occupancy.groups, in.occupancy.groups == 1 ? "" : "s",
                     in.occupancy.group_warps, in.occupancy.group_warps == 1 ? "" : "s",
                     100 * in.occupancy.share, occupipe::to_text(limit.what))});
    said.push_back({Note::Kind::sample, to_text(in.seen)});
    const extract::ExtractedKernel& extracted = in.extracted;
    const auto taken = std::ranges::count_if(extracted.classes, &extract::ExtractedClass::taken);
    if (std::cmp_less(taken, extracted.classes.size()))
        said.push_back(
            {Note::Kind::classes,
             fmt::format("{} of {} classes of warps are simulated, and stand for the others, which "
                         "execute about as many instructions; simulated classes execute {:.1f} % "
                         "of all",
                         taken, extracted.classes.size(), 100 * extracted.represented)});
    if (extracted.windows_each > 1)
        said.push_back({Note::Kind::sample,
                        fmt::format("warps execute too many different instructions in a row: one "
                                    "in {} windows of 1024 is simulated, and stands for the others",
                                    extracted.windows_each)});
    if (extracted.barriers_changed > 0)
        said.push_back({Note::Kind::code,
                        fmt::format("warps execute different numbers of barriers: the missing "
                                    "ones are added at the end of a warp, where nothing "
                                    "waits for them, and surplus ones do not wait; {:.2g} % "
                                    "of the executed instructions",
                                    100 * extracted.barriers_changed)});
    const double predicted = instructions_per_warp(in);
    if (std::abs(predicted / extracted.instructions - 1) >= 0.005)
        said.push_back(
            {Note::Kind::classes,
             fmt::format(
                 "a warp executes {:.6g} instructions on average over the launch, and {:.6g} "
                 "({:+.1f} %) over the predicted groups, where one class stands for several",
                 extracted.instructions, predicted,
                 100 * (predicted / extracted.instructions - 1))});
    const sim::LaunchGroups groups(in.kernel(), *in.kernel().launch);
    if (!groups.alike())
        said.push_back(
            {Note::Kind::classes, fmt::format("groups differ in what their warps execute ({} "
                                              "kinds): the simulation runs all of them, on all "
                                              "cores in launch order, and reports the core that "
                                              "ends last; other models use an average group",
                                              groups.kinds().size())});
    return said;
}

std::vector<std::string> warnings_of(const KernelIn& in) {
    const double change = instructions_per_warp(in) / in.extracted.instructions - 1;
    if (std::abs(change) <= most_change) return {};
    return {fmt::format(
        "{}: the predicted warps execute {:.1f} % {} instructions than those of the launch, since "
        "each of {} classes stands for several: more classes (--sample classes=N) come nearer",
        in.kernel().name, 100 * std::abs(change), change < 0 ? "fewer" : "more",
        in.kernel().warps.size())};
}

}  // namespace

const KernelLaunch& chosen_launch(const LaunchPlan& plan, const isa::Cubin& cubin,
                                  const KernelsInOptions& options) {
    const isa::Kernel* const kernel =
        options.kernel.empty() ? nullptr : &extract::find_kernel(cubin, options.kernel);
    std::vector<const KernelLaunch*> found;
    find_launches(plan.steps, kernel, cubin, found);
    if (found.empty()) {
        std::set<std::string> launched;
        std::vector<const KernelLaunch*> all;
        find_launches(plan.steps, nullptr, cubin, all);
        for (const KernelLaunch* one : all)
            launched.insert(extract::readable_name(extract::find_kernel(cubin, one->kernel).name));
        if (launched.empty()) throw InputError(fmt::format("{}: launches nothing", plan.file));
        throw InputError(
            fmt::format("--kernel {}: it is in the file, but nothing launches it; launched are {}",
                        options.kernel, fmt::join(launched, ", ")));
    }
    if (options.step < 1 || options.step > found.size())
        throw InputError(fmt::format("--sample step={}: there {} {} such launch{}", options.step,
                                     found.size() == 1 ? "is" : "are", found.size(),
                                     found.size() == 1 ? "" : "es"));
    return *found[options.step - 1];
}

namespace {

// By opcode: the row of the catalogue that counts it; empty: several do.
std::map<std::string, std::string, std::less<>> rows_by_opcode() {
    std::map<std::string, std::string, std::less<>> rows;
    for (const bench::Row& row : bench::instruction_table()) {
        if (row.sass.empty() || row.sass.find_first_of("|.") != row.sass.npos) continue;
        const bool alone = row.sass_length == 1 && row.sass_count == 1;
        const auto [place, first] = rows.emplace(row.sass, alone ? row.id : "");
        if (!first) place->second.clear();
    }
    return rows;
}

}  // namespace

extract::NameOf names_of(const std::set<std::string>& known) {
    static const auto rows = rows_by_opcode();
    return
        [known, of = extract::names_known_to(known)](
            const isa::Instruction& instruction, const isa::Instruction* before, bool lanes_part) {
            std::string name = of(instruction, before, lanes_part);
            if (!name.starts_with("machine.")) return name;
            const auto row = rows.find(instruction.opcode);
            if (row == rows.end() || row->second.empty()) return name;
            return known.contains(row->second) || !known.contains(name) ? row->second : name;
        };
}

std::set<std::string> known_names(const GpuProfile& profile) {
    std::set<std::string> names;
    for (const InstructionTiming& one : profile.instructions) names.insert(one.name);
    return names;
}

std::string architecture_of(const GpuProfile& profile) {
    int number = 0;
    for (const char c : profile.device.compute_capability)
        if (c >= '0' && c <= '9' && number < 1000) number = number * 10 + (c - '0');
    if (isa::known_architecture(number)) return fmt::format("sm_{}", number);
    // Whose code stands for it, where the shelf says so.
    const ShelfArchitecture* const other =
        built_in_shelf().architecture(profile.device.compute_capability);
    std::string digits = other == nullptr ? "" : other->code;
    std::erase(digits, '.');
    return digits.empty() ? "" : "sm_" + digits;
}

std::optional<AbsentClass> longest_absent(const KernelIn& in, int group_warps) {
    const auto& classes = in.extracted.classes;
    std::vector<std::uint64_t> taken;
    for (const extract::ExtractedClass& one : classes)
        if (one.taken) taken.push_back(one.instructions);
    std::uint64_t present = 0;
    const std::vector<double> shares =
        sim::LaunchGroups(in.kernel(), {.group_warps = group_warps,
                                        .groups = static_cast<std::int64_t>(in.seen.groups)})
            .program_shares();
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0) present = std::max(present, taken[program]);
    const auto longest =
        std::ranges::max_element(classes, {}, [](const auto& one) { return one.instructions; });
    if (longest == classes.end() || longest->instructions <= present) return std::nullopt;
    return AbsentClass{.number = static_cast<std::size_t>(longest - classes.begin()) + 1,
                       .share = longest->share,
                       .instructions = longest->instructions};
}

std::string shorter_than_absent(const KernelIn& in, const GpuProfile& profile, const Launch& launch,
                                double cycles) {
    if (launch.group_warps != in.occupancy.group_warps ||
        std::cmp_less(launch.groups, in.seen.groups))
        return {};
    const auto absent = longest_absent(in, launch.group_warps);
    if (!absent) return {};
    // Without a limit of the issue rate, nothing bounds what one warp issues in a cycle.
    if (!profile.issue.limit) return {};
    const double rate = std::max(1.0, *profile.issue.limit / profile.issue.schedulers);
    const double least = static_cast<double>(absent->instructions) / rate;
    if (cycles >= least) return {};
    return fmt::format(
        "one warp of class {} ({:.2g} % of the launch's warps, none of a predicted group) alone "
        "issues {} instructions, which takes at least {:.6g} cycles; the predicted {:.6g} are too "
        "few",
        absent->number, 100 * absent->share, absent->instructions, least, cycles);
}

std::string to_text(const GroupsSeen& seen) {
    if (seen.executed == seen.groups) {
        std::string text = seen.groups == 1
                               ? "its one group was executed"
                               : fmt::format("all {} groups were executed", seen.groups);
        if (!seen.all_because.empty()) text += ", as " + seen.all_because;
        return text;
    }
    return fmt::format(
        "{} of {} groups represent all: the first, the last, and some drawn at random between "
        "them{}; {}. Up to {:.2g} % of all groups may be unlike every one of these (with {:.0f} % "
        "confidence)",
        seen.executed, seen.groups,
        seen.fewer ? " (no more, as what a warp executes hardly repeats and takes much memory)"
                   : "",
        seen.standard_error ? fmt::format("standard error of the instructions per warp: {:.2g} %",
                                          100 * *seen.standard_error)
                            : "the standard error of the instructions per warp is not known, since "
                              "they execute equally many or are too few",
        100 * seen.unseen_share, 100 * confidence);
}

Notes not_priced(const isa::Execution& execution) {
    Notes said;
    if (!execution.printed.empty())
        said.push_back(
            {Note::Kind::not_priced,
             "a kernel prints, which takes 20 us and more on a GPU and is not predicted"});
    if (execution.grid_barriers)
        said.push_back({Note::Kind::not_priced,
                        "groups wait for each other at grid barriers: how often they look whether "
                        "all have come is that of this execution"});
    if (execution.reads_clock)
        said.push_back(
            {Note::Kind::not_priced,
             "a kernel reads clock() or %globaltimer, which count its group's instructions here"});
    if (execution.sleeps)
        said.push_back(
            {Note::Kind::not_priced, "a kernel sleeps (__nanosleep), which takes no time here"});
    if (execution.allocates)
        said.push_back({Note::Kind::not_priced,
                        "a kernel allocates memory (malloc), whose time is not predicted"});
    return said;
}

void set_sample(const std::string& text, KernelsInOptions& options) {
    if (text == "auto") return;
    options.sample.reset();
    if (text == "all") return;
    std::uint64_t count = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (fault != std::errc() || end != text.data() + text.size() || count < 1)
        throw InputError(fmt::format(
            "--sample {}: expected auto, all, or a whole number of at least 1, such as 8", text));
    options.sample = count;
    options.sample_instructions = 0;
}

bool names_kernels(const std::string& path) {
    if (is_source(path)) return true;
    for (const char* suffix : {".ptx", ".cubin", ".fatbin", ".o", ".obj", ".so", ".a", ".exe"})
        if (path.ends_with(suffix)) return true;
    // Executables have no suffix that says so.
    std::ifstream file(path, std::ios::binary);
    std::string begin(4, '\0');
    return file.read(begin.data(), 4) && begin == "\177ELF";
}

KernelIn kernel_in(const LaunchPlan& plan, const KernelFile& file,
                   const KernelsInOptions& options) {
    return kernel_of(executed_launch(plan, file, options), options);
}

ExecutedLaunch executed_launch(const LaunchPlan& plan, const KernelFile& file,
                               const KernelsInOptions& options) {
    const KernelLaunch& launch = chosen_launch(plan, file.cubin, options);
    extract::PlanRun run(plan, file.cubin, file.ptx, options.buffers);
    ExecutedLaunch executed;
    KernelIn& in = executed.in;
    in.launch = launch;
    in.architecture = *file.cubin.architecture;
    in.code = run.code_of(launch);
    in.seen.groups = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    const std::uint64_t random = options.sample.value_or(in.seen.groups);
    constexpr const char* all_for_caches = "what the caches hold depends on every group";
    const std::string talk = how_groups_talk(*in.code);
    if (random + 2 < in.seen.groups) in.seen.all_because = talk;
    // How many groups caches need is known once a few have been executed.
    bool few_alone = options.memory_cores && options.sample && talk.empty();
    in.memory_groups = in.executed_groups = in.seen.groups;
    std::uint64_t at_random = few_alone ? first_at_random(random, options) : random;
    extract::GroupSample sample(in.seen.groups,
                                in.seen.all_because.empty() ? at_random : in.seen.groups);
    extract::StreamObserver streams(sample.groups(), extract::Alike::path);
    extract::PlanOptions plan_options;
    plan_options.last = &launch;
    if (!sample.all())
        for (const extract::SampledGroup& one : sample.groups())
            plan_options.groups_of_last.push_back(one.group);
    plan_options.more_groups = [&]() -> std::vector<std::uint64_t> {
        const auto counts = streams.group_instructions();
        // Streams that do not fold are long: so many groups' are held.
        constexpr std::uint64_t most_items = 1 << 22, least_groups = 2;
        const std::uint64_t held = std::max(
            least_groups, most_items * counts.size() / std::max<std::uint64_t>(1, streams.items()));
        if (few_alone) {
            few_alone = false;
            in.memory_groups =
                groups_for_caches(in.seen.groups, mean_instructions(sample, counts), options);
            if (in.memory_groups == in.seen.groups && !options.sample_streams &&
                in.seen.groups <= held) {
                if (random + 2 < in.seen.groups) in.seen.all_because = all_for_caches;
                sample = extract::GroupSample(in.seen.groups, in.seen.groups);
            } else {
                const std::uint64_t wanted = groups_at_random(in.memory_groups, random, options);
                in.seen.fewer = held < std::min(wanted, in.seen.groups - 1);
                for (; 2 * at_random <= std::min(held, wanted); at_random *= 2) sample.grow();
            }
            streams.watch(sample.groups());
            if (in.memory) in.memory->expect(in.memory_groups);
            std::vector<std::uint64_t> rest = not_executed(in.memory_groups, sample, counts);
            in.executed_groups = counts.size() + rest.size();
            if (rest.empty()) judge_sample(in.seen, counts, options.sample_error);
            return rest;
        }
        const bool exact_enough = judge_sample(in.seen, counts, options.sample_error);
        std::uint64_t instructions = 0;
        for (const auto& [group, count] : counts) instructions += count;
        const bool no_more = options.sample_streams || options.sample_instructions == 0 ||
                             sample.all() || 2 * counts.size() > held ||
                             (options.memory_cores && in.memory_groups == in.seen.groups);
        // As many as caches are looked at with may cost as much as these.
        const bool costs_too_much = instructions >= options.sample_instructions &&
                                    (!options.memory_cores || counts.size() >= in.memory_groups);
        if (no_more || exact_enough || costs_too_much) return {};
        // Those that caches were looked at with have been executed.
        std::vector<std::uint64_t> fresh = sample.grow(options.memory_cores ? in.memory_groups : 0);
        in.executed_groups += fresh.size();
        streams.watch(sample.groups());
        return fresh;
    };
    std::optional<extract::BothObservers> asked, watching;
    plan_options.observe = [&](const KernelLaunch& now) -> isa::Observer* {
        if (&now != &launch) return nullptr;
        asked.emplace(options.watch ? options.watch(run, launch) : nullptr, &streams);
        if (!options.memory_cores) return &*asked;
        in.memory = std::make_shared<extract::MemoryTrace>(extract::barriers_of(*in.code),
                                                           options.memory_references);
        watching.emplace(&*asked, in.memory.get());
        return &*watching;
    };
    auto results = options.execute ? options.execute(run, plan_options) : run.execute(plan_options);
    const auto result = std::ranges::find(results, &launch, &extract::LaunchResult::launch);
    in.occupancy = result->occupancy;
    in.execution = std::move(result->execution);
    in.streams = streams.streams();
    if (!options.memory_cores) in.executed_groups = in.seen.executed;
    executed.kernel = result->kernel;
    executed.runs = sample.runs();
    if (!file.note.empty()) {
        executed.compiled =
            fmt::format("compiled by {} with {}", file.compiler, fmt::join(file.options, " "));
        executed.note = file.note;
    }
    return executed;
}

namespace {

// Loads whose first execution is told from later ones; empty: none. Without barriers, what a warp
// waits for adds up, whichever execution it is.
std::vector<bool> first_apart(const KernelIn& in) {
    constexpr std::uint64_t most_instructions = 20'000'000;  // to be looked at
    if (!in.memory || std::ranges::count(extract::barriers_of(*in.code), true) == 0) return {};
    std::uint64_t instructions = 0;
    for (const extract::WarpClass& one : in.streams.classes) instructions += one.instructions;
    if (instructions > most_instructions) return {};
    std::vector<bool> apart = extract::first_is_new(*in.memory);
    if (std::ranges::count(apart, true) == 0) apart.clear();
    return apart;
}

}  // namespace

KernelIn kernel_of(ExecutedLaunch executed, const KernelsInOptions& options) {
    KernelIn in = std::move(executed.in);
    in.first_apart = first_apart(in);
    std::optional<extract::StreamObserver::Streams> marked;
    if (!in.first_apart.empty()) extract::mark_first(marked.emplace(in.streams), in.first_apart);
    in.extracted = extract::extract_kernel(
        extract::readable_name(executed.kernel->name), marked ? *marked : in.streams,
        *executed.kernel, *in.code, names_of(options.known), options.classes, executed.runs);
    in.extracted.kernel.order = Order::in_order;
    in.extracted.kernel.launch = Launch{.group_warps = in.occupancy.group_warps,
                                        .concurrent_groups = in.occupancy.groups,
                                        .groups = static_cast<std::int64_t>(in.seen.groups)};
    in.assumptions = assumptions_of(in);
    in.warnings = warnings_of(in);
    if (!executed.note.empty()) {
        in.assumptions.push_back({Note::Kind::compiler, executed.compiled});
        in.assumptions.push_back({Note::Kind::compiler, executed.note});
    }
    if (in.memory && options.memory_cores) {
        in.extracted.kernel.memory = MemoryContext{
            .cores = *options.memory_cores,
            .concurrent_groups = in.occupancy.groups,
            .group_shared_bytes =
                isa::own_shared_bytes(*executed.kernel, in.architecture) + in.launch.shared_bytes,
            .earlier_bytes = options.earlier_bytes};
        in.earlier = options.earlier;
        tell_memory(in);
        if (in.memory_groups < in.seen.groups)
            in.assumptions.push_back(
                {Note::Kind::sample,
                 fmt::format("reuse was found for the first {} of {} groups: the others are taken "
                             "to find as much as the later half of these",
                             in.memory_groups, in.seen.groups)});
        if (in.memory->one_line_in() > 1)
            in.assumptions.push_back(
                {Note::Kind::sample,
                 fmt::format(
                     "reuse was found for one in {} of the launch's cache lines, chosen by a hash",
                     in.memory->one_line_in())});
    }
    return in;
}

}  // namespace occupipe::analysis
