// SPDX-License-Identifier: MIT
// One question, six doors: `predict`, a row of `sweep`, both modes of `compare`, the curve of
// `validate`, the page of `report`; the seventh, Python's, is in tests/python/doors_test.py.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/validation/validation.h"
#include "ask/answer.h"
#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
#include "core/files/files.h"
#include "tests/cli/command.h"
#include "tests/cli/sweep_rows.h"
#include "tests/sim/random_case.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using analysis::Note;
using analysis::Question;
using test::occupipe;
using test::Outcome;
using test::TemporaryFolder;
using ::testing::HasSubstr;

const std::string root = OCCUPIPE_SOURCE_DIR;
const std::string cubins = root + "/tests/suite/recorded/sm_75/";

// A question with one launch and one model, and how each door asks it.
struct Asked {
    Question question;
    std::vector<std::string> options;  // of `predict`, but for kernel and profile
    std::string spec;                  // of `sweep`, likewise
    bool for_compare = true;           // `compare BEFORE AFTER` has all of its options
};

std::vector<std::string> words_of(const std::string& command, const Asked& asked,
                                  std::vector<std::string> further) {
    std::vector<std::string> words = {command, asked.question.source.code.kernels};
    words.insert(words.end(), asked.options.begin(), asked.options.end());
    words.insert(words.end(), {"--profile", asked.question.gpu});
    words.insert(words.end(), further.begin(), further.end());
    return words;
}

// Notes of the road: those of models are the model's.
std::set<std::string> of_the_road(const analysis::Answer& answer) {
    std::set<std::string> all;
    for (const analysis::Notes* notes :
         {&answer.ready.notes, static_cast<const analysis::Notes*>(&answer.fitted),
          &answer.launches.front().notes, &answer.launches.front().priced->notes})
        for (const Note& one : *notes) all.insert(text(one));
    for (const Note& one : analysis::too_short(answer.ready, answer.launches.front().launch,
                                               answer.predictions.front().cycles))
        all.insert(text(one));
    return all;
}

std::string joined(const std::vector<std::string>& sentences) {
    return fmt::format("{}", fmt::join(sentences, "; "));
}

// All doors that take the question; whether it has an answer.
bool expect_equal(const Asked& asked) {
    const std::string what = fmt::format("{}", fmt::join(words_of("predict", asked, {}), " "));
    std::optional<analysis::Answer> answer;
    std::string refusal;
    try {
        answer = analysis::answer(asked.question, {});
    } catch (const std::exception& error) {
        refusal = error.what();
    }
    const std::string model = asked.question.models.front();
    const Outcome predicted =
        occupipe(words_of("predict", asked, {"--model", model, "--json", "--limit", "1000000000"}));
    EXPECT_EQ(predicted.code == 0, answer.has_value()) << what << refusal << predicted.err;

    const TemporaryFolder folder;
    const std::string spec = folder.path / "spec.yaml", rows = folder.path / "rows.csv";
    write_text_file(
        spec,
        fmt::format("format: occupipe-sweep/1\nkernels: [{}]\nprofiles: [{}]\n"
                    "models: [{}]\nassumptions: true\n{}",
                    asked.question.source.code.kernels, asked.question.gpu, model, asked.spec),
        Overwrite::no);
    const Outcome swept = occupipe({"sweep", spec, "-o", rows});
    if (!answer) {
        EXPECT_THAT(predicted.err, HasSubstr(refusal)) << what;
        if (swept.code == 0) {
            EXPECT_NE(table(rows).front().at("refused"), "") << what;
        }
        return false;
    }
    const Prediction& made = answer->predictions.front();
    if (predicted.code != 0) return false;
    const auto one = nlohmann::json::parse(predicted.out)["predictions"][0];
    EXPECT_EQ(one["cycles"].get<double>(), made.cycles) << what;
    EXPECT_EQ(one["assumptions"].get<std::vector<std::string>>(), made.assumptions) << what;

    EXPECT_EQ(swept.code, 0) << what << swept.err;
    if (swept.code == 0) {
        const auto row = table(rows).front();
        EXPECT_EQ(row.at("refused"), "") << what;
        EXPECT_EQ(row.at("cycles"), fmt::format("{}", made.cycles)) << what;
        EXPECT_EQ(row.at("assumptions"), joined(made.assumptions)) << what;
    }
    if (!asked.for_compare || model != "pipeline") return true;
    Asked both = asked;
    both.options.insert(both.options.begin(), asked.question.source.code.kernels);
    const Outcome compared = occupipe(words_of("compare", both, {"--draws", "0", "--json"}));
    EXPECT_EQ(compared.code, 0) << what << compared.err;
    if (compared.code != 0) return true;
    const auto sides = nlohmann::json::parse(compared.out);
    EXPECT_EQ(sides["cycles"]["before"].get<double>(), made.cycles) << what;
    EXPECT_EQ(sides["cycles"]["after"].get<double>(), made.cycles) << what;
    EXPECT_EQ(sides["seconds"]["before"].get<double>(), made.seconds) << what;
    std::set<std::string> notes;
    const std::string prefix = asked.question.source.code.kernels + ": ";
    for (const std::string note : sides["assumptions"])
        notes.insert(note.starts_with(prefix) ? note.substr(prefix.size()) : note);
    EXPECT_EQ(notes, of_the_road(*answer)) << what;
    return true;
}

