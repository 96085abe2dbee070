// SPDX-License-Identifier: MIT
#include "bench/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/facts.h"
#include "bench/cuda/driver/nvml.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/driver/session.h"
#include "bench/cuda/placement.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/unsupported.h"
#include "bench/cuda/walk_tables.h"
#include "bench/harness/fresh_lines.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr std::uint64_t witness_nanoseconds = 500'000;
// No kernel leaves this in every byte of a result (as a float -2.9e-16, as an address odd).
constexpr unsigned char poison = 0xa5;

struct CudaProgram : Program {
    CudaProgram(const std::shared_ptr<const Session>& session, const CompiledKernel& compiled,
                const KernelSource& source)
        : plan(source.plan),
          shared_bytes(static_cast<std::int64_t>(source.shared_bytes)),
          kernel(session, compiled.cubin, kernel_entry),
          operand_values(source.operands),
          operands(session, std::max<std::size_t>(source.operands.size(), 1)) {
        operands.write(source.operands);
        receipt_ = {.text = format_receipt(compiled.receipt),
                    .hash = "cubin " + compiled.receipt.cubin_hash,
                    .registers = compiled.receipt.registers,
                    .counters = receipt_counters(compiled.receipt)};
    }

    KernelPlan plan;
    std::int64_t shared_bytes;
    LoadedKernel kernel;
    std::vector<std::byte> operand_values;
    DeviceBuffer operands;
};

template <typename T>
void check_values(std::span<const std::byte> bytes, bool real) {
    std::array<std::byte, sizeof(T)> unwritten;
    unwritten.fill(std::byte{poison});
    for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        if (std::memcmp(&bytes[i], unwritten.data(), sizeof(T)) == 0) {
            throw DeviceError(fmt::format("CUDA: thread {} left no result", i / sizeof(T)));
        }
        T value;
        std::memcpy(&value, &bytes[i], sizeof value);
        if (real && !std::isfinite(static_cast<double>(value))) {
            throw DeviceError(
                fmt::format("CUDA: thread {}'s result is not finite: the chain left "
                            "the numbers",
                            i / sizeof(T)));
        }
    }
}

void check_results(std::span<const std::byte> bytes, DataType type) {
    switch (element_type(type)) {
        case DataType::f32:
            return check_values<float>(bytes, true);
        case DataType::f64:
            return check_values<double>(bytes, true);
        case DataType::s32:
        case DataType::u32:
        case DataType::b32:
        case DataType::f16x2:
        case DataType::bf16x2:
            return check_values<std::uint32_t>(bytes, false);
        case DataType::s64:
            return check_values<std::uint64_t>(bytes, false);
        case DataType::f16:
        case DataType::bf16:
            return check_values<std::uint16_t>(bytes, false);
        default:
            return;  // vectors: by element
    }
}

// Empty where the driver does not tell.
std::string pci_bus_id(const Driver& driver, cu::Device device) {
    std::array<char, 32> id = {};
    const bool known =
        driver.device_get_pci_bus_id &&
        driver.device_get_pci_bus_id(id.data(), static_cast<int>(id.size()), device) == cu::success;
    return known ? std::string(id.data()) : std::string();
}

