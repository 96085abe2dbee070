// SPDX-License-Identifier: MIT
#include "analysis/kernels_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/kernel_memory.h"
#include "core/error.h"
#include "extract/signature.h"
#include "isa/decode.h"

namespace occupipe::analysis {
namespace {

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

// Hands everything on to two observers, either of which may be absent.
class Both : public isa::Observer {
public:
    Both(isa::Observer* first, isa::Observer* second) : all_{first, second} {}

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override {
        auto both = std::make_unique<Group>();
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i] != nullptr) both->all[i] = all_[i]->begin(group);
        if (!both->all[0] && !both->all[1]) return nullptr;
        return both;
    }
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override {
        auto* const both = dynamic_cast<Group*>(observer.get());
        if (both == nullptr) return;
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (both->all[i]) all_[i]->end(group, std::move(both->all[i]));
    }

private:
    struct Group : isa::GroupObserver {
        std::array<std::unique_ptr<isa::GroupObserver>, 2> all;

        void step(std::uint32_t warp, std::size_t instruction, isa::Mask running,
                  isa::Mask active) override {
            for (const auto& one : all)
                if (one) one->step(warp, instruction, running, active);
        }
        void access(std::uint32_t warp, std::size_t instruction,
                    const isa::MemoryAccess& access) override {
            for (const auto& one : all)
                if (one) one->access(warp, instruction, access);
        }
    };
    std::array<isa::Observer*, 2> all_;
};

std::vector<std::string> assumptions_of(const KernelIn& in) {
    std::vector<std::string> said;
    const auto& limit = in.occupancy.limits.front();
    said.push_back(fmt::format(
        "a core of sm_{} holds {} group{} of {} warp{} at once, {:.0f} % of its warps; limited by "
        "{}",
        in.architecture, in.occupancy.groups, in.occupancy.groups == 1 ? "" : "s",
        in.occupancy.group_warps, in.occupancy.group_warps == 1 ? "" : "s",
        100 * in.occupancy.share, occupipe::to_text(limit.what)));
    said.push_back(to_text(in.seen));
    const auto taken = std::ranges::count_if(in.extracted.classes, &extract::ExtractedClass::taken);
    if (std::cmp_less(taken, in.extracted.classes.size()))
        said.push_back(
            fmt::format("{} of {} classes of warps are predicted; they execute {:.1f} % of the "
                        "instructions",
                        taken, in.extracted.classes.size(), 100 * in.extracted.represented));
    return said;
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
        throw InputError(fmt::format("--step {}: there {} {} such launch{}", options.step,
                                     found.size() == 1 ? "is" : "are", found.size(),
                                     found.size() == 1 ? "" : "es"));
    return *found[options.step - 1];
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
    return isa::known_architecture(number) ? fmt::format("sm_{}", number) : "";
}

std::string to_text(const GroupsSeen& seen) {
    if (seen.watched == seen.groups)
        return seen.groups == 1
                   ? "its one group was executed and looked at"
                   : fmt::format("all {} groups were executed and looked at", seen.groups);
    std::string text = fmt::format(
        "{} of {} groups stand for all: the first, the last, and one at random of each of {} equal "
        "parts of the others",
        seen.watched, seen.groups, seen.watched - 2);
    if (seen.executed == seen.groups)
        text += fmt::format("; all were executed, as {}", seen.all_executed_because);
    return text;
}

bool names_kernels(const std::string& path) {
    return path.ends_with(".cu") || path.ends_with(".cl") || path.ends_with(".ptx") ||
           path.ends_with(".cubin");
}

KernelIn kernel_in(const LaunchPlan& plan, const KernelFile& file,
                   const KernelsInOptions& options) {
    const KernelLaunch& launch = chosen_launch(plan, file.cubin, options);
    extract::PlanRun run(plan, file.cubin, file.ptx);
    KernelIn in;
    in.launch = launch;
    in.architecture = *file.cubin.architecture;
    in.code = run.code_of(launch);
    in.seen.groups = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    extract::StreamObserver streams(options.sample
                                        ? extract::sampled_groups(in.seen.groups, *options.sample)
                                        : extract::all_groups(in.seen.groups));
    in.seen.watched = streams.groups().size();

    extract::PlanOptions plan_options;
    plan_options.last = &launch;
    in.seen.executed = in.seen.groups;
    if (in.seen.watched < in.seen.groups) {
        in.seen.all_executed_because = options.memory_cores
                                           ? "every group takes part in what the caches hold"
                                           : how_groups_talk(*in.code);
        if (in.seen.all_executed_because.empty()) {
            in.seen.executed = in.seen.watched;
            for (const extract::SampledGroup& one : streams.groups())
                plan_options.groups_of_last.push_back(one.group);
        }
    }
    std::optional<Both> asked, watching;
    plan_options.observe = [&](const KernelLaunch& now) -> isa::Observer* {
        if (&now != &launch) return nullptr;
        asked.emplace(&streams, options.watch ? options.watch(run, launch) : nullptr);
        if (!options.memory_cores) return &*asked;
        in.memory = std::make_shared<extract::MemoryTrace>(extract::barriers_of(*in.code));
        watching.emplace(&*asked, in.memory.get());
        return &*watching;
    };
    auto results = options.execute ? options.execute(run, plan_options) : run.execute(plan_options);
    const auto result = std::ranges::find(results, &launch, &extract::LaunchResult::launch);
    in.occupancy = result->occupancy;
    in.execution = std::move(result->execution);
    in.streams = streams.streams();
    in.extracted = extract::extract_kernel(extract::readable_name(result->kernel->name), in.streams,
                                           *result->kernel, *in.code,
                                           extract::names_known_to(options.known), options.classes);
    in.extracted.kernel.order = Order::in_order;
    in.extracted.kernel.launch = Launch{.group_warps = in.occupancy.group_warps,
                                        .concurrent_groups = in.occupancy.groups,
                                        .groups = static_cast<std::int64_t>(in.seen.groups)};
    in.assumptions = assumptions_of(in);
    if (!file.note.empty()) {
        in.assumptions.push_back(
            fmt::format("compiled by {} with {}", file.compiler, fmt::join(file.options, " ")));
        in.assumptions.push_back(file.note);
    }
    if (in.memory) {
        in.extracted.kernel.memory = MemoryContext{
            .cores = *options.memory_cores,
            .concurrent_groups = in.occupancy.groups,
            .group_shared_bytes =
                isa::own_shared_bytes(*result->kernel, in.architecture) + launch.shared_bytes};
        tell_memory(in);
        if (in.memory->one_line_in() > 1)
            in.assumptions.push_back(fmt::format(
                "reuse was found for one in {} of the launch's cache lines, chosen by a hash",
                in.memory->one_line_in()));
    }
    return in;
}

}  // namespace occupipe::analysis
