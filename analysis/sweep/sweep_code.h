// SPDX-License-Identifier: MIT
// Machine code in sweeps: launches with parameters, compiled and executed once and predicted for
// every profile.
//   CodeReader reader(spec_folder);
//   const auto launch = reader.launch(*kernel.code, {{"n", "4096"}}, profile);
//   CodeKernels kernels;
//   const auto in = kernels.kernel_in(launch, profile, true, execution);
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/sweep/sweep_spec.h"
#include "ask/kernels_in.h"

namespace occupipe::analysis {

// One launch of machine code, with everything that decides over what it executes.
struct CodeLaunch {
    std::shared_ptr<const KernelFile> file;
    LaunchPlan plan;
    KernelsInOptions options;  // kernel, step, sample, classes
    int group_warps = 0;
    std::string hash;  // of code, launch and the files that buffers begin with
};

// Names under which profiles may know the instructions of the launch's kernel, executed or not.
std::set<std::string> possible_ops(const CodeLaunch& launch);

// Reads and compiles what the launches of a spec in `folder` name, each file once.
class CodeReader {
public:
    explicit CodeReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The same launch is the same object. Throws InputError, and DeviceError where a compiler is
    // needed and not there.
    std::shared_ptr<const CodeLaunch> launch(const SweepCode& code,
                                             const std::map<std::string, std::string>& parameters,
                                             const GpuProfile& profile);

    // Files as the spec names them → hash, in the order of their first use.
    const std::vector<std::pair<std::string, std::string>>& inputs() const { return inputs_; }

private:
    const std::string& text_of(const std::filesystem::path& path, const std::string& name);
    std::shared_ptr<const KernelFile> file_of(const std::string& path, const std::string& name,
                                              const CompileRequest& request);

    std::filesystem::path folder_;
    std::map<std::string, std::string> texts_;  // by path
    std::map<std::tuple<std::string, std::string, std::vector<std::string>>,
             std::shared_ptr<const KernelFile>>
        files_;
    std::map<std::string, std::shared_ptr<const CodeLaunch>> launches_;  // by what they are made of
    std::vector<std::pair<std::string, std::string>> inputs_;
};

// How launches are executed on this machine; the result does not depend on it.
struct CodeExecution {
    unsigned threads = 1;
    std::uint64_t step_budget = 0;  // warp-instructions; 0: no limit
    double seconds = 0;             // 0: no limit
    std::function<bool()> stopped;
};

// Results that several threads ask for: made once, by the first; the last few are kept.
template <typename Key, typename Value>
class KeptResults {
public:
    explicit KeptResults(std::size_t kept) : kept_(kept) {}

    // What `make` throws, everybody who waits for the result gets.
    template <typename Make>
    std::shared_ptr<const Value> get(const Key& key, const Make& make) {
        std::shared_ptr<Entry> entry;
        {
            const std::lock_guard lock(mutex_);
            const auto at = std::ranges::find(entries_, key, &Item::first);
            if (at == entries_.end()) {
                entries_.emplace_front(key, std::make_shared<Entry>());
                if (entries_.size() > kept_) entries_.pop_back();
            } else {
                entries_.splice(entries_.begin(), entries_, at);
            }
            entry = entries_.front().second;
        }
        const std::lock_guard lock(entry->mutex);
        if (entry->failure) std::rethrow_exception(entry->failure);
        if (!entry->value) {
            try {
                entry->value = std::make_shared<const Value>(make());
            } catch (...) {
                entry->failure = std::current_exception();
                throw;
            }
        }
        return entry->value;
    }

private:
    struct Entry {
        std::mutex mutex;
        std::shared_ptr<const Value> value;
        std::exception_ptr failure;
    };
    using Item = std::pair<Key, std::shared_ptr<Entry>>;

    std::size_t kept_;
    std::mutex mutex_;
    std::list<Item> entries_;  // the one that was asked for last is the first
};

class CodeKernels {
public:
    // `memory`: with what its instructions ask of the memory, on the profile's number of cores.
    // Throws InputError, LimitReached and Interrupted.
    std::shared_ptr<const KernelIn> kernel_in(const std::shared_ptr<const CodeLaunch>& launch,
                                              const GpuProfile& profile, bool memory,
                                              const CodeExecution& execution);

private:
    // The launch lives as long as what was executed of it.
    using Executed = std::pair<std::shared_ptr<const CodeLaunch>, ExecutedLaunch>;
    KeptResults<const CodeLaunch*, Executed> executed_{3};
    KeptResults<std::pair<const CodeLaunch*, const GpuProfile*>, KernelIn> kernels_{6};
};

}  // namespace occupipe::analysis
