// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>

#include "analysis/exchange/imported.h"

namespace occupipe::analysis {
namespace {

// A reader of one file.
template <auto read>
Imported of_one(const std::vector<InputText>& files, const DeviceHints& hints) {
    return read(files.front(), hints);
}

Imported accelsim(const std::vector<InputText>& files, const DeviceHints& hints) {
    return import_accelsim(files, hints);
}

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

constexpr std::array formats = {
    ImportFormat{.name = "accelsim", .most_files = any_number, .read = accelsim},
    ImportFormat{.name = "mt4g", .read = of_one<import_mt4g>},
    ImportFormat{.name = "clpeak", .several_devices = true, .read = of_one<import_clpeak>},
    ImportFormat{.name = "mixbench", .several_devices = true, .read = of_one<import_mixbench>},
    ImportFormat{.name = "google-benchmark", .read = of_one<import_google_benchmark>},
    ImportFormat{.name = "gpu-cache", .read = of_one<import_gpu_cache>},
    ImportFormat{.name = "gpu-latency", .read = of_one<import_gpu_latency>},
    ImportFormat{.name = "cuda-incore", .read = of_one<import_cuda_incore>},
    ImportFormat{.name = "nvbench", .several_devices = true, .read = of_one<import_nvbench>},
};

}  // namespace

std::span<const ImportFormat> import_formats() { return formats; }

const ImportFormat* find_import_format(std::string_view name) {
    const auto found = std::ranges::find(formats, name, &ImportFormat::name);
    return found == formats.end() ? nullptr : &*found;
}

}  // namespace occupipe::analysis
