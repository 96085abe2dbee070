// SPDX-License-Identifier: MIT
// libFuzzer target: the first byte says which kind of file the others are: a profile, a kernel, a
// returned table of launches, an interrupted measurement's journal, kernel parameters. Whatever
// comes out is read, and means the same when written again, or is an InputError; never a crash or
// another exception. Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_files -max_total_time=600
// CORPUS tests/fuzz/file_seeds
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/harness/journal.h"
#include "bench/offline/launches.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/kernel_parameters.h"

namespace {

using namespace occupipe;

void profile(const std::string& text) {
    const GpuProfile read = parse_profile(text, "fuzz.yaml");
    if (parse_profile(format_profile(read), "again.yaml") != read) std::abort();
}

void kernel(const std::string& text) {
    const std::string once = format_kernel(parse_kernel(text, "fuzz.yaml"));
    if (format_kernel(parse_kernel(once, "again.yaml")) != once) std::abort();
}

void launches(const std::string& text) {
    for (const bool partial : {false, true}) {
        try {
            for (const bench::ReturnedTime& time : bench::parse_launches(text, "fuzz.csv", partial))
                if (!(time.cycles > 0) || !std::isfinite(time.cycles)) std::abort();
        } catch (const InputError&) {
        }
    }
}

// What a journal becomes is a measurement file.
void journal(const std::string& text) {
    static const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("occupipe-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::filesystem::path output = folder / "m.json";
    write_text_file(bench::Journal::path_for(output), text, Overwrite::yes);
    std::filesystem::remove(output);
    read_measurements(bench::close_journal(output, folder / "closed.json", Overwrite::yes).output);
}

void counts(const std::string& text) {
    const auto read = parse_kernel_parameters(text, "fuzz.yaml");
    if (parse_kernel_parameters(format_kernel_parameters(read), "again.yaml") != read) std::abort();
}

struct Reader {
    char letter;
    void (*read)(const std::string&);
};
constexpr Reader readers[] = {
    {'p', profile}, {'k', kernel}, {'l', launches}, {'j', journal}, {'c', counts}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    for (const Reader& reader : readers) {
        if (data[0] != static_cast<std::uint8_t>(reader.letter)) continue;
        try {
            reader.read(std::string(data + 1, data + size));
        } catch (const InputError&) {
        }
    }
    return 0;
}
