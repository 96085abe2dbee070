// SPDX-License-Identifier: MIT
// Commands run within the test, and files for them.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {

inline const std::string source = OCCUPIPE_SOURCE_DIR;
inline const std::string gtx = source + "/profiles/nvidia-gtx-1060.yaml";
inline const std::string mix = source + "/sim/kernels/mix.yaml";

struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
};

inline Outcome occupipe(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "occupipe");
    std::vector<char*> argv;
    argv.reserve(arguments.size());
    for (std::string& argument : arguments) argv.push_back(argument.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = cli::run(static_cast<int>(argv.size()), argv.data());
    std::fflush(stdout);
    std::fflush(stderr);
    const std::string out = testing::internal::GetCapturedStdout();
    return {code, out, testing::internal::GetCapturedStderr()};
}

// A file that lives as long as the test, in a folder of its own: tests run side by side.
class File {
public:
    File(const std::string& name, const std::string& text) : path_(folder_.path / name) {
        std::ofstream(path_) << text;
    }
    std::string path() const { return path_.string(); }

private:
    test::TemporaryFolder folder_;
    std::filesystem::path path_;
};

}  // namespace occupipe::test
