// SPDX-License-Identifier: MIT
// What CONTRIBUTING.md says that adding a row, or a kind of access, takes.
#include "bench/instructions/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "bench/cuda/unsupported.h"
#include "bench/kernel/kernel_source.h"
#include "core/files/files.h"

namespace occupipe::bench {
namespace {

std::string text_of(const Row& row) {
    return kernel_source({.first = &row, .chains = 1, .unroll = 1}).body;
}

TEST(Catalogue, ARowOfBothDialectsIsTheWholeInstruction) {
    const CatalogueRow planted = {
        .id = "planted.f64",
        .type = DataType::f64,
        .operands = {0.5, 0.75, 1},
        .meaning = "a planted instruction",
        .cuda = {.ptx = "@go planted.rn.f64 %0, %0, %1, %2;", .sass = "DPLANT", .since = 80},
        .opencl = {.step = "$ = planted($, a, b); FENCE_F64($)", .x86 = "plantsd"}};
    const Row cuda = in_cuda(planted);
    EXPECT_NE(text_of(cuda).find(R"(OP_D("@go planted.rn.f64 %0, %0, %1, %2;", x0, a, b);)"),
              std::string::npos)
        << text_of(cuda);
    EXPECT_EQ(cuda.ptx, "planted.rn.f64");  // counted in PTX
    EXPECT_EQ(cuda.sass, "DPLANT");
    EXPECT_EQ(cuda_unsupported(cuda, 80), std::nullopt);
    EXPECT_EQ(cuda_unsupported(cuda, 75), "measured on GPUs of sm_80 and later only");
    const Row opencl = in_opencl(planted);
    EXPECT_NE(text_of(opencl).find("x0 = planted(x0, a, b); FENCE_F64(x0);"), std::string::npos)
        << text_of(opencl);
    EXPECT_EQ(opencl.x86, "plantsd");
    EXPECT_TRUE(opencl.foldable);
    EXPECT_EQ(opencl.b, 0.75);
}

TEST(Catalogue, ARowOfOneDialectSaysWhyTheOtherHasNone) {
    const CatalogueRow cuda_only = {.id = "planted.b32",
                                    .type = DataType::b32,
                                    .meaning = "a planted instruction",
                                    .cuda = {.ptx = "planted.b32 %0, %0;", .sass = "PLANT"},
                                    .opencl = {.none = "OpenCL C has no planted instruction"}};
    EXPECT_NE(text_of(in_cuda(cuda_only)).find(R"(OP_R("planted.b32 %0, %0;", x0, a, b);)"),
              std::string::npos);
    EXPECT_EQ(in_opencl(cuda_only).step, "");
    EXPECT_EQ(in_opencl(cuda_only).no_opencl, "OpenCL C has no planted instruction");
    const CatalogueRow opencl_only = {.id = "planted.f32x4",
                                      .type = DataType::f32x4,
                                      .meaning = "a planted instruction",
                                      .cuda = {.none = "PTX has no planted instruction"},
                                      .opencl = {.step = "$ = planted($); FENCE_VECTOR($)"}};
    EXPECT_EQ(cuda_unsupported(in_cuda(opencl_only), 90), "PTX has no planted instruction");
    EXPECT_EQ(in_cuda(opencl_only).step, "");
}

// Every row has a form, or a reason, in each dialect; a form has what its receipt counts.
TEST(Catalogue, EveryRowIsComplete) {
    for (const Row& row : instruction_table()) {
        EXPECT_NE(row.no_cuda.empty(), row.step.empty()) << row.id;
        EXPECT_EQ(row.no_cuda.empty(), !row.ptx.empty()) << row.id;
        EXPECT_EQ(row.ptx.find_first_of(" {;@%"), row.ptx.npos) << row.id << ": " << row.ptx;
        const bool looped = row.no_cuda.empty() && !measures_launches(row.pattern);
        EXPECT_TRUE(!looped || !row.sass.empty()) << row.id;
    }
    for (const Row& row : opencl_table()) {
        EXPECT_NE(row.no_opencl.empty(), row.step.empty()) << row.id;
    }
}

struct Source {
    std::string name;  // from the root
    std::string text;
};

std::vector<Source> sources(const std::vector<std::string>& folders) {
    const std::filesystem::path root = OCCUPIPE_SOURCE_DIR;
    const std::set<std::string> kinds = {".cpp", ".h", ".cuh", ".cl"};
    std::vector<Source> all;
    for (const std::string& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            if (!kinds.contains(entry.path().extension())) continue;
            all.push_back({entry.path().lexically_relative(root), read_text_file(entry.path())});
        }
    }
    return all;
}

bool names(const std::string& text, const std::string& word) {
    const auto of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !of_word(text[at - 1]);
        if (begins && (end == text.size() || !of_word(text[end]))) return true;
    }
    return false;
}

// Of bench's other sources only those name an instruction that choose among them: which to measure
// first, mix, or use as a witness. None knows anything of one that is not in its row.
TEST(Catalogue, ARowStandsInOneFile) {
    const std::set<std::string> choosers = {"bench/kernel/order.cpp", "bench/kernel/sweep.cpp",
                                            "bench/harness/point_counters.cpp",
                                            "bench/opencl/opencl_backend.cpp"};
    const std::vector<Source> all = sources({"bench"});
    EXPECT_GT(all.size(), 80u);
    for (const Row& row : instruction_table()) {
        const std::string quoted = '"' + std::string(row.id) + '"';
        int rows = 0;
        for (const Source& source : all) {
            if (!source.name.ends_with(".cpp")) continue;  // headers: examples in comments
            if (source.text.find(".id = " + quoted) != std::string::npos) {
                ++rows;
            } else if (!choosers.contains(source.name) &&
                       !source.name.starts_with("bench/instructions/")) {
                EXPECT_EQ(source.text.find(quoted), std::string::npos)
                    << source.name << " names " << row.id;
            }
        }
        EXPECT_EQ(rows, row.group_warps > 1 ? 0 : 1) << row.id;  // those are made from tables
    }
}

// The two chases that came last: through constant memory and through a thread's own.
TEST(Catalogue, AKindOfAccessTouchesAtMostSixFiles) {
    const std::vector<Source> all =
        sources({"core", "bench", "fit", "sim", "plot", "analysis", "report", "cli"});
    const auto touched = [&](const std::string& pattern, const std::string& macro) {
        std::set<std::string> files;
        for (const Source& source : all) {
            if (names(source.text, pattern) || names(source.text, macro)) files.insert(source.name);
        }
        return files;
    };
    for (const auto& files :
         {touched("constant_chase", "CONSTANT_START"), touched("local_chase", "LOCAL_START")}) {
        std::string listed;
        for (const std::string& file : files) listed += "\n" + file;
        EXPECT_LE(files.size(), 6u) << listed;
        for (const char* one : {"bench/instructions/pattern.h", "bench/instructions/pattern.cpp",
                                "bench/instructions/memory.cpp", "bench/kernel/kernel_source.cpp",
                                "bench/cuda/device/wide_walks.cuh"}) {
            EXPECT_TRUE(files.contains(one)) << one;
        }
    }
}

}  // namespace
}  // namespace occupipe::bench
