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

// Its exit code, -1 where a signal ended it; what it says goes to the file `said`, whose
// folder it has for temporary files. Throws DeviceError where it cannot be started.
int run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
             const std::filesystem::path& said);

}  // namespace occupipe
