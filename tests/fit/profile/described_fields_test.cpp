// SPDX-License-Identifier: MIT
// A field is named in one place, its type's describe(): a type that is planted here is read,
// written, checked, compared and merged without another word about it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/field_rules.h"
#include "core/files/field_reader.h"
#include "core/files/field_writer.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "core/profile_fields.h"
#include "fit/profile/field_merge.h"
#include "fit/profile/profile_diff.h"

namespace occupipe::planted {
namespace {

using ::testing::HasSubstr;

enum class Colour { red, green };

std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "green"; }
constexpr auto words(std::type_identity<Colour>) { return std::array{Colour::red, Colour::green}; }

struct Bank {
    std::string name;
    Estimate width;                  // required
    std::optional<Estimate> settle;  // optional
    std::optional<double> leak;      // a number that is no estimate
    int ports = 1;                   // a count
    std::optional<Colour> colour;    // a word

    bool operator==(const Bank&) const = default;
};

struct Chip {
    std::string maker;
    std::vector<Bank> banks;

    bool operator==(const Chip&) const = default;
};

template <class Io>
void describe(Io& io, std::type_identity<Bank>) {
    using T = Bank;
    io.name(&T::name);
    io("width", &T::width, {.required = true, .unit = "bit"});
    io("settle", &T::settle, {.range = share_below_one});
    io("leak", &T::leak);
    io("ports", &T::ports, {.most = 8});
    io("colour", &T::colour);
}

template <class Io>
void describe(Io& io, std::type_identity<Chip>) {
    using T = Chip;
    io("maker", &T::maker, {.required = true, .merge = Merge::must_agree});
    io.named("banks", &T::banks, {.required = true});
}

constexpr const char* example = R"(maker: A
banks:
  b0: {width: {value: 32, std_error: 0.5}, settle: 0.25, leak: 3, ports: 2, colour: green}
  b1: {width: 64, ports: 1}
)";

Chip read(const std::string& text) {
    const Document document = parse_yaml(text, "chip.yaml");
    Chip chip = read_fields<Chip>(document, document.root());
    check_fields(chip, {}, [&](const Keys& keys, const std::string& reason) {
        throw InputError("chip.yaml", document.locate(keys), key_path(keys), reason);
    });
    return chip;
}

std::string written(const Chip& chip) {
    std::string text;
    for (const YamlTree& field : write_fields(chip)) text += yaml_lines(field, 0);
    return text;
}

std::string with(const std::string& from, const std::string& to) {
    std::string text = example;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const InputError& fault) {
        return fault.what();
    }
    return "was read";
}

TEST(PlantedType, IsReadAndWritten) {
    const Chip chip = read(example);
    EXPECT_EQ(chip.maker, "A");
    ASSERT_EQ(chip.banks.size(), 2U);
    EXPECT_EQ(chip.banks[0], (Bank{"b0", {32, 0.5}, Estimate{0.25}, 3, 2, Colour::green}));
    EXPECT_EQ(chip.banks[1], (Bank{"b1", {64}, {}, {}, 1, {}}));
    EXPECT_EQ(written(chip), example);
}

TEST(PlantedType, IsRefusedWithLineAndKey) {
    EXPECT_EQ(refusal(with("maker: A\n", "")), "chip.yaml:1:1: maker: is missing");
    EXPECT_THAT(refusal(with("b1: {width: 64, ", "b1: {")),
                HasSubstr("banks.b1.width: is missing"));
    EXPECT_THAT(refusal(with("leak: 3", "leek: 3")),
                HasSubstr("banks.b0.leek: unknown key; known here: width, settle, leak, ports, "
                          "colour"));
    EXPECT_THAT(refusal(with("colour: green", "colour: blue")),
                HasSubstr("chip.yaml:3:85: banks.b0.colour: 'blue' is not one of red, green"));
}

TEST(PlantedType, EveryFieldIsChecked) {
    EXPECT_THAT(refusal(with("width: 64", "width: -64")),
                HasSubstr("chip.yaml:4:15: banks.b1.width: must be a positive finite number"));
    EXPECT_THAT(refusal(with("std_error: 0.5", "std_error: -1")),
                HasSubstr("banks.b0.width.std_error: must be a finite number of at least 0"));
    EXPECT_THAT(refusal(with("settle: 0.25", "settle: 1")),
                HasSubstr("banks.b0.settle: must be at least 0 and below 1, not 1"));
    EXPECT_THAT(refusal(with("leak: 3", "leak: 0")),
                HasSubstr("banks.b0.leak: must be a positive"));
    EXPECT_THAT(refusal(with("ports: 2", "ports: 9")), HasSubstr("banks.b0.ports: must be"));
    EXPECT_THAT(refusal(with("b1:", "\"b 1\":")), HasSubstr("must not contain blanks"));
    // Of a value that no file held, too.
    Chip chip = read(example);
    chip.banks[1].ports = 0;
    std::string said;
    check_fields(chip, {}, [&](const Keys& keys, const std::string& reason) {
        said += key_path(keys) + ": " + reason;
    });
    EXPECT_EQ(said, "banks.b1.ports: must be at least 1, not 0");
}

