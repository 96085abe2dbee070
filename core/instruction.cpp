// SPDX-License-Identifier: MIT
#include "core/instruction.h"

namespace occupipe {

InstructionKind kind_of(std::string_view instruction_name) {
    if (instruction_name.starts_with("bar.")) {
        return InstructionKind::barrier;
    }
    if (instruction_name.starts_with("st.")) {
        return InstructionKind::store;
    }
    if (instruction_name.starts_with("ld.")) {
        return InstructionKind::load;
    }
    return InstructionKind::compute;
}

int words_of_lane(std::string_view name) {
    constexpr auto none = std::string_view::npos;
    if (name.find(".v4.") != none || name.find(".v2.u64") != none) return 4;
    return name.find(".v2.") != none || name.ends_with("64") ? 2 : 1;
}

std::string_view to_string(InstructionKind kind) {
    switch (kind) {
        case InstructionKind::compute:
            return "compute";
        case InstructionKind::load:
            return "load";
        case InstructionKind::store:
            return "store";
        case InstructionKind::barrier:
            return "barrier";
    }
    return {};
}

}  // namespace occupipe
