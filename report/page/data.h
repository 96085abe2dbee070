// SPDX-License-Identifier: MIT
// What `report` finds in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel_parameters.h"
#include "core/measurement.h"
#include "fit/profile/build_profile.h"
#include "sim/models/model.h"

namespace occupipe::report {

struct NamedProfile {
    std::string file;  // its name in the folder
    GpuProfile profile;
};

struct ReportData {
    std::filesystem::path folder;
    std::vector<MeasurementFile> measurements;  // fitted together, as `fit` does
    std::vector<NamedProfile> profiles;         // that lie in the folder
    std::vector<GpuProfile> beside;             // other devices, given on the command line
    std::vector<KernelParameters> kernels;      // counted ones that lie in the folder
    FitOutcome fit;                             // of the measurements
    bool model_device = false;                  // the times come from a simulator
    ModelOptions model_options;                 // of the page's predictions

    // A fact of the measurements' context; empty when none says it.
    std::string fact(const std::string& key) const;
    bool cpu() const { return fact("device_type") == "cpu"; }
};

// Throws InputError when the folder has no measurements, or files that cannot be read.
ReportData read_report_data(const std::filesystem::path& folder,
                            const std::vector<std::string>& beside);

}  // namespace occupipe::report
