// SPDX-License-Identifier: MIT
// docs/background/reproductions.md is as the program makes it; the index beside this file has a row
// for every table and figure, and each row's test exists.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files/files.h"
#include "tests/papers/made.h"

namespace occupipe::papers {
namespace {

namespace fs = std::filesystem;

const fs::path root = OCCUPIPE_SOURCE_DIR;
const fs::path folder = root / "docs/background/reproductions";

std::string page(std::string_view name = "background/reproductions.md") {
    return read_text_file(root / "docs" / name);
}

class ReproductionsBlock : public testing::TestWithParam<Block> {};

TEST_P(ReproductionsBlock, IsAsTheProgramMakesIt) {
    const Block& block = GetParam();
    const Made made = block.make(root);
    const std::string text = page(block.page);
    const std::string begin = fmt::format("<!-- {} begins -->", block.name);
    const std::size_t from = text.find(begin);
    ASSERT_NE(from, std::string::npos);
    const std::size_t to = text.find(fmt::format("<!-- {} ends -->", block.name), from);
    ASSERT_NE(to, std::string::npos);
    EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()),
              "\n\n" + made.markdown + "\n")
        << "run tools/reproduce.sh";
    for (const Curves& curves : made.curves) {
        EXPECT_EQ(read_text_file(folder / (curves.name + ".csv")), csv(curves.picture))
            << "run tools/reproduce.sh";
        EXPECT_TRUE(fs::exists(folder / (curves.name + ".svg"))) << curves.name;
    }
    for (const Drawing& drawing : made.drawings)
        EXPECT_EQ(read_text_file(folder / (drawing.name + ".svg")), drawing.svg)
            << "run tools/reproduce.sh";
}

INSTANTIATE_TEST_SUITE_P(Papers, ReproductionsBlock,
                         testing::ValuesIn(blocks().begin(), blocks().end()),
                         [](const auto& block) {
                             std::string name(block.param.name);
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

struct Row {
    std::string item;
    std::string status;
    std::string here;
    std::string test;
};

// By heading of the paper.
std::map<std::string, std::vector<Row>> index_rows() {
    std::map<std::string, std::vector<Row>> rows;
    std::istringstream text(read_text_file(root / "tests/papers/README.md"));
    std::string paper;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("### ")) paper = line;
        if (paper.empty() || !line.starts_with("| ") || line.starts_with("| ---") ||
            line.starts_with("| of the paper"))
            continue;
        std::vector<std::string> cells;
        for (std::size_t at = 2; at < line.size();) {
            const std::size_t end = line.find(" |", at);
            if (end == std::string::npos) break;
            cells.push_back(line.substr(at, end - at));
            at = end + 3;
        }
        if (cells.size() != 5) {
            ADD_FAILURE() << line;
            continue;
        }
        rows[paper].push_back({cells[0], cells[2], cells[3], cells[4]});
    }
    return rows;
}

TEST(Reproductions, EveryTableAndFigureOfTheFourPapersHasItsRow) {
    struct Paper {
        const char* words;  // of its heading
        std::vector<std::string> tables;
        int figures;
    };
    const std::vector<std::string> three = {"I", "II", "III"};
    std::vector<std::string> twelve;
    for (int i = 1; i <= 12; ++i) twelve.push_back(std::to_string(i));
    const std::array papers = {Paper{"The Pipeline Performance Model", three, 3},
                               Paper{"Analysis of the Analytical", twelve, 18},
                               Paper{"black-box kernel profiling", {"1", "2", "3", "4"}, 3},
                               Paper{"AutoMatch", three, 12}};
    const auto rows = index_rows();
    ASSERT_EQ(rows.size(), papers.size());
    for (const Paper& paper : papers) {
        std::multiset<std::string> items;
        for (const auto& [heading, listed] : rows)
            if (heading.find(paper.words) != std::string::npos)
                for (const Row& row : listed) items.insert(row.item);
        for (const std::string& number : paper.tables)
            EXPECT_EQ(items.count("Table " + number), 1U) << paper.words << ", table " << number;
        for (int number = 1; number <= paper.figures; ++number)
            EXPECT_EQ(items.count(fmt::format("Figure {}", number)), 1U)
                << paper.words << ", figure " << number;
    }
}