class Chance {
public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>(
            std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_));
    }
    bool one_in(std::size_t n) { return below(n) == 0; }
    template <class Value>
    const Value& of(const std::vector<Value>& all) {
        return all[below(all.size())];
    }

private:
    std::mt19937_64 random_;
};

// Every option that changes what is predicted, each now and then.
void change(Asked& asked, Chance& chance, const std::vector<std::string>& uses,
            const std::vector<std::pair<std::string, std::vector<std::string>>>& settings) {
    Question& question = asked.question;
    const auto add = [&](const std::string& option, const std::string& value) {
        asked.options.insert(asked.options.end(), {option, value});
    };
    std::string used, set;
    for (const std::string& use : uses)
        if (chance.one_in(2)) {
            question.changes.uses.push_back(use);
            add("--use", use);
            used += (used.empty() ? "" : ", ") + use;
        }
    if (!used.empty()) asked.spec += fmt::format("use: [{}]\n", used);
    for (const auto& [name, values] : settings)
        if (chance.one_in(3)) {
            const std::string value = chance.of(values);
            question.changes.what_ifs.push_back(name + "=" + value);
            add("--set", name + "=" + value);
            set += fmt::format("  {}: [{}]\n", name, value);
        }
    if (!set.empty()) asked.spec += "set:\n" + set;
    if (chance.one_in(6)) {
        question.changes.classes = {"fma"};
        add("--assume-latency", "fma");
        asked.spec += "assume_latency: [fma]\n";
    }
    if (chance.one_in(3)) {
        question.memory.pricing = analysis::MemoryPricing::none;
        add("--memory", "none");
        asked.spec += "memory: none\n";
    }
    if (chance.one_in(2)) return;
    // What `compare BEFORE AFTER` has no options for.
    asked.for_compare = false;
    if (chance.one_in(2)) {
        question.run.policy = Policy::gto;
        add("--policy", "gto");
        asked.spec += "policy: gto\n";
    }
    if (chance.one_in(2)) {
        question.run.select = Select::warp;
        add("--select", "warp");
        asked.spec += "select: [warp]\n";
    }
    if (chance.one_in(2)) {
        question.run.order = Order::in_order;
        add("--order", "in_order");
        asked.spec += "order: [in_order]\n";
    }
    const std::string groups = chance.of(std::vector<std::string>{"7", "60", "121"});
    question.launches.choice = {
        .group_warps = 2, .concurrent_groups = 3, .groups = std::stoll(groups)};
    asked.options.insert(asked.options.end(),
                         {"--group-warps", "2", "--concurrent-groups", "3", "--groups", groups});
    asked.spec +=
        fmt::format("launches: {{group_warps: 2, concurrent_groups: 3, groups: {}}}\n", groups);
}

