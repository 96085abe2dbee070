// SPDX-License-Identifier: MIT
// tune: a search space is ranked as `predict` predicts it; what is done survives the program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using cli::testing::no_nvrtc;
using cli::testing::program_has_nvrtc;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using cli::testing::run_program_until;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* text = R"(
#if tile == 4 && bx == 64
#error four is too many
#endif
extern "C" __global__ void other(float* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void blur(float* out, const float* in) {
#if tile == 3
    __shared__ float large[20000];
    large[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = large[threadIdx.x ^ 1];
#endif
    const int x = (blockIdx.x * bx + threadIdx.x) * tile;
    for (int i = 0; i < tile; ++i)
        if (x + i < 4000) out[x + i] = 2.5f * in[x + i];
}
)";

// `spare` is no macro of the text: two of each code.
constexpr const char* space = R"(format: occupipe-space/1
source: blur.cu
kernel: blur
tunables:
  bx: [32, 64, 2048]
  tile: [1, 2, 3, 4]
  spare: [0, 1]
restrictions:
  - bx * tile <= 4096
problem_size: 4000
block: bx
grid_divisors:
  x: [bx, tile]
arguments:
  - {name: out, type: f32, size: 4096}
  - {name: in, type: f32, size: 4096, fill: ones}
)";

struct Files {
    Files() {
        write_text_file(path("blur.cu"), text, Overwrite::no);
        write_text_file(path("space.yaml"), space, Overwrite::no);
    }
    std::string path(const char* name) const { return (folder.path / name).string(); }
    std::vector<std::string> environment() const {
        return {"OCCUPIPE_CACHE=" + (folder.path / "cache").string()};
    }
    std::vector<std::string> words(const std::vector<std::string>& more) const {
        std::vector<std::string> all = {"tune", path("space.yaml"), "--profile", "a100"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    ProgramRun tune(const std::vector<std::string>& more = {}) const {
        return run_program(words(more), environment());
    }
    Json json(const char* name) const { return Json::parse(read_text_file(path(name))); }
    TemporaryFolder folder;
};

// By configuration, without what one run has cost.
std::map<std::string, Json> by_configuration(const Json& ranked) {
    std::map<std::string, Json> all;
    for (const char* part : {"ranked", "refused"})
        for (const Json& one : ranked[part]) all[one["configuration"].dump()] = one;
    return all;
}

TEST(Tune, RanksTheSpaceAsPredictPredictsIt) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    const ProgramRun ran = files.tune({"-o", files.path("ranked.json"), "--top", "3"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json json = files.json("ranked.json");
    EXPECT_EQ(json["format"], "occupipe-tune/1");
    EXPECT_EQ(json["combinations"], 24);
    EXPECT_EQ(json["configurations"], 20);  // 2048 with tiles of three and four are excluded
    ASSERT_EQ(json["ranked"].size(), 10U);
    ASSERT_EQ(json["refused"].size(), 10U);
    double before = 0;
    for (const Json& one : json["ranked"]) {
        const double seconds = one["predicted_seconds"]["pipeline"];
        EXPECT_GE(seconds, before);
        before = seconds;
        EXPECT_EQ(one["rank"], &one - &json["ranked"][0] + 1);
    }
    std::map<std::string, int> kinds;
    for (const Json& one : json["refused"]) ++kinds[one["refused"]];
    EXPECT_EQ(kinds["shape"], 4);     // 2048 threads
    EXPECT_EQ(kinds["compiler"], 6);  // 80,000 bytes of shared memory, twice two; #error
    const Json& one = json["ranked"][0];
    const std::string bx = std::to_string(one["configuration"]["bx"].get<int>());
    const int tile = one["configuration"]["tile"];
    const int groups = (4000 + std::stoi(bx) * tile - 1) / (std::stoi(bx) * tile);
    const ProgramRun predicted =
        run_program({"predict", files.path("blur.cu"), "--kernel", "blur", "--profile", "a100",
                     "--grid", std::to_string(groups), "--block", bx, "--args",
                     "out=f32[4096] in=f32[4096]:ones", "--compiler", "option=-Dbx=" + bx,
                     "--compiler", "option=-Dtile=" + std::to_string(tile), "--json"});
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    const Json alone = Json::parse(predicted.out);
    EXPECT_EQ(one["predicted_seconds"]["pipeline"], alone["predictions"][0]["seconds"]);
    EXPECT_EQ(one["limited_by"], alone["predictions"][0]["limited_by"]);
    // Equal code is predicted once, and not measured twice.
    EXPECT_THAT(ran.out,
                HasSubstr("5 configurations have the same code and launch as another one"));
    std::map<std::string, int> measured;
    for (const Json& row : json["ranked"])
        if (row.contains("measure")) ++measured[row["code"]];
    EXPECT_EQ(measured.size(), 3U);
    EXPECT_FALSE(std::filesystem::exists(files.path("ranked.json.journal")));
    EXPECT_EQ(files.tune({"-o", files.path("ranked.json")}).exit_code, 2);
}

TEST(Tune, TheSameCommandGoesOnWhereItWasKilled) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    ASSERT_EQ(files.tune({"-o", files.path("whole.json")}).exit_code, 0);
    // Killed wherever it is two seconds after its start; a quick machine is done before.
    const std::vector<std::string> words = {"-o", files.path("parts.json"), "--threads", "1"};
    const ProgramRun stopped =
        files.tune({"-o", files.path("parts.json"), "--threads", "1", "--limit", "0.0001s"});
    EXPECT_EQ(stopped.exit_code, 4) << stopped.err;
    ProgramRun killed =
        run_program_until(files.words(words), files.environment(), "predictions; now", SIGKILL);
    // Killed at its very end, it has left nothing to go on with.
    if (std::filesystem::exists(files.path("parts.json.journal"))) {
        killed = files.tune(words);
        ASSERT_EQ(killed.exit_code, 0) << killed.err;
    }
    EXPECT_EQ(by_configuration(files.json("parts.json")),
              by_configuration(files.json("whole.json")));
    EXPECT_FALSE(std::filesystem::exists(files.path("parts.json.journal")));
}

TEST(Tune, ShardsAreTheWhole) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    ASSERT_EQ(files.tune({"-o", files.path("whole.json")}).exit_code, 0);
    const auto whole = by_configuration(files.json("whole.json"));
    std::map<std::string, Json> all;
    for (const char* number : {"1", "2", "3"}) {
        const std::string file = std::string("part-") + number + ".json";
        const ProgramRun ran =
            files.tune({"-o", files.path(file.c_str()), "--shard", std::string(number) + "/3"});
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        all.merge(by_configuration(files.json(file.c_str())));
    }
    EXPECT_EQ(all.size(), whole.size());
    const auto joined = [&](const std::vector<std::string>& parts) {
        std::vector<std::string> words = {"-o", files.path("joined.json"), "--force", "--join"};
        for (const std::string& part : parts) words.push_back(files.path(part.c_str()));
        return files.tune(words);
    };
    const ProgramRun two = joined({"part-1.json", "part-3.json"});
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_THAT(two.err, HasSubstr("13 of 20 configurations are in the shards' journals already"));
    EXPECT_EQ(by_configuration(files.json("joined.json")), whole);
    const ProgramRun three = joined({"part-1.json", "part-2.json", "part-3.json"});
    ASSERT_EQ(three.exit_code, 0) << three.err;
    EXPECT_THAT(three.err, HasSubstr("20 of 20"));
    EXPECT_EQ(by_configuration(files.json("joined.json")), whole);
    EXPECT_FALSE(std::filesystem::exists(files.path("joined.json.journal")));
    EXPECT_EQ(joined({"part-4.json"}).exit_code, 2);
    EXPECT_EQ(files
                  .tune({"-o", files.path("part-1.json.journal"), "--force", "--join",
                         files.path("part-1.json")})
                  .exit_code,
              2);
    // A shard of nothing is no error: small spaces have some.
    const ProgramRun empty = files.tune({"-o", files.path("empty.json"), "--shard", "1/30"});
    EXPECT_EQ(empty.exit_code, 0) << empty.err;
    EXPECT_THAT(empty.out, HasSubstr("none of the 0 configurations of this shard"));
    write_text_file(files.path("begun.json.journal"), "{\"format\":", Overwrite::yes);
    EXPECT_EQ(joined({"part-1.json", "part-2.json", "part-3.json", "begun.json"}).exit_code, 0);
    EXPECT_EQ(files.tune({"--shard", "1/2"}).exit_code, 2);
    EXPECT_EQ(files.tune({"-o", files.path("none.json"), "--shard", "3/2"}).exit_code, 2);
    const ProgramRun other = files.tune({"-o", files.path("other.json"), "--set", "clock_hz=1e9",
                                         "--join", files.path("part-1.json")});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("part-1.json.journal: is of another"));
}

