// SPDX-License-Identifier: MIT
#include "extract/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/architectures.h"
#include "core/files/launch_files.h"
#include "core/suggestions.h"
#include "extract/parameters.h"
#include "isa/decode.h"

namespace occupipe::extract {
namespace {

// Named barriers that the kernel uses. Where the assembler notes none: one behind the highest
// number; all where a register tells.
int barriers_of(const isa::Kernel& kernel, int architecture) {
    if (kernel.barriers) return *kernel.barriers;
    int most = 0;
    for (const isa::Instruction& one : isa::decode(kernel.code, architecture)) {
        if (one.opcode != "BAR") continue;
        bool numbered = false;
        for (const isa::Operand& operand : one.operands) {
            if (operand.kind != isa::Operand::Kind::immediate) continue;
            most = std::max(most, static_cast<int>(std::clamp<std::int64_t>(
                                      operand.value + 1, 1, OccupancyLimits::group_barriers)));
            numbered = true;
            break;
        }
        if (!numbered) return OccupancyLimits::group_barriers;
    }
    return most;
}

// Behind the kernel's own shared memory and what the system has of it.
std::uint64_t shared_begin_of(const isa::Kernel& kernel, int architecture) {
    const std::int64_t system = architecture_like(architecture).code.system_shared;
    return static_cast<std::uint64_t>(isa::own_shared_bytes(kernel, architecture) + system);
}

void add(std::vector<MemorySite>& sum, const std::vector<MemorySite>& more) {
    for (const MemorySite& one : more) {
        const auto same = [&](const MemorySite& other) {
            return other.instruction == one.instruction && other.space == one.space;
        };
        const auto found = std::ranges::find_if(sum, same);
        if (found != sum.end())
            found->counts += one.counts;
        else
            sum.push_back(one);
    }
    std::ranges::stable_sort(
        sum, {}, [](const MemorySite& site) { return std::pair(site.instruction, site.space); });
}

}  // namespace

void add(isa::Execution& sum, const isa::Execution& one) {
    if (sum.counts.empty()) {
        sum = one;
        return;
    }
    for (std::size_t i = 0; i < sum.counts.size() && i < one.counts.size(); ++i) {
        sum.counts[i].warps += one.counts[i].warps;
        sum.counts[i].lanes += one.counts[i].lanes;
    }
    sum.groups += one.groups;
    sum.warps += one.warps;
    sum.warp_instructions += one.warp_instructions;
    sum.lane_instructions += one.lane_instructions;
    sum.branches += one.branches;
    sum.divergent_branches += one.divergent_branches;
    sum.read = isa::united(sum.read, one.read);
    sum.written = isa::united(sum.written, one.written);
    sum.printed += one.printed;
    sum.allocates = sum.allocates || one.allocates;
    sum.reads_clock = sum.reads_clock || one.reads_clock;
    sum.sleeps = sum.sleeps || one.sleeps;
    sum.grid_barriers = sum.grid_barriers || one.grid_barriers;
    sum.in_order = sum.in_order || one.in_order;
}

PlanRun::PlanRun(const LaunchPlan& plan, const isa::Cubin& cubin, std::string_view ptx,
                 BufferStore* store)
    : plan_(plan), cubin_(cubin), ptx_(ptx) {
    look_at(plan_.steps);
    make_buffers(store);
    module_.emplace_back(cubin_, memory_);
    set_symbols();
    for (const auto& [launch, ready] : ready_) {
        const std::string why = isa::without_counterpart(module_.front(), *ready.kernel);
        if (!why.empty())
            throw InputError(
                fmt::format("kernel '{}': {}", readable_name(ready.kernel->name), why));
    }
    // With the addresses: sizes and types of arguments.
    for (const auto& [launch, ready] : ready_)
        pack_parameters(
            plan_, *launch, *ready.kernel, ready.signature,
            [&](const std::string& name) { return address_of(name); }, ready.shared_begin);
}

void PlanRun::make_buffers(BufferStore* store) {
    for (const BufferPlan& one : plan_.buffers) {
        stands_for_[one.name] = one.name;
        if (const auto content = store ? store->content(plan_, one) : nullptr) {
            memory_.add(one.name, *content);
            continue;
        }
        memory_.add(one.name, one.bytes());
        fill(one.name, one.fill, one.where);
    }
}

void PlanRun::fill(const std::string& name, const BufferFill& fill, SourcePosition where) {
    BufferPlan shape = *plan_.find_buffer(name);
    shape.where = where;
    std::ranges::copy(buffer_contents(plan_, shape, fill),
                      isa::GlobalMemory::bytes(buffer(name)).begin());
}

void PlanRun::set_symbols() {
    for (const BufferPlan& one : plan_.symbols) {
        const auto refuse = [&](const std::string& why) {
            throw InputError(plan_.file, one.where, "symbols." + one.name, why);
        };
        isa::LoadedModule& module = module_.front();
        const isa::Symbol* symbol = module.symbol(one.name);
        if (symbol == nullptr) {
            std::vector<std::string> names;
            for (const isa::Symbol& known : module.symbols()) names.push_back(known.name);
            refuse(
                fmt::format("the machine code has no such variable{}", near_text(one.name, names)));
        }
        if (symbol->size < one.bytes())
            refuse(fmt::format("the variable has {} bytes, and {} are given", symbol->size,
                               one.bytes()));
        std::ranges::copy(buffer_contents(plan_, one, one.fill), module.bytes(*symbol).begin());
    }
}

void PlanRun::look_at(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) look_at(*launch);
        if (const auto* repeat = std::get_if<RepeatSteps>(&step)) look_at(repeat->steps);
    }
}

