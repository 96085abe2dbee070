// SPDX-License-Identifier: MIT
// The parts of `occupipe run` by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "ask/answer.h"
#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/files.h"
#include "isa/containers/device_images.h"
#include "isa/machine/memory.h"
#include "program/cuda_error.h"
#include "program/device_facts.h"
#include "program/executable.h"
#include "program/fat_binary.h"
#include "program/journal.h"
#include "program/predict_launch.h"
#include "program/settings.h"
#include "published/shelf.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::program {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

const std::string containers = OCCUPIPE_SOURCE_DIR "/tests/containers/";

template <typename Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ProgramMemory, HostBuffersLieWhereTheyAre) {
    isa::GlobalMemory memory;
    std::vector<std::byte> bytes(100);
    const auto& buffer = memory.add_host("pinned", bytes);
    EXPECT_EQ(buffer.address, reinterpret_cast<std::uint64_t>(bytes.data()));
    EXPECT_EQ(memory.find(buffer.address + 90, 10), &buffer);
    EXPECT_EQ(memory.find(buffer.address + 91, 10), nullptr);
    EXPECT_THAT(message_of([&] { memory.add_host("other", std::span(bytes).subspan(50)); }),
                HasSubstr("overlaps"));
    EXPECT_THAT(message_of([&] { memory.add_host("pinned", {}); }), HasSubstr("no bytes"));
}

TEST(ProgramMemory, WhatIsReleasedIsGoneAndItsAddressStaysFree) {
    isa::GlobalMemory memory;
    const std::uint64_t first = memory.add("a", 1000).address;
    const auto& second = memory.add("b", 1000);
    memory.remove(*memory.named("a"));
    EXPECT_EQ(memory.named("a"), nullptr);
    EXPECT_EQ(memory.find(first, 1), nullptr);
    EXPECT_EQ(memory.find(second.address, 1000), &second);
    EXPECT_GT(memory.add("a", 1000).address, second.address);
    EXPECT_EQ(memory.nearest(first), &second);
}

const Shape heat{
    .kernel = "_Z4heatPfi", .grid = {4, 2, 1}, .block = {32, 8, 1}, .shared_bytes = 16};

PredictedLaunch taking(double seconds) {
    return {
        .seconds = seconds, .limited_by = "mem", .dram_bytes = 4096.0, .why_not = {}, .notes = {}};
}

TEST(ProgramJournal, AddsUpWhatWasWritten) {
    const test::TemporaryFolder folder;
    {
        Journal journal(folder.path, "./heat 3", {"A", "B"});
        const std::size_t first = journal.predicted(heat, 100, 0.5, {taking(1e-3), taking(2e-3)});
        journal.repeated(first, 110, 0.1);
        Shape other = heat;
        other.grid = {1, 1, 1};
        PredictedLaunch none;
        none.why_not = "the profile lacks it";
        journal.predicted(other, 10, 0.1, {none, taking(5e-4)});
        journal.repeated(first, 98, 0.1);
        const std::size_t large = journal.predicted(heat, 1000, 0.5, {taking(7e-3), taking(9e-3)});
        journal.repeated(large, 1010, 0.5);
        journal.error("cudaErrorAssert", "line \"3\"");
        journal.refused("cudaGraphCreate");
        journal.copies({{CopyKind::memset, {.count = 2, .bytes = 64}}});
    }
    const Journals all = read_journals(folder.path);
    EXPECT_EQ(all.launches(), 6U);
    ASSERT_EQ(all.shapes.size(), 2U);
    const ShapeTotal& first = all.shapes.front();
    EXPECT_EQ(first.shape, heat);
    EXPECT_EQ(first.launches, 5U);
    EXPECT_EQ(first.predicted, 2U);
    EXPECT_EQ(first.warp_instructions, 2318U);
    EXPECT_EQ(first.unlike, 1U);
    EXPECT_DOUBLE_EQ(first.seconds.at(0).value(), 17e-3);
    EXPECT_DOUBLE_EQ(first.seconds.at(1).value(), 24e-3);
    EXPECT_FALSE(all.shapes[1].seconds.at(0).has_value());
    EXPECT_DOUBLE_EQ(all.shapes[1].seconds.at(1).value(), 5e-4);
    EXPECT_THAT(all.errors, ::testing::ElementsAre("cudaErrorAssert: line \"3\""));
    EXPECT_EQ(all.copies.at(CopyKind::memset).bytes, 64U);
}

