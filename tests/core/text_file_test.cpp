// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace occupipe {
namespace {

namespace fs = std::filesystem;

class TextFile : public testing::Test {
protected:
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    const test::TemporaryFolder own_;
    const fs::path& folder_ = own_.path;
};

TEST_F(TextFile, ReadsBackWhatWasWritten) {
    const std::string text = std::string("Λ\n\0x", 5) + std::string(200000, 'y');
    write_text_file(folder_ / "a", text, Overwrite::no);
    EXPECT_EQ(read_text_file(folder_ / "a"), text);
    EXPECT_EQ(files(), 1U);
}

TEST_F(TextFile, OfADeviceHasToEnd) {
    EXPECT_EQ(read_text_file("/dev/null"), "");
    EXPECT_THROW(read_text_file("/dev/zero"), InputError);
}

TEST_F(TextFile, IsNotOverwrittenUnlessTold) {
    write_text_file(folder_ / "a", "1", Overwrite::no);
    EXPECT_THROW(write_text_file(folder_ / "a", "2", Overwrite::no), InputError);
    EXPECT_EQ(read_text_file(folder_ / "a"), "1");
    write_text_file(folder_ / "a", "2", Overwrite::yes);
    EXPECT_EQ(read_text_file(folder_ / "a"), "2");
    EXPECT_EQ(files(), 1U);
}

TEST_F(TextFile, AFolderThatIsNotThereIsNoPlaceToWrite) {
    EXPECT_THROW(write_text_file(folder_ / "no" / "a", "1", Overwrite::no), std::runtime_error);
    EXPECT_EQ(files(), 0U);
}

TEST_F(TextFile, OnlyRegularFilesAreReplaced) {
    fs::create_directory(folder_ / "d");
    EXPECT_THROW(write_text_file(folder_ / "d", "1", Overwrite::yes), InputError);
    EXPECT_THROW(write_text_file("/dev/null", "1", Overwrite::yes), InputError);
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(TextFile, ALinkKeepsPointingWhereItPoints) {
    write_text_file(folder_ / "a", "1", Overwrite::no);
    fs::create_symlink("a", folder_ / "link");
    write_text_file(folder_ / "link", "2", Overwrite::yes);
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_text_file(folder_ / "a"), "2");
}

TEST_F(TextFile, WhatCannotBeReadIsNamed) {
    for (const fs::path& path : {folder_, folder_ / "missing"}) {
        try {
            read_text_file(path);
            FAIL();
        } catch (const InputError& fault) {
            EXPECT_EQ(std::string(fault.what()).find(path.string() + ": cannot read: "), 0U);
        }
    }
}

TEST(ContentHash, IsXxh3With128Bits) {
    // The value that the algorithm's authors publish for empty input.
    EXPECT_EQ(content_hash(""), "xxh128:99aa06d3014798d86001c324468d497f");
    EXPECT_NE(content_hash("a"), content_hash("b"));
}

TEST(FileKinds, AreToldByContent) {
    EXPECT_EQ(file_kind("format: occupipe-profile/1\n", "f"), FileKind::profile);
    EXPECT_EQ(file_kind("# x\nformat: occupipe-kernel/9\n", "f"), FileKind::kernel);
    EXPECT_EQ(file_kind(R"( {"format": "occupipe-profile/1"})", "f"), FileKind::profile);
    EXPECT_EQ(file_kind("occupipe_launches: 1\n", "f"), FileKind::launches);
    EXPECT_EQ(file_kind(R"({"context": {}, "benchmarks": []})", "f"), FileKind::measurements);
    for (const char* text : {"", "a: 1\n", "format: other/1\n", "{}", "[]", "{", "just words"}) {
        EXPECT_THROW(file_kind(text, "f"), InputError) << text;
    }
}

}  // namespace
}  // namespace occupipe
