// SPDX-License-Identifier: MIT
#include "report/page/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "analysis/measured/fit.h"
#include "analysis/roofline/roofline_predictions.h"
#include "core/automatch_rows.h"
#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"

namespace occupipe::report {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& folder) {
    if (!fs::is_directory(folder)) throw InputError(folder.string(), {}, "", "is not a folder");
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string extension = entry.path().extension().string();
        if (entry.is_regular_file() &&
            (extension == ".json" || extension == ".yaml" || extension == ".yml"))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

// nullopt for a file of some other kind, which may well lie there, too.
std::optional<FileKind> kind_of_file(const std::string& text, const std::string& name) {
    try {
        return file_kind(text, name);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

// With all that a prediction needs.
std::vector<KernelParameters> counted_kernels(const std::string& text, const std::string& name) {
    std::vector<KernelParameters> kernels = parse_kernel_parameters(text, name);
    try {
        for (const KernelParameters& kernel : kernels) analysis::work_of(kernel);
    } catch (const InputError& fault) {
        throw InputError(fmt::format("{}: {}", name, fault.what()));
    }
    return kernels;
}

}  // namespace

std::string ReportData::fact(const std::string& key) const {
    for (const MeasurementFile& file : measurements) {
        const auto found = file.context.find(key);
        if (found != file.context.end()) return found->second;
    }
    return {};
}

ReportData read_report_data(const fs::path& folder, const std::vector<std::string>& beside) {
    ReportData data;
    data.folder = folder;
    for (const fs::path& path : files_of(folder)) {
        const std::string text = read_text_file(path);
        const auto kind = kind_of_file(text, path.string());
        if (kind == FileKind::measurements)
            data.measurements.push_back(parse_measurements(text, path.string()));
        if (kind == FileKind::profile)
            data.profiles.push_back({path.filename().string(), parse_profile(text, path.string())});
        if (kind == FileKind::kernel_parameters)
            std::ranges::move(counted_kernels(text, path.string()),
                              std::back_inserter(data.kernels));
    }
    if (data.measurements.empty())
        throw InputError(folder.string(), {}, "",
                         "contains no measurements (JSON files of characterize or measure); curves "
                         "of 'occupipe validate' alone are drawn by its --plot, workloads of "
                         "'automatch predict' by its own");
    for (const std::string& path : beside) data.beside.push_back(read_profile(path));
    if (std::ranges::all_of(data.measurements, [](const MeasurementFile& file) {
            return !file.rows.empty() && std::ranges::all_of(file.rows, is_automatch);
        }))
        throw InputError(folder.string(), {}, "",
                         "contains measurements, but of no instruction; what 'automatch measure' "
                         "measures is asked for by 'automatch predict --profile'");
    std::vector<GpuProfile> decided;
    for (const NamedProfile& one : data.profiles) decided.push_back(one.profile);
    data.fit = analysis::fit(data.measurements, {}, decided);
    data.model_device = data.fact("backend") == "model";
    return data;
}

}  // namespace occupipe::report
