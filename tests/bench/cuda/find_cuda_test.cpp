// SPDX-License-Identifier: MIT
// NVRTC and the tools are found where machines have them: planted here in a folder.
#include "bench/cuda/driver/find_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "bench/cuda/driver/nvrtc.h"
#include "core/error.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using std::filesystem::path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FindCuda : public ::testing::Test {
protected:
    FindCuda() { from.root = machine(); }

    path machine() const { return folder.path; }
    path plant(const std::string& file) const {
        const path whole = machine() / file;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << "#!/bin/sh\n";
        std::filesystem::permissions(whole, std::filesystem::perms::owner_all);
        return whole;
    }
    // Without those that only the loader knows a folder of.
    std::vector<std::string> found() const {
        std::vector<std::string> names = nvrtc_names(from);
        std::erase_if(names, [](const std::string& name) { return name.find('/') == name.npos; });
        return names;
    }

    test::TemporaryFolder folder;
    std::map<std::string, std::string> variables;
    Surroundings from = {.variable = [this](const char* name) -> std::optional<std::string> {
                             const auto entry = variables.find(name);
                             if (entry == variables.end()) return std::nullopt;
                             return entry->second;
                         },
                         .program = {}};
};

TEST_F(FindCuda, ABareMachineHasOnlyTheLoadersNames) {
    EXPECT_THAT(nvrtc_names(from), ElementsAre("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"));
    EXPECT_THAT(cuda_folders(from), IsEmpty());
    EXPECT_EQ(find_cuda_tool("nvdisasm", from), std::nullopt);
}

TEST_F(FindCuda, TheVariableChoosesOneLibraryOrNone) {
    plant("usr/local/cuda/lib64/libnvrtc.so.13");
    variables["OCCUPIPE_NVRTC"] = "/somewhere/libnvrtc.so.12";
    EXPECT_THAT(nvrtc_names(from), ElementsAre("/somewhere/libnvrtc.so.12"));
    variables["OCCUPIPE_NVRTC"] = "none";
    EXPECT_THAT(nvrtc_names(from), IsEmpty());
}

TEST_F(FindCuda, AToolkitIsFoundByItsVariableItsPlaceAndItsCompiler) {
    const path usual = plant("usr/local/cuda-13.0/lib64/libnvrtc.so.13");
    EXPECT_THAT(found(), ElementsAre(usual));
    const path named = plant("home/toolkit/targets/x86_64-linux/lib/libnvrtc.so.12");
    variables["CUDA_HOME"] = machine() / "home/toolkit";
    EXPECT_THAT(found(), ElementsAre(named, usual));
    // nvcc on the path is a link into a toolkit that no variable names
    plant("apps/cuda/12.4/bin/nvcc");
    const path beside = plant("apps/cuda/12.4/lib64/libnvrtc.so.12");
    std::filesystem::create_directories(machine() / "bin");
    std::filesystem::create_symlink(machine() / "apps/cuda/12.4/bin/nvcc", machine() / "bin/nvcc");
    variables.erase("CUDA_HOME");
    variables["PATH"] = "/nowhere:" + (machine() / "bin").string();
    EXPECT_THAT(found(), ElementsAre(beside, usual));
}

TEST_F(FindCuda, ALinkToAToolkitCountsOnce) {
    const path library = plant("usr/local/cuda-13.0/lib64/libnvrtc.so.13");
    std::filesystem::create_directory_symlink("cuda-13.0", machine() / "usr/local/cuda");
    variables["CUDA_PATH"] = machine() / "usr/local/cuda";
    EXPECT_THAT(found(), ElementsAre(library));
}

TEST_F(FindCuda, OfSeveralToolkitsTheNewestComesFirst) {
    const path older = plant("usr/local/cuda-12.4/lib64/libnvrtc.so.12");
    const path newer = plant("usr/local/cuda-12.9/lib64/libnvrtc.so.12");
    EXPECT_THAT(found(), ElementsAre(newer, older));
}