TEST(Reproductions, EveryRowHasAStatusAndATestThatExists) {
    const std::set<std::string> statuses = {"reproduced", "in kind", "needs a GPU",
                                            "not reproducible"};
    const std::regex link(R"(\[(\w+)\]\(\.\./\.\./(tests/[^)]+)\))");
    int seen = 0;
    for (const auto& [paper, rows] : index_rows())
        for (const Row& row : rows) {
            EXPECT_TRUE(statuses.contains(row.status)) << row.item << ": " << row.status;
            EXPECT_FALSE(row.here.empty()) << row.item;
            std::smatch found;
            ASSERT_TRUE(std::regex_match(row.test, found, link)) << row.item << ": " << row.test;
            ASSERT_TRUE(fs::exists(root / found[2].str())) << row.test;
            const std::string source = read_text_file(root / found[2].str());
            EXPECT_TRUE(
                std::regex_search(source, std::regex("TEST(_F|_P)?\\(" + found[1].str() + "\\w*,")))
                << row.item << ": no test of " << row.test;
            ++seen;
        }
    EXPECT_GE(seen, 6 + 30 + 7 + 15);
}

// GitHub's anchors: lower case, blanks become hyphens, commas go.
std::string anchor(std::string heading) {
    std::string made;
    for (const char c : heading)
        if (c == ' ')
            made += '-';
        else if (c != ',')
            made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return made;
}

TEST(Reproductions, LinksLeadToTheirHeadingsAndPicturesToTheirFiles) {
    const std::string text = page();
    std::set<std::string> anchors;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("### ")) anchors.insert(anchor(line.substr(4)));
    const std::regex link(R"(\]\([^)]*reproductions\.md#([^)]+)\))");
    const std::string index = read_text_file(root / "tests/papers/README.md");
    for (std::sregex_iterator at(index.begin(), index.end(), link), end; at != end; ++at)
        EXPECT_TRUE(anchors.contains((*at)[1].str())) << (*at)[1].str();
    std::set<std::string> shown;
    const std::regex picture(R"(!\[[^\]]+\]\(reproductions/([^)]+)\))");
    for (std::sregex_iterator at(text.begin(), text.end(), picture), end; at != end; ++at) {
        shown.insert((*at)[1].str());
        EXPECT_TRUE(fs::exists(folder / (*at)[1].str())) << (*at)[1].str();
    }
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".svg") {
            EXPECT_TRUE(shown.contains(entry.path().filename().string())) << entry.path();
        }
}

TEST(Gpus, EveryProfileHasItsRow) {
    const std::string text = page("background/gpus.md");
    int profiles = 0;
    for (const auto& entry : fs::directory_iterator(root / "profiles"))
        if (entry.path().extension() == ".yaml") {
            EXPECT_NE(text.find("(../../profiles/" + entry.path().filename().string() + ")"),
                      std::string::npos)
                << entry.path();
            ++profiles;
        }
    EXPECT_GE(profiles, 6);
    // Table 5, by hand: Pascal's loads; the K620's multiply-add is assumed.
    EXPECT_NE(text.find(" 12 / 345 "), std::string::npos);
    EXPECT_NE(text.find(" 0.375 / 6 (a) "), std::string::npos);
}

TEST(Reproductions, APageWithoutMarksOrWithUnknownOnesIsRefused) {
    const std::vector<std::pair<std::string, Made>> one = {{"a", {"text\n"}}};
    EXPECT_EQ(filled("<!-- a begins -->\nold\n<!-- a ends -->\n", one),
              "<!-- a begins -->\n\ntext\n\n<!-- a ends -->\n");
    EXPECT_THROW(filled("nothing", one), InputError);
    EXPECT_THROW(filled("<!-- a begins --><!-- a ends --><!-- b begins --><!-- b ends -->", one),
                 InputError);
}

}  // namespace
}  // namespace occupipe::papers
