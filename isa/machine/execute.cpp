// SPDX-License-Identifier: MIT
// Groups over the host's threads, warps of a group in turn.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "isa/machine/heap.h"
#include "isa/machine/launch.h"
#include "isa/machine/print.h"
#include "isa/machine/spin.h"

namespace occupipe::isa {
namespace {

// Runs the warp until it cannot go on or its turn is over; how many steps it took.
template <bool watched>
std::uint32_t run(Group& group, Warp& warp, std::uint32_t turn) {
    const Step* const steps = group.launch->steps.data();
    InstructionCount* const counts = group.counts.data();
    warp.stop = false;
    if (warp.active == 0) next_split(warp);
    if constexpr (watched) group.untold.warp = warp.number;
    std::uint32_t taken = 0;
    while (!warp.stop) {
        const std::uint32_t pc = warp.pc;
        const Step& step = steps[pc];
        const Mask guard = warp.predicates[step.guard];
        const Mask active = warp.active & (step.guard_inverted ? ~guard : guard);
        ++taken;
        warp.pc = pc + 1;
        ++counts[pc].warps;
        counts[pc].lanes += count_of(active);
        if constexpr (watched) group.untold.add(group, {.instruction = pc, .active = active});
        if (active != 0) step.run(warp, step, active);
        if (taken >= turn && (step.may_switch || warp.splits.empty())) break;
    }
    if constexpr (watched) group.untold.tell(group);
    return taken;
}

// What all threads of the host share.
struct Shared {
    std::mutex mutex;
    std::uint64_t next = 0;              // group
    std::uint64_t end = 0;               // groups from here on are not begun
    std::uint64_t done = 0;              // groups
    std::vector<std::uint64_t> current;  // group of each thread; the highest number: none
    std::exception_ptr error;
    std::uint64_t error_group = std::numeric_limits<std::uint64_t>::max();
    std::mutex reporting;
    std::uint64_t reported = 0;                    // steps at the last report
    std::map<std::uint64_t, std::string> printed;  // by group
    std::atomic<std::uint64_t> steps = 0;
    std::atomic<bool> stop = false;
    // Begins with the other threads, once the launch turns out to be long; empty: they are there.
    std::function<void()> start_others;
};

// Warp-instructions that take longer than threads to start and end.
constexpr std::uint64_t worth_threads = std::uint64_t{1} << 14;

constexpr std::uint64_t no_group = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void fail_deadlock(const Group& group) {
    // What each warp waits for, the first of them by its instruction.
    for (const Warp& warp : group.warps) {
        for (const Split& split : warp.splits) {
            if (split.waits == Split::Waits::no) continue;
            const Step& step = group.launch->steps[split.pc > 0 ? split.pc - 1 : 0];
            if (split.waits != Split::Waits::group_barrier) {
                fail(warp, step, std::countr_zero(split.lanes),
                     "waits for lanes of its warp that never arrive: all others wait, too");
            }
            const GroupBarrier& barrier = group.barriers[split.barrier];
            fail(warp, step, std::countr_zero(split.lanes),
                 fmt::format("waits at barrier {} for {} threads; {} arrived, and no other can "
                             "proceed",
                             split.barrier, barrier.expected == 0 ? group.alive : barrier.expected,
                             barrier.arrived));
        }
    }
    throw ExecutionError("a group makes no progress");
}

class Worker {
public:
    Worker(const Launch& launch, const ExecutionOptions& options, Observer* observer,
           Shared& shared, std::size_t thread)
        : launch_(launch),
          options_(options),
          observer_(observer),
          shared_(shared),
          thread_(thread) {
        groups_.front().shares_memory = shared.current.size() > 1;
    }

    void run_groups() {
        while (const auto index = take()) {
            const std::uint64_t number = group_number(*index);
            try {
                run_group(number);
            } catch (...) {
                const std::scoped_lock lock(shared_.mutex);
                if (number < shared_.error_group) {
                    shared_.error = std::current_exception();
                    shared_.error_group = number;
                }
                // Groups before this one still run, so that the error is that of the first.
                shared_.end = std::min(shared_.end, *index);
            }
            finish();
        }
    }