TEST(Tune, AnInterruptedOneKeepsWhatItKnows) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    std::string slow = text;
    slow.insert(slow.find("    const int x"),
                "    for (int i = 0; i < 1600000; ++i) out[threadIdx.x] += in[i & 1023];\n");
    write_text_file(files.path("blur.cu"), slow, Overwrite::yes);
    const std::vector<std::string> words = {"-o", files.path("ranked.json"), "--threads", "1"};
    const ProgramRun ran = run_program_until(files.words(words), files.environment(), "left");
    if (ran.exit_code == 0) GTEST_SKIP() << "was done before it could be interrupted";
    ASSERT_EQ(ran.exit_code, 130) << ran.err;
    const Json json = files.json("ranked.json");
    const std::size_t done = json["ranked"].size() + json["refused"].size();
    EXPECT_GT(done, 0U);
    EXPECT_EQ(json["not_predicted"].get<std::size_t>(), 20 - done);
    EXPECT_THAT(ran.out, HasSubstr("not predicted yet"));
    write_text_file(files.path("blur.cu"), text, Overwrite::yes);
    const ProgramRun other = files.tune(words);
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("ranked.json.journal: is of another space"));
    EXPECT_EQ(files.tune({"-o", files.path("ranked.json"), "--force"}).exit_code, 0);
}

