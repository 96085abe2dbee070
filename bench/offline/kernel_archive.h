// SPDX-License-Identifier: MIT
// Kernels compiled ahead, as a file or folder (docs/reference/file-formats/, "Kernels compiled
// ahead").
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace occupipe::bench {

struct KernelArchiveHeader {
    std::string program;       // version of the program that made it
    std::string texts;         // hash of the texts that all kernels share
    std::string architecture;  // "sm_90"
    std::string compiler;      // "NVRTC 13.0"

    bool operator==(const KernelArchiveHeader&) const = default;
};

// The compiler's output for one source, or why there is none.
struct StoredKernel {
    std::string name;  // for people
    std::string ptx;
    std::string cubin;
    std::string log;
    std::string error;  // the compiler's words; then there is nothing else

    bool operator==(const StoredKernel&) const = default;
};

struct KernelArchive {
    KernelArchiveHeader header;
    std::map<std::string, StoredKernel> kernels;  // by kernel_key()
};

// The archive's beginning, a kernel in it, and (tar.h) its end.
std::string format_archive_header(const KernelArchiveHeader& header);
std::string format_stored_kernel(const std::string& key, const StoredKernel& kernel);

// Throw InputError naming file and entry: damaged, incomplete, or of another format.
KernelArchive parse_kernel_archive(std::string_view tar, const std::string& file_name);
// A tar archive or the folder that it was unpacked into.
KernelArchive read_kernel_archive(const std::filesystem::path& path);
// What an interrupted run left: whole kernels only. Throws like the above when not even
// the header is whole.
KernelArchive parse_partial_archive(std::string_view tar, const std::string& file_name);

}  // namespace occupipe::bench
