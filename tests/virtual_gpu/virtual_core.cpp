// SPDX-License-Identifier: MIT
#include "tests/virtual_gpu/virtual_core.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "bench/kernel/kernel_source.h"

namespace occupipe::test {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// Instructions with their units looked up.
struct Decoded {
    std::vector<std::size_t> units;
    int latency = 0;
    const TimedInstruction* text = nullptr;
};

struct Program {
    std::vector<Decoded> code;
    std::size_t loop_first = 0;
    std::size_t loop_last = 0;
    // Checkpointed kernels: the loop around it and the reading in it.
    std::size_t part_first = 0;
    std::size_t part_last = 0;
    std::size_t reading = 0;
    int parts = 1;
};

struct Warp {
    std::size_t at = 0;
    std::int64_t iterations_left = 0;  // of this part
    int parts_left = 1;
    std::vector<std::int64_t> readings{};
    std::int64_t next = 0;  // earliest cycle of its next instruction
    std::array<std::int64_t, 6> lowered{};
    std::int64_t start = 0;
    std::int64_t stop = 0;
    bool done = false;
};

class Runner {
public:
    Runner(const VirtualCore& core, const TimedCode& code, std::int64_t iterations,
           const std::vector<std::int64_t>& starts)
        : core_(core), iterations_(iterations), count_(starts.size()) {
        std::map<std::string, std::size_t> place;
        for (const auto& [name, unit] : core.units) {
            place[name] = units_.size();
            units_.push_back(unit);
        }
        const auto add = [&](const std::vector<TimedInstruction>& list) {
            for (const TimedInstruction& one : list) {
                Decoded decoded{.units = {}, .latency = 0, .text = &one};
                if (const auto found = core.operations.find(one.name);
                    found != core.operations.end()) {
                    decoded.latency = found->second.latency;
                    for (const std::string& name : found->second.units)
                        decoded.units.push_back(place.at(name));
                } else if (one.result) {
                    throw std::runtime_error("no latency of " + one.name);
                }
                program_.code.push_back(decoded);
            }
        };
        add(code.before);
        program_.part_first = program_.code.size();
        add(code.head);
        program_.loop_first = program_.code.size();
        add(code.loop);
        program_.loop_last = program_.code.size() - 1;
        add(code.tail);
        program_.part_last = program_.code.size() - 1;
        add(code.after);
        if (code.checkpointed()) {
            const auto reads = [](const TimedInstruction& one) { return one.name == "CS2R"; };
            const auto found = std::ranges::find_if(code.head, reads);
            if (found == code.head.end()) throw std::runtime_error("no reading of the clock");
            program_.reading =
                program_.part_first + static_cast<std::size_t>(found - code.head.begin());
            program_.parts = bench::checkpoints + 1;
            if (iterations % program_.parts != 0) throw std::runtime_error("parts are not equal");
            iterations_ /= program_.parts;
        }
        free_.assign(static_cast<std::size_t>(core.schedulers),
                     std::vector<std::int64_t>(units_.size(), 0));
        core_free_.assign(units_.size(), 0);
        of_.resize(static_cast<std::size_t>(core.schedulers));
        last_.assign(static_cast<std::size_t>(core.schedulers), 0);
        for (std::size_t w = 0; w < starts.size(); ++w) {
            Warp warp;
            warp.next = starts[w];
            warp.iterations_left = iterations_;
            warp.parts_left = program_.parts;
            of_[w % of_.size()].push_back(warp);
        }
    }

    VirtualCore::Run run() {
        std::int64_t now = 0;
        while (now != never) {
            std::int64_t next = never;
            // Who is asked first changes from cycle to cycle, so that nobody is preferred by a unit
            // of the core.
            const std::int64_t turn = core_.turns > 0 ? now % core_.turns : now;
            for (std::size_t k = 0; k < of_.size(); ++k) {
                const std::size_t s = (k + static_cast<std::size_t>(turn)) % of_.size();
                next = std::min(next, cycle_of(s, now));
            }
            now = next;
        }
        VirtualCore::Run out;
        for (std::size_t w = 0; w < count_; ++w) {
            const Warp& warp = of_[w % of_.size()][w / of_.size()];
            out.starts.push_back(warp.start);
            out.stops.push_back(warp.stop);
            if (warp.readings.size() > 1)
                out.checkpoints.emplace_back(warp.readings.begin() + 1, warp.readings.end());
        }
        const auto [first, last] = std::ranges::minmax(out.starts);
        out.cycles = std::ranges::max(out.stops) - first;
        out.skew = last - first;
        return out;
    }

private:
    std::int64_t clock(std::int64_t now) const { return now / core_.clock_step * core_.clock_step; }

    // The cycle from which on this warp's next instruction could issue, units aside.
    std::int64_t ready(const Warp& warp) const {
        if (warp.done) return never;
        std::int64_t at = warp.next;
        const unsigned awaited = program_.code[warp.at].text->awaited;
        for (unsigned b = 0; b < warp.lowered.size(); ++b)
            if (awaited >> b & 1U) at = std::max(at, warp.lowered[b]);
        return at;
    }

    std::int64_t& free_at(std::size_t scheduler, std::size_t unit) {
        return units_[unit].of_core ? core_free_[unit] : free_[scheduler][unit];
    }

