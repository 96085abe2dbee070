// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "automatch/gpu/device.h"
#include "bench/cuda/driver/facts.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/driver/session.h"
#include "core/error.h"

namespace occupipe::automatch {

using bench::cuda_driver_library;
using bench::cuda_facts;
using bench::DeviceBuffer;
using bench::DeviceFacts;
using bench::KernelCompiler;
using bench::LoadedKernel;
using bench::nvrtc;
using bench::Session;
using bench::Stopwatch;
namespace cu = bench::cu;

namespace {

ProbedFacts facts_of(const Session& session, int ordinal) {
    const DeviceFacts all = cuda_facts(session.driver(), session.device(), ordinal);
    ProbedFacts facts;
    facts.id = all.id;
    facts.backend = all.backend;
    facts.name = all.name;
    facts.vendor = all.vendor;
    facts.architecture = all.architecture;
    facts.compute_capability = all.compute_capability;
    facts.driver = all.driver;
    facts.cores = all.cores;
    facts.warp_size = all.warp_size;
    facts.most_items = session.attribute(cu::DeviceAttribute::max_threads_per_block);
    facts.memory_bytes = all.global_memory_bytes;
    facts.nominal_clock_hz = all.nominal_clock_hz;
    facts.line_bytes = 128;
    facts.shared_bytes = all.limits.shared_memory_bytes;
    if (const int l2 = session.attribute(cu::DeviceAttribute::l2_bytes); l2 > 0)
        facts.last_cache_bytes = l2;
    const int major = session.attribute(cu::DeviceAttribute::compute_capability_major);
    const int minor = session.attribute(cu::DeviceAttribute::compute_capability_minor);
    if (const auto lanes = nvidia_lanes(major, minor)) {
        facts.lanes = std::int64_t{facts.cores} * *lanes;
        facts.lanes_source = fmt::format("{} a core, CUDA C++ Programming Guide", *lanes);
    }
    return facts;
}

class CudaDevice : public ProbedDevice {
public:
    CudaDevice(std::shared_ptr<const Session> session, int ordinal, const KernelCompiler& compiler)
        : session_(std::move(session)),
          facts_(facts_of(*session_, ordinal)),
          machine_code_(compiler.compile(probe_kernels(), architecture(compiler)).cubin),
          results_(session_, probe_result_bytes),
          watch_(session_) {}

    const ProbedFacts& facts() const override { return facts_; }
    void set_memory(std::span<const std::byte> bytes) override {
        memory_.reset();  // the old one goes first
        memory_ = std::make_unique<DeviceBuffer>(session_, bytes.size());
        memory_->write(bytes);
    }
    void set_first_result(std::uint32_t word) override {
        results_.write(std::as_bytes(std::span(&word, 1)));
    }
    void read_results(std::span<std::byte> into) override { results_.read(into); }
    double run(const ProbeLaunch& launch) override {
        auto& kernel = kernels_[launch.kernel];
        if (!kernel)
            kernel = std::make_unique<LoadedKernel>(session_, machine_code_, launch.kernel);
        cu::DevicePointer memory = memory_ ? memory_->address() : results_.address();
        cu::DevicePointer results = results_.address();
        std::uint32_t mask = launch.mask, rounds = launch.rounds;
        std::array<void*, 4> arguments = {&memory, &mask, &rounds, &results};
        watch_.start();
        for (unsigned i = 0; i < launch.launches; ++i)
            kernel->launch(launch.groups, launch.items, 0, arguments);
        return watch_.stop();
    }

private:
    std::string architecture(const KernelCompiler& compiler) const {
        return compiler.architecture_for(
            session_->attribute(cu::DeviceAttribute::compute_capability_major),
            session_->attribute(cu::DeviceAttribute::compute_capability_minor));
    }

    std::shared_ptr<const Session> session_;
    ProbedFacts facts_;
    std::string machine_code_;
    DeviceBuffer results_;
    std::unique_ptr<DeviceBuffer> memory_;
    std::map<std::string, std::unique_ptr<LoadedKernel>> kernels_;
    Stopwatch watch_;
};

}  // namespace

std::unique_ptr<ProbedDevice> open_probed_cuda(
    int ordinal, const std::shared_ptr<const KernelCompiler>& compiler) {
    const auto session = std::make_shared<const Session>(cuda_driver_library(), ordinal);
    session->make_current();
    return std::make_unique<CudaDevice>(session, ordinal, compiler ? *compiler : nvrtc());
}

}  // namespace occupipe::automatch