TEST(ProgramJournal, FindingsAreOneForEachPlace) {
    const test::TemporaryFolder folder;
    {
        Journal journal(folder.path, "./heat", {"A"});
        Finding one{.kind = FindingKind::race,
                    .kernel = "k",
                    .place = "k.cu:3",
                    .count = 2,
                    .text = "first"};
        journal.finding(one);
        one.text = "second";
        one.count = 40;
        journal.finding(one);
        one.place = "k.cu:4";
        journal.finding(one);
        one.kind = FindingKind::unwritten;
        journal.finding(one);
        // Of the host: what was called is all that there is.
        Finding call{.kind = FindingKind::memory_error,
                     .kernel = "",
                     .place = "",
                     .count = 1,
                     .text = "freed twice"};
        journal.finding(call);
        call.text = "copied too far";
        journal.finding(call);
        journal.span({.stream = 3,
                      .kernel = "",
                      .copy = CopyKind::memset,
                      .bytes = 8,
                      .start = 1.5,
                      .seconds = 0.25});
        journal.stopped();
    }
    const Journals all = read_journals(folder.path);
    ASSERT_EQ(all.findings.size(), 5U);
    EXPECT_EQ(all.findings[0].count, 42U);
    EXPECT_EQ(all.findings[0].text, "first");
    EXPECT_EQ(all.findings[1].place, "k.cu:4");
    EXPECT_EQ(all.findings[2].kind, FindingKind::unwritten);
    EXPECT_EQ(all.findings[4].text, "copied too far");
    EXPECT_TRUE(all.stopped);
    ASSERT_EQ(all.spans.size(), 1U);
    EXPECT_EQ(all.spans[0].stream, 3U);
    EXPECT_EQ(all.spans[0].copy, CopyKind::memset);
    EXPECT_EQ(all.spans[0].seconds, 0.25);
    EXPECT_TRUE(all.spans[0].predicted);
}

TEST(ProgramJournal, ALineThatWasCutOffIsPassedOverAndWhatWasAtWorkTold) {
    const test::TemporaryFolder folder;
    {
        Journal journal(folder.path, "./heat", {"A"});
        journal.begin(heat);
        journal.predicted(heat, 100, 0.5, {taking(1e-3)});
        journal.begin(heat);
    }
    fs::path path;
    for (const auto& entry : fs::directory_iterator(folder.path)) path = entry.path();
    const std::string whole = read_text_file(path);
    // Wherever it was cut off, what stands before is read.
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        std::ofstream(path) << whole.substr(0, size);
        const Journals all = read_journals(folder.path);
        EXPECT_LE(all.launches(), 1U);
        EXPECT_LE(all.at_work.size(), 1U);
    }
    const Journals all = read_journals(folder.path);
    EXPECT_EQ(all.launches(), 1U);
    ASSERT_EQ(all.at_work.size(), 1U);
    std::ofstream(path) << "words\n";
    EXPECT_THAT(message_of([&] { read_journals(folder.path); }), HasSubstr("no line of a journal"));
}

TEST(ProgramExecutable, IsLookedAtBeforeItIsStarted) {
    const Executable host = look_at_executable(OCCUPIPE_HOST_PROGRAM);
    EXPECT_TRUE(host.is_elf);
    EXPECT_EQ(host.needs_like("libcudart.so."), "libcudart.so.13");
    EXPECT_EQ(why_not_run(host, "host"), "");
    const test::TemporaryFolder folder;
    const std::string script = (folder.path / "script").string();
    std::ofstream(script) << "#!/bin/sh\n";
    EXPECT_FALSE(look_at_executable(script).is_elf);
    EXPECT_THAT(message_of([&] { find_program(script); }), HasSubstr("chmod +x"));
    std::string broken = read_text_file(OCCUPIPE_HOST_PROGRAM);
    broken.resize(100);
    std::ofstream(script, std::ios::binary) << broken;
    EXPECT_THAT(message_of([&] { look_at_executable(script); }), HasSubstr("a broken ELF file"));
    EXPECT_TRUE(find_program("sh").is_absolute());
}

TEST(ProgramExecutable, WhatCannotBeRunIsToldWhatMendsIt) {
    EXPECT_THAT(why_not_run({.is_elf = true, .has_device_code = true}, "x"),
                HasSubstr("nvcc -cudart shared"));
    EXPECT_EQ(why_not_run({.is_elf = true, .needs = {"libcudart.so.12"}}, "x"), "");
    EXPECT_THAT(why_not_run({.is_elf = true, .needs = {"libcudart.so.11.0"}}, "x"),
                HasSubstr("linked with libcudart.so.11.0; libcudart.so.12 and libcudart.so.13"));
    EXPECT_THAT(
        why_not_run({.is_elf = true, .needs = {"libcuda.so.1"}, .has_device_code = true}, "x"),
        HasSubstr("driver's API"));
    EXPECT_EQ(why_not_run({.is_elf = true, .needs = {"libc.so.6"}}, "x"), "");
    EXPECT_THAT(needed_closed_libraries({.needs = {"libcublas.so.13", "libm.so.6"}}),
                ::testing::ElementsAre("libcublas.so.13"));
}

