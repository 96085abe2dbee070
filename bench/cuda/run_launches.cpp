// SPDX-License-Identifier: MIT
#include "bench/cuda/run_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "bench/cuda/driver/session.h"
#include "bench/device_code.h"
#include "bench/harness/device_errors.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "core/statistics.h"
#include "isa/cubin.h"

namespace occupipe::bench {
namespace {

// Machine code on the GPU; its kernels share their variables.
class Module {
public:
    Module(std::shared_ptr<const Session> session, const std::string& machine_code)
        : session_(std::move(session)) {
        const Driver& driver = session_->driver();
        driver.check(driver.module_load_data(&module_, machine_code.c_str()), "cuModuleLoadData");
    }
    ~Module() {
        if (session_->usable()) session_->driver().module_unload(module_);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    cu::Function function(const std::string& name) const {
        cu::Function function = nullptr;
        const Driver& driver = session_->driver();
        driver.check(driver.module_get_function(&function, module_, name.c_str()),
                     "cuModuleGetFunction");
        return function;
    }

private:
    std::shared_ptr<const Session> session_;
    cu::Module module_ = nullptr;
};

// Reads a table larger than the caches, in front of a launch that is timed.
class Reader {
public:
    explicit Reader(const std::shared_ptr<const Session>& session)
        : cores_(static_cast<unsigned>(session->attribute(cu::DeviceAttribute::multiprocessors))),
          table_(session, 4 * l2_bytes(*session)),
          kernel_(session, text(), "read_table") {}

    void launch() {
        cu::DevicePointer address = table_.address();
        std::uint64_t words = table_.size() / 16;
        std::array<void*, 2> arguments = {&address, &words};
        kernel_.launch(2 * cores_, 1024, 0, arguments);
    }

private:
    static std::string text() {
        return std::string(embedded(device_code(), "bench/cuda/device/read_table.ptx"));
    }
    static std::size_t l2_bytes(const Session& session) {
        return std::max<std::size_t>(
            static_cast<std::size_t>(session.attribute(cu::DeviceAttribute::l2_bytes)),
            std::size_t{1} << 20);
    }

    unsigned cores_;
    DeviceBuffer table_;
    LoadedKernel kernel_;
};

class PlanOnGpu final : public PlanOnDevice {
public:
    PlanOnGpu(std::shared_ptr<const Session> session, const LaunchPlan& plan,
              const std::string& machine_code)
        : plan_(plan),
          session_(std::move(session)),
          cubin_(isa::read_cubin(machine_code)),
          module_(session_, machine_code) {
        if (!plan.symbols.empty())
            throw InputError(plan.file, {}, "symbols", "are not set on GPUs");
        for (const BufferPlan& one : plan.buffers)
            buffers_[one.name] = std::make_unique<DeviceBuffer>(session_, one.bytes());
    }

    LaunchedPlan run() override {
        until_.clear();
        seconds_.reset();
        steps();
        LaunchedPlan done;
        for (const BufferPlan& one : plan_.buffers) done.buffers[one.name] = content(one.name);
        return done;
    }

    std::optional<double> run_until(const std::string& kernel,
                                    std::uint32_t shared_bytes) override {
        if (!reader_ && !reader_refused_) open_reader();
        until_ = kernel;
        until_shared_bytes_ = shared_bytes;
        seconds_.reset();
        steps();
        return seconds_;
    }

    std::string doubt() const override {
        return reader_ ? "" : "caches were not emptied, and short launches look longer";
    }

private:
    using Bytes = std::vector<std::byte>;

