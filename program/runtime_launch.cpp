// SPDX-License-Identifier: MIT
// Launches: what a GPU would refuse, what an error becomes, and what they are told to have taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "ask/kernels_in.h"
#include "core/error.h"
#include "core/launch_plan.h"
#include "extract/launch_check.h"
#include "extract/signature.h"
#include "program/host_clock.h"
#include "program/launch_findings.h"
#include "program/predict_launch.h"
#include "program/runtime.h"

namespace occupipe::program {
namespace {

double seconds_since(double began) { return real_seconds() - began; }

// Does it however a launch ends.
template <typename Act>
class AtEnd {
public:
    explicit AtEnd(Act act) : act_(std::move(act)) {}
    ~AtEnd() { act_(); }
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;

private:
    Act act_;
};

CudaError error_of(const isa::ExecutionError& error) {
    using Fault = isa::ExecutionError::Fault;
    if (dynamic_cast<const isa::BudgetReached*>(&error) != nullptr)
        return CudaError::launch_timeout;
    switch (error.fault) {
        case Fault::outside:
            return CudaError::illegal_address;
        case Fault::misaligned:
            return CudaError::misaligned_address;
        case Fault::assertion:
            return CudaError::assert_failed;
        case Fault::not_executed:
            return CudaError::not_supported;
        case Fault::other:
            return CudaError::launch_failure;
    }
    return CudaError::launch_failure;
}

// As they lie in the constant bank.
std::vector<std::byte> packed(const isa::Kernel& kernel, void** arguments) {
    std::int64_t end = kernel.bank_0_bytes.value_or(0);
    for (const isa::Parameter& one : kernel.parameters) end = std::max(end, one.offset + one.size);
    std::vector<std::byte> bytes(static_cast<std::size_t>(end));
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const isa::Parameter& one = kernel.parameters[i];
        if (arguments == nullptr || arguments[i] == nullptr)
            throw CudaFailure(CudaError::invalid_value);
        std::memcpy(bytes.data() + one.offset, arguments[i], static_cast<std::size_t>(one.size));
    }
    return bytes;
}

bool within(const std::array<std::uint32_t, 3>& size, const std::array<std::uint32_t, 3>& most) {
    for (std::size_t i = 0; i < 3; ++i)
        if (size[i] == 0 || size[i] > most[i]) return false;
    return true;
}

// Launches of one shape whose work, arguments or caches are unlike are predicted again, so often at
// most.
constexpr std::size_t most_predicted_of_a_shape = 8;
bool alike(std::uint64_t predicted, std::uint64_t executed) {
    constexpr double most = 1.25;
    const auto [less, more] = std::minmax(predicted, executed);
    return static_cast<double>(more) <= most * static_cast<double>(less);
}

using CachedShares = std::vector<double>;
double difference(const CachedShares& cached, const CachedShares& other) {
    double sum = 0;
    for (std::size_t i = 0; i < std::max(cached.size(), other.size()); ++i)
        sum += std::abs((i < cached.size() ? cached[i] : 0) - (i < other.size() ? other[i] : 0));
    return sum;
}
bool alike(const CachedShares& cached, const CachedShares& other) {
    return difference(cached, other) <= 0.25;
}

}  // namespace

const Runtime::KnownLaunch& Runtime::KnownShape::nearest(std::uint64_t warp_instructions,
                                                         const CachedShares& cached,
                                                         const std::string& arguments) const {
    // Of equal ones the last, whose arguments are the nearest where they are a loop's.
    return *std::ranges::min_element(
        launches | std::views::reverse, {}, [&](const KnownLaunch& one) {
            const auto [less, more] = std::minmax(one.warp_instructions, warp_instructions);
            const std::uint64_t far = alike(less, more) ? 0 : more - less;
            return std::tuple(far, one.arguments != arguments, difference(one.cached, cached));
        });
}

// Arguments that differ may matter, a stride, or not, a counter: where a launch executes much, they
// are taken to be alike.
bool Runtime::KnownShape::knows(const CachedShares& cached, const std::string& arguments) const {
    constexpr std::uint64_t much = 20'000'000;  // some seconds
    return launches.size() >= most_predicted_of_a_shape ||
           std::ranges::any_of(launches, [&](const KnownLaunch& one) {
               return alike(one.cached, cached) &&
                      (one.warp_instructions > much || one.arguments == arguments);
           });
}

