// SPDX-License-Identifier: MIT
// Machine code that is larger than what a core keeps of it (docs/background/memory.md, "Instruction
// fetch").
#pragma once

#include "ask/note.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// Lowers the issue limit of `profile` to what the fetch of the kernel's instructions allows:
// warp-instructions per cycle and core = bytes per cycle / (share from beyond the cache · 16
// bytes). The schedulers that have warps share it. Only where a core runs more groups than it holds
// at once: code that is executed once does not come again. Returns what it changed, or that the
// cost is not known; nothing where all fits.
Notes limit_by_fetch(const Kernel& kernel, GpuProfile& profile);

}  // namespace occupipe::analysis