void PlanRun::look_at(const KernelLaunch& launch) {
    const auto refuse = [&](const std::string& why) {
        throw InputError(plan_.file, launch.where, plan_.file.empty() ? "" : "kernel", why);
    };
    Ready ready;
    try {
        ready.kernel = &find_kernel(cubin_, launch.kernel);
    } catch (const InputError& error) {
        refuse(error.what());
    }
    const isa::Kernel& kernel = *ready.kernel;
    ready.signature = signature_of(kernel, ptx_);
    const int architecture = *cubin_.architecture;
    ready.shared_begin = shared_begin_of(kernel, architecture);
    const std::uint64_t dynamic = dynamic_shared_bytes(launch, ready.shared_begin);
    if (dynamic > most_shared_bytes)
        refuse(fmt::format("'{}': {} bytes of dynamic shared memory; at most {}", kernel.name,
                           dynamic, most_shared_bytes));
    ready.dynamic_shared_bytes = static_cast<std::uint32_t>(dynamic);
    const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    const auto same_kernel = [&](const auto& one) { return one.second.kernel == ready.kernel; };
    const auto known = std::ranges::find_if(ready_, same_kernel);
    ready.barriers =
        known != ready_.end() ? known->second.barriers : barriers_of(kernel, architecture);
    try {
        ready.occupancy = occupancy(occupancy_limits(architecture),
                                    {.group_threads = static_cast<int>(threads),
                                     .registers = kernel.registers.value_or(0),
                                     .shared_bytes = isa::own_shared_bytes(kernel, architecture) +
                                                     ready.dynamic_shared_bytes,
                                     .barriers = ready.barriers});
    } catch (const InputError& error) {
        refuse(fmt::format("'{}': {}", kernel.name, error.what()));
    }
    ready_[&launch] = std::move(ready);
}

const isa::GlobalMemory::Buffer& PlanRun::buffer(const std::string& name) const {
    return *memory_.named(stands_for_.at(name));
}

std::uint64_t PlanRun::address_of(const std::string& name) const { return buffer(name).address; }

std::span<const std::byte> PlanRun::bytes(const std::string& name) const {
    return isa::GlobalMemory::bytes(buffer(name));
}

std::shared_ptr<const std::vector<isa::Instruction>> PlanRun::code_of(const KernelLaunch& launch) {
    return module_.front().decoded(kernel_of(launch));
}

std::map<std::string, std::vector<std::string>> PlanRun::not_executed() {
    std::map<std::string, std::vector<std::string>> all;
    for (const auto& [launch, ready] : ready_) {
        if (all.contains(ready.kernel->name)) continue;
        auto reasons = isa::not_executed(module_.front(), *ready.kernel);
        if (!reasons.empty()) all[ready.kernel->name] = std::move(reasons);
    }
    return all;
}

std::vector<LaunchResult> PlanRun::execute(const PlanOptions& options) {
    options_ = &options;
    progress_ = {};
    progress_.launches = launch_count(plan_);
    result_of_.clear();
    results_.clear();
    ended_ = false;
    run(plan_.steps);
    return std::move(results_);
}