class CudaBackend : public Backend {
public:
    CudaBackend(int ordinal, const std::string& driver_library,
                std::shared_ptr<const KernelCompiler> compiler)
        : compiler_(std::move(compiler)),
          session_(std::make_shared<Session>(driver_library, ordinal)),
          facts_(cuda_facts(session_->driver(), session_->device(), ordinal)),
          limits_(core_limits(session_->driver(), session_->device())),
          stopwatch_(session_),
          witness_stamp_(session_, sizeof(WitnessStamp)),
          state_(pci_bus_id(session_->driver(), session_->device())) {
        facts_.tables = cuda_tables(session_->attribute(cu::DeviceAttribute::l2_bytes),
                                    facts_.global_memory_bytes);
        const int major = session_->attribute(cu::DeviceAttribute::compute_capability_major);
        const int minor = session_->attribute(cu::DeviceAttribute::compute_capability_minor);
        if (major < 7) {
            throw DeviceError(
                fmt::format("CUDA: {} ({}) is older than Volta, and its machine code cannot be "
                            "checked; use a newer GPU",
                            facts_.name, facts_.architecture));
        }
        architecture_number_ = major * 10 + minor;
        if (!compiler_) compiler_ = std::shared_ptr<const KernelCompiler>(&nvrtc(), [](auto*) {});
        facts_.more["kernels_by"] = compiler_->name();
        architecture_ = compiler_->architecture_for(major, minor);
        const NvrtcOutput output = compiler_->compile(cuda_witness_source(), architecture_);
        load_witness(output);
        tables_ =
            std::make_unique<WalkTables>(session_, *compiler_, architecture_, facts_.cores,
                                         static_cast<std::size_t>(facts_.global_memory_bytes));
        const WitnessStamp stamp = run_witness();
        tick_ns_ = static_cast<double>(stamp.tick);
        facts_.more["global_timer_tick_ns"] = fmt::format("{}", stamp.tick);
        facts_.more["table_bytes"] = std::to_string(facts_.tables.beyond_caches);
    }

    const DeviceFacts& facts() const override { return facts_; }

    std::optional<std::string> unsupported(const Row& row) const override {
        return cuda_unsupported(row, architecture_number_);
    }

    std::unique_ptr<Program> compile(const KernelSource& source) override {
        session_->make_current();
        const CompiledKernel compiled =
            compile_cuda(source, architecture_, facts_.tables, compiler_.get());
        if (!compiled.receipt.ok()) {
            throw DeviceError("CUDA: the machine code is not what the row asks for:\n" +
                              format_receipt(compiled.receipt));
        }
        return std::make_unique<CudaProgram>(session_, compiled, source);
    }

    Observation launch(Program& program, const LaunchRequest& request) override {
        session_->make_current();
        auto& own = dynamic_cast<CudaProgram&>(program);
        if (request.iterations > std::numeric_limits<int>::max()) {
            throw DeviceError(fmt::format("CUDA: {} iterations in one launch", request.iterations));
        }
        if (measures_launches(own.plan.first->pattern)) return launch_bare(own, request);
        if (own.plan.checkpointed && request.iterations % (checkpoints + 1) != 0) {
            throw DeviceError(fmt::format("CUDA: {} iterations do not divide into {} equal parts",
                                          request.iterations, checkpoints + 1));
        }
        const MeasurementShape& shape = request.shape;
        const auto shared_bytes = prepare(own, shape);
        const int groups = facts_.cores * shape.concurrent_groups;
        const std::size_t warps = static_cast<std::size_t>(groups) * shape.group_warps;
        check_freshness(own.plan, request.iterations, static_cast<std::int64_t>(warps));
        const std::size_t out_bytes = warps * cuda_warp_size * type_size(own.plan.first->type);
        const std::size_t stamp_bytes = sizeof(StampHeader) + warps * sizeof(WarpStamp);
        ensure(out_, out_bytes);
        ensure(stamps_, stamp_bytes);
        out_->fill(poison, out_bytes);
        stamps_->fill(0, stamp_bytes);
        constexpr std::size_t most_cores = std::tuple_size_v<decltype(StampHeader::anchors)>;
        if (std::cmp_greater(facts_.cores, most_cores))
            throw DeviceError(
                fmt::format("CUDA: the GPU has {} cores, measurements are written for at most {}",
                            facts_.cores, most_cores));
        const auto rate =
            static_cast<std::uint64_t>(facts_.nominal_clock_hz.value_or(1e9) * 1024e-9);
        stamps_->write(std::as_bytes(std::span(&rate, 1)),
                       offsetof(StampHeader, cycles_per_1024_ns));
        cu::DevicePointer in = input(own);
        cu::DevicePointer out = out_->address();
        cu::DevicePointer stamps = stamps_->address();
        auto iterations = static_cast<int>(request.iterations);
        std::uint32_t start = request.start;
        std::array<void*, 5> arguments = {&in, &out, &stamps, &iterations, &start};
        stopwatch_.start();
        own.kernel.launch(static_cast<unsigned>(groups),
                          static_cast<unsigned>(shape.group_warps * cuda_warp_size),
                          static_cast<unsigned>(shared_bytes), arguments);
        const double seconds = stopwatch_.stop();
        Observation observation = read_stamps(warps, own.plan, shape);
        observation.seconds = seconds;
        observation.counters["static_shared_bytes"] =
            own.kernel.attribute(cu::FunctionAttribute::static_shared_bytes);
        observation.counters["dynamic_shared_bytes"] = static_cast<double>(shared_bytes);
        results_.resize(out_bytes);
        out_->read(results_);
        check_results(results_, own.plan.first->type);
        observation.counters.merge(state_.sample());
        return observation;
    }

