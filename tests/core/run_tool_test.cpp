// SPDX-License-Identifier: MIT
#include "core/run_tool.h"

#include <gtest/gtest.h>

#include "core/files/files.h"

namespace occupipe {
namespace {

namespace fs = std::filesystem;

TEST(RunTool, SaysWhatTheToolSaidAndHowItEnded) {
    const WorkFolder folder;
    const fs::path said = folder.path / "said.txt";
    EXPECT_EQ(run_tool("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"}, said), 3);
    EXPECT_EQ(read_text_file(said), "out\nerr\n");
    EXPECT_EQ(run_tool("/bin/sh", {"-c", "kill -9 $$"}, said), -1);
}

TEST(RunTool, WhatTheToolLeavesBehindGoesWithTheFolder) {
    fs::path left;
    {
        const WorkFolder folder;
        const fs::path said = folder.path / "said.txt";
        EXPECT_EQ(run_tool("/bin/sh", {"-c", "mktemp"}, said, folder.path), 0);
        left = read_text_file(said);
        left = left.string().substr(0, left.string().find('\n'));
        EXPECT_TRUE(fs::exists(left));
        EXPECT_EQ(left.parent_path(), folder.path);
    }
    EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace occupipe