TEST(Tune, ASampleIsPartOfTheSpaceAndTheSameForItsSeed) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    const ProgramRun one = files.tune({"--json", "--draws", "6", "--seed", "3"});
    ASSERT_EQ(one.exit_code, 0) << one.err;
    const auto drawn = by_configuration(Json::parse(one.out));
    EXPECT_EQ(drawn.size(), 6U);
    const ProgramRun again =
        files.tune({"--json", "--draws", "6", "--seed", "3", "--threads", "1"});
    EXPECT_EQ(by_configuration(Json::parse(again.out)), drawn);
}

TEST(Tune, TunersFilesHoldWhatTheirReadersExpect) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    ASSERT_EQ(files.tune({"-o", files.path("ranked.json")}).exit_code, 0);
    ASSERT_EQ(files.tune({"-o", files.path("t4.json"), "--format", "t4"}).exit_code, 0);
    const ProgramRun ran = files.tune({"-o", files.path("cache.json"), "--format", "kernel-tuner"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json t4 = files.json("t4.json"), cache = files.json("cache.json");
    ASSERT_EQ(t4["results"].size(), 20U);
    ASSERT_EQ(cache["cache"].size(), 20U);
    EXPECT_EQ(cache["tune_params_keys"], Json({"bx", "tile", "spare"}));
    EXPECT_EQ(cache["cache"]["2048,1,0"]["time"], "InvalidConfig");
    EXPECT_EQ(cache["cache"]["32,3,1"]["time"], "CompilationFailedConfig");
    const Json ranked = files.json("ranked.json")["ranked"];
    for (const Json& one : ranked) {
        const Json& of = one["configuration"];
        const std::string key =
            of["bx"].dump() + "," + of["tile"].dump() + "," + of["spare"].dump();
        EXPECT_DOUBLE_EQ(cache["cache"][key]["time"].get<double>(),
                         1e3 * one["predicted_seconds"]["pipeline"].get<double>());
    }
    for (const Json& one : t4["results"])
        EXPECT_EQ(one["invalidity"] == "correct", one["times"].contains("runtimes"));
    // Held against itself, nothing is off, and the refused ones failed there.
    for (const char* file : {"t4.json", "cache.json"}) {
        const ProgramRun same = files.tune({"--measured", files.path(file)});
        ASSERT_EQ(same.exit_code, 0) << same.err;
        EXPECT_THAT(same.out, HasSubstr("10 measured: they take 1 times the predicted time"));
    }
}

TEST(Tune, AFewMeasurementsRankAnew) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    write_text_file(files.path("some.csv"), "bx,tile,spare,time_us\n64,1,0,80\n32,2,0,40\n",
                    Overwrite::no);
    const ProgramRun ran =
        files.tune({"--measured", files.path("some.csv"), "--top", "2", "--json"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json json = Json::parse(ran.out);
    EXPECT_EQ(json["clock_factor"]["count"], 2);
    EXPECT_GT(json["clock_factor"]["standard_error"].get<double>(), 0);
    const double factor = json["clock_factor"]["factor"];
    for (const Json& one : json["ranked"]) {
        const double predicted = one["predicted_seconds"]["pipeline"];
        if (one.contains("measured_seconds"))
            EXPECT_EQ(one["expected_seconds"], one["measured_seconds"]);
        else
            EXPECT_NEAR(one["expected_seconds"].get<double>(), factor * predicted, 1e-12);
        if (one.contains("measure")) {
            EXPECT_FALSE(one.contains("measured_seconds"));
        }
    }
}

TEST(Tune, WithABudgetAllAreCoarseThenExact) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    // Spent before the first exact one: coarse ones are told apart, and claim no interval.
    const std::vector<std::string> little = {"--budget", "0.001s", "--force", "-o"};
    const auto with = [&](std::vector<std::string> words, const char* file,
                          const std::vector<std::string>& more = {}) {
        words.push_back(files.path(file));
        words.insert(words.end(), more.begin(), more.end());
        return files.tune(words);
    };
    const ProgramRun coarse = with(little, "coarse.json");
    ASSERT_EQ(coarse.exit_code, 0) << coarse.err;
    EXPECT_THAT(coarse.err, HasSubstr("all times are coarse"));
    EXPECT_THAT(coarse.out, HasSubstr("10 of them coarse: roofline and pipeline of a few groups"));
    const Json rough = files.json("coarse.json");
    ASSERT_EQ(rough["ranked"].size(), 10U);
    EXPECT_EQ(rough["refused"].size(), 10U);
    EXPECT_EQ(rough["coarse"], (Json{{"models", {"roofline", "pipeline"}}, {"count", 10}}));
    for (const Json& one : rough["ranked"]) {
        EXPECT_GT(one["coarse_seconds"].get<double>(), 0);
        EXPECT_FALSE(one.contains("predicted_seconds"));
        EXPECT_FALSE(one.contains("interval_seconds"));
    }
    ASSERT_EQ(with(little, "t4.json", {"--format", "t4"}).exit_code, 0);
    const Json t4 = files.json("t4.json");
    int marked = 0;
    for (const Json& one : t4["results"])
        for (const Json& told : one["measurements"]) marked += told["value"] == "coarse" ? 1 : 0;
    EXPECT_EQ(marked, 10);
    // Enough for all: what there is without a budget, in the same order.
    ASSERT_EQ(files.tune({"-o", files.path("whole.json")}).exit_code, 0);
    const ProgramRun ran = files.tune({"--budget", "6000s", "-o", files.path("all.json")});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json all = files.json("all.json"), whole = files.json("whole.json");
    EXPECT_EQ(all["ranked"], whole["ranked"]);
    EXPECT_EQ(all["refused"], whole["refused"]);
    EXPECT_EQ(all["coarse"]["count"], 0);
    EXPECT_FALSE(whole.contains("coarse"));
    EXPECT_THAT(ran.out, Not(HasSubstr("coarse")));
}

TEST(Tune, ABudgetGoesOnWhereItWasKilled) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    std::string slow = text;
    slow.insert(slow.find("    const int x"),
                "    for (int i = 0; i < 50000; ++i) out[threadIdx.x] += in[i & 1023];\n");
    write_text_file(files.path("blur.cu"), slow, Overwrite::yes);
    const std::vector<std::string> words = {
        "-o", files.path("parts.json"), "--threads", "1", "--budget", "6000s"};
    const ProgramRun killed = run_program_until(files.words(words), files.environment(),
                                                "exact predictions; now", SIGKILL);
    if (killed.exit_code == 0) GTEST_SKIP() << "was done before it could be killed";
    ASSERT_EQ(killed.exit_code, 128 + SIGKILL) << killed.err;
    const std::string journal = read_text_file(files.path("parts.json.journal"));
    EXPECT_THAT(journal, HasSubstr("\"stage\":\"coarse\""));
    EXPECT_THAT(journal, HasSubstr("\"spent\":"));
    const ProgramRun ran = files.tune(words);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("20 of 20 configurations are in"));
    EXPECT_FALSE(std::filesystem::exists(files.path("parts.json.journal")));
    ASSERT_EQ(files.tune({"-o", files.path("whole.json")}).exit_code, 0);
    EXPECT_EQ(files.json("parts.json")["ranked"], files.json("whole.json")["ranked"]);
}

