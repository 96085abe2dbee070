// SPDX-License-Identifier: MIT
// Compilers and assemblers that are programs: a folder for their files, and running them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe {

// Gone with the object.
class WorkFolder {
public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    std::filesystem::path path;
};

// Its exit code, -1 where a signal ended it; what it says goes to the file `said`. `temporary` is
// its folder for temporary files, in place of this process's. Throws DeviceError where it cannot be
// started.
int run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
             const std::filesystem::path& said, const std::filesystem::path& temporary = {});

}  // namespace occupipe
