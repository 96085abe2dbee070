// SPDX-License-Identifier: MIT
// What buffers hold before the first launch, made once for all runs that begin with the same: each
// run gets pages of its own when it writes. For several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/launch_plan.h"
#include "isa/machine/memory.h"

namespace occupipe::extract {

class BufferStore {
public:
    // Forgets all contents when they would take more together; a larger one is not kept at all.
    explicit BufferStore(std::uint64_t most_bytes = std::uint64_t{1} << 30)
        : most_bytes_(most_bytes) {}

    // None for small ones, for files, whose bytes may change, and where the system has no such
    // pages: to be filled as usual. Throws InputError as a fill does.
    std::shared_ptr<const isa::SharedBytes> content(const LaunchPlan& plan,
                                                    const BufferPlan& buffer);

private:
    std::uint64_t most_bytes_;
    std::mutex mutex_;
    std::uint64_t bytes_ = 0;
    std::map<std::string, std::shared_ptr<const isa::SharedBytes>> contents_;
};

}  // namespace occupipe::extract