// house.md, section 0: with --set before --use the second is without effect.
TEST(SixDoors, WhatIsSetIsWhatIsUsedThen) {
    for (const auto& [setting, cycles] :
         {std::pair("fma.f32.latency=400", 912.5), std::pair("compute.latency=400", 2100.5)}) {
        Asked asked;
        asked.question.source.code.kernels = root + "/sim/kernels/example.yaml";
        asked.question.gpu = "rtx-2070";
        asked.question.changes = {.uses = {"compute=fma.f32", "memory=ld.global.s32"},
                                  .what_ifs = {setting}};
        asked.options = {"--use", "compute=fma.f32", "--use", "memory=ld.global.s32", "--set",
                         setting};
        const std::string set = setting;
        asked.spec =
            fmt::format("use: [compute=fma.f32, memory=ld.global.s32]\nset:\n  {}: [400]\n",
                        set.substr(0, set.find('=')));
        EXPECT_TRUE(expect_equal(asked));
        EXPECT_EQ(analysis::answer(asked.question, {}).predictions.front().cycles, cycles);
    }
}

TEST(SixDoors, Graphs) {
    Chance chance(20261126);
    int answered = 0;
    for (int i = 0; i < 140; ++i) {
        Asked asked;
        const std::string kernel = chance.of(std::vector<std::string>{
            "example", "saxpy", "mix", "chain", "barriers", "dot_product", "rotation"});
        asked.question.source.code.kernels = fmt::format("{}/sim/kernels/{}.yaml", root, kernel);
        asked.question.gpu = chance.of(
            std::vector<std::string>{"rtx-2070", "gtx-1060", "gtx-650-ti", "tesla-c2050"});
        asked.question.models = {chance.of(std::vector<std::string>{
            "pipeline", "pipeline", "roofline", "volkov", "quantitative-roofline"})};
        if (kernel == "example")
            change(asked, chance, {"compute=fma.f32", "memory=ld.global.s32"},
                   {{"compute.latency", {"9", "400"}},
                    {"fma.f32.latency", {"11", "300"}},
                    {"clock_hz", {"1000000000"}}});
        else
            change(asked, chance, {},
                   {{"ld.global.s32.latency", {"100.5", "900"}},
                    {"issue.limit", {"1", "3.7", "none"}},
                    {"cores", {"1", "17"}},
                    {"clock_hz", {"1000000000"}}});
        answered += expect_equal(asked) ? 1 : 0;
    }
    EXPECT_GT(answered, 80);
    EXPECT_LT(answered, 140);
}

TEST(SixDoors, RandomGraphs) {
    Chance chance(20261127);
    int answered = 0;
    for (int i = 0; i < 40; ++i) {
        const TemporaryFolder folder;
        const test::Case random = test::random_case(20261127 + i);
        Kernel kernel = random.kernel;
        kernel.launch = random.launch;
        const std::string kernel_file = folder.path / "kernel.yaml";
        const std::string profile_file = folder.path / "profile.yaml";
        write_text_file(kernel_file, format_kernel(kernel), Overwrite::no);
        write_text_file(profile_file, format_profile(random.profile), Overwrite::no);
        Asked asked;
        asked.question.source.code.kernels = kernel_file;
        asked.question.gpu = profile_file;
        const std::string& op = random.profile.instructions.front().name;
        change(asked, chance, {},
               {{op + ".latency", {"3", "44"}}, {"issue.limit", {"1", "2.5"}}, {"cores", {"2"}}});
        answered += expect_equal(asked) ? 1 : 0;
    }
    EXPECT_GT(answered, 30);
}

