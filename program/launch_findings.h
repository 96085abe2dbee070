// SPDX-License-Identifier: MIT
// What is found wrong in one launch that goes on: accesses that are left out (--on-error report),
// reads of what nothing has written, and races (--check).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "extract/launch_check.h"
#include "isa/cubin.h"
#include "isa/machine/machine.h"
#include "program/journal.h"

namespace occupipe::program {

// `text` with the kernel called as in the source.
std::string with_readable_kernel(std::string text, const isa::Kernel& kernel);

class LaunchFindings {
public:
    // `explain`: an error as it is told; called by several threads at once.
    LaunchFindings(const isa::Kernel& kernel,
                   std::function<std::string(const isa::ExecutionError&)> explain)
        : kernel_(kernel), explain_(std::move(explain)) {}

    // For isa::ExecutionOptions::on_fault.
    void fault(std::size_t instruction, std::uint32_t threads,
               const std::function<isa::ExecutionError()>& first);
    void add(const std::vector<extract::FoundDefect>& defects);

    // One for each place and kind.
    std::vector<Finding> all() const;

    // The source line, or the address.
    std::string place_of(std::size_t instruction) const;

private:
    Finding& at(FindingKind kind, const std::string& place);

    const isa::Kernel& kernel_;
    std::function<std::string(const isa::ExecutionError&)> explain_;
    std::mutex mutex_;  // of what follows
    std::map<std::pair<FindingKind, std::string>, Finding> found_;
};

}  // namespace occupipe::program
