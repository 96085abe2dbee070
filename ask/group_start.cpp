// SPDX-License-Identifier: MIT
#include "ask/group_start.h"

#include <algorithm>

#include "core/instruction.h"

namespace occupipe::analysis {
namespace {

void wait_for(const std::string& id, std::vector<KernelItem>& items) {
    for (KernelItem& item : items) {
        if (auto* const repeat = std::get_if<Repeat>(&item)) {
            wait_for(id, repeat->body);
            continue;
        }
        auto& one = std::get<KernelInstruction>(item);
        // What waits for earlier iterations alone waits for nothing in the first one.
        if (std::ranges::all_of(one.after,
                                [](const Dependence& d) { return d.iterations_back > 0; }))
            one.after.push_back({id, 0});
    }
}

}  // namespace

bool groups_take_turns(const Launch& launch, int cores) {
    return launch.groups_per_core(cores) > launch.concurrent_groups;
}

Kernel with_group_start(Kernel kernel) {
    const std::string id(group_start_id);
    for (WarpProgram& program : kernel.warps) {
        wait_for(id, program.instructions);
        program.instructions.insert(program.instructions.begin(),
                                    KernelInstruction{.id = id,
                                                      .op = std::string(group_start),
                                                      .kind = {},
                                                      .after = {},
                                                      .at = {},
                                                      .stall = {},
                                                      .memory = {},
                                                      .where = {}});
    }
    return kernel;
}

}  // namespace occupipe::analysis