    std::optional<double> witness_clock() override {
        session_->make_current();
        const WitnessStamp stamp = run_witness();
        if (stamp.nanoseconds == 0 || stamp.clocks == 0) return std::nullopt;
        return static_cast<double>(stamp.clocks) / static_cast<double>(stamp.nanoseconds) * 1e9;
    }

    void watch(const std::shared_ptr<DeviceWatch>& watch) override { session_->watch(watch); }

    std::map<std::string, std::string> remarks() const override {
        const std::string remark = compiler_->remark();
        if (remark.empty()) return {};
        return {{"kernels_compiled_here", remark}};
    }

private:
    void check_freshness(const KernelPlan& plan, std::int64_t iterations, std::int64_t warps) {
        const auto most = most_fresh_iterations(plan, facts_.tables, warps);
        if (!most || iterations <= *most) return;
        throw DeviceError(fmt::format(
            "CUDA: a walk of {} iterations would read lines of the table of {} bytes again, which "
            "may come from a cache; {} do not",
            iterations, facts_.tables.of(plan), *most));
    }

    // Machine code by a compiler of a later CUDA than the driver's is often refused, with words
    // that blame the code. Within one major version it works ("CUDA Compatibility", NVIDIA).
    void load_witness(const NvrtcOutput& output) {
        try {
            witness_ = std::make_unique<LoadedKernel>(session_, output.cubin, witness_entry);
        } catch (const DeviceLost&) {
            throw;
        } catch (const DeviceError& error) {
            const std::string driver = session_->driver().version();
            const std::string& by = output.compiler.empty() ? compiler_->name() : output.compiler;
            const auto number = by.find_first_of("0123456789");
            if (number == by.npos || std::atoi(&by[number]) <= std::atoi(driver.c_str())) throw;
            throw DeviceError(fmt::format(
                "{}: the driver is for CUDA {}, the machine code is by {}; use an NVRTC of CUDA {} "
                "(OCCUPIPE_NVRTC=FILE, or kernels compiled ahead with one) or a newer driver",
                error.what(), driver, by, driver));
        }
    }

    void ensure(std::unique_ptr<DeviceBuffer>& buffer, std::size_t bytes) {
        if (buffer && buffer->size() >= bytes) return;
        buffer.reset();
        buffer = std::make_unique<DeviceBuffer>(session_, bytes);
    }

