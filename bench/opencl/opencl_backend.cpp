// SPDX-License-Identifier: MIT
#include "bench/opencl/opencl_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "bench/offline/carrier.h"
#include "bench/opencl/build.h"
#include "bench/opencl/extensions.h"
#include "bench/opencl/facts.h"
#include "bench/opencl/prelude.h"
#include "bench/opencl/proof/receipt.h"
#include "bench/opencl/results.h"
#include "bench/opencl/walk_tables.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

[[noreturn]] void fail(const cl::Error& error) {
    throw DeviceError(fmt::format("OpenCL: {}: {}", error.what(), opencl_error_name(error.err())));
}

struct ClProgram : Program {
    KernelPlan plan;
    std::size_t shared_bytes = 0;
    void set_receipt(KernelReceipt receipt) { receipt_ = std::move(receipt); }
    std::vector<std::byte> operands;
    cl::Kernel kernel;
    cl::Buffer in;
};

// Launches and loops without an instruction in them: nothing to say in OpenCL C, nothing to count.
bool no_instruction(Pattern pattern) {
    return measures_launches(pattern) || pattern == Pattern::empty_loop;
}

class OpenClBackend : public Backend, public Carrier {
public:
    OpenClBackend(const cl::Platform& platform, cl::Device device, const std::string& id)
        : device_(std::move(device)),
          context_(device_),
          queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE),
          facts_(opencl_facts(platform, device_, id)),
          tables_(context_, device_, queue_) {
        if (facts_.warp_size == 0) facts_.warp_size = preferred_multiple(context_, device_);
        if (!facts_.cpu && !facts_.limits.group_warps) {
            facts_.limits.group_warps =
                static_cast<std::int64_t>(device_.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>()) /
                facts_.warp_size;
        }
        facts_.tables = tables_.sizes(facts_);
        fence_ = find_fence(context_, device_);
        facts_.more["compiler_fence"] = fence_ == Fence::none ? "none" : "inline assembly";
        facts_.more["memory_walk_bytes"] = std::to_string(facts_.tables.beyond_caches);
        if (facts_.cpu) {
            facts_.more["sampling"] = "each row is the shortest of three launches";
            if (fence_ == Fence::none) facts_.clock_source = "none: the compiler accepts no fence";
        }
    }

    const DeviceFacts& facts() const override { return facts_; }

    std::span<const Row> rows() const override { return opencl_table(); }

    // By the row's id: it may be another backend's view of the same instruction.
    std::optional<std::string> unsupported(const Row& asked) const override {
        const Row* row = find_row(opencl_table(), asked.id);
        if (!row) return fmt::format("{}: not in the catalogue", asked.id);
        if (row->lanes_matter && facts_.warp_size == 1) {
            return "compares the lanes of a warp, but a warp of this device has one lane";
        }
        if (!row->no_opencl.empty()) return std::string(row->no_opencl);
        if (no_instruction(row->pattern)) return std::nullopt;
        if (!row->opencl_extension.empty() && !has_extension(row->opencl_extension)) {
            return missing_extension(*row);
        }
        if (element_type(row->type) == DataType::f64 &&
            device_.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() == 0) {
            return "the device has no double precision";
        }
        if (row->pattern == Pattern::barrier && facts_.cpu) {
            return "not an instruction: a CPU's OpenCL runtime ends one loop over the work-items "
                   "there "
                   "and begins the next";
        }
        if (row->foldable && fence_ == Fence::none) {
            return "the compiler could fold the chain, and accepts no inline assembly that would "
                   "prevent that";
        }
        if (fence_ == Fence::nvidia && row->step.find("FENCE_VECTOR") != std::string_view::npos) {
            return "the compiler could fold or narrow a vector's chain: its inline assembly "
                   "accepts "
                   "no vectors";
        }
        return std::nullopt;
    }

    std::optional<std::string> unproved(const Row& asked) const override {
        const Row* row = find_row(opencl_table(), asked.id);
        if (row && !row->no_opencl.empty()) return std::string(row->no_opencl);
        if (no_instruction(asked.pattern)) return std::nullopt;
        if (!facts_.cpu)
            return "OpenCL does not expose this device's machine code, so nothing can be counted";
#if !defined(__x86_64__)
        return "mnemonics are known for x86-64 only";
#else
        if (row && row->x86.empty()) return std::string(row->x86_also);
        return std::nullopt;
#endif
    }

    std::string text(const KernelSource& source) const override {
        return prelude(source.plan) + source.body;
    }

    std::unique_ptr<Program> compile(const KernelSource& source) override {
        try {
            auto program = std::make_unique<ClProgram>();
            program->plan = source.plan;
            program->shared_bytes = source.shared_bytes;
            const std::string all = text(source);
            const cl::Program built = build(all);
            program->kernel = cl::Kernel(built, kernel_entry);
            program->set_receipt(opencl_receipt(built, device_, source.plan, all, fence_));
            program->operands = source.operands;
            program->in = input(source);
            return program;
        } catch (const cl::Error& error) {
            fail(error);
        }
    }

    Observation launch(Program& program, const LaunchRequest& request) override {
        try {
            auto& own = dynamic_cast<ClProgram&>(program);
            return measures_launches(own.plan.first->pattern) ? launch_bare(own, request)
                                                              : launch_once(own, request);
        } catch (const cl::Error& error) {
            fail(error);
        }
    }

    bool tells_placement() const override { return false; }
    CarriedKernel carry(const KernelSource& source, const std::string& name, bool) override {
        const std::string text = renamed_kernel(prelude(source.plan) + source.body, name);
        try {
            const auto receipt = opencl_receipt(build(text), device_, source.plan, text, fence_);
            const Row* row = walking_row(source.plan);
            return {.files = {{".cl", text}, {".txt", receipt.text}},
                    .counts = opencl_steps(source.plan),
                    .in = input_buffer(source, row ? request(source.plan) : TableRequest(),
                                       TableWords::index, facts_.cpu),
                    .static_shared_bytes = 0};
        } catch (const cl::Error& error) {
            fail(error);
        }
    }
    std::size_t carried_shared_bytes(const KernelSource& source, std::size_t,
                                     const MeasurementShape& shape) const override {
        return shared_bytes(source.shared_bytes, shape);
    }
    std::size_t stamp_bytes(const KernelPlan&) const override { return sizeof(cl_ulong); }

    std::optional<double> witness_clock() override {
        if (!facts_.cpu || fence_ == Fence::none) return std::nullopt;
        if (!witness_) {
            witness_ =
                compile(kernel_source({.first = find_row("add.s32"), .unroll = witness_unroll}));
        }
        const double few = shortest_witness(witness_few);
        const double many = shortest_witness(witness_many);
        const double cycles = static_cast<double>((witness_many - witness_few) * witness_unroll);
        if (!(many > few)) return std::nullopt;
        return cycles / (many - few);
    }

