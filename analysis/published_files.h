// SPDX-License-Identifier: MIT
// The files of analysis/published/, built into the program.
#pragma once

#include <span>
#include <string_view>

namespace occupipe::analysis {

struct PublishedFile {
    std::string_view name;  // "analysis/published/nvidia-latency.yaml"
    std::string_view text;
};

std::span<const PublishedFile> published_files();

}  // namespace occupipe::analysis
