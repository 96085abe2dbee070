// SPDX-License-Identifier: MIT
#include "bench/offline/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/facts.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/unsupported.h"
#include "bench/offline/carrier.h"
#include "bench/offline/cuda_kernel.h"
#include "core/architectures.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

// Cores, second-level cache and boost clock: NVIDIA's data sheet or architecture white paper of the
// named GPU.
constexpr std::array facts_table = {
    ArchitectureFacts{70, "Tesla V100 SXM2", 80, 6 * mib, 1530e6},
    ArchitectureFacts{75, "Tesla T4", 40, 4 * mib, 1590e6},
    ArchitectureFacts{80, "A100 SXM4", 108, 40 * mib, 1410e6},
    ArchitectureFacts{86, "GeForce RTX 3070", 46, 4 * mib, 1725e6},
    ArchitectureFacts{89, "GeForce RTX 4090", 128, 72 * mib, 2520e6},
    ArchitectureFacts{90, "H100 SXM5", 132, 50 * mib, 1980e6},
    ArchitectureFacts{100, "B200", 148, 126 * mib, 0},
    ArchitectureFacts{120, "GeForce RTX 5090", 170, 96 * mib, 2407e6},
};

// Carried to, but not in the table of architectures, as its machine code is not read: CUDA C++
// Programming Guide, appendix "Compute Capabilities", table "Technical Specifications".
constexpr CoreLimits volta_limits = {64, 32, 32, 96 * kib, 96 * kib, 0};

constexpr std::int64_t assumed_memory_bytes = std::int64_t{16} << 30;

DeviceFacts device_facts(const ArchitectureFacts& from, std::optional<int> cores,
                         std::optional<double> clock_hz, KernelUse use,
                         const ArchitectureMemory& memory) {
    DeviceFacts facts;
    facts.id = fmt::format("sm_{}", from.number);
    facts.backend = "carried";
    facts.name = fmt::format("sm_{} with {} cores", from.number, cores.value_or(from.cores));
    facts.vendor = "NVIDIA";
    facts.architecture = from.generation();
    facts.compute_capability = fmt::format("{}.{}", from.number / 10, from.number % 10);
    facts.driver = "none: kernels for others to run";
    facts.cores = cores.value_or(from.cores);
    facts.warp_size = cuda_warp_size;
    facts.checkpoints = true;
    if (clock_hz) {
        facts.nominal_clock_hz = clock_hz;
    } else if (from.boost_clock_hz > 0) {
        facts.nominal_clock_hz = from.boost_clock_hz;
    }
    facts.clock_source =
        clock_hz ? "clock: as given on the command line, not measured"
                 : fmt::format("clock: {}'s published boost clock, not measured", from.example);
    const CoreLimits limits = from.limits();
    facts.limits = {.warps = limits.warps,
                    .groups = limits.groups,
                    .group_warps = limits.group_warps,
                    .registers = OccupancyLimits::registers,
                    .shared_memory_bytes = limits.shared_bytes};
    const std::int64_t l2_bytes = memory.l2_bytes.value_or(from.l2_bytes);
    facts.global_memory_bytes = memory.bytes.value_or(assumed_memory_bytes);
    facts.tables = use == KernelUse::carried ? carried_tables(l2_bytes)
                                             : cuda_tables(l2_bytes, facts.global_memory_bytes);
    facts.more["l2_bytes"] = std::to_string(l2_bytes);
    facts.more["sized_as"] = from.example;
    return facts;
}

class ArchitectureBackend : public Backend, public Carrier {
public:
    ArchitectureBackend(const ArchitectureFacts& from, DeviceFacts facts, KernelUse use)
        : from_(from), facts_(std::move(facts)), use_(use) {}

    const DeviceFacts& facts() const override { return facts_; }
    std::optional<std::string> unsupported(const Row& row) const override {
        if (use_ == KernelUse::launched) return cuda_unsupported(row, from_.number);
        if (row.cluster > 1 || row.step.starts_with("GRID_BARRIER")) {
            return "dumped kernels are plain: no clusters, no launch whose groups wait for each "
                   "other";
        }
        if (row.texture) return "dumped kernels are plain: no textures";
        return cuda_unsupported(row, from_.number);
    }
    std::unique_ptr<Program> compile(const KernelSource&) override { refuse(); }
    Observation launch(Program&, const LaunchRequest&) override { refuse(); }
    std::optional<double> witness_clock() override { return std::nullopt; }

    bool tells_placement() const override { return true; }
    CarriedKernel carry(const KernelSource& source, const std::string& name,
                        bool placement) override {
        return carry_cuda(source, facts_.id, facts_.tables, name, placement);
    }
    std::size_t carried_shared_bytes(const KernelSource& source, std::size_t static_bytes,
                                     const MeasurementShape& shape) const override {
        return static_cast<std::size_t>(
            dynamic_shared_bytes(from_.limits(), shape, static_cast<std::int64_t>(static_bytes),
                                 static_cast<std::int64_t>(source.shared_bytes)));
    }
    std::size_t stamp_bytes(const KernelPlan& plan) const override {
        return carried_stamp_bytes(plan);
    }

private:
    [[noreturn]] void refuse() const {
        throw DeviceError(fmt::format("{} is an architecture, not a device to measure", facts_.id));
    }

    const ArchitectureFacts& from_;
    DeviceFacts facts_;
    KernelUse use_;
};

}  // namespace

std::string ArchitectureFacts::generation() const {
    const Architecture* const known = find_architecture(number);
    return known != nullptr ? known->generation : "Volta";
}

CoreLimits ArchitectureFacts::limits() const {
    const Architecture* const known = find_architecture(number);
    if (known == nullptr) return volta_limits;
    const OccupancyLimits& of = known->limits;
    return {.warps = of.warps,
            .groups = of.groups,
            .group_warps = of.group_threads / of.warp_threads,
            .shared_bytes = of.shared_bytes,
            .group_shared_bytes = of.group_shared_bytes,
            .reserved_shared_bytes = of.reserved_bytes};
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    names.reserve(facts_table.size());
    for (const ArchitectureFacts& one : facts_table)
        names.push_back(fmt::format("sm_{}", one.number));
    return names;
}

const ArchitectureFacts& architecture_facts(const std::string& name) {
    for (const ArchitectureFacts& one : facts_table)
        if (name == fmt::format("sm_{}", one.number)) return one;
    throw InputError(
        fmt::format("--arch: '{}' is not one of {}", name, fmt::join(known_architectures(), ", ")));
}

std::unique_ptr<Backend> open_architecture(const std::string& name, std::optional<int> cores,
                                           std::optional<double> clock_hz, KernelUse use,
                                           const ArchitectureMemory& memory) {
    const ArchitectureFacts& facts = architecture_facts(name);
    return std::make_unique<ArchitectureBackend>(
        facts, device_facts(facts, cores, clock_hz, use, memory), use);
}

}  // namespace occupipe::bench
