// SPDX-License-Identifier: MIT
// The predictions of a sweep as rows of a table. Each row is what `occupipe predict` says of the
// same input; one that `predict` refuses is a row with the reason. Machine code is compiled when
// the sweep is read, and executed when the first of its rows is made.
//
//   const Sweep sweep(parse_sweep(text, "spec.yaml"), {.folder = "."});
//   SweepWorker worker(sweep, [] { return false; });
//   worker.append(0, sweep.rows(), csv);   // "0,saxpy,rtx-2070,8,4,4000,roofline,…\n…"
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/sweep/sweep_code.h"
#include "analysis/sweep/sweep_manifest.h"
#include "analysis/sweep/sweep_spec.h"
#include "ask/launch_choice.h"
#include "ask/question.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/prediction.h"

namespace occupipe::analysis {

// Of one prediction: so many instructions issued one by one, or seconds.
struct SweepLimit {
    std::int64_t instructions = 100'000'000;
    double seconds = 0;  // 0: as long as it takes; rows then do not depend on the machine
    std::string text = "100000000";  // as asked for, in the rows that it ends
};

class Sweep {
public:
    // Reads the kernels and profiles. `file_name`, `text`: of the spec. Throws InputError, and
    // DeviceError where a compiler is needed and not there.
    Sweep(SweepSpec spec, const std::string& file_name, const std::string& text,
          const std::filesystem::path& folder, SweepLimit limit);

    const SweepSpec& spec() const { return spec_; }
    const SweepLimit& limit() const { return limit_; }
    std::int64_t rows() const { return first_row_.back(); }
    // "row,kernel,profile,…\n"
    const std::string& header() const { return header_; }
    // Of the columns, and of what the rows are made of.
    const SweepOrigin& origin() const { return origin_; }
    // What the spec asks for in vain, a sentence each.
    const std::vector<std::string>& warnings() const { return warnings_; }
    // Hash of all that decides over the rows: spec, limit, files and the program's version.
    const std::string& made_of() const { return made_of_; }
    // "2 kernels x 3 profiles x 31 settings x …"
    std::string shape() const;

private:
    friend class SweepWorker;

    struct Pair {  // of a kernel, with values for its parameters, and a profile
        std::size_t kernel = 0;
        std::size_t combination = 0;
        std::size_t profile = 0;
        std::shared_ptr<const CodeLaunch> code;  // absent: a graph, or refused
        std::vector<LaunchChoice> launches;
        std::string launches_refused;  // why there are none: one row stands for them
    };

    void read_kernels(const std::string& file_name, const std::filesystem::path& folder,
                      std::string& all);
    void read_profiles(const std::string& file_name, const std::filesystem::path& folder,
                       std::string& all);
    void find_pairs(const std::string& file_name, const std::filesystem::path& folder,
                    std::string& all);
    Pair pair_of(std::size_t kernel, std::size_t combination, std::size_t profile,
                 CodeReader& reader) const;
    void name_columns();
    bool has_code() const;
    void check_settings(const std::string& file_name) const;
    void check_changes(const std::string& file_name) const;
    void check_uses_of_code(const std::string& file_name);
    ProfileChanges changes_of(const Kernel& kernel) const;
    std::vector<LaunchChoice> launches_of(int own_group_warps, const GpuProfile& profile) const;

    SweepSpec spec_;
    SweepLimit limit_;
    std::vector<Kernel> kernels_;  // empty ones for machine code
    std::vector<GpuProfile> profiles_;
    std::int64_t variants_ = 1;  // of one pair: settings, iterations, orders, policies, selects
    std::vector<Pair> pairs_;
    std::vector<std::int64_t> first_row_;  // of each pair, and the number of all rows
    std::vector<std::string> parameters_;  // of all kernels, in the order of their columns
    std::string header_;
    SweepOrigin origin_;
    std::string made_of_;
    std::vector<std::string> warnings_;
    mutable CodeKernels code_;  // what of the machine code was executed
};

// Makes rows, one after the other; each thread has its own.
class SweepWorker {
public:
    // Where `stopped` says so, append() throws Interrupted. `threads`: to execute machine code
    // with. `warn`: told what `predict` warns of, besides the rows; may be empty.
    SweepWorker(const Sweep& sweep, std::function<bool()> stopped, unsigned threads = 1,
                std::function<void(const std::string&)> warn = {});
    ~SweepWorker();
    SweepWorker(const SweepWorker&) = delete;
    SweepWorker& operator=(const SweepWorker&) = delete;

    // Rows from `first` up to, not including, `end`, as CSV; returns how many of them are refused.
    std::int64_t append(std::int64_t first, std::int64_t end, std::string& csv);

private:
    struct Variant;

    void prepare(std::int64_t pair, std::int64_t variant);
    void take_pair(std::int64_t pair);

    const Sweep& sweep_;
    std::function<bool()> stopped_;
    unsigned threads_;
    std::function<void(const std::string&)> warn_;
    std::unique_ptr<Variant> variant_;
};

}  // namespace occupipe::analysis
