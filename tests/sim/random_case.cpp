// SPDX-License-Identifier: MIT
#include "tests/sim/random_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::test {
namespace {

constexpr std::array limits = {1.0, 2.0, 3.0, 4.0, 8.0, 1.5, 0.5, 0.75, 2.4, 0.3, 4.7, 0.125};
constexpr std::array times = {0.25, 0.375, 0.5, 1.0, 1.0, 2.0, 2.25, 3.0, 5.25, 7.0, 12.5};

class Maker {
public:
    Maker(std::uint64_t seed, const CaseShape& shape) : random_(seed), shape_(shape) {}

    Case make() {
        Case made;
        made.profile = profile();
        made.kernel.name = "random";
        const int programs = shape_.divergence && chance(0.2) ? 2 : 1;
        for (int p = 0; p < programs; ++p) made.kernel.warps.push_back(program());
        if (programs == 2) {
            made.kernel.warps[0].share = between(1, 3) * 0.25;
            made.kernel.warps[1].share = 1 - made.kernel.warps[0].share;
        }
        made.launch.group_warps = between(1, 5);
        made.launch.concurrent_groups = between(1, 4);
        made.launch.groups = between(1, shape_.max_groups);
        made.options.policy = std::array{Policy::lrr, Policy::gto, Policy::oldest}[between(0, 2)];
        made.options.select = chance(0.35) ? Select::warp : Select::subsystem;
        made.options.order = chance(0.3) ? Order::in_order : Order::dataflow;
        return made;
    }

private:
    int between(int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random_);
    }
    bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
    std::optional<Estimate> contention() {
        if (!chance(0.25)) return std::nullopt;
        return Estimate{.value = std::array{0.125, 0.3, 0.5, 0.75}[between(0, 3)]};
    }
    // Said, or left out as a fit does that could not tell.
    static std::optional<Scope> one_for_the_core(int subsystem) {
        return subsystem % 2 == 0 ? std::optional(Scope::core) : std::nullopt;
    }
    double time() { return times[between(0, static_cast<int>(times.size()) - 1)]; }

    GpuProfile profile() {
        GpuProfile profile;
        profile.device.name = "random";
        profile.cores = 1;
        profile.warp_size = 32;
        profile.clock_hz = 1e9;
        profile.issue.schedulers = chance(0.4) ? 1 : chance(0.8) ? between(2, 4) : between(5, 8);
        if (chance(0.6))
            profile.issue.limit = limits[between(0, static_cast<int>(limits.size()) - 1)];
        const int subsystems = chance(0.9) ? between(1, 3) : between(4, 5);
        for (int s = 0; s < subsystems; ++s)
            profile.subsystems.push_back({fmt::format("s{}", s),
                                          chance(0.5) ? one_for_the_core(s) : Scope::scheduler,
                                          contention()});
        for (const char* name : {"add", "mul", "ld.a", "st.a", "bar.sync"}) {
            InstructionTiming timing;
            timing.name = name;
            timing.subsystem = profile.subsystems[between(0, subsystems - 1)].name;
            timing.cpi.value = time();
            timing.latency =
                Estimate{.value = chance(0.8) ? timing.cpi.value * between(1, 6) : time()};
            if (chance(0.1))
                timing.latency_growth = Estimate{
                    .value = timing.cpi.value / std::array{2.0, 4.0, 5.0, 8.0}[between(0, 3)]};
            profile.instructions.push_back(timing);
        }
        return profile;
    }

    WarpProgram program() {
        while (true) {
            WarpProgram made = any_program();
            if (instruction_count(made) <= shape_.max_executed) return made;
        }
    }

    WarpProgram any_program() {
        open_ = {};
        ids_ = 0;
        budget_ = between(1, shape_.max_instructions);
        WarpProgram program;
        fill(program.instructions, 0);
        add_carried(program.instructions, {});
        return program;
    }

