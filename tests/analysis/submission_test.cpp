// SPDX-License-Identifier: MIT
// `check --submit` on the CPU's results of the tree, and on copies with one fault each.
#include "analysis/measured/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::analysis {
namespace {

using cli::testing::run_program;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path results = OCCUPIPE_SOURCE_DIR "/results/cpu-amd-zen4-pocl";

// Three instructions of the CPU's raw file: as it came from the device, only shorter.
std::string short_raw_file() {
    auto raw = nlohmann::ordered_json::parse(read_text_file(results / "2026-11-21.json"));
    auto kept = nlohmann::ordered_json::array();
    for (const auto& row : raw["benchmarks"]) {
        const auto name = row["name"].get<std::string>();
        for (const char* subject : {"add.f32/", "mul.f32/", "fma.f32/"})
            if (name.starts_with(subject)) kept.push_back(row);
    }
    raw["benchmarks"] = kept;
    return raw.dump(1);
}

// With the profile that the program's own `fit` writes of it.
struct Files {
    test::TemporaryFolder folder;
    std::string raw = (folder.path / "raw.json").string();
    std::string profile = (folder.path / "profile.yaml").string();

    Files() {
        write_text_file(raw, short_raw_file(), Overwrite::no);
        const auto fitted = run_program({"fit", raw, "-o", profile});
        if (fitted.exit_code != 0) throw InputError(fitted.err);
    }
};

const Files& files() {
    static const Files made;
    return made;
}

const Submission& good() {
    static const Submission submission = {
        .profile = {"profile.yaml", read_text_file(files().profile)},
        .measurements = {{"raw.json", read_text_file(files().raw)}},
        .receipts = {}};
    return submission;
}

// The line of add.f32's λ.
std::string cpi_line(const std::string& profile) {
    const std::size_t from = profile.find("cpi: {value: ", profile.find("  add.f32:\n"));
    return profile.substr(from, profile.find(',', from) - from);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw InputError("the file has no " + from);
    return text.replace(at, from.size(), to);
}

TEST(Submission, AProfileAsFittedHasNoFault) { EXPECT_THAT(submission_faults(good()), IsEmpty()); }

TEST(Submission, AnEditedNumberIsFoundUnderItsKey) {
    Submission edited = good();
    edited.profile.text =
        replaced(edited.profile.text, cpi_line(edited.profile.text), "cpi: {value: 0.4905598");
    EXPECT_THAT(submission_faults(edited),
                ElementsAre(AllOf(HasSubstr("profile.yaml: instructions.add.f32.cpi: "),
                                  HasSubstr("0.4905598"), HasSubstr("0.5005"))));
}

TEST(Submission, AnEntryLeftOutOrAddedIsFound) {
    Submission shorter = good();
    const std::size_t from = shorter.profile.text.find("  mul.f32:\n");
    const std::size_t to = shorter.profile.text.find("  fma.f32:\n");
    shorter.profile.text.erase(from, to - from);
    EXPECT_THAT(submission_faults(shorter),
                Contains(HasSubstr("instructions.mul.f32: is missing here")));
    Submission longer = good();
    longer.profile.text = replaced(
        longer.profile.text, "  mul.f32:\n",
        "  own.f32: {subsystem: alu, cpi: 1, latency: 2, source: literature}\n  mul.f32:\n");
    EXPECT_THAT(submission_faults(longer),
                AllOf(Contains(HasSubstr("instructions.own.f32: is not in what is fitted again")),
                      Contains(HasSubstr("instructions.own.f32.source: literature"))));
}

TEST(Submission, RawFilesAreNeededAndSayWhenAndHowTheyWereMade) {
    Submission alone = good();
    alone.measurements.clear();
    EXPECT_THAT(submission_faults(alone), ElementsAre(HasSubstr("give the measurement files")));
    Submission undated = good();
    std::string& raw = undated.measurements[0].text;
    raw = replaced(raw, "\"driver\"", "\"river\"");
    EXPECT_THAT(submission_faults(undated),
                Contains(AllOf(HasSubstr("raw.json"), HasSubstr("context.driver: missing"))));
}

TEST(Submission, ASimulatedDeviceIsNone) {
    Submission simulated = good();
    std::string& raw = simulated.measurements[0].text;
    raw = replaced(raw, R"("backend": "opencl")", R"("backend": "model")");
    EXPECT_THAT(submission_faults(simulated), Contains(HasSubstr("simulated device")));
}

TEST(Submission, CudaNeedsAReceiptOfEveryInstruction) {
    Submission cuda = good();
    std::string& raw = cuda.measurements[0].text;
    raw = replaced(raw, R"("backend": "opencl")", R"("backend": "cuda")");
    EXPECT_THAT(submission_faults(cuda), Contains(HasSubstr("no receipt of add.f32")));
    for (const auto& timing : parse_profile(cuda.profile.text, "p").instructions)
        cuda.receipts.push_back({timing.name + ".txt", timing.name + " chains:1 depth:16\n"});
    EXPECT_THAT(submission_faults(cuda), Not(Contains(HasSubstr("no receipt"))));
    cuda.receipts.pop_back();
    EXPECT_THAT(submission_faults(cuda), Contains(HasSubstr("no receipt of ")));
}

TEST(Submission, NothingMayTellWhoseMachineItWas) {
    const auto found = [](const std::string& line) {
        return personal_facts({"f", "first line\n" + line + "\nlast line\n"});
    };
    EXPECT_THAT(found("GPU-5b1e0f9a-0c1d-4e2f-8a3b-1234567890ab"),
                ElementsAre("f:2: holds a UUID"));
    EXPECT_THAT(found("\"serial_number\": \"0324518012345\""),
                ElementsAre("f:2: holds a serial number"));
    EXPECT_THAT(found("Serial: A1234"), ElementsAre("f:2: holds a serial number"));
    EXPECT_THAT(found("\"host_name\": \"anna-pc\","), ElementsAre("f:2: holds a host name"));
    EXPECT_THAT(found("\"executable\": \"/home/anna/occupipe\""),
                ElementsAre("f:2: holds a user's folder"));
    EXPECT_THAT(found("mac 00:1a:2b:3c:4d:5e"), ElementsAre("f:2: holds a hardware address"));
    // What raw files do hold.
    EXPECT_THAT(found("\"date\": \"2026-11-21T02:37:07+00:00\", \"order\": \"points shuffled, seed "
                      "20160217\""),
                IsEmpty());
    EXPECT_THAT(found("a serial chain of 16 steps"), IsEmpty());
    EXPECT_THAT(found("fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024"), IsEmpty());
}

TEST(Submission, DifferencesAreByKeyAndNotByTheLastDigits) {
    const std::string here = "a: 1\nb:\n  c: {value: 0.25, note: x1}\n  d: 3\n";
    EXPECT_THAT(profile_differences(here, here), IsEmpty());
    EXPECT_THAT(
        profile_differences(here, "a: 1\nb:\n  c: {value: 0.2500000001, note: x1}\n  d: 3\n"),
        IsEmpty());
    EXPECT_THAT(profile_differences(here, "a: 1\nb:\n  c: {value: 0.25001, note: x1}\n  d: 3\n"),
                ElementsAre(HasSubstr("b.c: ")));
    EXPECT_THAT(profile_differences(here, "a: 1\nb:\n  c: {value: 0.25, note: x2}\n  d: 3\n"),
                ElementsAre(HasSubstr("b.c: ")));
    EXPECT_THAT(profile_differences(here, "a: 1\nb:\n  d: 3\n"),
                ElementsAre("b.c: is not in what is fitted again"));
    EXPECT_THAT(profile_differences("provenance:\n  tool: occupipe 1\n",
                                    "provenance:\n  tool: occupipe 2\n"),
                IsEmpty());
}

TEST(SubmissionProgram, SaysOkOrEachFaultWithExitCode2) {
    const std::string& profile = files().profile;
    const std::string& raw = files().raw;
    const auto ok = run_program({"check", "--submit", profile, raw});
    EXPECT_EQ(ok.exit_code, 0) << ok.err;
    EXPECT_THAT(ok.out, HasSubstr("ok to submit (fitted again from 1 file and equal"));
    const std::string edited = (files().folder.path / "edited.yaml").string();
    const std::string text = read_text_file(profile);
    write_text_file(edited, replaced(text, cpi_line(text), "cpi: {value: 0.49"), Overwrite::yes);
    const auto refused = run_program({"check", "--submit", edited, raw});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("instructions.add.f32.cpi: "));
    EXPECT_EQ(run_program({"check", "--submit", raw}).exit_code, 2);
    EXPECT_EQ(run_program({"check", "--submit", profile, profile, raw}).exit_code, 2);
    EXPECT_EQ(run_program({"check", "--submit", profile, raw, "--receipts", "none"}).exit_code, 2);
    EXPECT_NE(run_program({"check", profile, "--receipts", "none"}).exit_code, 0);
}

}  // namespace
}  // namespace occupipe::analysis
