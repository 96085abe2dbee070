// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <type_traits>

#include "core/field_rules.h"
#include "core/files/field_reader.h"
#include "core/files/field_writer.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "core/kernel_parameters.h"

namespace occupipe {

template <class Io>
void describe(Io& io, std::type_identity<KernelParameters>) {
    using T = KernelParameters;
    io("kernel", &T::kernel, {.required = true, .fault = &title_fault});
    io("device", &T::device, {.fault = &control_character_fault});
    io("origin", &T::origin, {.fault = &control_character_fault});
    io("warp_size", &T::warp_size, {.most = 1024, .default_unwritten = true});
    io("launches", &T::launches, {.default_unwritten = true});
    for (const KernelCount& count : kernel_counts())
        io(count.key, count.value, {.range = some_count});
    io.check(&parts_fault);
}

namespace {

constexpr std::string_view parameters_format = "occupipe-kernel-parameters/1";

struct ParameterFile {
    std::vector<KernelParameters> kernels;
};

template <class Io>
void describe(Io& io, std::type_identity<ParameterFile>) {
    io.list("kernels", &ParameterFile::kernels, {.required = true});
}

}  // namespace

std::vector<KernelParameters> parse_kernel_parameters(const std::string& text,
                                                      const std::string& file_name) {
    const Document document = parse_yaml(text, file_name);
    const DocumentNode& root = document.root();
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != parameters_format)
        document.fail(format, fmt::format("unknown format '{}'; expected {}", format.text,
                                          parameters_format));
    document.only_keys(root, {"format", "kernels"});
    ParameterFile file = read_known_fields<ParameterFile>(document, root);
    if (file.kernels.empty())
        document.fail(document.required(root, "kernels"), "must not be empty");
    check_fields(file, {}, [&](const Keys& keys, const std::string& reason) {
        throw InputError(file_name, document.locate(keys), key_path(keys), reason);
    });
    return std::move(file.kernels);
}

std::vector<KernelParameters> read_kernel_parameters(const std::filesystem::path& path) {
    return parse_kernel_parameters(read_text_file(path), path.string());
}

std::string format_kernel_parameters(const std::vector<KernelParameters>& kernels) {
    std::string text = fmt::format("format: {}\nkernels:\n", parameters_format);
    for (const KernelParameters& kernel : kernels) {
        std::string_view begin = "  - ";
        for (const YamlTree& field : write_fields(kernel)) {
            text += begin;
            text += yaml_lines(field, 0);
            begin = "    ";
        }
    }
    return text;
}

}  // namespace occupipe