    void fill(std::vector<KernelItem>& items, int depth) {
        do {
            if (depth < 3 && budget_ > 0 && chance(0.3)) {
                Repeat repeat;
                repeat.count = between(1, shape_.max_count);
                fill(repeat.body, depth + 1);
                items.emplace_back(std::move(repeat));
            } else {
                items.emplace_back(instruction());
                --budget_;
            }
        } while (budget_ > 0 && chance(depth == 0 ? 1.0 : 0.7));
    }

    KernelInstruction instruction() {
        KernelInstruction made;
        made.id = fmt::format("n{}", ids_++);
        constexpr std::array names = {"add", "mul", "ld.a", "st.a", "bar.sync"};
        made.op = names[std::discrete_distribution<int>({4, 3, 3, 1, 1.5})(random_)];
        // Few and near dependences, so that both independent and chained code appears.
        for (std::size_t i = open_.size(); i-- > 0;)
            if (chance(i + 2 >= open_.size() ? 0.4 : 0.1)) made.after.push_back({open_[i], 0});
        open_.push_back(made.id);
        return made;
    }

    // Loop-carried dependences: any instruction of a repeat on any of the same repeat.
    void add_carried(std::vector<KernelItem>& items, std::vector<std::string> in_loop) {
        for (KernelItem& item : items) {
            if (auto* repeat = std::get_if<Repeat>(&item)) {
                std::vector<std::string> inside;
                collect(repeat->body, inside);
                add_carried(repeat->body, inside);
            } else if (!in_loop.empty() && chance(0.5)) {
                const int at = between(0, static_cast<int>(in_loop.size()) - 1);
                std::get<KernelInstruction>(item).after.push_back(
                    {in_loop[at], chance(0.7) ? 1 : between(2, 4)});
            }
        }
    }

    static void collect(const std::vector<KernelItem>& items, std::vector<std::string>& ids) {
        for (const KernelItem& item : items) {
            if (const auto* repeat = std::get_if<Repeat>(&item))
                collect(repeat->body, ids);
            else
                ids.push_back(std::get<KernelInstruction>(item).id);
        }
    }

    std::mt19937_64 random_;
    CaseShape shape_;
    std::vector<std::string> open_;  // ids so far
    int ids_ = 0;
    int budget_ = 0;
};

// Removes one item, at any depth, by its place in a walk; false once there is none there.
bool remove_item(std::vector<KernelItem>& items, int& place) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (place-- == 0) {
            items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        auto* repeat = std::get_if<Repeat>(&items[i]);
        if (repeat && remove_item(repeat->body, place)) {
            if (repeat->body.empty()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
    }
    return false;
}

template <typename Change>  // Change: bool(KernelItem&), true when it changed something
bool change_item(std::vector<KernelItem>& items, int& place, const Change& change) {
    for (KernelItem& item : items) {
        if (place-- == 0) return change(item);
        if (auto* repeat = std::get_if<Repeat>(&item))
            if (change_item(repeat->body, place, change)) return true;
        if (place < 0) return false;
    }
    return false;
}

void drop_unknown(std::vector<KernelItem>& items, const std::set<std::string>& known) {
    for (KernelItem& item : items) {
        if (auto* repeat = std::get_if<Repeat>(&item))
            drop_unknown(repeat->body, known);
        else
            std::erase_if(std::get<KernelInstruction>(item).after,
                          [&](const Dependence& d) { return !known.contains(d.id); });
    }
}

void collect_ids(const std::vector<KernelItem>& items, std::set<std::string>& ids) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            collect_ids(repeat->body, ids);
        else
            ids.insert(std::get<KernelInstruction>(item).id);
    }
}

bool smaller_count(KernelItem& item) {
    auto* repeat = std::get_if<Repeat>(&item);
    if (!repeat || repeat->count == 1) return false;
    --repeat->count;
    return true;
}