void PlanRun::run(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
        if (ended_) return;
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
            run(*launch);
            continue;
        }
        // Steps that launch nothing may be repeated without end, too.
        if (options_->progress && !options_->progress(progress_)) throw isa::Stopped("stopped");
        if (const auto* repeat = std::get_if<RepeatSteps>(&step)) {
            for (std::uint64_t i = 0; i < repeat->times && !ended_; ++i) run(repeat->steps);
        } else if (const auto* swap = std::get_if<SwapBuffers>(&step)) {
            std::swap(stands_for_.at(swap->names[0]), stands_for_.at(swap->names[1]));
        } else if (const auto* set = std::get_if<SetBuffer>(&step)) {
            fill(set->buffer, set->fill, set->where);
        } else if (const auto* copy = std::get_if<CopyBuffer>(&step)) {
            std::ranges::copy(bytes(copy->from),
                              isa::GlobalMemory::bytes(buffer(copy->to)).begin());
        }
    }
}

void PlanRun::run(const KernelLaunch& launch) {
    const Ready& ready = ready_.at(&launch);
    const auto parameters = pack_parameters(
        plan_, launch, *ready.kernel, ready.signature,
        [&](const std::string& name) { return address_of(name); }, ready.shared_begin);
    isa::ExecutionOptions execution_options{.threads = options_->threads};
    ended_ = &launch == options_->last;
    if (ended_) execution_options.groups = options_->groups_of_last;
    const std::uint64_t before = progress_.warp_instructions;
    if (options_->step_budget != 0) {
        // At least one, since 0 is no limit.
        execution_options.step_budget =
            options_->step_budget > before ? options_->step_budget - before : 1;
    }
    isa::Execution execution;
    progress_.kernel = ready.kernel->name;
    progress_.launch = {};
    if (options_->progress) {
        if (!options_->progress(progress_)) throw isa::Stopped("stopped");
        execution_options.progress = [&](const isa::Progress& now) {
            progress_.launch = {.groups_done = execution.groups + now.groups_done,
                                .groups = execution.groups + now.groups,
                                .warp_instructions = now.warp_instructions};
            progress_.warp_instructions =
                before + execution.warp_instructions + now.warp_instructions;
            return options_->progress(progress_);
        };
    }
    MemoryObserver observer(ready.kernel->code.size(), memory_);
    if (options_->measure_memory && !options_->observe)
        observer.watch_races(RaceCheck(*module_.front().decoded(*ready.kernel)));
    const isa::LaunchShape shape{.grid = launch.grid,
                                 .block = launch.block,
                                 .dynamic_shared_bytes = ready.dynamic_shared_bytes};
    isa::Observer* watching = options_->measure_memory ? &observer : nullptr;
    if (options_->observe) watching = options_->observe(launch);
    const auto execute_groups = [&] {
        try {
            return isa::execute(module_.front(), *ready.kernel, shape, parameters,
                                execution_options, watching);
        } catch (const isa::BudgetReached&) {
            if (execution_options.step_budget == options_->step_budget) throw;
            throw isa::BudgetReached(fmt::format(
                "kernel '{}', launch {} of {}: more than the {} warp-instructions that all "
                "launches together may take",
                ready.kernel->name, progress_.launches_done + 1, progress_.launches,
                options_->step_budget));
        }
    };
    while (true) {
        add(execution, execute_groups());
        progress_.warp_instructions = before + execution.warp_instructions;
        if (!ended_ || !options_->more_groups) break;
        execution_options.groups = options_->more_groups();
        if (execution_options.groups.empty()) break;
        if (options_->step_budget != 0)
            execution_options.step_budget =
                std::max<std::uint64_t>(options_->step_budget, progress_.warp_instructions + 1) -
                progress_.warp_instructions;
    }
    ++progress_.launches_done;

    const auto [place, first] = result_of_.try_emplace(&launch, results_.size());
    if (first)
        results_.push_back({.launch = &launch,
                            .kernel = ready.kernel,
                            .occupancy = ready.occupancy,
                            .execution = {},
                            .sites = {}});
    LaunchResult& result = results_[place->second];
    ++result.times;
    add(result.execution, execution);
    add(result.sites, observer.sites());
    result.races.merge(observer.races());
    const Footprint footprint = observer.footprint();
    if (footprint.sectors > result.footprint.sectors) result.footprint = footprint;
}

}  // namespace occupipe::extract
