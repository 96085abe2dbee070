// SPDX-License-Identifier: MIT
// Which kernel a row of a file measured, and the dependence graph that represents it in a
// simulation.
#pragma once

#include <string>

#include "core/benchmark_kernel.h"
#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::analysis {

// What this program's backends make of the subject, where the file says that it is theirs
// (`backend` cuda or opencl) and the catalogue has the instructions; else what the file format
// says: all in dependent chains, unless the row says `dependent` 0.
BenchmarkKernel kernel_of(const MeasurementFile& file, const MeasurementRow& row);

// Graphs of measured kernels for one profile.
class MeasuredGraphs {
public:
    explicit MeasuredGraphs(const GpuProfile& profile);

    // How much of the timed loop around the steps is in the kernel's graph: what the profile
    // says the cost of.
    LoopForm loop_form(const BenchmarkKernel& kernel) const;
    // Throws InputError as measured_graph() does.
    Kernel graph(const BenchmarkKernel& kernel, const MeasurementShape& shape) const;
    // What the graphs are to be simulated on: the profile, and its instructions as they are at the
    // end of an iteration (core/benchmark_kernel.h, after_loop).
    const GpuProfile& profile() const { return profile_; }

private:
    GpuProfile profile_;
};

// For readers: how the loop is accounted for. "the loop around the steps is left out: the profile
// does not say what it costs".
std::string loop_form_text(LoopForm form);

}  // namespace occupipe::analysis
