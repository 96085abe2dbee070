// SPDX-License-Identifier: MIT
// A sweep's rows from CSV to Parquet and back: cell by cell, so that either is made of the other
// without a loss.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "analysis/sweep/sweep_manifest.h"

namespace occupipe::analysis {

bool is_parquet(const std::filesystem::path& path);  // by its extension

// `rows`: a CSV file that is complete. Replaces `output` at once, when all is written. Throws
// Interrupted where `stop` says so.
void write_parquet(const std::filesystem::path& rows, const SweepManifest& manifest,
                   const std::filesystem::path& output, const std::atomic<bool>& stop);

// Throws InputError where the file is not the manifest's.
void check_parquet(const std::filesystem::path& path, const SweepManifest& manifest);

// Hands out the header and the rows as lines of CSV. Throws InputError where rows are missing.
void read_parquet(const std::filesystem::path& path, const SweepManifest& manifest,
                  const std::function<void(const std::string& line)>& take);

}  // namespace occupipe::analysis