    Bytes content(const std::string& name) const {
        Bytes bytes(plan_.find_buffer(name)->bytes());
        buffers_.at(name)->read(bytes);
        return bytes;
    }
    void steps() {
        for (const BufferPlan& one : plan_.buffers)
            buffers_.at(one.name)->write(buffer_contents(plan_, one, one.fill));
        run(plan_.steps);
    }
    void run(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps)
            if (!seconds_) std::visit([&](const auto& one) { take(one); }, step);
    }
    void take(const RepeatSteps& repeat) {
        for (std::uint64_t i = 0; i < repeat.times && !seconds_; ++i) run(repeat.steps);
    }
    void take(const SwapBuffers& swap) {
        std::swap(buffers_.at(swap.names[0]), buffers_.at(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        buffers_.at(set.buffer)
            ->write(buffer_contents(plan_, *plan_.find_buffer(set.buffer), set.fill));
    }
    void take(const CopyBuffer& copy) { buffers_.at(copy.to)->write(content(copy.from)); }
    void take(const KernelLaunch& launch);
    Bytes bytes_of_argument(const ArgumentPlan& argument) const;
    const isa::Kernel& kernel_of(const KernelLaunch& launch) const;

    // Between two events with nothing between them, behind other work; 0: there is none.
    double seconds_of_events() {
        if (!reader_) return 0;
        if (!events_) {
            std::vector<double> seconds(9);
            for (double& one : seconds) {
                reader_->launch();
                Stopwatch watch(session_);
                watch.start();
                one = watch.stop();
            }
            events_ = median(std::move(seconds));
        }
        return *events_;
    }

    // Without it where the driver takes no PTX, or memory is short.
    void open_reader() {
        try {
            reader_ = std::make_unique<Reader>(session_);
        } catch (const DeviceLost&) {
            throw;
        } catch (const DeviceError&) {
            reader_refused_ = true;
        }
    }

    const LaunchPlan& plan_;
    std::shared_ptr<const Session> session_;
    isa::Cubin cubin_;
    Module module_;
    std::map<std::string, std::unique_ptr<DeviceBuffer>> buffers_;
    std::unique_ptr<Reader> reader_;
    bool reader_refused_ = false;
    std::optional<double> events_;
    std::string until_;  // the kernel whose first launch is timed; empty: all steps are taken
    std::uint32_t until_shared_bytes_ = 0;
    std::optional<double> seconds_;
};

PlanOnGpu::Bytes PlanOnGpu::bytes_of_argument(const ArgumentPlan& argument) const {
    const auto refuse = [&](const std::string& why) {
        throw InputError(plan_.file, argument.where, "arguments", why);
    };
    Bytes bytes;
    switch (argument.kind) {
        case ArgumentPlan::Kind::buffer: {
            const cu::DevicePointer address =
                buffers_.at(argument.buffer)->address() + argument.offset;
            bytes.resize(sizeof address);
            std::memcpy(bytes.data(), &address, sizeof address);
            break;
        }
        case ArgumentPlan::Kind::scalar: {
            std::string why;
            const auto bits = parse_element(argument.type, argument.text, why);
            if (!bits) refuse(why);
            bytes.resize(bytes_of(argument.type));
            put_element(bytes.data(), argument.type, *bits);
            break;
        }
        case ArgumentPlan::Kind::bytes:
            std::ranges::transform(argument.content, std::back_inserter(bytes),
                                   [](std::uint8_t one) { return std::byte{one}; });
            break;
        default:
            refuse("is of a kind that is not given to GPUs");
    }
    return bytes;
}

const isa::Kernel& PlanOnGpu::kernel_of(const KernelLaunch& launch) const {
    const auto found = std::ranges::find(cubin_.kernels, launch.kernel, &isa::Kernel::name);
    if (found == cubin_.kernels.end())
        throw InputError(plan_.file, launch.where, "kernel",
                         fmt::format("the machine code has no '{}'", launch.kernel));
    return *found;
}

void PlanOnGpu::take(const KernelLaunch& launch) {
    const isa::Kernel& kernel = kernel_of(launch);
    std::vector<Bytes> values;
    for (const ArgumentPlan& one : launch.arguments) values.push_back(bytes_of_argument(one));
    if (values.size() != kernel.parameters.size())
        throw InputError(plan_.file, launch.where, "arguments",
                         fmt::format("'{}' has {} parameters, {} arguments are given",
                                     launch.kernel, kernel.parameters.size(), values.size()));
    std::vector<void*> arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::cmp_not_equal(values[i].size(), kernel.parameters[i].size))
            throw InputError(
                plan_.file, launch.arguments[i].where, "arguments",
                fmt::format("parameter {} of '{}' has {} bytes, {} are given", i + 1, launch.kernel,
                            kernel.parameters[i].size, values[i].size()));
        arguments.push_back(values[i].data());
    }
    const std::uint32_t shared =
        launch.kernel == until_ ? until_shared_bytes_ : launch.shared_bytes;
    const Driver& driver = session_->driver();
    cu::Function const function = module_.function(launch.kernel);
    if (shared > 0)
        driver.check(
            driver.function_set_attribute(function, cu::FunctionAttribute::max_dynamic_shared_bytes,
                                          static_cast<int>(shared)),
            "cuFuncSetAttribute");
    const auto& [gx, gy, gz] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    const bool timed = launch.kernel == until_;
    const double events = timed ? seconds_of_events() : 0;
    if (timed && reader_) reader_->launch();
    Stopwatch watch(session_);
    watch.start();
    driver.check(driver.launch_kernel(function, gx, gy, gz, bx, by, bz, shared, nullptr,
                                      arguments.data(), nullptr),
                 "cuLaunchKernel");
    const double seconds = watch.stop();
    if (timed) seconds_ = seconds > events ? seconds - events : seconds;
}

}  // namespace

std::unique_ptr<PlanOnDevice> plan_on_cuda(const std::string& driver_library, int ordinal,
                                           const LaunchPlan& plan,
                                           const std::string& machine_code) {
    auto session = std::make_shared<const Session>(driver_library, ordinal);
    session->make_current();
    return std::make_unique<PlanOnGpu>(std::move(session), plan, machine_code);
}

}  // namespace occupipe::bench