std::map<std::string, DiffVerdict> verdicts(const Chip& first, const Chip& second) {
    std::map<std::string, DiffVerdict> out;
    for (const ParameterDiff& d : diff_parameters(parameters_of(first), parameters_of(second)))
        out[d.name] = d.verdict;
    return out;
}

TEST(PlantedType, IsCompared) {
    const Chip first = read(example);
    for (const auto& [name, verdict] : verdicts(first, first))
        EXPECT_EQ(verdict, DiffVerdict::same) << name;
    Chip second = first;
    second.banks[0].width.value = 48;
    second.banks[0].settle.reset();
    second.banks[0].leak = 2;
    second.banks[0].ports = 4;
    second.banks[0].colour = Colour::red;
    second.banks[1].leak = 1;
    const std::map<std::string, DiffVerdict> expected = {
        {"b0 width [bit]", DiffVerdict::larger}, {"b0 settle", DiffVerdict::only_first},
        {"b0 leak", DiffVerdict::smaller},       {"b0 ports", DiffVerdict::larger},
        {"b0 colour", DiffVerdict::different},   {"b1 width [bit]", DiffVerdict::same},
        {"b1 ports", DiffVerdict::same},         {"b1 leak", DiffVerdict::only_second}};
    EXPECT_EQ(verdicts(first, second), expected);
}

TEST(PlantedType, IsMerged) {
    const Chip first = read(example);
    Chip second = first;
    second.banks[0].width = {34, 0.5};
    second.banks[0].settle.reset();
    second.banks[0].leak = 5;
    second.banks[0].colour = Colour::red;
    second.banks[1].settle = Estimate{0.5};
    second.banks.push_back({"b2", {16}, {}, {}, 1, {}});
    const std::string a = "a.yaml";
    const std::string b = "dir/b.yaml";
    std::vector<std::string> contradictions;
    const Chip merged = merge_fields(OfMachines<Chip>{{&first, &a}, {&second, &b}}, contradictions);
    EXPECT_TRUE(contradictions.empty());
    ASSERT_EQ(merged.banks.size(), 3U);
    EXPECT_NEAR(merged.banks[0].width.value, 33, 1e-9);
    EXPECT_GT(merged.banks[0].width.std_error,
              0.5);  // the machines differ by more than their errors
    EXPECT_EQ(merged.banks[0].settle, Estimate{0.25});  // of the one that knows it
    EXPECT_EQ(merged.banks[0].leak, 4);
    EXPECT_EQ(merged.banks[0].ports, 2);
    EXPECT_EQ(merged.banks[0].colour, std::nullopt);  // not agreed
    EXPECT_EQ(merged.banks[1].settle, Estimate{0.5});
    EXPECT_EQ(merged.banks[2], second.banks[2]);
    second.maker = "B";
    try {
        std::vector<std::string> none;
        merge_fields(OfMachines<Chip>{{&first, &a}, {&second, &b}}, none);
        FAIL() << "merged chips of two makers";
    } catch (const InputError& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("dir/b.yaml: maker: is 'B', but 'A' in a.yaml"));
    }
}

}  // namespace
}  // namespace occupipe::planted

namespace occupipe {
namespace {

// How many initialisers an aggregate takes, up to 13: its members.
template <class T>
constexpr int members() {
    int n = 0;
    if constexpr (requires { T{{}}; }) n = 1;
    if constexpr (requires { T{{}, {}}; }) n = 2;
    if constexpr (requires { T{{}, {}, {}}; }) n = 3;
    if constexpr (requires { T{{}, {}, {}, {}}; }) n = 4;
    if constexpr (requires { T{{}, {}, {}, {}, {}}; }) n = 5;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; }) n = 6;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; }) n = 7;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; }) n = 8;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 9;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 10;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 11;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 12;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 13;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) n = 14;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        n = 15;
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        n = 16;
    return n;
}

template <class T>
struct CountFields : IgnoreFields<T> {
    int members = 0;

