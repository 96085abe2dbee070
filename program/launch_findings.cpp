// SPDX-License-Identifier: MIT
#include "program/launch_findings.h"

#include <fmt/format.h>

#include <utility>

#include "extract/signature.h"

namespace occupipe::program {
namespace {

FindingKind kind_of(extract::Defect defect) {
    const bool unwritten =
        defect == extract::Defect::unwritten_global || defect == extract::Defect::unwritten_shared;
    return unwritten ? FindingKind::unwritten : FindingKind::race;
}

}  // namespace

std::string with_readable_kernel(std::string text, const isa::Kernel& kernel) {
    if (const std::size_t at = text.find(kernel.name); at != std::string::npos)
        text.replace(at, kernel.name.size(), extract::readable_name(kernel.name));
    return text;
}

std::string LaunchFindings::place_of(std::size_t instruction) const {
    const auto address = static_cast<std::int64_t>(instruction * isa::instruction_bytes);
    const std::string line = isa::source_line(kernel_, address);
    return line.empty() ? fmt::format("{:#06x}", address) : line;
}

Finding& LaunchFindings::at(FindingKind kind, const std::string& place) {
    Finding& one = found_[{kind, place}];
    one.kind = kind;
    one.kernel = kernel_.name;
    one.place = place;
    return one;
}

void LaunchFindings::fault(std::size_t instruction, std::uint32_t threads,
                           const std::function<isa::ExecutionError()>& first) {
    const std::scoped_lock lock(mutex_);
    Finding& one = at(FindingKind::memory_error, place_of(instruction));
    one.count += threads;
    if (one.text.empty()) one.text = explain_(first());
}

void LaunchFindings::add(const std::vector<extract::FoundDefect>& defects) {
    const std::scoped_lock lock(mutex_);
    for (const extract::FoundDefect& defect : defects) {
        std::string place = place_of(defect.instruction);
        if (const std::string other = place_of(defect.other); other != place)
            place = std::min(place, other) + " and " + std::max(place, other);
        Finding& one = at(kind_of(defect.defect), place);
        one.count += defect.count;
        if (one.text.empty()) one.text = with_readable_kernel(defect.text, kernel_);
    }
}

std::vector<Finding> LaunchFindings::all() const {
    std::vector<Finding> all;
    for (const auto& [key, one] : found_) all.push_back(one);
    return all;
}

}  // namespace occupipe::program
