// SPDX-License-Identifier: MIT
#include "extract/fold.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace occupipe::extract {
namespace {

using Random = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

std::string text(std::span<const FoldedItem> items) {
    std::string result;
    for (const FoldedItem& item : items) {
        if (!result.empty()) result += ' ';
        if (const auto* loop = std::get_if<FoldedLoop>(&item))
            result += std::to_string(loop->count) + "[" + text(loop->body) + "]";
        else
            result += static_cast<char>('a' + std::get<std::uint32_t>(item));
    }
    return result;
}

std::string folded(const std::string& stream) {
    Folder folder;
    for (const char c : stream) folder.add(static_cast<std::uint32_t>(c - 'a'));
    return text(folder.folded());
}

TEST(Fold, FindsLoopsAndNestsThem) {
    EXPECT_EQ(folded(""), "");
    EXPECT_EQ(folded("abc"), "a b c");
    EXPECT_EQ(folded("abcbcbcd"), "a 3[b c] d");
    EXPECT_EQ(folded("aaaa"), "4[a]");
    EXPECT_EQ(folded("abbbcabbbcabbbc"), "3[a 3[b] c]");
    EXPECT_EQ(folded("abcabcabcdabcabcabcdx"), "2[3[a b c] d] x");
    // Rounds that differ stay apart.
    EXPECT_EQ(folded("abbcabbbc"), "a 2[b] c a 3[b] c");
    EXPECT_EQ(folded("abcabdabcabd"), "2[a b c a b d]");
}

TEST(Fold, LosesNothing) {
    Random random(7);
    for (int round = 0; round < 400; ++round) {
        const std::uint32_t letters = 1 + random() % 6;
        std::vector<std::uint32_t> stream(random() % 300);
        for (std::uint32_t& one : stream) one = random() % letters;
        // Parts repeated within, so that there is something to be found.
        for (int copies = static_cast<int>(random() % 4); copies > 0 && !stream.empty(); --copies) {
            const std::size_t from = random() % stream.size();
            const std::vector<std::uint32_t> part(stream.begin() + static_cast<long>(from),
                                                  stream.end());
            for (std::uint32_t i = random() % 5; i > 0; --i)
                stream.insert(stream.end(), part.begin(), part.end());
            if (stream.size() > 20'000) break;
        }
        const std::vector<FoldedItem> items = fold(stream);
        std::vector<std::uint32_t> back;
        unfold(items, [&](std::uint32_t one) { back.push_back(one); });
        ASSERT_EQ(back, stream) << round;
        ASSERT_EQ(unfolded_size(items), static_cast<std::int64_t>(stream.size()));
    }
}

TEST(Fold, StaysSmallWhileItReads) {
    Folder folder;
    std::size_t most = 0;
    for (int outer = 0; outer < 50; ++outer) {
        for (int inner = 0; inner < 200; ++inner)
            for (std::uint32_t i = 0; i < 40; ++i) {
                folder.add(i);
                most = std::max(most, folder.size());
            }
        folder.add(40);
    }
    EXPECT_EQ(folder.added(), 50U * (200 * 40 + 1));
    EXPECT_EQ(folder.size(), 1U);
    EXPECT_LT(most, 200U);
}

// Instructions are their places in the stream, in which no two are alike.
TEST(Thinned, KeepsTheCountTheBeginningAndWhatStays) {
    constexpr std::uint32_t count = 300'000, most = 20'000, bars = 3, first_window = 1024;
    std::vector<FoldedItem> stream;
    for (std::uint32_t i = 0; i < count; ++i) {
        stream.emplace_back(i);
        if (i % (count / bars) == 5000)
            stream.emplace_back(FoldedLoop{.count = 2, .body = {count + i, count + i + 1}});
    }
    const auto stays = [](std::uint32_t one) { return one >= count && one % 2 == 0; };
    const Thinned made = thinned(stream, most, stays);
    EXPECT_EQ(made.every, 16);
    EXPECT_EQ(unfolded_size(made.items), unfolded_size(stream));
    std::vector<std::uint32_t> kept, back;
    std::int64_t kept_count = 0, loops = 0;
    for (const FoldedItem& item : made.items) {
        const auto* const loop = std::get_if<FoldedLoop>(&item);
        kept_count += loop ? unfolded_size(loop->body) : 1;
        loops += loop && loop->count == made.every ? 1 : 0;
    }
    EXPECT_LT(kept_count, 2 * most);
    EXPECT_GT(loops, 10);
    std::int64_t stayed = 0;
    unfold(made.items, [&](std::uint32_t one) {
        back.push_back(one);
        stayed += stays(one) ? 1 : 0;
    });
    EXPECT_EQ(stayed, 2 * bars);
    for (std::uint32_t i = 0; i < first_window; ++i) ASSERT_EQ(back[i], i);
    EXPECT_EQ(back.back(), count - 1);
    // Short ones are as they were, whatever their loops count.
    const std::vector<FoldedItem> loop{FoldedLoop{.count = count, .body = {1U, 2U}}};
    EXPECT_EQ(thinned(loop, 2, stays).every, 1);
    EXPECT_EQ(thinned(loop, 2, stays).items, loop);
}

}  // namespace
}  // namespace occupipe::extract
