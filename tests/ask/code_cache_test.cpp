// SPDX-License-Identifier: MIT
#include "ask/code_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::analysis {
namespace {

CompiledSource made(const std::string& cubin) {
    CompiledSource one;
    one.output = {.ptx = "ptx\n12\n", .cubin = cubin, .log = "", .compiler = "NVRTC 13.0"};
    one.output.lowered["fill<4>"] = "_Z4fillILi4EEvv";
    one.note = "a note";
    return one;
}

TEST(CodeCache, GivesBackWhatItWasGiven) {
    const test::TemporaryFolder folder;
    const std::string cubin = std::string("\177ELF\0\n\r", 7);
    CodeCache(folder.path / "cache").keep("key", made(cubin));
    const auto found = CodeCache(folder.path / "cache").find("key");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->output.cubin, cubin);
    EXPECT_EQ(found->output.ptx, "ptx\n12\n");
    EXPECT_EQ(found->output.compiler, "NVRTC 13.0");
    EXPECT_EQ(found->output.lowered.at("fill<4>"), "_Z4fillILi4EEvv");
    EXPECT_EQ(found->note, "a note");
    EXPECT_FALSE(CodeCache(folder.path / "cache").find("other"));
}

TEST(CodeCache, AFileThatIsNotAsItWasWrittenIsPassedOver) {
    const test::TemporaryFolder folder;
    CodeCache cache(folder.path);
    cache.keep("key", made("code"));
    const auto file = folder.path / "key.code";
    const std::string text = read_text_file(file);
    for (std::size_t at = 0; at < text.size(); at += 7) {
        std::string other = text;
        other[at] = static_cast<char>(other[at] ^ 1);
        write_text_file(file, other, Overwrite::yes);
        EXPECT_FALSE(cache.find("key")) << at;
        write_text_file(file, text.substr(0, at), Overwrite::yes);
        EXPECT_FALSE(cache.find("key")) << at;
    }
    write_text_file(file, text, Overwrite::yes);
    EXPECT_TRUE(cache.find("key"));
}

TEST(CodeCache, IsBoundedAndKeepsTheLatest) {
    const test::TemporaryFolder folder;
    CodeCache cache(folder.path, 10000);
    for (int i = 0; i < 20; ++i)
        cache.keep("key" + std::to_string(i), made(std::string(1000, 'x')));
    std::uint64_t bytes = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder.path))
        bytes += one.file_size();
    EXPECT_LE(bytes, 10000U);
    EXPECT_GT(bytes, 2000U);
    EXPECT_TRUE(cache.find("key19"));
    EXPECT_FALSE(cache.find("key0"));
}

TEST(CodeCache, WithoutAFolderOrOfAnotherCompilerNothingIsKept) {
    CodeCache none("");
    none.keep("key", made("code"));
    EXPECT_FALSE(none.find("key"));
    const test::TemporaryFolder folder;
    CodeCache cache(folder.path);
    CompiledSource by_nvcc = made("code");
    by_nvcc.output.compiler = "nvcc 13.0";
    cache.keep("key", by_nvcc);
    EXPECT_FALSE(cache.find("key"));
}

TEST(CodeCache, AKeyChangesWithAllThatTheCodeDependsOn) {
    const test::TemporaryFolder folder;
    const std::string path = (folder.path / "a.cu").string();
    const std::string text = "#include \"a.h\"\n#include <cuda_fp16.h>\n__global__ void k() {}\n";
    write_text_file(folder.path / "a.h", "#include \"b.h\"\n", Overwrite::no);
    write_text_file(folder.path / "b.h", "int b;\n", Overwrite::no);
    const auto key = [&](const std::string& of = {}, const std::vector<std::string>& options = {},
                         const std::string& architecture = "sm_80", bool lines = true) {
        return code_key(path, of.empty() ? text : of, architecture, options, {"k"},
                        {.line_numbers = lines, .other_kernels = true});
    };
    const std::string usual = key();
    if (usual.empty()) GTEST_SKIP() << "no NVRTC";
    EXPECT_EQ(key(), usual);
    EXPECT_NE(key(text + " "), usual);
    EXPECT_NE(key({}, {"-DX=1"}), usual);
    EXPECT_NE(key({}, {}, "sm_86"), usual);
    EXPECT_NE(key({}, {}, "sm_80", false), usual);
    write_text_file(folder.path / "b.h", "int c;\n", Overwrite::yes);
    EXPECT_NE(key(), usual);
    // What is included cannot be told from the text.
    EXPECT_EQ(key("#include HEADER\n"), "");
    EXPECT_EQ(key("#include \"not_here.h\"\n"), "");
    std::filesystem::create_directories(folder.path / "more");
    write_text_file(folder.path / "more" / "not_here.h", "int d;\n", Overwrite::no);
    EXPECT_NE(key("#include \"not_here.h\"\n", {"-I" + (folder.path / "more").string()}), "");
}

}  // namespace
}  // namespace occupipe::analysis
