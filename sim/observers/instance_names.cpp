// SPDX-License-Identifier: MIT
#include "sim/observers/instance_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::sim {
namespace {

// Instances of the stream whose program index is below `index`.
std::int64_t instances_before(const LoopProgram& program, std::int32_t stream, std::int64_t index) {
    const auto& s = program.streams[stream];
    std::int64_t rest = index - s.offset;
    if (rest <= 0) return 0;
    std::vector<std::int32_t> loops;  // innermost first
    for (std::int32_t l = s.loop; l >= 0; l = program.loops[l].parent) loops.push_back(l);
    std::int64_t inner = s.instances;
    std::int64_t before = 0;
    // Iterations that lie wholly before the index, loop by loop from the outermost one inwards.
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
        const auto& loop = program.loops[*l];
        inner /= loop.count;
        const std::int64_t whole = std::min(rest / loop.length, loop.count);
        before += whole * inner;
        if (whole == loop.count) return before;
        rest -= whole * loop.length;
    }
    return before + (rest > 0 ? 1 : 0);
}

}  // namespace

InstanceNames::InstanceNames(const LoopProgram& program) : program_(program) {
    for (std::size_t s = 0; s < program.ids.size(); ++s)
        copies_[program.ids[s]].push_back(static_cast<std::int32_t>(s));
}

std::int64_t InstanceNames::number(std::int32_t stream, std::int64_t instance) const {
    const auto& copies = copies_.at(program_.ids[stream]);
    if (copies.size() == 1) return instance;
    const std::int64_t index = program_.program_index(stream, instance);
    std::int64_t number = 0;
    for (const std::int32_t copy : copies) number += instances_before(program_, copy, index);
    return number;
}

std::string InstanceNames::name(std::int32_t stream, std::int64_t instance) const {
    const std::string& id = program_.ids[stream];
    if (copies_.at(id).size() == 1 && program_.streams[stream].instances == 1) return id;
    return fmt::format("{}[{}]", id, number(stream, instance));
}

}  // namespace occupipe::sim
