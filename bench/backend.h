// SPDX-License-Identifier: MIT
// What a device must be able to do: say what it is, compile a kernel, run it in a given shape and
// tell how long that took.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "bench/harness/device_errors.h"
#include "bench/harness/device_watch.h"
#include "bench/kernel/kernel_source.h"
#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::bench {

struct DeviceFacts {
    std::string id;       // "cuda:0", as --device takes it
    std::string backend;  // "opencl", "cuda" or "model"
    std::string name;
    std::string vendor;
    std::string architecture;
    std::string compute_capability;
    std::string driver;
    bool cpu = false;          // warps of a core run one after the other: sweep chains
    bool model = false;        // not hardware
    bool checkpoints = false;  // kernels can read the core's clock on their way
    int cores = 0;
    int warp_size = 0;                       // work-items per warp; 1 on a CPU
    std::optional<double> nominal_clock_hz;  // what the device states, never used to derive cycles
    std::string clock_source;                // how cycles and clock_hz come about, for the reader
    Limits limits;
    std::int64_t global_memory_bytes = 0;
    TableSizes tables;                        // working sets of walks through global memory
    std::map<std::string, std::string> more;  // further facts for the file's context
};

// What is known of a compiled kernel, for people and for the file.
struct KernelReceipt {
    std::string text;              // empty where the backend has none
    std::string hash;              // of the machine code, else of the source: "cubin xxh128:…"
    std::optional<int> registers;  // per thread
    // What it counted, as counters of every row (docs/reference/file-formats/): loop_instructions,
    // chain.ISETP, ….
    std::map<std::string, double> counters;
};

// A compiled kernel, ready to launch.
class Program {
public:
    virtual ~Program() = default;
    const KernelReceipt& receipt() const { return receipt_; }

protected:
    KernelReceipt receipt_;
};

struct LaunchRequest {
    MeasurementShape shape;  // depth = iterations * unroll
    std::int64_t iterations = 1;
    std::uint32_t start = 0;  // where memory walks begin; differs from launch to launch
};

struct Observation {
    double seconds = 0;  // by the device's own event timer
    // Core cycles from the first warp's start to the last warp's end on one core; absent where
    // the device has no counter (then the harness derives them from a witnessed clock).
    std::optional<double> cycles;
    std::optional<double> clock_hz;          // during this launch
    std::map<std::string, double> counters;  // anything else worth a column
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual const DeviceFacts& facts() const = 0;
    // The instructions that can be asked for: THE TABLE, except on a model device.
    virtual std::span<const Row> rows() const { return instruction_table(); }
    // Why this row cannot be measured here; nullopt when it can.
    virtual std::optional<std::string> unsupported(const Row& row) const = 0;
    // Why nothing proves that the timed loop contains this row's instruction exactly depth x chains
    // times; nullopt where its machine code is counted.
    virtual std::optional<std::string> unproved(const Row&) const { return std::nullopt; }
    // The whole text that the device's compiler gets for this kernel.
    virtual std::string text(const KernelSource& source) const { return source.body; }
    // Throws DeviceError with the compiler's own words.
    virtual std::unique_ptr<Program> compile(const KernelSource& source) = 0;
    // One launch, waited for. Throws DeviceError: launch failed, results missing or not finite;
    // TransientDeviceError: groups not placed as the shape says; DeviceLost.
    virtual Observation launch(Program& program, const LaunchRequest& request) = 0;
    // Core clock [Hz] at present, by running something of known length; nullopt if nothing can
    // measure it.
    virtual std::optional<double> witness_clock() = 0;
    // What came up since the device was opened and belongs into the file's context, by key.
    virtual std::map<std::string, std::string> remarks() const { return {}; }
    // Bounds the waits of the calls that follow, as long as it lives. A backend that does not
    // support it waits for as long as its device does.
    virtual void watch(const std::shared_ptr<DeviceWatch>&) {}
};

}  // namespace occupipe::bench