const Runtime::KnownLaunch* Runtime::KnownShape::of_arguments(const CachedShares& cached,
                                                              const std::string& arguments) const {
    constexpr std::size_t most_sampled_of_a_shape = 64;
    const auto found =
        std::ranges::find_if(launches | std::views::reverse, [&](const KnownLaunch& one) {
            return alike(one.cached, cached) && one.arguments == arguments;
        });
    if (found != launches.rend()) return &*found;
    return launches.size() >= most_sampled_of_a_shape ? &launches.back() : nullptr;
}

void Runtime::check(const Function& function, const isa::Kernel& kernel,
                    const CallConfiguration& configuration, bool cooperative) const {
    const auto refuse = [&](CudaError error, const std::string& why) {
        throw CudaFailure(error, fmt::format("{}: kernel '{}' is not launched: {}",
                                             find_error(static_cast<int>(error))->name,
                                             extract::readable_name(kernel.name), why));
    };
    const auto& grid = configuration.grid;
    const auto& block = configuration.block;
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    if (!within(grid, most_grid) || !within(block, most_block) || threads > most_group_threads)
        refuse(CudaError::invalid_configuration,
               fmt::format("({}) groups of ({}) threads; CUDA takes 1 to ({}) groups of 1 to ({}) "
                           "threads, {} in all",
                           fmt::join(grid, ","), fmt::join(block, ","), fmt::join(most_grid, ","),
                           fmt::join(most_block, ","), most_group_threads));
    if (kernel.most_threads && threads > *kernel.most_threads)
        refuse(CudaError::invalid_value,
               fmt::format("it has __launch_bounds__ of {} threads a group, not {}",
                           *kernel.most_threads, threads));
    const std::int64_t own =
        isa::own_shared_bytes(kernel, *function.module->code->file.cubin.architecture);
    const std::int64_t most_shared =
        std::max<std::int64_t>(function.most_dynamic_shared_bytes, 48 * 1024 - own);
    if (std::cmp_greater(configuration.shared_bytes, most_shared))
        refuse(CudaError::invalid_value,
               fmt::format("{} bytes of dynamic shared memory; {} are allowed, more by "
                           "cudaFuncAttributeMaxDynamicSharedMemorySize",
                           configuration.shared_bytes, most_shared));
    const auto shared = static_cast<std::int64_t>(configuration.shared_bytes);
    Occupancy resident;
    try {
        resident = occupancy(facts_.limits, {.group_threads = static_cast<int>(threads),
                                             .registers = kernel.registers.value_or(0),
                                             .shared_bytes = own + shared,
                                             .barriers = kernel.barriers.value_or(0)});
    } catch (const InputError& error) {
        refuse(CudaError::launch_out_of_resources, error.what());
    }
    const std::uint64_t groups = std::uint64_t{grid[0]} * grid[1] * grid[2];
    const auto most =
        static_cast<std::uint64_t>(resident.groups) * static_cast<std::uint64_t>(facts_.cores);
    if (cooperative && groups > most)
        refuse(CudaError::cooperative_launch_too_large,
               fmt::format("{} groups together, of which {} fit at once", groups, most));
}

void Runtime::launch(Function& function, const CallConfiguration& configuration, void** arguments,
                     bool cooperative) {
    journal();  // tells that the process came here, whatever becomes of the launch
    Stream* const to = stream(configuration.stream);
    if (to == nullptr) throw CudaFailure(CudaError::invalid_resource_handle);
    const isa::Kernel& kernel = kernel_of(function);
    check(function, kernel, configuration, cooperative);
    const std::string lacking = isa::without_counterpart(*function.module->loaded, kernel);
    if (!lacking.empty()) {
        tell(fmt::format("kernel '{}': {}", extract::readable_name(kernel.name), lacking));
        throw CudaFailure(CudaError::not_supported);
    }
    const Shape shape{.kernel = kernel.name,
                      .grid = configuration.grid,
                      .block = configuration.block,
                      .shared_bytes = static_cast<std::uint32_t>(configuration.shared_bytes)};
    const std::vector<std::byte> parameters = packed(kernel, arguments);
    try {
        execute(function, kernel, shape, parameters, *to);
    } catch (const isa::ExecutionError& error) {
        fail(error_of(error), text_of(error, kernel));
    } catch (const InputError& error) {
        fail(CudaError::launch_failure, with_readable_kernel(error.what(), kernel));
    } catch (...) {
        effects_.forget();
        throw;
    }
}

