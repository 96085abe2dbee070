// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep_parquet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>

#include "core/error.h"
#include "core/files/csv.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

// What is in a file survives a loss of power.
void sync(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool written = file >= 0 && ::fsync(file) == 0;
    const int fault = errno;
    if (file >= 0) ::close(file);
    if (!written)
        throw std::runtime_error(fmt::format("{}: cannot write: {}", path.string(),
                                             std::generic_category().message(fault)));
}

std::unique_ptr<columnar::TableReader> opened(const fs::path& path, const SweepManifest& manifest) {
    auto file = columnar::parquet().read(path);
    const columnar::Table expected = table_of(manifest);
    if (file->table().columns != expected.columns || file->table().metadata != expected.metadata ||
        file->rows() != manifest.end - manifest.first)
        throw InputError(fmt::format("{}: is not the file that {} tells of", path.string(),
                                     manifest_path(path).filename().string()));
    return file;
}

std::string line_of(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) {
        if (&cell != &cells.front()) line += ',';
        line += csv_text(cell);
    }
    return line + '\n';
}

}  // namespace

bool is_parquet(const fs::path& path) { return path.extension() == ".parquet"; }

void write_parquet(const fs::path& rows, const SweepManifest& manifest, const fs::path& output,
                   const std::atomic<bool>& stop) {
    const fs::path partial = output.string() + ".partial";
    std::ifstream file(rows, std::ios::binary);
    std::string line;
    std::getline(file, line);  // the header
    try {
        const auto table = columnar::parquet().write(partial, table_of(manifest));
        for (std::int64_t row = manifest.first; row < manifest.end; ++row) {
            if (stop) throw Interrupted("interrupted");
            if (!std::getline(file, line))
                throw std::runtime_error(fmt::format("{}: cannot read row {}", rows.string(), row));
            table->append(parse_csv(line, rows.string()).at(0).fields);
        }
        table->finish();
        sync(partial);
    } catch (...) {
        std::error_code ignored;
        fs::remove(partial, ignored);
        throw;
    }
    fs::rename(partial, output);
}

void check_parquet(const fs::path& path, const SweepManifest& manifest) { opened(path, manifest); }

void read_parquet(const fs::path& path, const SweepManifest& manifest,
                  const std::function<void(const std::string& line)>& take) {
    const auto file = opened(path, manifest);
    std::vector<std::string> cells;
    for (const columnar::Column& one : manifest.origin.columns) cells.push_back(one.name);
    take(line_of(cells));
    for (std::int64_t row = manifest.first; row < manifest.end; ++row) {
        if (!file->next(cells) || cells.front() != std::to_string(row))
            throw InputError(fmt::format("{}: has no row {}", path.string(), row));
        take(line_of(cells));
    }
}

}  // namespace occupipe::analysis
