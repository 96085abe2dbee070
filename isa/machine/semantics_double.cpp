// SPDX-License-Identifier: MIT
#include "isa/machine/semantics.h"

namespace occupipe::isa {

std::span<const Semantics> double_semantics() { return {}; }

}  // namespace occupipe::isa