std::string Runtime::text_of(const isa::ExecutionError& error, const isa::Kernel& kernel) const {
    std::string text = with_readable_kernel(error.what(), kernel);
    const bool outside = error.fault == isa::ExecutionError::Fault::outside;
    const std::string freed = outside ? freed_before(error.address) : "";
    return freed.empty() ? text : text + "; " + freed;
}

// Errors of kernels are told by later calls, as their launches are asynchronous.
void Runtime::fail(CudaError error, const std::string& text) {
    sticky_ = error;
    effects_.forget();
    const char* const name = find_error(static_cast<int>(error))->name;
    tell(fmt::format("{}: {}", name, text));
    journal().error(name, text.substr(0, text.find('\n')));
    const bool of_memory =
        error == CudaError::illegal_address || error == CudaError::misaligned_address;
    if (of_memory && settings_.on_error == OnError::stop) stop();
}

void Runtime::note_unchecked(const extract::LaunchCheck& check, const isa::Kernel& kernel) {
    const auto unchecked = [&](const char* races, const char* why) {
        note(fmt::format("--check does not look for races in {} memory of {}: {}", races,
                         extract::readable_name(kernel.name), why));
    };
    if (!check.looks_for_global_races())
        unchecked("global", "it has fences, by which groups may order what they do");
    if (!check.looks_for_shared_races())
        unchecked("shared",
                  "it has barriers in shared memory or fences, by which warps order what they do");
}

void Runtime::note(const std::string& text) {
    if (told_.insert(text).second) journal().note(text);
}

void Runtime::note_unpriced(const std::vector<TouchedRange>& ranges) {
    if (std::ranges::count(ranges, MemoryKind::managed, &TouchedRange::kind) > 0)
        note(
            "managed memory is priced as the device's: a kernel that finds its pages on the host "
            "takes 0.1 to 1 ms longer on a GPU");
}

// At least as long as what lies on the host takes over the bus.
void Runtime::price_bus(std::vector<PredictedLaunch>& predictions,
                        const std::vector<TouchedRange>& ranges) {
    double bytes = 0;
    for (const TouchedRange& one : ranges)
        if (one.kind == MemoryKind::pinned || one.kind == MemoryKind::registered)
            bytes += static_cast<double>(one.bytes);
    if (bytes == 0) return;
    note(
        "memory of the host that kernels use directly comes over the bus, each line once, at the "
        "bus's assumed peak");
    for (std::size_t i = 0; i < predictions.size(); ++i) {
        PredictedLaunch& one = predictions[i];
        const double seconds = bytes / device_facts(settings_.profiles[i]).link_bytes_per_second;
        if (!one.seconds || seconds <= *one.seconds) continue;
        one.seconds = seconds;
        one.limited_by = "bus";
    }
}

// What the launch leaves behind: in caches, on stdout, and what it did that has no price.
void Runtime::follow(const isa::Execution& execution, const std::vector<TouchedRange>& touched) {
    for (const TouchedRange& one : touched) {
        if (one.kind != MemoryKind::device) continue;
        // Which part it is of one that is far larger is not known: that stays where it was.
        if (one.bytes >= one.size / 2)
            history_.touched(one.begin, one.size, one.bytes);
        else
            history_.passed(one.bytes);
    }
    std::fwrite(execution.printed.data(), 1, execution.printed.size(), stdout);
    for (const analysis::Note& one : analysis::not_priced(execution)) note(one.sentence);
}