TEST(Tune, AKilledBudgetIsSpentAsFarAsItWas) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    const std::vector<std::string> words = {"-o", files.path("parts.json"), "--budget", "6000s"};
    // Ended as soon as there is a journal.
    const std::string journal = files.path("parts.json.journal");
    for (double limit = 1e-4; !std::filesystem::exists(journal); limit *= 2)
        ASSERT_EQ(files
                      .tune({"-o", files.path("parts.json"), "--budget", "6000s", "--limit",
                             fmt::format("{:.4f}s", limit)})
                      .exit_code,
                  4);
    // As if the run before had taken 6000 seconds for the first of them.
    write_text_file(journal,
                    read_text_file(journal) + R"({"number":0,"stage":"coarse","coarse":1e-6,)" +
                        R"("coarse_limited_by":"mem","spent":6000,"cost":[0,0,0]})" + "\n",
                    Overwrite::yes);
    const ProgramRun ran = files.tune(words);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(files.json("parts.json")["coarse"]["count"], 10);
}

TEST(Tune, ASpaceOfKttIsTheSameSpace) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    write_text_file(files.path("ktt.json"), R"json({
 "ConfigurationSpace": {
  "TuningParameters": [{"Name": "bx", "Type": "uint", "Values": "[32, 64, 2048]"},
                       {"Name": "tile", "Type": "uint", "Values": "[1, 2, 3, 4]"},
                       {"Name": "spare", "Type": "bool", "Values": "[0, 1]"}],
  "Conditions": [{"Parameters": ["bx", "tile"], "Expression": "bx * tile <= 4096"}]},
 "KernelSpecification": {
  "Language": "CUDA", "KernelName": "blur", "KernelFile": "blur.cu",
  "GlobalSize": {"X": "(4000 + bx * tile - 1) // (bx * tile)"}, "LocalSize": {"X": "bx"},
  "Arguments": [
   {"Name": "out", "Type": "float", "Size": 4096, "FillValue": 0, "MemoryType": "Vector"},
   {"Name": "in", "Type": "float", "Size": 4096, "FillValue": 1, "MemoryType": "Vector"}]}})json",
                    Overwrite::no);
    const ProgramRun ours = files.tune({"--json"});
    ASSERT_EQ(ours.exit_code, 0) << ours.err;
    const ProgramRun ran = run_program(
        {"tune", files.path("ktt.json"), "--profile", "a100", "--json"}, files.environment());
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    Json of_ktt = Json::parse(ran.out)["ranked"], expected = Json::parse(ours.out)["ranked"];
    for (Json* rows : {&of_ktt, &expected})
        for (Json& one : *rows) one.erase("code");  // fills are told otherwise
    EXPECT_EQ(of_ktt, expected);
}