    // Groups that take turns on one thread, each of which may wait for any other.
    void run_together() {
        groups_.resize(shared_.end);
        std::vector<Running> running;
        for (std::size_t i = 0; i < groups_.size(); ++i) running.push_back(begin(groups_[i], i));
        std::vector<std::uint64_t> taken(groups_.size());
        std::uint64_t quiet = 0;  // steps since memory changed
        while (true) {
            for (std::size_t i = 0; i < groups_.size(); ++i) {
                taken[i] = groups_[i].alive != 0 ? round(groups_[i]) : 0;
            }
            const bool changed = std::ranges::any_of(groups_, &Group::memory_changed);
            quiet = changed ? 0 : std::accumulate(taken.begin(), taken.end(), quiet);
            // Whether they go in circles shows where nobody rests, from here on.
            const bool may_rest = quiet < options_.spin_check_after / 2;
            if (may_rest_ && !may_rest)
                for (std::size_t i = 0; i < groups_.size(); ++i) {
                    for (Warp& warp : groups_[i].warps) warp.rests = 0;
                    running[i].spin = SpinCheck(options_.spin_check_after / groups_.size());
                    running[i].in_circles = false;
                }
            may_rest_ = may_rest;
            bool any_alive = false, all_in_circles = true;
            std::uint64_t ended = 0;
            for (std::size_t i = 0; i < groups_.size(); ++i) {
                if (groups_[i].alive == 0) {
                    groups_[i].memory_changed = false;
                    ++ended;
                    continue;
                }
                any_alive = true;
                groups_[i].memory_changed = changed && !may_rest;
                const auto alone = [] { return true; };
                const bool again =
                    !may_rest && running[i].spin.goes_in_circles(groups_[i], taken[i], alone);
                running[i].in_circles = again || (running[i].in_circles && !changed);
                all_in_circles = all_in_circles && running[i].in_circles;
            }
            shared_.done = ended;
            if (!any_alive) break;
            if (all_in_circles) {
                fail_spinning(*std::ranges::find_if(
                    groups_, [](const Group& group) { return group.alive != 0; }));
            }
        }
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            end(groups_[i], std::move(running[i]));
            keep_printed(groups_[i]);
        }
    }

    const std::vector<Group>& groups() const { return groups_; }
    std::uint64_t steps() const { return steps_; }

private:
    std::optional<std::uint64_t> take() {
        const std::scoped_lock lock(shared_.mutex);
        if (shared_.stop || shared_.next >= shared_.end) return std::nullopt;
        shared_.current[thread_] = group_number(shared_.next);
        return shared_.next++;
    }

    std::uint64_t group_number(std::uint64_t index) const {
        return options_.groups.empty() ? index : options_.groups[index];
    }

    void finish() {
        const std::scoped_lock lock(shared_.mutex);
        shared_.current[thread_] = no_group;
        ++shared_.done;
        keep_printed(groups_.front());
    }

    void keep_printed(Group& group) {
        if (group.printed.empty()) return;
        shared_.printed.emplace(group.index, std::move(group.printed));
        // What lies behind the most that is kept, whichever groups are still at work.
        std::size_t bytes = 0;
        auto one = shared_.printed.begin();
        while (one != shared_.printed.end() && bytes < most_printed_bytes)
            bytes += one++->second.size();
        shared_.printed.erase(one, shared_.printed.end());
    }

    bool is_first_running(std::uint64_t number) {
        const std::scoped_lock lock(shared_.mutex);
        return std::ranges::all_of(shared_.current,
                                   [&](std::uint64_t other) { return other >= number; });
    }

    void run_group(std::uint64_t number) {
        Group& group = groups_.front();
        Running one = begin(group, number);
        while (group.alive != 0) {
            const std::uint64_t taken = round(group);
            if (one.spin.goes_in_circles(group, taken, [&] { return is_first_running(number); })) {
                fail_spinning(group);
            }
        }
        end(group, std::move(one));
    }

    struct Running {
        std::unique_ptr<GroupObserver> watching;
        SpinCheck spin;
        bool in_circles = false;
    };

    Running begin(Group& group, std::uint64_t number) {
        group.begin(launch_, number);
        Running one{.watching = observer_ ? observer_->begin(number) : nullptr,
                    .spin = SpinCheck(options_.spin_check_after / groups_.size())};
        group.observer = one.watching.get();
        group.options = &options_;
        return one;
    }

    void end(Group& group, Running one) {
        group.observer = nullptr;
        if (one.watching) observer_->end(group.index, std::move(one.watching));
    }

