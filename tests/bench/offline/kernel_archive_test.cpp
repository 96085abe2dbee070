// SPDX-License-Identifier: MIT
#include "bench/offline/kernel_archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "bench/offline/tar.h"
#include "core/error.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using ::testing::HasSubstr;

const std::string key_a(32, 'a');
const std::string key_b = "0123456789abcdef0123456789abcdef";

KernelArchive example() {
    KernelArchive archive;
    archive.header = {.program = "0.1.0",
                      .texts = "xxh128:00",
                      .architecture = "sm_90",
                      .compiler = "NVRTC 13.0"};
    archive.kernels[key_a] = {
        .name = "fma", .ptx = "ptx text", .cubin = std::string("\177ELF\0b", 6)};
    archive.kernels[key_b] = {.name = "bad", .error = "NVRTC: no \"such\" thing\n"};
    return archive;
}

std::string header_and_kernels(const KernelArchive& archive) {
    std::string bytes = format_archive_header(archive.header);
    for (const auto& [key, kernel] : archive.kernels) bytes += format_stored_kernel(key, kernel);
    return bytes;
}

std::string bytes_of(const KernelArchive& archive) {
    return header_and_kernels(archive) + tar_end();
}

std::string refusal(const std::string& bytes) {
    try {
        parse_kernel_archive(bytes, "k.tar");
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(KernelArchive, ReadsWhatItWrites) {
    const KernelArchive archive = example();
    const KernelArchive read = parse_kernel_archive(bytes_of(archive), "k.tar");
    EXPECT_EQ(read.header, archive.header);
    EXPECT_EQ(read.kernels, archive.kernels);
}

// The header's texts and the kernels' names are for comparing and for people, and have no hash.
std::map<std::string, StoredKernel> nameless(KernelArchive archive) {
    for (auto& [key, kernel] : archive.kernels) kernel.name.clear();
    return archive.kernels;
}

// Whatever is wrong with a file, it is refused or its kernels are the same as before.
TEST(KernelArchive, NoDamagedByteIsBelieved) {
    const auto kernels = nameless(example());
    const std::string bytes = bytes_of(example());
    int refused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const char flip : {'\1', '\x80'}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ flip);
            try {
                EXPECT_EQ(nameless(parse_kernel_archive(damaged, "k.tar")), kernels) << at;
            } catch (const InputError& error) {
                EXPECT_THAT(error.what(), ::testing::StartsWith("k.tar"));
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 5000);
}

TEST(KernelArchive, NoShortenedFileIsBelieved) {
    const std::string bytes = bytes_of(example());
    for (std::size_t length = 0; length < bytes.size() - 512; ++length) {
        EXPECT_NE(refusal(bytes.substr(0, length)), "accepted") << length;
    }
    EXPECT_EQ(refusal(bytes), "accepted");
}

TEST(KernelArchive, WhatWasCutShortKeepsItsWholeKernels) {
    const KernelArchive archive = example();
    const std::string bytes = header_and_kernels(archive);
    const std::size_t header = format_archive_header(archive.header).size();
    for (std::size_t length = header; length + 512 <= bytes.size(); ++length) {
        const KernelArchive read = parse_partial_archive(bytes.substr(0, length), "k.partial");
        EXPECT_EQ(read.header, archive.header);
        for (const auto& [key, kernel] : read.kernels) EXPECT_EQ(kernel, archive.kernels.at(key));
        EXPECT_LT(read.kernels.size(), 2u);
    }
    EXPECT_EQ(parse_partial_archive(bytes, "k.partial").kernels, archive.kernels);
}

TEST(KernelArchive, EachFaultIsNamed) {
    EXPECT_THAT(refusal("\x1f\x8b rest"), HasSubstr("is compressed; decompress it first"));
    EXPECT_THAT(refusal("{}"), HasSubstr("truncated tar header"));
    EXPECT_THAT(refusal(tar_end()), HasSubstr("kernels.json: is missing"));
    const std::string header = format_archive_header(example().header);
    EXPECT_THAT(refusal(header + tar_entry("readme.txt", "x") + tar_end()),
                HasSubstr("readme.txt: does not belong"));
    const std::string ptx = tar_entry(key_a + ".ptx", "x");
    EXPECT_THAT(refusal(header + ptx + tar_end()), HasSubstr(key_a + ".json: is missing"));
    EXPECT_THAT(refusal(header + ptx + ptx + tar_end()), HasSubstr("duplicate entry"));
    const std::string json = tar_entry(key_a + ".json", R"({"name": "fma"})");
    EXPECT_THAT(refusal(header + ptx + json + tar_end()), HasSubstr("does not list it"));
    EXPECT_THAT(refusal(header + json + tar_end()), HasSubstr("ptx and cubin, or else an error"));
    const std::string other = tar_entry("kernels.json", R"({"format": "occupipe-kernels/2"})");
    EXPECT_THAT(refusal(other + tar_end()),
                HasSubstr("'occupipe-kernels/2' is not occupipe-kernels/1"));
}

// What the system's own tar makes of the same files, folders and all.
TEST(KernelArchive, AFolderAndAnArchiveMadeByTarAreReadToo) {
    const test::TemporaryFolder folder;
    const KernelArchive archive = example();
    const std::filesystem::path tar = folder.path / "k.tar", unpacked = folder.path / "k";
    std::ofstream(tar, std::ios::binary) << bytes_of(archive);
    std::filesystem::create_directory(unpacked);
    const std::string unpack = fmt::format("tar -C {} -xf {}", unpacked.string(), tar.string());
    ASSERT_EQ(std::system(unpack.c_str()), 0);
    EXPECT_EQ(read_kernel_archive(unpacked).kernels, archive.kernels);
    const std::string pack = fmt::format("tar -C {} -cf {} k", folder.path.string(), tar.string());
    ASSERT_EQ(std::system(pack.c_str()), 0);
    EXPECT_EQ(read_kernel_archive(tar).kernels, archive.kernels);
}

}  // namespace
}  // namespace occupipe::bench
