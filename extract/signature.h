// SPDX-License-Identifier: MIT
// What a kernel's parameters are, as far as its PTX or its mangled name tells; machine code knows
// their sizes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_type.h"
#include "isa/cubin.h"

namespace occupipe::extract {

struct ParameterType {
    enum class Kind : std::uint8_t {
        unknown,
        pointer,
        scalar,   // `type`; of integers the sign is not known from PTX
        integer,  // of 8 bytes, or a pointer: PTX does not always tell
        record,   // bytes: a struct, a half
    };
    Kind kind = Kind::unknown;
    ElementType type = ElementType::i32;
    std::optional<ElementType> pointee;  // of a pointer, where the name tells
    // Of a pointer, where PTX tells (OpenCL C): to global memory, or to shared memory of the group.
    enum class Space : std::uint8_t { unknown, global, shared };
    Space space = Space::unknown;

    bool operator==(const ParameterType&) const = default;
};

// One per parameter of the kernel, all unknown where nothing tells. `ptx`: may be empty.
std::vector<ParameterType> signature_of(const isa::Kernel& kernel, std::string_view ptx);

// "saxpy(float*, float*, float, int)" of "_Z5saxpyPfS_fi"; other names as they are.
std::string readable_name(const std::string& name);

// "k<V<float>, 2>" of "void k<V<float>, 2>(V<float>*)".
std::string without_parameters(std::string_view name);

// The kernel of this name, whatever its blanks; else those whose name is this but for parameters
// and arguments of a template and for how numbers are written ("saxpy", "scale<float>", "k<4u>" of
// "k<4>"), else those that it is without their scopes. All for an empty name.
std::vector<const isa::Kernel*> kernels_called(const isa::Cubin& cubin, const std::string& name);

// The only one of kernels_called(). Throws InputError with near names.
const isa::Kernel& find_kernel(const isa::Cubin& cubin, const std::string& name);

}  // namespace occupipe::extract