private:
    // A step in the dialects' common macros that this prelude has, or one in plain OpenCL C.
    bool has_extension(std::string_view name) const {
        const std::string all = " " + device_.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
        return all.find(fmt::format(" {} ", name)) != std::string::npos;
    }

    // Two lengths, so that the fixed cost of a launch drops out: about 50 and 200 microseconds.
    static constexpr int witness_unroll = 128;
    static constexpr std::int64_t witness_few = 1500;
    static constexpr std::int64_t witness_many = 6000;

    double shortest_witness(std::int64_t iterations) {
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 4; ++i) {
            best =
                std::min(best, launch(*witness_, {.shape = {}, .iterations = iterations}).seconds);
        }
        return best;
    }

    // Words of a line that a walk visits: what a warp's request covers, or a CPU's cache line.
    int line_words(const KernelPlan& plan) const {
        if (facts_.warp_size == 1) return 64 / 4;
        const Row* row = walking_row(plan);
        return facts_.warp_size * (row ? row->spread : 1);
    }

    std::string prelude(const KernelPlan& plan) const {
        return opencl_prelude(fence_, facts_.warp_size, facts_.tables.of(plan) / 4,
                              line_words(plan));
    }

    cl::Program build(const std::string& text) const {
        return opencl_build(context_, device_, text);
    }

    cl::Buffer input(const KernelSource& source) {
        const Row* row = walking_row(source.plan);
        if (!row) return buffer_with(context_, queue_, source.operands);
        return tables_.table(request(source.plan), facts_.cpu);
    }

    // OpenCL drivers may tell the size of a cache that is not the last one. A curve over working
    // sets is there to find the sizes, so it leaves it to the hardware how much of a set stays.
    CacheState before_launch(const KernelPlan& plan) const {
        return plan.working_set_bytes > 0 ? CacheState::holds_table
                                          : facts_.tables.before_launch(plan);
    }

    // Of a plan that walks through global memory.
    TableRequest request(const KernelPlan& plan) const {
        return {walking_row(plan)->pattern, facts_.tables.of(plan),
                static_cast<std::size_t>(line_words(plan)) * 4};
    }

    // A mix with a walk has its other operands behind the table, which several kernels share.
    void write_operands(const ClProgram& program) {
        const Row* row = walking_row(program.plan);
        if (!row || row == program.plan.first) return;
        const std::size_t end = program.in.getInfo<CL_MEM_SIZE>() - global_table_operand_bytes;
        queue_.enqueueWriteBuffer(program.in, CL_TRUE, end, program.operands.size(),
                                  program.operands.data());
    }

    // Local memory per group such that exactly this many groups fit on one compute unit.
    std::size_t shared_bytes(std::size_t own, const MeasurementShape& shape) const {
        const std::size_t needed = std::max<std::size_t>(own, 16);
        if (facts_.cpu) return needed;
        // NVIDIA's driver keeps a KiB of what it tells for each group, so that no group may have
        // all (H200: CL_OUT_OF_RESOURCES at 48 KiB).
        constexpr std::size_t kept = 1024;
        const auto all = static_cast<std::size_t>(*facts_.limits.shared_memory_bytes);
        const std::size_t share =
            std::min(all / static_cast<std::size_t>(shape.concurrent_groups), all - kept) / 256 *
            256;
        if (share < needed) {
            throw DeviceError(
                fmt::format("{} groups of {} bytes of local memory do not fit on one core",
                            shape.concurrent_groups, needed));
        }
        return share;
    }

    void set_arguments(ClProgram& program, const LaunchRequest& request, std::size_t shared) {
        if (!stamps_()) stamps_ = cl::Buffer(context_, CL_MEM_READ_WRITE, sizeof(cl_ulong));
        write_operands(program);
        program.kernel.setArg(0, program.in);
        program.kernel.setArg(1, out_);
        program.kernel.setArg(2, stamps_);
        program.kernel.setArg(3, static_cast<cl_int>(request.iterations));
        program.kernel.setArg(4, static_cast<cl_uint>(request.start));
        program.kernel.setArg(5, cl::Local(shared));
    }

    // Kernels that do nothing: the launches are what takes time. By the host's clock, since the
    // events' times begin where a launch has already cost what it costs.
    Observation launch_bare(ClProgram& program, const LaunchRequest& request) {
        const Pattern pattern = program.plan.first->pattern;
        const bool one_launch = pattern == Pattern::launch_groups;
        const std::size_t local =
            static_cast<std::size_t>(request.shape.group_warps) * facts_.warp_size;
        const std::size_t groups = static_cast<std::size_t>(facts_.cores) *
                                   request.shape.concurrent_groups *
                                   (one_launch ? static_cast<std::size_t>(request.iterations) : 1);
        if (out_bytes_ == 0) {
            out_bytes_ = 4096;
            out_ = cl::Buffer(context_, CL_MEM_READ_WRITE, out_bytes_);
        }
        LaunchRequest bare = request;
        bare.start = 0;
        set_arguments(program, bare, 16);
        const std::int64_t launches = one_launch ? 1 : request.iterations;
        queue_.finish();
        const auto begin = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < launches; ++i) {
            queue_.enqueueNDRangeKernel(program.kernel, cl::NullRange, cl::NDRange(local * groups),
                                        cl::NDRange(local));
            if (pattern == Pattern::awaited_launch) queue_.finish();
        }
        queue_.finish();
        const auto end = std::chrono::steady_clock::now();
        Observation observation;
        observation.seconds = std::chrono::duration<double>(end - begin).count();
        return observation;
    }

    Observation launch_once(ClProgram& program, const LaunchRequest& request) {
        const std::size_t local =
            static_cast<std::size_t>(request.shape.group_warps) * facts_.warp_size;
        const std::size_t groups =
            facts_.cpu ? 1
                       : static_cast<std::size_t>(facts_.cores) * request.shape.concurrent_groups;
        const std::size_t items = local * groups;
        const std::size_t item_bytes = type_size(program.plan.first->type);
        if (out_bytes_ < items * item_bytes) {
            out_bytes_ = items * item_bytes;
            out_ = cl::Buffer(context_, CL_MEM_READ_WRITE, out_bytes_);
        }
        queue_.enqueueFillBuffer(out_, result_poison, 0, items * item_bytes);
        set_arguments(program, request, shared_bytes(program.shared_bytes, request.shape));
        tables_.prepare_cache(before_launch(program.plan), program.in,
                              facts_.tables.of(program.plan), facts_.tables);
        cl::Event event;
        queue_.enqueueNDRangeKernel(program.kernel, cl::NullRange, cl::NDRange(items),
                                    cl::NDRange(local), nullptr, &event);
        event.wait();
        read_results(program, items);
        const auto begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
        const auto end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
        return {.seconds = static_cast<double>(end - begin) * 1e-9,
                .cycles = {},
                .clock_hz = {},
                .counters = {}};
    }

    void read_results(const ClProgram& program, std::size_t items) {
        const DataType type = program.plan.first->type;
        std::vector<std::byte> bytes(items * type_size(type));
        queue_.enqueueReadBuffer(out_, CL_TRUE, 0, bytes.size(), bytes.data());
        check_results(bytes, type, program.plan.subject());
    }

    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    DeviceFacts facts_;
    Fence fence_ = Fence::none;
    OpenClTables tables_;
    cl::Buffer out_;
    cl::Buffer stamps_;
    std::size_t out_bytes_ = 0;
    std::unique_ptr<Program> witness_;
};

}  // namespace

std::vector<DeviceFacts> opencl_devices() {
    std::vector<DeviceFacts> all;
    const auto found = opencl_platforms();
    for (std::size_t p = 0; p < found.size(); ++p) {
        const auto devices = opencl_devices_of(found[p]);
        for (std::size_t d = 0; d < devices.size(); ++d) {
            all.push_back(opencl_facts(found[p], devices[d], fmt::format("opencl:{}.{}", p, d)));
        }
    }
    return all;
}

std::unique_ptr<Backend> open_opencl(int platform, int device) {
    const auto found = opencl_platforms();
    if (platform < static_cast<int>(found.size())) {
        const auto devices = opencl_devices_of(found[platform]);
        if (device < static_cast<int>(devices.size())) {
            try {
                return std::make_unique<OpenClBackend>(
                    found[platform], devices[device],
                    fmt::format("opencl:{}.{}", platform, device));
            } catch (const cl::Error& error) {
                fail(error);
            }
        }
    }
    throw NothingToRunOn(fmt::format(
        "opencl:{}.{}: no such OpenCL device; see 'occupipe list devices'", platform, device));
}

}  // namespace occupipe::bench