    // Kernels that do nothing: the launches are what takes time.
    Observation launch_bare(CudaProgram& program, const LaunchRequest& request) {
        const Pattern pattern = program.plan.first->pattern;
        const bool one_launch = pattern == Pattern::launch_groups;
        const auto groups = static_cast<unsigned>(facts_.cores * request.shape.concurrent_groups *
                                                  (one_launch ? request.iterations : 1));
        const auto threads = static_cast<unsigned>(request.shape.group_warps * cuda_warp_size);
        ensure(out_, sizeof(std::uint64_t));
        cu::DevicePointer in = program.operands.address();
        cu::DevicePointer out = out_->address();
        cu::DevicePointer stamps = out;
        int iterations = 0;
        std::uint32_t start = 0;
        std::array<void*, 5> arguments = {&in, &out, &stamps, &iterations, &start};
        const std::int64_t launches = one_launch ? 1 : request.iterations;
        if (pattern == Pattern::graph_launch) {
            return launch_graph(launches, [&](cu::Stream stream) {
                program.kernel.launch(groups, threads, 0, arguments, stream);
            });
        }
        const auto begin = std::chrono::steady_clock::now();
        stopwatch_.start();
        if (pattern == Pattern::awaited_launch) {
            for (std::int64_t i = 0; i < launches; ++i) {
                program.kernel.launch(groups, threads, 0, arguments);
                stopwatch_.stop();
            }
        } else {
            // A full queue makes a launch wait for the ones before it.
            const auto wait = session_->waiting("cuLaunchKernel");
            for (std::int64_t i = 0; i < launches; ++i) {
                program.kernel.launch(groups, threads, 0, arguments);
            }
        }
        Observation observation;
        observation.seconds = stopwatch_.stop();
        if (pattern == Pattern::awaited_launch) {
            const auto end = std::chrono::steady_clock::now();
            observation.seconds = std::chrono::duration<double>(end - begin).count();
        }
        return observation;
    }

    Observation launch_graph(std::int64_t launches, const std::function<void(cu::Stream)>& one) {
        const LaunchGraph graph(session_, [&](cu::Stream stream) {
            for (std::int64_t i = 0; i < launches; ++i) one(stream);
        });
        graph.launch();  // the first one also uploads it
        stopwatch_.start();
        graph.launch();
        Observation observation;
        observation.seconds = stopwatch_.stop();
        return observation;
    }

