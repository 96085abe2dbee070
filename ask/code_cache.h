// SPDX-License-Identifier: MIT
// Machine code that NVRTC made before, in a folder: one file for each text, options, architecture
// and compiler. Files that are not as they were written are passed over.
//   CodeCache cache(code_cache_folder());
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ask/cuda_source.h"

namespace occupipe::analysis {

// $OCCUPIPE_CACHE, else occupipe/ in $XDG_CACHE_HOME or ~/.cache. Empty: none is to be kept
// (OCCUPIPE_CACHE=none), or nowhere to keep it.
std::filesystem::path code_cache_folder();

// Tells apart all that goes into the machine code: the text, the files that it includes by name,
// options, architecture and the compiler. Empty: NVRTC is not here, or an included file cannot be
// told from the text, so that nothing must be kept.
std::string code_key(const std::string& path, const std::string& text,
                     const std::string& architecture, const std::vector<std::string>& options,
                     const std::vector<std::string>& kernels, const CompileEffort& effort);

// For several threads, and several processes in one folder. A folder that cannot be written keeps
// nothing.
class CodeCache {
public:
    // The files that were not used for longest are removed when all take more than `most_bytes`.
    explicit CodeCache(std::filesystem::path folder, std::uint64_t most_bytes = 512 << 20);

    std::optional<CompiledSource> find(const std::string& key) const;
    // What another compiler than NVRTC made is not kept.
    void keep(const std::string& key, const CompiledSource& made);

private:
    std::filesystem::path file_of(const std::string& key) const;
    void make_room();

    std::filesystem::path folder_;
    std::uint64_t most_bytes_;
    std::mutex mutex_;
    std::uint64_t bytes_ = 0;  // of all files, as far as this process knows
};

}  // namespace occupipe::analysis