// A profile with an entry for whatever the code executes, so that no door has to replace any.
GpuProfile complete_for(const Kernel& kernel, GpuProfile profile) {
    const analysis::Ready ready = analysis::ready(analysis::loaded_kernel("", kernel), profile, {},
                                                  {.pricing = analysis::MemoryPricing::none});
    for (const analysis::LackingOp& one : analysis::lacking(ready)) {
        InstructionTiming timing = *profile.find_instruction("mul.s32");
        timing.name = one.op;
        profile.instructions.push_back(timing);
    }
    return profile;
}

// Recorded machine code, at every occupancy by `compare` and `validate`.
TEST(SixDoors, MachineCode) {
    const auto suite = analysis::read_suite(root + "/kernels/suite.yaml");
    int points = 0;
    for (const auto& [name, file] :
         {std::pair("hotspot", "hotspot3d"), std::pair("kmeans_swap", "kmeans"),
          std::pair("bpnn_layerforward", "backprop")})
        for (const char* memory : {"per-access", "none"}) {
            const TemporaryFolder folder;
            const auto pricing = memory == std::string("none")
                                     ? analysis::MemoryPricing::none
                                     : analysis::MemoryPricing::per_access;
            GpuProfile profile = analysis::named_profile("rtx-2070");
            const analysis::CompileText recorded = [](const LaunchPlan& plan, const std::string&) {
                return analysis::read_kernel_file(
                    cubins + std::filesystem::path(plan.source).stem().string() + ".cubin", "", {},
                    {}, plan.compiler_options);
            };
            profile = complete_for(analysis::ready_kernel(analysis::find_suite_kernel(suite, name),
                                                          "small", profile, recorded)
                                       .kernel,
                                   profile);
            const std::string profile_file = folder.path / "profile.yaml";
            write_text_file(profile_file, format_profile(profile), Overwrite::no);
            // The launch file's own options of a compiler do not refuse machine code.
            std::string launches =
                read_text_file(fmt::format("{}/kernels/small/{}.yaml", root, file));
            for (const char* line : {"source:", "architecture:"}) {
                const std::size_t at = launches.find(line);
                launches.erase(at, launches.find('\n', at) + 1 - at);
            }
            EXPECT_THAT(launches, HasSubstr("compiler_options"));
            const std::string launch = folder.path / "launch.yaml";
            write_text_file(launch, launches, Overwrite::no);

            Question question;
            question.source.code = {
                .kernels = cubins + file + ".cubin", .launch = launch, .kernel = name};
            question.gpu = profile_file;
            question.launches.occupancy = "all";
            question.memory.pricing = pricing;
            question.models = {"pipeline", "roofline"};
            const analysis::Answer answer = analysis::answer(question, {});
            std::vector<std::string> words = {question.source.code.kernels,
                                              "--launch",
                                              launch,
                                              "--kernel",
                                              name,
                                              "--profile",
                                              profile_file,
                                              "--memory",
                                              memory,
                                              "--json"};
            const auto run = [&](const std::string& command, std::vector<std::string> further) {
                further.insert(further.begin(), words.begin(), words.end());
                further.insert(further.begin(), command);
                const Outcome outcome = occupipe(further);
                EXPECT_EQ(outcome.code, 0) << command << ' ' << name << outcome.err;
                return outcome;
            };
            const auto predicted = nlohmann::json::parse(
                run("predict", {"--occupancy", "all", "--model", "pipeline,roofline"}).out);
            const Outcome compared = run("compare", {"--model", "pipeline,roofline"});
            const auto beside = nlohmann::json::parse(compared.out);
            std::set<std::string> said;
            for (std::istringstream lines(compared.err); std::getline(lines, launches);)
                said.insert(launches.substr(launches.find(": ") + 2));

            const auto ready = analysis::ready_kernel(analysis::find_suite_kernel(suite, name),
                                                      "small", profile, recorded);
            std::vector<Launch> shapes;
            for (const analysis::Told& one : answer.launches) shapes.push_back(one.launch);
            const analysis::ValidationCurve curve = analysis::predicted_curve(
                ready, profile, analysis::tell_launches(ready, shapes, profile.cores),
                question.models, {}, pricing);
            EXPECT_EQ(curve.substituted, 0);
            for (std::size_t i = 0; i < shapes.size(); ++i, ++points) {
                for (std::size_t model = 0; model < 2; ++model) {
                    const Prediction& made = answer.prediction(model, i);
                    const auto& one = predicted["predictions"][model * shapes.size() + i];
                    EXPECT_EQ(one["cycles"].get<double>(), made.cycles) << name;
                    EXPECT_EQ(one["assumptions"].get<std::vector<std::string>>(), made.assumptions);
                    EXPECT_EQ(curve.points[i].predicted[model]->cycles, made.cycles) << name;
                }
                // `compare` has cycles of one run of the warps that are resident at once.
                const double warps = shapes[i].warps();
                EXPECT_EQ(beside["points"][i]["reference_cycles"].get<double>(),
                          warps / answer.prediction(0, i).warps_per_cycle);
                EXPECT_EQ(beside["points"][i]["predicted_cycles"]["roofline"].get<double>(),
                          warps / answer.prediction(1, i).warps_per_cycle);
                const analysis::Told& told = answer.launches[i];
                for (const analysis::Notes* notes :
                     {&answer.ready.notes, &told.notes, &told.priced->notes})
                    for (const Note& note : *notes)
                        EXPECT_TRUE(said.contains(text(note))) << text(note);
            }

            // The launch itself, through those that take one.
            Question own = question;
            own.launches.occupancy.reset();
            own.models = {"pipeline"};
            const analysis::Answer once = analysis::answer(own, {});
            const auto sides = nlohmann::json::parse(
                run("compare", {question.source.code.kernels, "--draws", "0"}).out);
            EXPECT_EQ(sides["cycles"]["after"].get<double>(), once.predictions.front().cycles);
            std::set<std::string> notes;
            for (std::string note : sides["assumptions"]) {
                const std::string prefix = question.source.code.kernels + ": ";
                notes.insert(note.starts_with(prefix) ? note.substr(prefix.size()) : note);
            }
            EXPECT_EQ(notes, of_the_road(once)) << name;
            const std::string spec = folder.path / "spec.yaml", rows = folder.path / "rows.csv";
            write_text_file(
                spec,
                fmt::format("format: occupipe-sweep/1\nkernels:\n  - {{name: k, code: "
                            "{}, launch: {}, kernel: {}}}\nprofiles: [{}]\nmodels: "
                            "[pipeline]\nassumptions: true\nmemory: {}\n",
                            question.source.code.kernels, launch, name, profile_file, memory),
                Overwrite::no);
            const Outcome swept = occupipe({"sweep", spec, "-o", rows});
            ASSERT_EQ(swept.code, 0) << swept.err;
            const auto row = table(rows).front();
            EXPECT_EQ(row.at("cycles"), fmt::format("{}", once.predictions.front().cycles));
            EXPECT_EQ(row.at("assumptions"), joined(once.predictions.front().assumptions));

            // The page prints what the table of `predict` prints, of every model.
            const std::string page = folder.path / "page.html";
            const Outcome reported =
                occupipe({"report", question.source.code.kernels, "--launch", launch, "--kernel",
                          name, "--profile", profile_file, "-o", page});
            EXPECT_EQ(reported.code, 0) << reported.err;
            if (pricing == analysis::MemoryPricing::per_access) {
                EXPECT_THAT(read_text_file(page),
                            HasSubstr(fmt::format("{:.6g}", once.predictions.front().cycles)));
            }
        }
    EXPECT_GT(points, 20);
}

}  // namespace
}  // namespace occupipe::cli