    // All warps of the group in turn; how many steps they took.
    std::uint64_t round(Group& group) {
        std::uint64_t taken = 0;
        bool any_rests = false;
        for (Warp& warp : group.warps) {
            if (!can_run(warp)) continue;
            if (warp.rests > 0) {
                --warp.rests;
                any_rests = true;
                continue;
            }
            taken += turn_of(group, warp);
        }
        if (taken == 0 && !any_rests) fail_deadlock(group);
        group.clock += taken;
        count(group, taken);
        return taken;
    }

    std::uint32_t turn_of(Group& group, Warp& warp) {
        // A warp that waits for other groups looks in its turn, then leaves out more and more of
        // them: on a GPU a look takes as long as many instructions of the others, and how often it
        // looks costs nobody time.
        constexpr std::uint32_t short_turn = 16, most_rests = 64;
        const PreparedCode& code = *launch_.prepared;
        const std::uint32_t turn =
            code.cooperative ? std::min(short_turn, options_.turn) : options_.turn;
        const std::uint32_t before = warp.pc;
        const std::uint32_t taken =
            group.observer ? run<true>(group, warp, turn) : run<false>(group, warp, turn);
        // Others of the warp have their turn, too; where they got it by YIELD already, a second
        // change could take it from them again before they took a step.
        const bool gave_way = std::exchange(warp.gave_way, false);
        if (taken >= turn && warp.active != 0) {
            if ((warp.yielded | warp.yielded_before) != 0) release_from_yielding(warp, taken, turn);
            if (!gave_way) rotate(warp);
        }
        if (code.cooperative) {
            const bool waits =
                may_rest_ && code.waits[before] && warp.active != 0 && code.waits[warp.pc];
            warp.rests = waits ? warp.next_rest : 0;
            warp.next_rest = waits ? std::min(2 * warp.next_rest, most_rests) : 1;
        }
        return taken;
    }

    void count(const Group& group, std::uint64_t taken) {
        steps_ += taken;
        const std::uint64_t all = shared_.steps.fetch_add(taken, std::memory_order_relaxed) + taken;
        if (options_.step_budget != 0 && all > options_.step_budget) {
            throw BudgetReached(fmt::format(
                "kernel '{}': more than the {} warp-instructions that it may take; group "
                "({},{},{}) was at work",
                launch_.kernel->name, options_.step_budget, group.place[0], group.place[1],
                group.place[2]));
        }
        if (shared_.stop) throw Stopped("stopped");
        if (thread_ == 0 && all > worth_threads && shared_.start_others)
            std::exchange(shared_.start_others, nullptr)();
        if (options_.progress) report(all);
    }

    // Every few million instructions, whichever thread comes to it.
    void report(std::uint64_t all) {
        const std::unique_lock one_at_a_time(shared_.reporting, std::try_to_lock);
        if (!one_at_a_time || all < shared_.reported + (std::uint64_t{1} << 22)) return;
        shared_.reported = all;
        Progress progress{.warp_instructions = all};
        {
            const std::scoped_lock lock(shared_.mutex);
            progress.groups_done = shared_.done;
            progress.groups = shared_.end;
        }
        if (options_.progress(progress)) return;
        shared_.stop = true;
        throw Stopped("stopped");
    }

    [[noreturn]] void fail_spinning(const Group& group) {
        for (const Warp& warp : group.warps) {
            if (!can_run(warp)) continue;
            const std::uint32_t pc = warp.active != 0 ? warp.pc : warp.splits.front().pc;
            const Mask lanes = warp.active != 0 ? warp.active : warp.splits.front().lanes;
            fail(warp, launch_.steps[pc], std::countr_zero(lanes),
                 fmt::format("the group goes in circles: it waits in a loop for a change that {} "
                             "could make",
                             launch_.prepared->cooperative ? "no group that is still at work"
                                                           : "only a later group, or none,"));
        }
        throw ExecutionError("a group goes in circles");
    }

    const Launch& launch_;
    const ExecutionOptions& options_;
    Observer* observer_;
    Shared& shared_;
    std::size_t thread_;
    std::vector<Group> groups_ = std::vector<Group>(1);  // that are at work
    std::uint64_t steps_ = 0;
    bool may_rest_ = true;  // warps that wait for other groups
};

void check_groups(const Kernel& kernel, const std::vector<std::uint64_t>& groups,
                  std::uint64_t all) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] < all && (i == 0 || groups[i] > groups[i - 1])) continue;
        throw InputError(fmt::format("kernel '{}': group {} is not one of {}, or not in order",
                                     kernel.name, groups[i], all));
    }
}