TEST(Tune, BadInputIsNamed) {
    const Files files;
    ProgramRun ran = files.tune({"--format", "t4"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("-o names the file"));
    ran = files.tune({"-o", files.path("space.yaml"), "--force"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("space.yaml"));
    ran = files.tune({"--plot", files.path("a.txt")});
    EXPECT_EQ(ran.exit_code, 2);
    for (const char* budget : {"600", "0s", "-1s", "infs", "s"}) {
        ran = files.tune({"--budget", budget});
        EXPECT_EQ(ran.exit_code, 2) << budget;
        EXPECT_THAT(ran.err, HasSubstr("--budget")) << budget;
    }
    write_text_file(files.path("space.yaml"), "format: occupipe-space/1\nkernel: 3\n",
                    Overwrite::yes);
    ran = files.tune();
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("space.yaml:1:1: source"));
    std::string none = space;
    none.replace(none.find("bx * tile <= 4096"), 17, "bx > 4096");
    write_text_file(files.path("space.yaml"), none, Overwrite::yes);
    ran = files.tune();
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("its conditions exclude all 24 configurations"));
}

TEST(Tune, WithNothingPredictedTheFirstReasonIsTold) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    write_text_file(files.path("blur.cu"), "broken", Overwrite::yes);
    const std::string all = files.path("all.json");
    const ProgramRun ran = files.tune({"-o", all});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("no configuration can be predicted; the first: "));
    EXPECT_THAT(ran.err, Not(HasSubstr("Internal")));
    EXPECT_THAT(read_text_file(all), HasSubstr("does not compile"));
    EXPECT_FALSE(std::filesystem::exists(all + ".journal"));
}

TEST(Tune, DrawsTheTunablesThatMatter) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files;
    const ProgramRun ran = files.tune({"--plot", files.path("a.svg")});
    if (ran.err.find("gnuplot") != std::string::npos && ran.exit_code != 0) GTEST_SKIP() << ran.err;
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string picture = read_text_file(files.path("a.svg"));
    EXPECT_THAT(picture, HasSubstr("Predicted time of 10 configurations"));
    EXPECT_THAT(picture, HasSubstr("tile: "));
}

}  // namespace
}  // namespace occupipe::test
