// SPDX-License-Identifier: MIT
// The loops that `automatch measure` times on a CPU. Each uses the widest vectors that the
// processor has, found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace occupipe::automatch {

// Independent multiply-adds on registers, as many at once as hide their latency.
struct PeakLoop {
    std::string_view type;  // "f64", "f32"
    int width = 1;          // elements of a vector
    int chains = 1;
    bool fused = true;  // false: products and sums in turn, where there is no fused instruction
    void (*run)(std::int64_t iterations) = nullptr;

    // Operations of one iteration; a multiply-add is two.
    int operations() const { return (fused ? 2 : 1) * width * chains; }
};
std::vector<PeakLoop> peak_loops();  // those that this processor executes

// Reads `bytes` (a multiple of 1,024) from `from`, which is aligned to 64.
void read_all(const std::byte* from, std::size_t bytes);
// The same, a double at a time.
void read_one_by_one(const std::byte* from, std::size_t bytes);

// Pages of 2 MiB where the system gives them, so that address translation takes little part.
class Pages {
public:
    explicit Pages(std::size_t bytes);  // zeros; throws std::bad_alloc
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

// Makes one cycle through all lines of the first `bytes`, in an order that no prefetcher guesses.
void make_chase(std::byte* memory, std::size_t bytes, std::size_t line_bytes);
// `steps` (a multiple of 8) loads, each from the address that the one before gave.
void* chase(void* from, std::int64_t steps);

// Core clock [Hz] by a chain of additions that take a cycle each; absent where none is known.
std::optional<double> clock_now();

}  // namespace occupipe::automatch
