// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace occupipe::sim {

// What the search for repetitions may cost beside the run itself, by counted work, so that every
// machine finds the same: 64-bit words that are copied or compared. An instruction that is issued
// one by one costs as much time as some tens of words, hence one word an instruction is a few
// percent.
class DetectionBudget {
public:
    static constexpr std::int64_t free_words = 1 << 22;  // a few milliseconds
    static constexpr std::int64_t words_per_instruction = 1;

    // So many instructions have been issued one by one.
    void set_simulated(std::int64_t instructions) { simulated_ = instructions; }

    void spend(std::int64_t words) { spent_ += words; }

    // Spends them if there are as many left. What is refused counts as wanted().
    bool spend_if_left(std::int64_t words) {
        if (words > left()) {
            wanted_ = std::max(wanted_, words);
            return false;
        }
        spent_ += words;
        return true;
    }

    bool exhausted() const { return left() < 0 || wanted_ > 0; }

    // How many instructions must have been issued one by one until as much is left as was wanted,
    // or enough for a few looks.
    std::int64_t rested_at() const {
        const std::int64_t target = std::max(wanted_, burst);
        return (spent_ + target - free_words + words_per_instruction - 1) / words_per_instruction;
    }
    void rested() { wanted_ = 0; }

    std::int64_t spent() const { return spent_; }

private:
    static constexpr std::int64_t burst = 1 << 16;

    std::int64_t left() const { return free_words + simulated_ * words_per_instruction - spent_; }

    std::int64_t simulated_ = 0;
    std::int64_t spent_ = 0;
    std::int64_t wanted_ = 0;
};

}  // namespace occupipe::sim
