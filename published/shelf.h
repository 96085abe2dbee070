// SPDX-License-Identifier: MIT
// The shelf: profiles assembled from published figures (docs/background/shelf.md).
// published/shelf.yaml has cards, architectures and kinds of instructions; λ and Λ come from the
// tables beside it.
//
//   shelf_profile("a100")                             a card
//   shelf_profile(parse_datasheet("sm_86:cores=46,clock_hz=1.77e9,dram=448e9,l2=4MiB"))
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gpu_profile.h"
#include "published/figures.h"
#include "published/published.h"

namespace occupipe::analysis {

// What a data sheet says of a card.
struct ShelfCard {
    std::string id;  // "a100"; empty where a user said the numbers
    std::string name;
    std::string capability;  // "8.0"
    std::optional<int> year;
    int cores = 0;
    double clock_hz = 0;
    double dram_bytes_per_second = 0;  // peak
    double l2_bytes = 0;
    std::string source;  // id
};

struct ShelfArchitecture {
    std::string capability;
    std::string generation;
    std::string vendor = "NVIDIA";
    int warp_size = 32;
    std::string line;  // "data center", "client": chips of one line are neighbours first
    std::string code;  // whose machine code stands for it; empty: its own
    int schedulers = 1;
    std::int64_t warps = 0, groups = 0, shared_bytes = 0, first_level_bytes = 0;
    double request = 1, pass = 1;  // core cycles
    double first_bytes = 0;        // per clock cycle and core
    Scope fp64 = Scope::scheduler;
    std::string source, why;
};

struct ShelfInstructionCache {
    std::vector<std::string> capabilities;
    double bytes = 0;
    std::optional<double> bytes_per_cycle;  // from beyond it
    std::string source;
};

enum class ShelfLevel : std::uint8_t { shared, first, second, dram };

// A kind of machine instruction, whose names share λ and Λ.
struct ShelfInstruction {
    std::vector<std::string> names;
    std::string unit;
    std::string spread;
    std::string like;  // what stands for it; empty: nothing
    double times = 1;  // its λ
    std::string why;   // empty: it is the same path, and as certain
    std::optional<ShelfLevel> level;
    int bytes = 4;  // of a lane
    bool store = false;
    bool slot = false;          // λ is one issue slot
    std::optional<double> cpi;  // assumed
    double cpi_error = 0;
    std::string from, to;  // compute capabilities; empty: no limit
};

struct ShelfUnit {
    std::string name;
    Scope scope = Scope::core;
    bool arithmetic = false;
    std::optional<std::int64_t> issue_slots;  // NVIDIA's
};

struct ShelfReached {
    std::string card;
    PublishedFigure figure;  // bytes per second; seconds of a launch, or of an empty kernel
};

struct Shelf {
    std::vector<PublishedSource> sources;
    std::map<std::string, Spread, std::less<>> spreads;
    double neighbour = 0, substitute = 0, code = 0;  // widening, relative
    std::vector<ShelfUnit> units;
    std::vector<ShelfArchitecture> architectures;
    std::vector<ShelfInstructionCache> instruction_caches;
    std::vector<ShelfInstruction> instructions;
    std::vector<ShelfCard> cards;
    std::vector<ShelfReached> reached, launches, kernels;

    // nullptr where there is none.
    const ShelfArchitecture* architecture(std::string_view capability) const;
    const ShelfCard* card(std::string_view id) const;
    // The row that has this name on this architecture.
    const ShelfInstruction* row(std::string_view name, std::string_view capability) const;
};

// Throws InputError with file, line, column and key.
Shelf parse_shelf(const std::string& text, const std::string& file_name);
const Shelf& built_in_shelf();

// "sm_86:cores=46,clock_hz=1.77e9,dram=448e9,l2=4MiB" (and name=…). `where`: named by errors.
ShelfCard parse_datasheet(const std::string& text);
// Whether a text is one: begins with sm_ and has a colon.
bool is_datasheet(std::string_view text);
// The same as YAML, format occupipe-card/1.
ShelfCard parse_card(const std::string& text, const std::string& file_name);

enum class Figure : std::uint8_t { cpi, latency };

// All that is published of a kind on an architecture itself, a figure per source.
std::vector<SourceFigure> figures_of(const Published& published, std::string_view capability,
                                     const ShelfInstruction& row, Figure figure);

// λ of a core or Λ, with the way that it was found; absent: nobody published it, nor of anything
// that could stand for it. `without`: leave this source out.
struct ShelfValue {
    double value = 0;
    double std_error = 0;
    Source source = Source::literature;
    std::string how;  // for people: sources, or what stands for it
};
std::optional<ShelfValue> shelf_value(const Shelf& shelf, const Published& published,
                                      std::string_view capability, const ShelfInstruction& row,
                                      Figure figure, std::string_view without = {});

// For people: what each source says of λ and Λ of an instruction on an architecture, a line each.
std::vector<std::string> shelf_evidence(std::string_view capability, std::string_view instruction);

// The card of this name (of the driver); nullptr: the shelf has none.
const ShelfCard* shelf_card_of(const DeviceIdentity& device);

// The share of the peak of device memory that kernels reach, of one vendor's cards.
ShelfValue reached_share(const Shelf& shelf, std::string_view vendor,
                         std::string_view without_card = {});

GpuProfile shelf_profile(const ShelfCard& card);
// nullopt: no such card.
std::optional<GpuProfile> shelf_profile(std::string_view id);

}  // namespace occupipe::analysis
