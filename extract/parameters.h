// SPDX-License-Identifier: MIT
// Arguments of a launch → the bytes that the kernel finds in its constant bank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "extract/signature.h"
#include "isa/cubin.h"

namespace occupipe::extract {

// The address of a buffer, by name.
using AddressOf = std::function<std::uint64_t(const std::string&)>;

// Dynamic shared memory of a launch [bytes]: its shared_bytes, and behind them its {local: …}
// arguments, each at a multiple of 16 bytes. `begin`: where dynamic shared memory begins.
std::uint64_t dynamic_shared_bytes(const KernelLaunch& launch, std::uint64_t begin);

// As they lie from the base of the parameters on. `shared_begin`: where the launch's dynamic shared
// memory begins, an address in shared memory. Throws InputError (file, line, argument) where their
// number, a size or a type does not fit.
std::vector<std::byte> pack_parameters(const LaunchPlan& plan, const KernelLaunch& launch,
                                       const isa::Kernel& kernel,
                                       const std::vector<ParameterType>& signature,
                                       const AddressOf& address_of, std::uint64_t shared_begin = 0);

// "parameter 2 (4 bytes, f32)"
std::string parameter_text(const isa::Kernel& kernel, const std::vector<ParameterType>& signature,
                           std::size_t index);

}  // namespace occupipe::extract