    template <class M>
    void operator()(std::string_view, M T::*, const Field& = {}) {
        ++members;
    }
    void with_error(std::string_view, std::optional<double> T::*, std::optional<double> T::*,
                    const Field& = {}) {
        members += 2;
    }
    template <class M>
    void record(std::string_view, M T::*, const Field& = {}) {
        ++members;
    }
    template <class E>
    void named(std::string_view, std::vector<E> T::*, std::type_identity_t<Entries<T, E>> = {}) {
        ++members;
    }
    template <class E>
    void list(std::string_view, std::vector<E> T::*, std::type_identity_t<Entries<T, E>> = {}) {
        ++members;
    }
    void name(std::string T::*, NameFault = nullptr) { ++members; }
};

struct Described {
    std::string type;
    int members;
    int named;
    std::vector<std::string_view> keys;
};

template <class T>
Described described(const char* type) {
    CountFields<T> count;
    describe(count, std::type_identity<T>{});
    return {type, members<T>(), count.members, keys_of<T>()};
}

std::vector<Described> types_of_a_profile() {
    return {described<GpuProfile>("GpuProfile"),
            described<DeviceIdentity>("DeviceIdentity"),
            described<Limits>("Limits"),
            described<Issue>("Issue"),
            described<InstructionCache>("InstructionCache"),
            described<Overheads>("Overheads"),
            described<Subsystem>("Subsystem"),
            described<InstructionTiming>("InstructionTiming"),
            described<ParameterTable>("ParameterTable"),
            described<TableRow>("TableRow"),
            described<MemoryLevel>("MemoryLevel"),
            described<MatchDevice>("MatchDevice")};
}

std::string source(const std::string& path) {
    return read_text_file(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / path);
}

bool has_word(const std::string& text, const std::string& word) {
    const auto of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end])))
            return true;
    }
    return false;
}

TEST(ProfileFields, EveryMemberOfAProfileIsDescribed) {
    for (const Described& type : types_of_a_profile()) {
        EXPECT_EQ(type.members, type.named) << type.type;
        EXPECT_LT(type.members, 16) << type.type << ": members() counts no further";
    }
}

TEST(ProfileFields, StandInTheDocumentAndTheSchemaOfTheFormat) {
    const std::string document = source("docs/reference/file-formats/profile.md");
    const std::string schema = source("schemas/profile.schema.json");
    for (const Described& type : types_of_a_profile())
        for (const std::string_view key : type.keys) {
            EXPECT_TRUE(has_word(document, std::string(key))) << type.type << ": " << key;
            EXPECT_NE(schema.find(fmt::format("\"{}\": {{", key)), std::string::npos)
                << type.type << ": " << key;
        }
}

// What does the work names no field: it takes all from the description.
TEST(ProfileFields, AreNamedByNothingThatReadsWritesChecksComparesOrMerges) {
    for (const char* path :
         {"core/field_rules.h", "core/files/field_reader.h", "core/files/field_writer.h",
          "core/files/field_writer.cpp", "core/files/profile_yaml.cpp", "fit/profile/field_diff.h",
          "fit/profile/field_merge.h", "fit/profile/profile_diff.cpp", "fit/profile/pool.cpp"}) {
        const std::string text = source(path);
        for (const Described& type : types_of_a_profile())
            for (const std::string_view key : type.keys)
                EXPECT_FALSE(text.find(fmt::format("\"{}\"", key)) != text.npos)
                    << path << " names " << key;
    }
}

// What CONTRIBUTING.md says that a quantity takes: its type, its description, the document.
TEST(ProfileFields, AQuantityStandsInTwoFilesOfCore) {
    const std::filesystem::path core = std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "core";
    for (const char* quantity : {"latency_growth", "contention", "edge_confidence", "loop_cycles",
                                 "awaited_launch_seconds", "graph_launch_seconds"}) {
        std::set<std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(core)) {
            const std::string kind = entry.path().extension();
            if (kind != ".h" && kind != ".cpp") continue;
            const std::string name = entry.path().lexically_relative(core);
            // An example in a comment; what notes of older files say.
            if (name == "fields.h" || name == "files/old_notes.cpp") continue;
            if (has_word(read_text_file(entry.path()), quantity)) files.insert(name);
        }
        EXPECT_EQ(files.size(), 2U)
            << quantity << " in " << fmt::format("{}", fmt::join(files, ", "));
        EXPECT_TRUE(files.contains("profile_fields.h")) << quantity;
    }
}

}  // namespace
}  // namespace occupipe
