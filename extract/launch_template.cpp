// SPDX-License-Identifier: MIT
#include "extract/launch_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/yaml_text.h"
#include "extract/signature.h"

namespace occupipe::extract {
namespace {

using Kind = ParameterType::Kind;

std::string comment_of(const isa::Parameter& parameter, const ParameterType& type) {
    const auto bytes = [&] {
        return fmt::format("{} byte{}", parameter.size, parameter.size == 1 ? "" : "s");
    };
    switch (type.kind) {
        case Kind::pointer:
            return type.space == ParameterType::Space::shared ? "bytes of the group's local memory"
                                                              : "a pointer";
        case Kind::scalar:
            return std::string(to_string(type.type));
        case Kind::integer:
            return "8 bytes: a pointer, or {i64: 0}";
        case Kind::record:
            return bytes() + ": a struct";
        case Kind::unknown:
            break;
    }
    if (parameter.size == 8) return "8 bytes: a pointer, {i64: 0} or {f64: 0}";
    if (parameter.size == 4) return "4 bytes: {i32: 0} or {f32: 0}";
    return bytes();
}

bool is_buffer(const isa::Parameter& parameter, const ParameterType& type) {
    if (type.space == ParameterType::Space::shared) return false;
    return type.kind == Kind::pointer || type.kind == Kind::integer ||
           (type.kind == Kind::unknown && parameter.size == 8);
}

std::string argument(const isa::Parameter& parameter, const ParameterType& type,
                     const std::string& buffer) {
    if (is_buffer(parameter, type)) return fmt::format("{{buffer: {}}}", buffer);
    if (type.space == ParameterType::Space::shared) return "{local: 1024}";
    if (type.kind == Kind::scalar) return fmt::format("{{{}: 0}}", to_string(type.type));
    if (parameter.size == 4) return "{i32: 0}";
    return fmt::format("{{bytes: \"{:0>{}}\"}}", "", 2 * parameter.size);
}

}  // namespace

std::string launch_template(const isa::Cubin& cubin, const std::vector<const isa::Kernel*>& kernels,
                            std::string_view ptx, const std::string& source) {
    std::string buffers;
    std::string launches;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const isa::Kernel& kernel = *kernels[k];
        const std::vector<ParameterType> signature = signature_of(kernel, ptx);
        const std::string readable = readable_name(kernel.name);
        if (readable != kernel.name) launches += fmt::format("  # {}\n", readable);
        launches += fmt::format("  - kernel: {}\n", yaml_scalar(kernel.name));
        launches +=
            "    grid: [1, 1, 1]     # groups\n    block: [32, 1, 1]   # threads of a group\n";
        launches +=
            fmt::format("    shared_bytes: 0     # beside the {} that it has\n",
                        cubin.architecture ? isa::own_shared_bytes(kernel, *cubin.architecture)
                                           : kernel.shared_bytes);
        if (kernel.parameters.empty()) {
            launches += "    arguments: []\n";
            continue;
        }
        launches += "    arguments:\n";
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            const isa::Parameter& parameter = kernel.parameters[i];
            const std::string name =
                kernels.size() == 1 ? fmt::format("b{}", i) : fmt::format("b{}_{}", k, i);
            const std::string comment = comment_of(parameter, signature[i]);
            launches +=
                fmt::format("      - {}  # {}\n", argument(parameter, signature[i], name), comment);
            if (!is_buffer(parameter, signature[i])) continue;
            names.push_back(name);
            buffers += fmt::format(
                "  {}: {{type: {}, count: 1, fill: zeros}}  # {}, parameter {}\n", name,
                to_string(signature[i].pointee.value_or(ElementType::f32)), readable, i);
        }
    }
    std::string text = "occupipe_launches: 1\n";
    text += fmt::format("source: {}\n", yaml_scalar(source));
    if (cubin.architecture) text += fmt::format("architecture: sm_{}\n", *cubin.architecture);
    if (!buffers.empty()) {
        text +=
            "buffers:  # fill: zeros, ones, iota, {value: 1}, {random: [0, 1], seed: 1}, "
            "{permutation: true, seed: 1}, {file: PATH}\n" +
            buffers;
    }
    text += "launches:\n" + launches;
    text += fmt::format("check: [{}]\n", fmt::join(names, ", "));
    return text;
}

}  // namespace occupipe::extract