    int resident_groups(const CudaProgram& program, const MeasurementShape& shape,
                        std::int64_t bytes) const {
        const Driver& driver = session_->driver();
        const cu::Function function = program.kernel.function();
        driver.check(
            driver.function_set_attribute(function, cu::FunctionAttribute::max_dynamic_shared_bytes,
                                          static_cast<int>(bytes)),
            "cuFuncSetAttribute");
        int resident = 0;
        driver.check(
            driver.max_active_blocks(&resident, function, shape.group_warps * cuda_warp_size,
                                     static_cast<std::size_t>(bytes)),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        return resident;
    }

    [[noreturn]] void refuse_residency(const CudaProgram& program, const MeasurementShape& shape,
                                       std::int64_t bytes) const {
        using Attribute = cu::FunctionAttribute;
        throw DeviceError(fmt::format(
            "CUDA: not exactly {} groups of {} warps with {} registers per thread and {} bytes of "
            "static shared memory fit on a core; with {} bytes of dynamic shared memory {} do",
            shape.concurrent_groups, shape.group_warps,
            program.kernel.attribute(Attribute::registers),
            program.kernel.attribute(Attribute::static_shared_bytes), bytes,
            resident_groups(program, shape, bytes)));
    }

    // Sets the kernel up for the shape and returns its dynamic shared memory: so much that exactly
    // as many groups as the shape says can be resident on a core. Whether the driver's number of
    // static bytes contains what the system reserves, its count of resident groups shows.
    // A curve over working sets leaves shared memory alone, so that the cache beside it has its
    // full size, and relies on the groups' spreading evenly, which their stamps confirm.
    std::int64_t prepare(const CudaProgram& program, const MeasurementShape& shape) {
        using Attribute = cu::FunctionAttribute;
        const bool alone = program.plan.working_set_bytes > 0;
        const Driver& driver = session_->driver();
        driver.check(driver.function_set_attribute(program.kernel.function(),
                                                   Attribute::preferred_shared_carveout_percent,
                                                   alone ? 0 : 100),
                     "cuFuncSetAttribute");
        const auto resident = [&](std::int64_t bytes) {
            return resident_groups(program, shape, bytes);
        };
        const std::int64_t needed = program.shared_bytes;
        if (alone) {
            if (resident(needed) < shape.concurrent_groups)
                refuse_residency(program, shape, needed);
            return needed;
        }
        const std::int64_t own = program.kernel.attribute(Attribute::static_shared_bytes);
        const std::int64_t guess = dynamic_shared_bytes(limits_, shape, own, needed);
        const auto bytes = shared_bytes_for_residency(
            guess, needed, limits_.group_shared_bytes - own, shape.concurrent_groups, resident);
        if (!bytes) refuse_residency(program, shape, guess);
        return *bytes;
    }

    Observation read_stamps(std::size_t warps, const KernelPlan& plan,
                            const MeasurementShape& shape) {
        StampHeader header;
        warps_.resize(warps);
        stamps_->read(std::as_writable_bytes(std::span(&header, 1)));
        stamps_->read(std::as_writable_bytes(std::span(warps_)), sizeof header);
        std::optional<double> instructions;
        if (plan.checkpointed) instructions = static_cast<double>(shape.depth) * shape.chains;
        return evaluate_stamps(header, warps_, shape, facts_.cores, tick_ns_,
                               schedulers_per_core(architecture_number_ / 10), instructions);
    }

    WitnessStamp run_witness() {
        witness_stamp_.fill(0, sizeof(WitnessStamp));
        cu::DevicePointer out = witness_stamp_.address();
        std::uint64_t nanoseconds = witness_nanoseconds;
        std::array<void*, 2> arguments = {&out, &nanoseconds};
        stopwatch_.start();
        witness_->launch(1, 1, 0, arguments);
        stopwatch_.stop();
        WitnessStamp stamp;
        witness_stamp_.read(std::as_writable_bytes(std::span(&stamp, 1)));
        return stamp;
    }

    cu::DevicePointer input(const CudaProgram& program) {
        const Row* row = walking_row(program.plan);
        if (!row) return program.operands.address();
        const std::size_t bytes = facts_.tables.of(program.plan);
        DeviceBuffer& in = tables_->table({row->pattern, bytes,
                                           static_cast<std::size_t>(walked_words(program.plan)) * 4,
                                           row->access_words, row->own_lines, row->texture});
        tables_->prepare_cache(facts_.tables.before_launch(program.plan), in, bytes,
                               facts_.tables.cache_bytes);
        if (row != program.plan.first) {
            in.write(program.operand_values, in.size() - global_table_operand_bytes);
        }
        return in.address();
    }

    std::shared_ptr<const KernelCompiler> compiler_;
    std::shared_ptr<Session> session_;
    DeviceFacts facts_;
    CoreLimits limits_;
    Stopwatch stopwatch_;
    DeviceBuffer witness_stamp_;  // kept: an allocation costs more than a witness's run
    std::string architecture_;
    int architecture_number_ = 0;
    std::unique_ptr<LoadedKernel> witness_;
    double tick_ns_ = 0;
    std::unique_ptr<DeviceBuffer> out_;
    std::unique_ptr<DeviceBuffer> stamps_;
    std::unique_ptr<WalkTables> tables_;
    GpuState state_;
    // Read back after each launch.
    std::vector<std::byte> results_;
    std::vector<WarpStamp> warps_;
};

}  // namespace

std::vector<DeviceFacts> cuda_devices(const std::string& driver_library) {
    std::vector<DeviceFacts> devices;
    try {
        const Driver driver(driver_library);
        int count = 0;
        driver.check(driver.device_get_count(&count), "cuDeviceGetCount");
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            cu::Device device = 0;
            driver.check(driver.device_get(&device, ordinal), "cuDeviceGet");
            devices.push_back(cuda_facts(driver, device, ordinal));
        }
    } catch (const NothingToRunOn&) {
        return {};
    } catch (const DeviceError&) {
        return {};  // a driver that does not start lends no device; open_cuda() says why
    }
    return devices;
}

std::unique_ptr<Backend> open_cuda(int ordinal, const std::string& driver_library,
                                   std::shared_ptr<const KernelCompiler> compiler) {
    return std::make_unique<CudaBackend>(ordinal, driver_library, std::move(compiler));
}

}  // namespace occupipe::bench