    // The unit that could take the instruction first, and from when on; none is needed: SIZE_MAX.
    std::pair<std::size_t, std::int64_t> unit_for(std::size_t scheduler, const Decoded& one) {
        std::pair<std::size_t, std::int64_t> best{SIZE_MAX, 0};
        for (const std::size_t unit : one.units)
            if (best.first == SIZE_MAX || free_at(scheduler, unit) < best.second)
                best = {unit, free_at(scheduler, unit)};
        return best;
    }

    // Issues at most one instruction; the next cycle in which this scheduler may issue again.
    std::int64_t cycle_of(std::size_t scheduler, std::int64_t now) {
        std::vector<Warp>& warps = of_[scheduler];
        std::int64_t next = never;
        const std::size_t n = warps.size();
        const bool greedy = core_.choice == WarpChoice::greedy_then_oldest;
        for (std::size_t i = 0; i < n + (greedy ? 1 : 0); ++i) {
            // Greedy: the last one, then all by age. Round robin: from the one behind the last.
            std::size_t w = i;
            if (greedy) w = i == 0 ? last_[scheduler] : i - 1;
            if (core_.choice == WarpChoice::loose_round_robin) w = (last_[scheduler] + 1 + i) % n;
            if (core_.choice == WarpChoice::youngest_first) w = n - 1 - i;
            if (w >= n) break;
            const std::int64_t at = ready(warps[w]);
            if (at > now) {
                next = std::min(next, at);
                continue;
            }
            const Decoded& one = program_.code[warps[w].at];
            const auto [unit, free] = unit_for(scheduler, one);
            if (free > now) {
                next = std::min(next, free);
                continue;
            }
            if (unit != SIZE_MAX) free_at(scheduler, unit) = now + units_[unit].interval;
            issue(warps[w], one, now);
            last_[scheduler] = w;
            return now + 1;
        }
        return next;
    }

    void issue(Warp& warp, const Decoded& one, std::int64_t now) {
        const TimedInstruction& text = *one.text;
        if (warp.at == 0) warp.start = clock(now);
        if (program_.parts > 1 && warp.at == program_.reading) warp.readings.push_back(clock(now));
        warp.next = now + std::max(text.stall, 1);
        const auto raise = [&](const std::optional<int>& scoreboard, int cycles) {
            if (!scoreboard) return;
            auto& lowered = warp.lowered[static_cast<std::size_t>(*scoreboard)];
            lowered = std::max(lowered, now + cycles);
        };
        raise(text.result, one.latency);
        raise(text.operand, one.latency);
        if (warp.at + 1 == program_.code.size()) {
            warp.stop = clock(now);
            warp.done = true;
            return;
        }
        if (warp.at == program_.loop_last && --warp.iterations_left > 0) {
            warp.at = program_.loop_first;
            warp.next = std::max(warp.next, now + core_.branch_cycles);
        } else if (program_.parts > 1 && warp.at == program_.part_last && --warp.parts_left > 0) {
            warp.at = program_.part_first;
            warp.iterations_left = iterations_;
            warp.next = std::max(warp.next, now + core_.branch_cycles);
        } else {
            ++warp.at;
        }
    }

    const VirtualCore& core_;
    std::int64_t iterations_;
    std::size_t count_;  // warps
    Program program_;
    std::vector<Unit> units_;
    std::vector<std::vector<std::int64_t>> free_;  // by scheduler, then unit
    std::vector<std::int64_t> core_free_;          // by unit
    std::vector<std::vector<Warp>> of_;            // by scheduler
    std::vector<std::size_t> last_;
};

}  // namespace

VirtualCore::Run VirtualCore::run(const TimedCode& code, std::int64_t iterations,
                                  const std::vector<std::int64_t>& starts) const {
    return Runner(*this, code, iterations, starts).run();
}

VirtualCore hopper_like_core() {
    VirtualCore core;
    core.units = {{"fma_heavy", {2, false}}, {"fma_lite", {2, false}}, {"alu", {2, false}},
                  {"xu", {8, false}},        {"fp64", {2, false}},     {"uniform", {2, false}},
                  {"branch", {2, false}},    {"load_store", {1, true}}};
    for (const char* name : {"FFMA", "FADD", "FMUL"})
        core.operations[name] = {{"fma_lite", "fma_heavy"}, 4};
    for (const char* name : {"IMAD", "IMAD.MOV", "IMAD.IADD"})
        core.operations[name] = {{"fma_heavy"}, 4};
    for (const char* name : {"IADD3", "ISETP", "LOP3", "SHF", "PRMT", "MOV", "FSETP", "SEL", "LEA"})
        core.operations[name] = {{"alu"}, 4};
    for (const char* name : {"UIADD3", "UISETP", "UMOV", "ULOP3"})
        core.operations[name] = {{"uniform"}, 4};
    for (const char* name : {"MUFU.RSQ", "MUFU.RCP", "MUFU.COS"})
        core.operations[name] = {{"xu"}, 18};
    core.operations["DFMA"] = {{"fp64"}, 8};
    core.operations["DADD"] = {{"fp64"}, 8};
    core.operations["LDS"] = {{"load_store"}, 29};
    core.operations["BRA"] = {{"branch"}, 0};
    core.operations["CS2R"] = {{}, 8};
    core.operations["S2UR"] = {{"uniform"}, 20};
    core.operations["LDC"] = {{}, 30};
    return core;
}

}  // namespace occupipe::test