// A grid whose groups wait for each other.
void check_together(const Kernel& kernel, std::uint64_t groups, std::uint64_t all) {
    constexpr std::uint64_t most = 8192;  // above what any device of these architectures holds
    if (groups != all)
        throw InputError(fmt::format(
            "kernel '{}': it asks for a barrier of the grid; {} of {} cannot run without "
            "the others",
            kernel.name, groups, all));
    if (all > most)
        throw InputError(fmt::format(
            "kernel '{}': it asks for a barrier of the grid, of {} groups; no device holds more "
            "than {} at once",
            kernel.name, all, most));
}

bool runs_in_order(const Launch& launch, const ExecutionOptions& options) {
    if (launch.prepared->cooperative) return true;
    return (launch.prepared->order_shows || launch.prepared->may_wait) && !options.any_order;
}

std::size_t threads_for(const ExecutionOptions& options, const Launch& launch,
                        std::uint64_t groups) {
    if (runs_in_order(launch, options)) return 1;
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    const std::uint64_t asked =
        options.threads <= 0 ? cores : static_cast<std::uint64_t>(options.threads);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(asked, 1, groups));
}

void add_up(Execution& result, const std::vector<std::unique_ptr<Worker>>& workers) {
    result.counts.resize(result.code->size());
    for (const auto& worker : workers) {
        for (const Group& group : worker->groups()) {
            result.branches += group.branches;
            result.divergent_branches += group.divergent_branches;
            result.read = united(result.read, group.read);
            result.written = united(result.written, group.written);
            for (std::size_t i = 0; i < std::min(result.counts.size(), group.counts.size()); ++i) {
                result.counts[i].warps += group.counts[i].warps;
                result.counts[i].lanes += group.counts[i].lanes;
            }
        }
    }
    for (const InstructionCount& one : result.counts) {
        result.warp_instructions += one.warps;
        result.lane_instructions += one.lanes;
    }
}

}  // namespace

Execution execute(LoadedModule& module, const Kernel& kernel, const LaunchShape& shape,
                  std::span<const std::byte> parameters, const ExecutionOptions& options,
                  Observer* observer) {
    const Launch launch = prepare(module, kernel, shape, parameters);
    Execution result;
    result.code = launch.prepared->code;
    const std::uint64_t all = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    check_groups(kernel, options.groups, all);
    result.groups = options.groups.empty() ? all : options.groups.size();
    result.warps = result.groups * launch.warps_per_group;
    result.in_order = runs_in_order(launch, options);
    if (launch.prepared->cooperative) check_together(kernel, result.groups, all);
    const std::size_t threads = threads_for(options, launch, result.groups);
    Shared shared;
    shared.end = result.groups;
    shared.current.assign(threads, no_group);
    std::vector<std::unique_ptr<Worker>> workers;
    const auto add = [&]() -> Worker& {
        const std::size_t number = workers.size();
        workers.push_back(std::make_unique<Worker>(launch, options, observer, shared, number));
        return *workers.back();
    };
    Worker& first = add();
    if (launch.prepared->cooperative) {
        first.run_together();
    } else {
        std::vector<std::jthread> others;
        if (threads > 1)
            shared.start_others = [&] {
                while (workers.size() < threads)
                    others.emplace_back([&one = add()] { one.run_groups(); });
            };
        first.run_groups();
    }
    if (shared.error) std::rethrow_exception(shared.error);
    add_up(result, workers);
    // Instructions have constants as operands, too.
    if (const std::uint64_t bank_3 = module.bank_3_address(); bank_3 != 0)
        result.read = united(result.read, {bank_3});
    result.grid_barriers = launch.prepared->cooperative;
    const auto executed = [&](std::size_t one) { return result.counts[one].warps > 0; };
    result.reads_clock = std::ranges::any_of(launch.prepared->clock_reads, executed);
    result.sleeps = std::ranges::any_of(launch.prepared->sleeps, executed);
    result.allocates =
        module.allocates() &&
        std::ranges::binary_search(result.written, module.memory().heap().buffer().address);
    for (const auto& [group, text] : shared.printed) result.printed += text;
    if (result.printed.size() >= most_printed_bytes) {
        result.printed.resize(most_printed_bytes);
        result.printed += "\n[what was printed beyond 1 MiB is not kept]\n";
    }
    return result;
}

}  // namespace occupipe::isa
