// SPDX-License-Identifier: MIT
// Kernels for another program to run: what a backend knows about them without running them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/kernel/kernel_source.h"
#include "core/measurement.h"

namespace occupipe::bench {

struct CarriedBuffer {
    std::size_t bytes = 0;
    std::string contents;  // docs/how-to/measure-elsewhere.md
};

struct CarriedKernel {
    std::map<std::string, std::string> files;  // what there is of it, by file name extension
    // Instructions per warp and iteration of the timed loop, by opcode.
    std::map<std::string, std::int64_t> counts;
    // All other PTX instructions per warp and iteration: those of the step beside the counted one
    // (the neg of ex2, the selp of setp) and the loop's count, comparison and branch.
    std::map<std::string, std::int64_t> beside;
    CarriedBuffer in;
    std::size_t static_shared_bytes = 0;
};

class Carrier {
public:
    virtual ~Carrier() = default;
    // Whether its kernels can say on which core and in which slot a warp runs.
    virtual bool tells_placement() const = 0;
    // The kernel as a function `name`. Throws DeviceError with the compiler's words, or when its
    // receipt has a fault.
    // `placement`: each warp also says on which core and in which slot it ran.
    virtual CarriedKernel carry(const KernelSource& source, const std::string& name,
                                bool placement) = 0;
    // Dynamic shared memory per group. Throws DeviceError when the shape does not fit.
    virtual std::size_t carried_shared_bytes(const KernelSource& source, std::size_t static_bytes,
                                             const MeasurementShape& shape) const = 0;
    // Bytes that one warp leaves in `stamps`.
    virtual std::size_t stamp_bytes(const KernelPlan& plan) const = 0;
};

// "hex@0:0000803f…"
std::string hex_contents(const std::vector<std::byte>& bytes, std::size_t offset);

// How the words of a table point to each other (docs/how-to/measure-elsewhere.md).
enum class TableWords { index, address32, address64 };

// The buffer `in` of a kernel: its operands, or the table that it walks.
CarriedBuffer input_buffer(const KernelSource& source, const TableRequest& request,
                           TableWords words, bool random_order);

}  // namespace occupipe::bench
