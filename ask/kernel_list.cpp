// SPDX-License-Identifier: MIT
#include "ask/kernel_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "ask/cuda_text.h"
#include "ask/kernel_file.h"
#include "core/error.h"
#include "core/files/files.h"
#include "extract/signature.h"
#include "isa/containers/device_images.h"
#include "isa/cubin.h"

namespace occupipe::analysis {
namespace {

// Each kernel once, with all code that there is of it.
class List {
public:
    void add(const std::string& mangled, const std::string& where) {
        const std::string readable = extract::readable_name(mangled);
        std::string name = readable, parameters;
        if (const std::size_t open = readable.rfind('('); open != std::string::npos && open > 0) {
            name = readable.substr(0, open);
            parameters = readable.substr(open + 1, readable.size() - open - 2);
            if (name.starts_with("void ")) name.erase(0, 5);
        }
        for (ListedKernel& one : kernels) {
            if (one.name != name || one.parameters != parameters) continue;
            if (one.where.find(where) == std::string::npos) one.where += ", " + where;
            return;
        }
        kernels.push_back({name, parameters, {}, where});
    }
    void add_cubin(const std::string& bytes, const std::string& where) {
        for (const isa::Kernel& one : isa::read_cubin(bytes).kernels)
            if (!one.is_function) add(one.name, where);
    }
    void add_ptx(const std::string& text, const std::string& where) {
        constexpr std::string_view word = ".entry";
        for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
            const std::size_t begin = text.find_first_not_of(" \t", at + word.size());
            if (begin == text.npos) return;
            add(text.substr(begin, text.find_first_of(" \t\r\n(", begin) - begin), where);
        }
    }

    std::vector<ListedKernel> kernels;
};

std::string where_of(const isa::Cubin& cubin) {
    return cubin.named_architecture ? fmt::format("sm_{}", *cubin.named_architecture)
                                    : "machine code";
}

List list_of(const std::string& path, const std::string& text) {
    List list;
    if (isa::is_cubin(text)) {
        list.add_cubin(text, where_of(isa::read_cubin(text)));
        return list;
    }
    const std::vector<isa::DeviceImage> images = isa::device_images(text);
    for (const isa::DeviceImage& one : images) {
        if (one.kind == isa::DeviceImage::Kind::ptx)
            list.add_ptx(one.bytes, one.name());
        else
            list.add_cubin(one.bytes, one.name());
    }
    if (!images.empty()) return list;
    const bool ptx = path.ends_with(".ptx") || isa::ptx_texts(text).front() != text;
    if (!ptx) throw InputError("holds no kernels: neither source, PTX nor machine code");
    for (const std::string& one : isa::ptx_texts(text))
        list.add_ptx(one, "PTX for " + isa::ptx_target(one));
    return list;
}

}  // namespace

std::vector<ListedKernel> kernels_of_file(const std::string& path) {
    const std::string text = read_text_file(path);
    if (!is_source(path)) {
        try {
            return list_of(path, text).kernels;
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: {}", path, error.what()));
        }
    }
    if (path.ends_with(".cl"))
        throw InputError(path + ": kernels of OpenCL C are not listed without compiling it");
    std::vector<ListedKernel> kernels;
    for (const SourceKernel& one : kernels_of_text(text))
        kernels.push_back(
            {one.name, one.parameters, one.template_parameters, fmt::format("line {}", one.line)});
    return kernels;
}

}  // namespace occupipe::analysis