bool fewer_dependences(KernelItem& item, std::size_t which) {
    auto* instruction = std::get_if<KernelInstruction>(&item);
    if (!instruction || which >= instruction->after.size()) return false;
    instruction->after.erase(instruction->after.begin() + static_cast<std::ptrdiff_t>(which));
    return true;
}

// All cases that are one step smaller.
std::vector<Case> smaller(const Case& from) {
    std::vector<Case> out;
    const auto add = [&](const auto& change) {
        Case next = from;
        if (change(next)) out.push_back(std::move(next));
    };
    add([](Case& c) { return --c.launch.groups >= 1; });
    add([](Case& c) { return --c.launch.concurrent_groups >= 1; });
    add([](Case& c) { return --c.launch.group_warps >= 1; });
    add([](Case& c) { return --c.profile.issue.schedulers >= 1; });
    add([](Case& c) {
        return std::exchange(c.options.select, Select::subsystem) != Select::subsystem;
    });
    for (std::size_t i = 0; i < from.profile.instructions.size(); ++i)
        add([&](Case& c) {
            return std::exchange(c.profile.instructions[i].latency_growth, std::nullopt)
                .has_value();
        });
    add([](Case& c) { return std::exchange(c.profile.issue.limit, std::nullopt).has_value(); });
    for (std::size_t s = 0; s < from.profile.subsystems.size(); ++s)
        add([&](Case& c) {
            return std::exchange(c.profile.subsystems[s].contention, std::nullopt).has_value();
        });
    add([](Case& c) {
        c.kernel.warps.resize(1);
        return std::exchange(c.kernel.warps[0].share, 1) != 1;
    });
    for (std::size_t p = 0; p < from.kernel.warps.size(); ++p)
        for (int place = 0; place < 40; ++place) {
            add([&](Case& c) {
                int at = place;
                if (!remove_item(c.kernel.warps[p].instructions, at)) return false;
                std::set<std::string> known;
                collect_ids(c.kernel.warps[p].instructions, known);
                drop_unknown(c.kernel.warps[p].instructions, known);
                return !c.kernel.warps[p].instructions.empty();
            });
            add([&](Case& c) {
                int at = place;
                return change_item(c.kernel.warps[p].instructions, at, smaller_count);
            });
            for (std::size_t which = 0; which < 4; ++which)
                add([&](Case& c) {
                    int at = place;
                    return change_item(c.kernel.warps[p].instructions, at, [&](KernelItem& item) {
                        return fewer_dependences(item, which);
                    });
                });
        }
    return out;
}

}  // namespace

Case random_case(std::uint64_t seed, const CaseShape& shape) { return Maker(seed, shape).make(); }

void for_each_simulable(std::uint64_t last, const CaseShape& shape,
                        const std::function<void(const Case&)>& check) {
    for (std::uint64_t seed = 1; seed <= last; ++seed) {
        SCOPED_TRACE(seed);
        const Case c = random_case(seed, shape);
        try {
            simulate(c.profile, c.kernel, c.launch, c.options);
        } catch (const InputError&) {
            continue;
        }
        check(c);
    }
}

Case shrink(Case failing, const std::function<bool(const Case&)>& fails) {
    for (bool progress = true; progress;) {
        progress = false;
        for (Case& next : smaller(failing)) {
            bool still = false;
            try {
                still = fails(next);
            } catch (const InputError&) {  // no valid case
            }
            if (!still) continue;
            failing = std::move(next);
            progress = true;
            break;
        }
    }
    return failing;
}

std::string describe(const Case& shown) {
    Kernel kernel = shown.kernel;
    kernel.launch = shown.launch;
    constexpr std::array orders = {"dataflow", "in_order"};
    return fmt::format("--policy {} --select {} --order {}\n{}\n{}",
                       to_string(policy_of(shown.options, shown.profile.issue)),
                       to_string(select_of(shown.options, shown.profile.issue)),
                       orders[static_cast<int>(shown.options.order.value_or(Order::dataflow))],
                       format_profile(shown.profile), format_kernel(kernel));
}

}  // namespace occupipe::test
