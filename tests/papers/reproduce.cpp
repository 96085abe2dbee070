// SPDX-License-Identifier: MIT
// Makes every number, curve and picture of docs/background/reproductions.md, and
// docs/background/gpus.md, anew (tools/reproduce.sh).
//   occupipe_reproduce [--check]     --check: writes nothing, exit code 1 if a number is not as
//   committed
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string_view>

#include "core/files/files.h"
#include "plot/draw.h"
#include "plot/svg.h"
#include "tests/papers/made.h"

namespace occupipe::papers {
namespace {

const std::filesystem::path root = OCCUPIPE_SOURCE_DIR;

int reproduce(bool check) {
    const std::filesystem::path folder = root / "docs/background/reproductions";
    std::vector<std::pair<std::string, Made>> made;
    for (const Block& block : blocks()) {
        const auto start = std::chrono::steady_clock::now();
        made.emplace_back(block.name, block.make(root));
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        fmt::print(stderr, "reproduce: {} ({:.1f} s)\n", block.name, taken.count());
    }
    std::map<std::string_view, std::vector<std::pair<std::string, Made>>> by_page;
    for (std::size_t i = 0; i < made.size(); ++i) by_page[blocks()[i].page].push_back(made[i]);
    for (const auto& [page, its] : by_page) {
        const std::filesystem::path file = root / "docs" / page;
        const std::string before = read_text_file(file);
        const std::string text = filled(before, its);
        if (text == before) continue;
        if (check) return 1;
        write_text_file(file, text, Overwrite::yes);
    }
    if (check) return 0;
    std::filesystem::create_directories(folder);
    std::vector<plot::Picture> pictures;
    std::vector<std::string> names;
    for (const auto& [name, block] : made) {
        for (const Drawing& drawing : block.drawings)
            write_text_file(folder / (drawing.name + ".svg"), drawing.svg, Overwrite::yes);
        for (const Curves& curves : block.curves) {
            write_text_file(folder / (curves.name + ".csv"), csv(curves.picture), Overwrite::yes);
            pictures.push_back(curves.picture);
            names.push_back(curves.name);
        }
    }
    const std::vector<std::string> images = plot::draw(pictures, plot::ImageFormat::svg);
    for (std::size_t i = 0; i < images.size(); ++i)
        write_text_file(folder / (names[i] + ".svg"),
                        plot::titled_svg(images[i], pictures[i].description), Overwrite::yes);
    return 0;
}

}  // namespace
}  // namespace occupipe::papers

int main(int argc, char** argv) {
    try {
        return occupipe::papers::reproduce(argc > 1 && std::string_view(argv[1]) == "--check");
    } catch (const std::exception& error) {
        fmt::print(stderr, "reproduce: {}\n", error.what());
        return 2;
    }
}