// 11.x, say: usable if nothing better is there.
TEST_F(FindCuda, ALibraryOfAnyVersionComesAfterThoseOfKnownOnes) {
    const path any = plant("usr/local/cuda/lib64/libnvrtc.so");
    const path known = plant("usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    EXPECT_THAT(nvrtc_names(from), ElementsAre("libnvrtc.so.13", "libnvrtc.so.12", known.string(),
                                               "libnvrtc.so", any.string()));
}

TEST_F(FindCuda, TheBuildTreesWheelsAreFoundFromItsPrograms) {
    const path library = plant("build/cuda-wheels/nvidia/cu13/lib/libnvrtc.so.13");
    for (const char* program : {"build/release/cli/occupipe", "build/dev/tests/cuda_test"}) {
        from.program = machine() / program;
        EXPECT_THAT(found(), ElementsAre(library)) << program;
    }
    from.program = machine() / "elsewhere/occupipe";
    EXPECT_THAT(found(), IsEmpty());
    variables["OCCUPIPE_CUDA_WHEELS"] = machine() / "build/cuda-wheels";
    EXPECT_THAT(found(), ElementsAre(library));
}

TEST_F(FindCuda, WheelsAreFoundWherePythonKeepsThem) {
    const std::string inside = "/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
    const path of_environment = plant("venv/lib/python3.11" + inside);
    const path of_user = plant("home/.local/lib/python3.12" + inside);
    const path of_pyenv = plant("home/.pyenv/versions/3.11.7/lib/python3.11" + inside);
    const path of_prefix = plant("opt/py/lib/python3.10" + inside);
    const path of_system = plant(
        "usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/"
        "libnvrtc.so.13");
    plant("opt/py/bin/python3");
    variables["VIRTUAL_ENV"] = machine() / "venv";
    variables["HOME"] = machine() / "home";
    variables["PATH"] = machine() / "opt/py/bin";
    EXPECT_THAT(found(), ElementsAre(of_environment, of_prefix, of_user, of_pyenv, of_system));
    variables = {{"PYTHONPATH", machine() / "venv/lib/python3.11/site-packages"}};
    EXPECT_THAT(found(), ElementsAre(of_environment, of_system));
}

TEST_F(FindCuda, ANameThatLooksLikeAPatternStandsForItself) {
    const path library = plant("a*b[c]{d,e}/nvidia/cu13/lib/libnvrtc.so.13");
    variables["OCCUPIPE_CUDA_WHEELS"] = machine() / "a*b[c]{d,e}";
    EXPECT_THAT(found(), ElementsAre(library));
}

TEST_F(FindCuda, AToolOnThePathComesBeforeOneOfTheWheels) {
    const path of_wheel = plant("build/cuda-wheels/nvidia/cu13/bin/nvdisasm");
    from.program = machine() / "build/release/cli/occupipe";
    EXPECT_EQ(find_cuda_tool("nvdisasm", from), of_wheel);
    EXPECT_EQ(find_cuda_tool("ptxas", from), std::nullopt);
    const path installed = plant("bin/nvdisasm");
    variables["PATH"] = machine() / "bin";
    EXPECT_EQ(find_cuda_tool("nvdisasm", from), installed);
    std::filesystem::permissions(installed, std::filesystem::perms::owner_read);
    EXPECT_EQ(find_cuda_tool("nvdisasm", from), of_wheel);
}

std::string why_not_open(const std::vector<std::string>& names) {
    try {
        const Nvrtc compiler(names);
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "opened";
}

TEST_F(FindCuda, ALibraryThatIsNoCompilerIsPassedOverAndNamed) {
    EXPECT_THAT(why_not_open({}), HasSubstr("OCCUPIPE_NVRTC or --compiler nvrtc is 'none'"));
    const path broken = plant("lib/libnvrtc.so.13");
    const std::string why = why_not_open({"libc.so.6", broken});
    EXPECT_THAT(why, HasSubstr("libc.so.6 is too old: 11.2 or newer"));
    EXPECT_THAT(why, HasSubstr(broken.string()));
    EXPECT_THAT(why, HasSubstr("tools/setup.sh --wheels"));
}

}  // namespace
}  // namespace occupipe::bench
