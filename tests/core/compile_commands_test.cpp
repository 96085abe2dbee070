// SPDX-License-Identifier: MIT
#include "core/files/compile_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace occupipe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompileCommands, GiveTheOptionsOfAFile) {
    const std::string text = R"([
      {"directory": "/p/build", "file": "../other.cu", "command": "nvcc -DOTHER"},
      {"directory": "/p/build", "file": "../src/k.cu",
       "command": "nvcc -forward-unknown-to-host-compiler -I../include -isystem \"/q r/inc\" -DN=4 -D 'S=\"a b\"' --generate-code=arch=compute_80 -std=gnu++20 -Xcompiler=-O3 -use_fast_math -c ../src/k.cu -o k.o"},
      {"directory": "/p", "file": "list.cu", "arguments": ["nvcc", "-I", "a", "-include", "b.h", "--include-path=/c", "-U", "X", "-fmad=false"]}
    ])";
    const std::filesystem::path name = "/p/build/compile_commands.json";
    EXPECT_THAT(compile_commands_options(text, name, "/p/src/k.cu"),
                ElementsAre("-I/p/include", "-I/q r/inc", "-DN=4", "-DS=\"a b\"", "--std=c++20",
                            "-use_fast_math"));
    EXPECT_THAT(compile_commands_options(text, name, "/p/list.cu"),
                ElementsAre("-I/p/a", "-include=/p/b.h", "-I/c", "-UX", "-fmad=false"));
    EXPECT_THAT(compile_commands_options(text, name, "/p/absent.cu"), IsEmpty());
    EXPECT_THAT(compile_commands_options("[1, {}, {\"file\": 3}]", name, "/p/k.cu"), IsEmpty());
    for (const char* broken : {"", "{", "{}", "3"})
        EXPECT_THROW(compile_commands_options(broken, name, "/p/k.cu"), InputError);
}

TEST(CompileCommands, AreLookedForAboveTheFile) {
    const test::TemporaryFolder folder;
    const std::filesystem::path source = folder.path / "a/b/k.cu";
    std::filesystem::create_directories(source.parent_path());
    std::filesystem::create_directories(folder.path / "build");
    EXPECT_THAT(options_of_project(source), IsEmpty());
    write_text_file(folder.path / "build/compile_commands.json",
                    "[{\"directory\": \"" + folder.path.string() +
                        "\", \"file\": \"a/b/k.cu\", \"command\": \"nvcc -DX\"}]",
                    Overwrite::no);
    EXPECT_THAT(options_of_project(source), ElementsAre("-DX"));
}

}  // namespace
}  // namespace occupipe