TEST(ProgramFatBinary, TheDriversChoiceIsMade) {
    const auto images = isa::device_images(read_text_file(containers + "lz4.fatbin"));
    EXPECT_EQ(*choose_code(images, 75, "x").file.cubin.architecture, 75);
    EXPECT_EQ(choose_code(images, 75, "x").note, "");
    EXPECT_EQ(*choose_code(images, 90, "x").file.cubin.architecture, 90);
    const ChosenCode other = choose_code(images, 86, "x");
    EXPECT_EQ(*other.file.cubin.architecture, 90);
    EXPECT_THAT(other.note, HasSubstr("no machine code for sm_86"));
    EXPECT_THAT(message_of([] { choose_code({}, 86, "x"); }), HasSubstr("no code that runs"));
}

TEST(ProgramFatBinary, AWrapperLeadsToItsBytes) {
    const std::string bytes = read_text_file(containers + "zstd.fatbin");
    struct {
        std::uint32_t magic, version;
        const char* data;
        const void* more;
    } wrapper{0x466243b1, 1, bytes.data(), nullptr};
    EXPECT_EQ(wrapped_bytes(&wrapper), bytes);
    wrapper.magic = 1;
    EXPECT_EQ(wrapped_bytes(&wrapper), "");
}

TEST(ProgramDevice, IsTheProfiles) {
    const DeviceFacts facts = device_facts(analysis::named_profile("rtx-3080"));
    EXPECT_EQ(facts.name, "NVIDIA GeForce RTX 3080");
    EXPECT_EQ(facts.architecture, 86);
    EXPECT_EQ(facts.cores, 68);
    EXPECT_EQ(facts.memory_bytes, std::uint64_t{10} << 30);
    EXPECT_FALSE(facts.memory_is_assumed);
    EXPECT_DOUBLE_EQ(facts.l2_bytes.value(), 5242880);
    EXPECT_GT(facts.dram_bytes_per_second.value(), 500e9);  // what was reached
    EXPECT_LT(facts.dram_bytes_per_second.value(), 760e9);  // of the data sheet's
    EXPECT_TRUE(
        device_facts(analysis::named_profile("sm_86:cores=46,clock_hz=1.77e9,dram=448e9,l2=4MiB"))
            .memory_is_assumed);
    EXPECT_THAT(message_of([] { device_facts(analysis::named_profile("gtx-1060")); }),
                HasSubstr("is not executed"));
}

TEST(ProgramDevice, TheMemoryOfEveryCardIsKnown) {
    for (const analysis::ShelfCard& card : analysis::built_in_shelf().cards) {
        if (card.name.starts_with("AMD")) continue;
        EXPECT_FALSE(device_facts(analysis::shelf_profile(card)).memory_is_assumed) << card.name;
    }
    EXPECT_EQ(device_facts(analysis::named_profile("h200")).memory_bytes, std::uint64_t{141} << 30);
}

TEST(ProgramSettings, ComeBackAsTheyWere) {
    const test::TemporaryFolder folder;
    Settings settings;
    settings.profiles = {analysis::named_profile("rtx-3080"), analysis::named_profile("a100")};
    settings.launch_instructions = 12;
    settings.every_launch = true;
    settings.on_error = OnError::report;
    settings.sample = settings.check = settings.predicted_clock = settings.trace = true;
    write_settings(folder.path, settings);
    const Settings read = read_settings(folder.path);
    EXPECT_EQ(read.profiles, settings.profiles);
    EXPECT_EQ(read.launch_instructions, 12U);
    EXPECT_TRUE(read.every_launch);
    EXPECT_EQ(read.on_error, OnError::report);
    EXPECT_TRUE(read.sample && read.check && read.predicted_clock && read.trace);
    write_settings(folder.path, {.profiles = settings.profiles});
    const Settings plain = read_settings(folder.path);
    EXPECT_EQ(plain.on_error, OnError::as_cuda);
    EXPECT_FALSE(plain.sample || plain.check || plain.predicted_clock || plain.trace);
    std::ofstream(folder.path / "run.json") << "{}";
    EXPECT_THAT(message_of([&] { read_settings(folder.path); }), HasSubstr("run.json"));
}

TEST(ProgramErrors, HaveTheNumbersAndNamesOfCuda) {
    EXPECT_STREQ(find_error(700)->name, "cudaErrorIllegalAddress");
    EXPECT_STREQ(find_error(2)->text, "out of memory");
    EXPECT_EQ(find_error(12345), nullptr);
}

