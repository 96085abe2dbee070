// SPDX-License-Identifier: MIT
// Reading and writing the project's files (docs/reference/file-formats/). Every reader throws
// InputError naming file, line, column and key; every writer is atomic (temporary file, then
// rename).
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/measurement.h"

namespace occupipe {

enum class Overwrite { no, yes };

std::string read_text_file(const std::filesystem::path& path);
// Throws InputError when the file exists and overwrite is `no`; std::runtime_error when the
// write fails. A reader never sees a half-written file.
void write_text_file(const std::filesystem::path& path, std::string_view text, Overwrite overwrite);
std::string content_hash(std::string_view text);  // "xxh128:<32 hex digits>"

GpuProfile read_profile(const std::filesystem::path& path);
GpuProfile parse_profile(const std::string& text, const std::string& file_name);
std::string format_profile(
    const GpuProfile& profile);  // YAML; parse_profile gives the same value back

Kernel read_kernel(const std::filesystem::path& path);
Kernel parse_kernel(const std::string& text, const std::string& file_name);
std::string format_kernel(const Kernel& kernel);

MeasurementFile read_measurements(const std::filesystem::path& path);
MeasurementFile parse_measurements(const std::string& text, const std::string& file_name);

}  // namespace occupipe
