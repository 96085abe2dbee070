// SPDX-License-Identifier: MIT
// A warp's executed stream with its loops found again.
//   a b c b c b c d → a, 3 × [b c], d
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace occupipe::extract {

struct FoldedLoop;
// An instruction of the stream (whatever number the caller gave it) or a loop.
using FoldedItem = std::variant<std::uint32_t, FoldedLoop>;

struct FoldedLoop {
    std::int64_t count = 1;
    std::vector<FoldedItem> body;

    bool operator==(const FoldedLoop& other) const;
};

// Takes a stream one instruction at a time and keeps it folded: whenever the last k items equal the
// k before, they become a loop, and a loop before its own body counts on. Loops nest. Nothing is
// lost: unfold() gives back what was added.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(Folder&&) noexcept;
    Folder& operator=(Folder&&) noexcept;

    void add(std::uint32_t instruction);

    // What add() takes in the shortest time: the instruction with which the loop at the end goes
    // on. Not every loop has one; none: no_instruction.
    static constexpr std::uint32_t no_instruction = ~std::uint32_t{0};
    std::uint32_t expected() const { return expected_; }
    void add_expected() {
        ++added_;
        if (++in_round_ == round_.size())
            end_round();
        else
            expected_ = round_[in_round_] / 2;
    }

    std::uint64_t added() const { return added_; }
    // Items of the outermost list.
    std::size_t size() const { return stack_.size() + in_round_; }
    std::vector<FoldedItem> folded() const;

private:
    struct Loops;

    bool fold_once();
    void fold();
    void end_round();
    void begin_rounds();
    void leave_round();
    void push(std::uint32_t item);
    void pop(std::size_t count);

    // Items are numbers: even ones instructions (twice their number), odd ones loops.
    std::vector<std::uint32_t> stack_;
    // By item: where it, or a loop whose body ends with it, stands in the stack; ascending.
    std::vector<std::vector<std::uint32_t>> places_, loops_by_end_;
    std::unique_ptr<Loops> loops_;
    std::uint64_t added_ = 0;
    // Where the stack ends with a loop another round of which cannot fold before it is complete:
    // its body, of which so many items were added and are not in the stack. Else empty.
    std::vector<std::uint32_t> round_;
    std::size_t in_round_ = 0;
    std::uint32_t expected_ = no_instruction;
    std::vector<std::uint64_t> looked_at_;  // by item: when, as a count of instructions
};

std::vector<FoldedItem> fold(std::span<const std::uint32_t> stream);

// Calls `visit` with every instruction, loops replicated.
void unfold(std::span<const FoldedItem> items, const std::function<void(std::uint32_t)>& visit);

// Instructions executed, loops replicated.
std::int64_t unfolded_size(std::span<const FoldedItem> items);

struct Thinned {
    std::vector<FoldedItem> items;
    std::int64_t every = 1;  // 1: all of the stream
};

// A stream whose rounds are all unlike is as long as what was executed. Of one that has more than
// `most` instructions, loops counted once, one window of 1024 in `every` is kept, and is a loop for
// the windows around it: the one that leaves the number of executed instructions nearest to what it
// was. The first window, what `stays` (barriers), and what lies between two of these in less than a
// window stay as they are.
Thinned thinned(std::vector<FoldedItem> items, std::size_t most,
                const std::function<bool(std::uint32_t)>& stays);

}  // namespace occupipe::extract
