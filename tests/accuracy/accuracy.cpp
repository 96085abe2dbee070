// SPDX-License-Identifier: MIT
// accuracy [--devices N] [--jobs N] [--scenario NAME] [--details]: the table of
// docs/background/accuracy.md.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/accuracy/score.h"

int main(int argc, char** argv) {
    using namespace occupipe::test;
    int devices = 60;
    int jobs = 2;
    bool details = false;
    std::string only;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--details") {
            details = true;
        } else if (i + 1 < argc && word == "--devices") {
            devices = std::atoi(argv[++i]);
        } else if (i + 1 < argc && word == "--jobs") {
            jobs = std::atoi(argv[++i]);
        } else if (i + 1 < argc && word == "--scenario") {
            only = argv[++i];
        } else {
            std::fprintf(stderr, "accuracy: unknown argument %s\n", word.c_str());
            return 2;
        }
    }
    std::vector<Scenario> chosen;
    for (const Scenario& s : scenarios())
        if (s.name.find(only) != std::string::npos) chosen.push_back(s);
    if (chosen.empty() || devices < 1 || jobs < 1) {
        std::fprintf(stderr, "accuracy: no scenario named %s, or a count below one\n",
                     only.c_str());
        return 2;
    }
    const std::vector<Score> scores = score_scenarios(chosen, devices, jobs);
    std::fputs(markdown_table(chosen, scores).c_str(), stdout);
    if (!details) return 0;
    for (const Score& s : scores)
        for (const std::string& line : s.details) std::printf("%s\n", line.c_str());
    return 0;
}
