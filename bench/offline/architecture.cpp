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
#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

// Limits of a core: CUDA C++ Programming Guide, appendix "Compute Capabilities", table "Technical
// Specifications". Cores, second-level cache and boost clock: NVIDIA's data sheet or architecture
// white paper of the named GPU.
constexpr std::array architectures = {
    ArchitectureFacts{
        70, "Volta", "Tesla V100 SXM2", 80, 6 * mib, 1530e6, {64, 32, 32, 96 * kib, 96 * kib, 0}},
    ArchitectureFacts{
        75, "Turing", "Tesla T4", 40, 4 * mib, 1590e6, {32, 16, 32, 64 * kib, 64 * kib, 0}},
    ArchitectureFacts{
        80, "Ampere", "A100 SXM4", 108, 40 * mib, 1410e6, {64, 32, 32, 164 * kib, 163 * kib, kib}},
    ArchitectureFacts{86,
                      "Ampere",
                      "GeForce RTX 3070",
                      46,
                      4 * mib,
                      1725e6,
                      {48, 16, 32, 100 * kib, 99 * kib, kib}},
    ArchitectureFacts{89,
                      "Ada",
                      "GeForce RTX 4090",
                      128,
                      72 * mib,
                      2520e6,
                      {48, 24, 32, 100 * kib, 99 * kib, kib}},
    ArchitectureFacts{
        90, "Hopper", "H100 SXM5", 132, 50 * mib, 1980e6, {64, 32, 32, 228 * kib, 227 * kib, kib}},
    ArchitectureFacts{
        100, "Blackwell", "B200", 148, 126 * mib, 0, {64, 32, 32, 228 * kib, 227 * kib, kib}},
    ArchitectureFacts{120,
                      "Blackwell",
                      "GeForce RTX 5090",
                      170,
                      96 * mib,
                      2407e6,
                      {48, 24, 32, 100 * kib, 99 * kib, kib}},
};

constexpr std::int64_t assumed_memory_bytes = std::int64_t{16} << 30;
constexpr std::int64_t registers_per_core = 65536;  // of every architecture in the table

DeviceFacts device_facts(const ArchitectureFacts& from, std::optional<int> cores,
                         std::optional<double> clock_hz, KernelUse use,
                         const ArchitectureMemory& memory) {
    DeviceFacts facts;
    facts.id = fmt::format("sm_{}", from.number);
    facts.backend = "carried";
    facts.name = fmt::format("sm_{} with {} cores", from.number, cores.value_or(from.cores));
    facts.vendor = "NVIDIA";
    facts.architecture = from.generation;
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
    facts.limits = {.warps = from.limits.warps,
                    .groups = from.limits.groups,
                    .group_warps = from.limits.group_warps,
                    .registers = registers_per_core,
                    .shared_memory_bytes = from.limits.shared_bytes};
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
            dynamic_shared_bytes(from_.limits, shape, static_cast<std::int64_t>(static_bytes),
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

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    names.reserve(architectures.size());
    for (const ArchitectureFacts& one : architectures)
        names.push_back(fmt::format("sm_{}", one.number));
    return names;
}

const ArchitectureFacts& architecture_facts(const std::string& name) {
    for (const ArchitectureFacts& one : architectures)
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
