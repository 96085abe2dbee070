// SPDX-License-Identifier: MIT
// libFuzzer target: other tools' files. The first byte says whose, the bits of the second what the
// command line adds, the others are the file; of a simulator's configuration, a line "---" ends the
// first file. What is read is a profile that means the same when written and read again, or
// measurements that our own reader takes with the same numbers, or an InputError; never a crash or
// another exception. Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_exchange
// -max_total_time=600 CORPUS tests/fuzz/exchange_seeds
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/exchange/imported.h"
#include "core/error.h"
#include "core/files/files.h"

namespace {

using namespace occupipe;
using namespace occupipe::analysis;

DeviceHints hints_of(std::uint8_t bits) {
    DeviceHints hints;
    if ((bits & 1U) != 0) hints.cores = 80;
    if ((bits & 2U) != 0) hints.warp_size = (bits & 32U) != 0 ? 64 : 32;
    if ((bits & 4U) != 0) hints.clock_hz = 1.5e9;
    if ((bits & 8U) != 0) hints.name = "a device";
    if ((bits & 16U) != 0) hints.access_bytes = 16;
    if ((bits & 64U) != 0) hints.device = (bits & 32U) != 0 ? 2 : 1;
    return hints;
}

void check(const ImportedProfile& read) {
    if (parse_profile(format_profile(read.profile), "again.yaml") != read.profile) std::abort();
}

void check(const ImportedMeasurements& read, const InputText& file) {
    // Our own reader's limits are known for a row only when it is written.
    const MeasurementFile again =
        parse_measurements(measurement_text(read, file, "fuzz"), "again.json");
    if (again.rows.size() != read.rows.size()) std::abort();
    for (std::size_t i = 0; i < read.rows.size(); ++i)
        if (again.rows[i].subject.substr(0, again.rows[i].subject.find('/')) !=
                read.rows[i].subject ||
            again.rows[i].shape.warps() != read.rows[i].shape.warps() ||
            again.rows[i].shape.depth != read.rows[i].shape.depth ||
            again.rows[i].cycles != read.rows[i].cycles)
            std::abort();
}

void accelsim(const std::string& text, const DeviceHints& hints) {
    const std::string end = "\n---\n";
    const std::size_t at = text.find(end);
    std::vector<InputText> files = {{"folder/gpgpusim.config", text.substr(0, at)}};
    if (at != std::string::npos) files.push_back({"trace.config", text.substr(at + end.size())});
    check(import_accelsim(files, hints));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const InputText file{"fuzz.txt", std::string(data + 2, data + size)};
    const DeviceHints hints = hints_of(data[1]);
    try {
        switch (data[0]) {
            case 'a':
                accelsim(file.text, hints);
                break;
            case 'm':
                check(import_mt4g(file, hints));
                break;
            case 'c':
                check(import_clpeak(file, hints));
                break;
            case 'x':
                check(import_mixbench(file, hints));
                break;
            case 'b':
                check(import_google_benchmark(file, hints));
                break;
            case 'g':
                check(import_gpu_cache(file, hints));
                break;
            case 'l':
                check(import_gpu_latency(file, hints), file);
                break;
            case 'i':
                check(import_cuda_incore(file, hints), file);
                break;
            case 'n': {
                const Imported read = import_nvbench(file, hints);
                if (const auto* profile = std::get_if<ImportedProfile>(&read))
                    check(*profile);
                else
                    check(std::get<ImportedMeasurements>(read), file);
                break;
            }
            default:
                break;
        }
    } catch (const InputError&) {
    }
    return 0;
}