// One launch of `sums`, in a memory of the test's own.
struct OneLaunch {
    explicit OneLaunch(std::uint32_t groups) : n(static_cast<int>(groups) * 64) {
        const auto images = isa::device_images(read_text_file(containers + "zstd.fatbin"));
        file = choose_code(images, 75, "sums").file;
        module.emplace(file.cubin, memory);
        in = &memory.add("in", static_cast<std::uint64_t>(n) * 4);
        out = &memory.add("out", std::uint64_t{groups} * 4);
        for (int i = 0; i < n; ++i) {
            const auto value = static_cast<float>(i % 5);
            std::memcpy(in->data + 4 * i, &value, 4);
        }
        kernel = &file.cubin.kernel("sums");
        parameters.resize(20);
        std::memcpy(parameters.data(), &in->address, 8);
        std::memcpy(parameters.data() + 8, &out->address, 8);
        std::memcpy(parameters.data() + 16, &n, 4);
    }
    LaunchToPredict launch() {
        return {.file = &file,
                .module = &*module,
                .kernel = kernel,
                .shape = {.grid = {static_cast<std::uint32_t>(n / 64), 1, 1}, .block = {64, 1, 1}},
                .parameters = parameters,
                .options = {}};
    }
    std::vector<std::byte> result() const { return {out->data, out->data + out->size}; }

    int n;
    isa::GlobalMemory memory;
    analysis::KernelFile file;
    std::optional<isa::LoadedModule> module;
    const isa::GlobalMemory::Buffer *in, *out;
    const isa::Kernel* kernel;
    std::vector<std::byte> parameters;
};

TEST(ProgramPrediction, ExecutesEveryGroupOnceAndPredictsAsPredictDoes) {
    const GpuProfile profile = analysis::named_profile("rtx-2080-ti");
    for (const std::uint32_t groups : {1U, 3U, 20U, 500U, 5000U}) {
        OneLaunch watched(groups), plain(groups);
        const ExecutedAndPredicted made = execute_and_predict(watched.launch(), {profile});
        const auto launch = plain.launch();
        const isa::Execution alone = isa::execute(*launch.module, *launch.kernel, launch.shape,
                                                  launch.parameters, launch.options);
        EXPECT_EQ(watched.result(), plain.result()) << groups;
        EXPECT_EQ(made.execution.groups, groups);
        EXPECT_EQ(made.execution.counts, alone.counts) << groups;
        EXPECT_EQ(made.execution.warp_instructions, alone.warp_instructions);
        EXPECT_EQ(made.execution.read, alone.read);
        EXPECT_EQ(made.execution.written, alone.written);
        EXPECT_THAT(alone.read, ::testing::Contains(watched.in->address));
        EXPECT_THAT(alone.written, ::testing::ElementsAre(watched.out->address));
        ASSERT_EQ(made.predictions.size(), 1U);
        EXPECT_EQ(made.predictions[0].why_not, "");
        ASSERT_TRUE(made.predictions[0].seconds.has_value());

        // The road of `occupipe predict`, in a memory of its own.
        analysis::Question question;
        question.gpu = "rtx-2080-ti";
        question.source.code = {.kernels = containers + "zstd.fatbin",
                                .architecture = "sm_75",
                                .kernel = "sums",
                                .grid = std::to_string(groups),
                                .block = "64"};
        question.source.code.arguments = "in=f32[" + std::to_string(groups * 64) +
                                         "]:ones out=f32[" + std::to_string(groups) + "] " +
                                         std::to_string(groups * 64);
        question.run.estimate = true;
        const analysis::Answer answer = analysis::answer(question, {});
        EXPECT_NEAR(*made.predictions[0].seconds / answer.prediction(0, 0).seconds, 1, 0.01)
            << groups;
        EXPECT_EQ(made.predictions[0].limited_by, answer.prediction(0, 0).limited_by);
    }
}

TEST(ProgramPrediction, WhatCannotBePredictedIsExecutedAllTheSame) {
    GpuProfile bare = analysis::named_profile("rtx-2080-ti");
    bare.instructions.clear();
    OneLaunch watched(30), plain(30);
    const ExecutedAndPredicted made = execute_and_predict(watched.launch(), {bare});
    const auto launch = plain.launch();
    isa::execute(*launch.module, *launch.kernel, launch.shape, launch.parameters, launch.options);
    EXPECT_EQ(watched.result(), plain.result());
    EXPECT_FALSE(made.predictions.at(0).seconds.has_value());
    EXPECT_NE(made.predictions[0].why_not, "");
}

TEST(ProgramPrediction, AnErrorOfTheKernelIsTheCallers) {
    OneLaunch one(30);
    one.n += 64;
    std::memcpy(one.parameters.data() + 16, &one.n, 4);
    try {
        execute_and_predict(one.launch(), {analysis::named_profile("rtx-2080-ti")});
        FAIL() << "it reads outside";
    } catch (const isa::ExecutionError& error) {
        EXPECT_EQ(error.fault, isa::ExecutionError::Fault::outside);
        EXPECT_EQ(error.address, one.in->address + one.in->size);
    }
}

}  // namespace
}  // namespace occupipe::program