void Runtime::execute(const Function& function, const isa::Kernel& kernel, const Shape& shape,
                      std::span<const std::byte> parameters, Stream& to) {
    Journal& journal = this->journal();
    LaunchToPredict launch{.file = &function.module->code->file,
                           .module = &*function.module->loaded,
                           .kernel = &kernel,
                           .shape = {.grid = shape.grid,
                                     .block = shape.block,
                                     .dynamic_shared_bytes = shape.shared_bytes},
                           .parameters = parameters,
                           .options = {.threads = 0, .step_budget = settings_.launch_instructions}};
    launch.sample = settings_.sample;
    LaunchFindings findings(
        kernel, [&](const isa::ExecutionError& error) { return text_of(error, kernel); });
    if (settings_.on_error == OnError::report)
        launch.options.on_fault = [&](const auto&... fault) { findings.fault(fault...); };
    std::mutex telling;
    if (settings_.on_error == OnError::as_cuda)
        launch.options.on_behind = [&](std::size_t instruction, std::uint32_t threads,
                                       const auto& first) {
            if (shadow_) return findings.fault(instruction, threads, first);
            const std::scoped_lock lock(telling);
            if (told_behind_.emplace(kernel.name, findings.place_of(instruction)).second)
                tell(text_of(first(), kernel) +
                     "; a GPU does not notice that, and this run continues");
        };
    std::optional<extract::LaunchCheck> check;
    if (shadow_)
        launch.observer = &check.emplace(*shadow_, kernel, *launch.file->cubin.architecture,
                                         *launch.module->decoded(kernel), launch.shape);
    if (check) note_unchecked(*check, kernel);
    const AtEnd tell_findings([&] {
        if (check) findings.add(check->found());
        for (const Finding& one : findings.all()) journal.finding(one);
    });
    const double began = real_seconds();
    KnownShape& known = known_[shape];
    isa::Execution execution;
    bool is_executed = true;
    std::optional<double> seconds;
    std::vector<TouchedRange> touched = ranges_with(known, parameters);
    const CachedShares cached = cached_shares(touched);
    const std::string arguments = without_addresses(parameters);
    Effects::Launch same{
        .kernel = &kernel, .shape = shape, .parameters = {parameters.begin(), parameters.end()}};
    const KnownLaunch* const sampled =
        settings_.sample ? known.of_arguments(cached, arguments) : nullptr;
    const bool is_known = settings_.sample
                              ? sampled != nullptr
                              : !known.next_is_predicted && known.knows(cached, arguments);
    if (!is_known || settings_.every_launch) {
        journal.begin(shape);
        launch.earlier = [&](std::uint64_t line) {
            return history_.since(line * extract::line_bytes);
        };
        launch.earlier_bytes = static_cast<std::int64_t>(history_.bytes());
        ExecutedAndPredicted both = execute_and_predict(launch, settings_.profiles);
        touched = known.touched = ranges_of(both.lines, both.lines_each, parameters);
        known.parameters.assign(parameters.begin(), parameters.end());
        note_unpriced(touched);
        price_bus(both.predictions, touched);
        if (launch.sample)
            note("launches were executed in part (--sample): what the program computes is wrong");
        execution = std::move(both.execution);
        execution.warp_instructions = execution.warp_instructions * both.groups /
                                      std::max<std::uint64_t>(1, execution.groups);
        seconds = both.predictions.front().seconds;
        known.next_is_predicted = false;
        known.launches.push_back(
            {.number = journal.predicted(shape, execution.warp_instructions, seconds_since(began),
                                         both.predictions),
             .warp_instructions = execution.warp_instructions,
             .seconds = seconds,
             .cached = cached_shares(touched),
             .arguments = arguments});
    } else {
        // What is looked for in a launch is found again.
        const bool looked_at = check || settings_.on_error == OnError::report;
        std::optional<std::uint64_t> again;
        if (sampled != nullptr)
            again = sampled->warp_instructions;
        else if (!looked_at && known.launches.back().seconds)
            again = effects_.repeated(same);
        is_executed = !again;
        if (again)
            execution.warp_instructions = *again;
        else
            execution = isa::execute(*launch.module, kernel, launch.shape, parameters,
                                     launch.options, launch.observer);
        const KnownLaunch& like =
            sampled != nullptr ? *sampled
                               : known.nearest(execution.warp_instructions, cached, arguments);
        seconds = like.seconds;
        journal.repeated(like.number, execution.warp_instructions, seconds_since(began));
        known.next_is_predicted = known.launches.size() < most_predicted_of_a_shape &&
                                  !alike(like.warp_instructions, execution.warp_instructions);
    }
    // The host changes a managed variable without a call.
    if (is_executed)
        effects_.executed(std::move(same), execution, memory_, function.module->managed.empty());
    follow(execution, touched);
    // What has no prediction takes what it took here, so that the program's clock goes on.
    const double taken = seconds.value_or(seconds_since(began));
    const double start = advance(to, taken);
    if (settings_.trace)
        journal.span({.stream = to.number,
                      .kernel = kernel.name,
                      .copy = {},
                      .start = start,
                      .seconds = taken,
                      .predicted = seconds.has_value()});
}

}  // namespace occupipe::program
