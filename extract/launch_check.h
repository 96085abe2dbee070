// SPDX-License-Identifier: MIT
// Looks at every access of a launch for what a GPU would not tell: reads of memory that nothing has
// written, and races in shared memory between warps and in global memory between groups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "extract/race_check.h"
#include "extract/shadow_memory.h"
#include "isa/cubin.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

enum class Defect : std::uint8_t {
    unwritten_global,
    unwritten_shared,
    race_shared,
    race_global,
};

struct FoundDefect {
    Defect defect = Defect::unwritten_global;
    std::size_t instruction = 0;
    std::size_t other = 0;    // of a race in shared memory: the other one; else the same
    std::uint64_t count = 0;  // accesses of threads; RaceSeen's of a race in shared memory
    // Of the first group that it was found in: kernel, place, group, thread, what it does.
    std::string text;
};

// Races in global memory: a group reads what another one writes in the same launch, or both write
// different values, and neither access is atomic or volatile. Kernels with a fence that reaches
// other groups order these themselves and are not looked at for them. One that two threads of the
// host come to at the very same time may be missed.
class LaunchCheck : public isa::Observer {
public:
    // Everything has to live as long as this. `shadow` is of the memory that the launch works in.
    LaunchCheck(ShadowMemory& shadow, const isa::Kernel& kernel, int architecture,
                const std::vector<isa::Instruction>& code, const isa::LaunchShape& shape);
    ~LaunchCheck() override;

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override;
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override;

    bool looks_for_global_races() const { return global_races_; }
    bool looks_for_shared_races() const { return race_check_.watches(); }
    // After the launch, however it ended. By kind, then instruction.
    std::vector<FoundDefect> found() const;

private:
    class Group;
    struct Place {
        std::uint64_t group = 0;
        std::uint32_t warp = 0;
        int lane = 0;
    };
    void report(Defect defect, std::size_t instruction, std::size_t other, const Place& place,
                std::uint64_t count, const std::function<std::string()>& what);
    // " (scale.cu:7)"; empty where the code has no lines.
    std::string at_line(std::size_t instruction) const;

    ShadowMemory& shadow_;
    const isa::Kernel& kernel_;
    int architecture_;
    const std::vector<isa::Instruction>& code_;
    isa::LaunchShape shape_;
    bool global_races_;
    RaceCheck race_check_;
    std::vector<bool> is_ordered_;   // by instruction: volatile, or of a wider scope
    std::vector<bool> reads_value_;  // by instruction: what stood there matters
    std::mutex mutex_;               // of what follows
    struct Found {
        FoundDefect defect;
        std::uint64_t group = 0;  // that `text` is of
    };
    std::map<std::tuple<Defect, std::size_t, std::size_t>, Found> found_;
    std::vector<std::unique_ptr<Group>> resting_;
};

}  // namespace occupipe::extract
