// SPDX-License-Identifier: MIT
#include "bench/offline/compile_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/offline/kernel_archive.h"
#include "bench/offline/kernel_name.h"
#include "bench/offline/stored_compiler.h"
#include "bench/offline/tar.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

// The archive as it grows: FILE.partial, in which every whole kernel counts whatever ends this
// process.
class GrowingArchive {
public:
    GrowingArchive(const std::filesystem::path& output, Overwrite overwrite,
                   const KernelArchiveHeader& header)
        : output_(output), partial_(output.string() + ".partial") {
        if (overwrite == Overwrite::no && std::filesystem::exists(output)) {
            throw InputError(fmt::format("{}: exists; --force replaces it", output.string()));
        }
        std::string content = format_archive_header(header);
        if (std::filesystem::exists(partial_)) {
            KernelArchive earlier =
                parse_partial_archive(read_text_file(partial_), partial_.string());
            if (earlier.header != header) {
                throw InputError(partial_.string(), {}, "kernels.json",
                                 "contains other kernels (another architecture, compiler or "
                                 "program); remove it or choose another output file");
            }
            for (const auto& [key, kernel] : earlier.kernels) {
                content += format_stored_kernel(key, kernel);
            }
            kernels_ = std::move(earlier.kernels);
        } else if (output.has_parent_path()) {
            std::filesystem::create_directories(output.parent_path());
        }
        write_text_file(partial_, content, Overwrite::yes);
        file_.open(partial_, std::ios::binary | std::ios::app);
    }

    const StoredKernel* find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        const auto found = kernels_.find(key);
        return found == kernels_.end() ? nullptr : &found->second;
    }

    const StoredKernel* add(const std::string& key, StoredKernel&& kernel) {
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] = kernels_.try_emplace(key, std::move(kernel));
        if (is_new) write(format_stored_kernel(key, at->second));
        return &at->second;
    }

    void finish() {
        write(tar_end());
        file_.close();
        std::filesystem::rename(partial_, output_);
    }

private:
    void write(const std::string& bytes) {
        file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!file_.flush()) {
            throw std::runtime_error(fmt::format("{}: cannot be written", partial_.string()));
        }
    }

    std::filesystem::path output_;
    std::filesystem::path partial_;
    std::ofstream file_;
    std::mutex mutex_;
    std::map<std::string, StoredKernel> kernels_;  // its nodes stay where they are
};

// Gives what is there already, else compiles and keeps it.
class KeepingCompiler : public KernelCompiler {
public:
    KeepingCompiler(GrowingArchive& archive, std::string kernel)
        : archive_(archive), kernel_(std::move(kernel)) {}

    std::string name() const override { return nvrtc().name(); }
    std::string architecture_for(int major, int minor) const override {
        return nvrtc().architecture_for(major, minor);
    }
    NvrtcOutput compile(const std::string& text, const std::string& architecture) const override {
        const std::string key = kernel_key(text, architecture, name());
        const StoredKernel* kernel = archive_.find(key);
        resumed_ = kernel != nullptr;
        if (!kernel) kernel = archive_.add(key, made(text, architecture));
        if (!kernel->error.empty()) throw DeviceError(kernel->error);
        return {.ptx = kernel->ptx,
                .cubin = kernel->cubin,
                .log = kernel->log,
                .compiler = nvrtc().name()};
    }
    bool resumed() const { return resumed_; }

private:
    StoredKernel made(const std::string& text, const std::string& architecture) const {
        StoredKernel kernel{.name = kernel_};
        try {
            NvrtcOutput output = nvrtc().compile(text, architecture);
            kernel.ptx = std::move(output.ptx);
            kernel.cubin = std::move(output.cubin);
            kernel.log = std::move(output.log);
        } catch (const DeviceError& error) {
            kernel.error = error.what();
        }
        return kernel;
    }

    GrowingArchive& archive_;
    std::string kernel_;
    mutable bool resumed_ = false;
};

class Work {
public:
    Work(const DeviceFacts& facts, const SweepPlan& sweep, const CompileAheadOptions& options)
        : facts_(facts),
          options_(options),
          plans_(kernels_of(sweep)),
          architecture_(facts.id),
          archive_(options.output, options.overwrite,
                   {.program = options.version,
                    .texts = cuda_texts_hash(),
                    .architecture = architecture_,
                    .compiler = nvrtc().name()}) {
        // The longest first, so that none of them is left for one thread alone at the end.
        std::ranges::stable_sort(plans_, std::greater<>(),
                                 [](const KernelPlan& plan) { return plan.unroll * plan.chains; });
    }

    CompileAheadResult run() {
        result_.kernels = plans_.size();
        for (const std::string& text : cuda_helper_texts()) {
            KeepingCompiler(archive_, "helper").compile(text, architecture_);
        }
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < std::max(1u, options_.threads); ++i) {
            threads.emplace_back([this] { take_turns(); });
        }
        for (std::thread& thread : threads) thread.join();
        if (failure_) std::rethrow_exception(failure_);
        result_.complete = done_ == plans_.size();
        if (result_.complete) archive_.finish();
        std::ranges::sort(result_.refused, {}, &SkippedSubject::subject);
        return std::move(result_);
    }

private:
    bool stopped() const { return options_.stop && *options_.stop; }

    void take_turns() {
        try {
            for (std::size_t i = next_++; i < plans_.size() && !stopped(); i = next_++) {
                compile(plans_[i]);
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            next_ = plans_.size();
        }
    }

    void compile(const KernelPlan& plan) {
        const KeepingCompiler compiler(archive_, kernel_name(plan));
        std::string refusal;
        std::string text;
        try {
            const Receipt receipt =
                compile_cuda(kernel_source(plan), architecture_, facts_.tables, &compiler).receipt;
            text = format_receipt(receipt);
            if (!receipt.ok()) refusal = receipt.faults.front();
        } catch (const DeviceError& error) {
            refusal = error.what();
            text = fmt::format("{}\n  REFUSED: {}\n", plan.subject(), refusal);
        }
        const std::lock_guard lock(mutex_);
        ++done_;
        if (compiler.resumed()) ++result_.resumed;
        if (!refusal.empty()) result_.refused.push_back({kernel_name(plan), refusal});
        if (options_.receipt) options_.receipt(plan, text);
        if (options_.progress) options_.progress(done_, plans_.size());
    }

    const DeviceFacts& facts_;
    const CompileAheadOptions& options_;
    std::vector<KernelPlan> plans_;
    std::string architecture_;
    GrowingArchive archive_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_;  // of everything below
    std::size_t done_ = 0;
    CompileAheadResult result_;
    std::exception_ptr failure_;
};

}  // namespace

std::vector<KernelPlan> kernels_of(const SweepPlan& sweep) {
    std::vector<KernelPlan> plans;
    std::set<std::string> names;
    for (const PlannedPoint& point : sweep.points) {
        const KernelPlan& plan = point.plan;
        const std::string name = fmt::format("{}/{}", plan.subject(), kernel_name(plan));
        if (names.insert(name).second) plans.push_back(plan);
    }
    return plans;
}

CompileAheadResult compile_ahead(const DeviceFacts& facts, const SweepPlan& sweep,
                                 const CompileAheadOptions& options) {
    return Work(facts, sweep, options).run();
}

}  // namespace occupipe::bench
