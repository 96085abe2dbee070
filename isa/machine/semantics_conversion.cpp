// SPDX-License-Identifier: MIT
#include "isa/machine/semantics.h"

namespace occupipe::isa {

std::span<const Semantics> conversion_semantics() { return {}; }

}  // namespace occupipe::isa
