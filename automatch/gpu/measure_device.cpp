// SPDX-License-Identifier: MIT
#include "automatch/gpu/measure_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "automatch/measure_points.h"
#include "automatch/rows.h"
#include "bench/harness/date.h"
#include "bench/harness/journal.h"
#include "core/error.h"

namespace occupipe::automatch {

using bench::context_json;
using bench::date_now;
using bench::FinishedPoint;
using bench::Journal;
using bench::Repetition;
using bench::statistics_of;

namespace {

using Kind = ProbePoint::Kind;
using Words = std::vector<std::uint32_t>;

constexpr unsigned groups_per_core = 8;
constexpr unsigned most_group_items = 256;
constexpr unsigned chains = 8, steps = 4;  // of numbers.cl's PEAK
constexpr unsigned shared_words = 4096, shared_stride = 677;
constexpr std::size_t element_bytes = 16;

unsigned items_of(const ProbedFacts& facts, unsigned most = most_group_items) {
    return std::bit_floor(std::min(most, static_cast<unsigned>(std::max(1, facts.most_items))));
}

// What a CPU's caches hold of two words is one word's line, and of a GPU's four.
std::size_t line_words(const ProbedFacts& facts) {
    return static_cast<std::size_t>(facts.line_bytes.value_or(128)) / sizeof(std::uint32_t);
}

// Words that are all different, so that reading others gives another sum.
Words distinct_words(std::size_t bytes) {
    Words words(bytes / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = static_cast<std::uint32_t>(i * 2654435761U + 12345U);
    return words;
}

// One cycle through all lines, in an order that no prefetcher guesses: each line's first word is
// the index of the next one. `order`: lines as they are come by, from 0 on.
Words cycle_through(std::size_t bytes, std::size_t words_per_line, Words& order) {
    Words memory(bytes / sizeof(std::uint32_t));
    order.resize(std::max<std::size_t>(1, memory.size() / words_per_line));
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 random(1);
    for (std::size_t i = order.size() - 1; i > 1; --i) std::swap(order[i], order[1 + random() % i]);
    for (std::size_t i = 0; i < order.size(); ++i)
        memory[order[i] * words_per_line] =
            static_cast<std::uint32_t>(order[(i + 1) % order.size()] * words_per_line);
    return memory;
}

// The sum of eight chains that each began with their number, as PEAK adds it.
template <typename Type>
Type counted(std::uint64_t per_chain) {
    std::array<Type, chains> chain{};
    // From 2^24 (2^53) on adding one changes nothing.
    const Type most = static_cast<Type>(std::uint64_t{1} << (sizeof(Type) == 4 ? 24 : 53));
    for (unsigned c = 0; c < chains; ++c) {
        const auto exact = static_cast<double>(c) + static_cast<double>(per_chain);
        chain[c] = exact < static_cast<double>(most) ? static_cast<Type>(exact) : most;
    }
    return ((chain[0] + chain[1]) + (chain[2] + chain[3])) +
           ((chain[4] + chain[5]) + (chain[6] + chain[7]));
}

class Session {
public:
    Session(ProbedDevice& device, const ProbeOptions& options)
        : device_(device), facts_(device.facts()), options_(options) {}

    // Absent: stopped.
    std::optional<FinishedPoint> measure(const ProbePoint& point) {
        prepare(point);
        std::uint32_t rounds = rounds_for(point);
        FinishedPoint finished{.name = point.name, .repetitions = {}, .statistics = {}};
        const int wanted =
            options_.quick ? std::min(options_.repetitions, 12) : options_.repetitions;
        for (int i = 0; i < wanted; ++i) {
            if (options_.stop != nullptr && *options_.stop) return std::nullopt;
            const double seconds = run(point, rounds);
            Repetition one{.repetitions = wanted, .repetition_index = i, .iterations = 1};
            one.real_time = one.cpu_time = 1e9 * seconds;
            one.time_unit = "ns";
            one.counters = counters(point, rounds);
            one.counters["place"] = static_cast<double>(places_++);
            one.counters["group_warps"] = 1;
            one.counters["concurrent_groups"] = 1;
            one.counters["chains"] = 1;
            one.counters["depth"] = point.kind == Kind::launch ? point.launches : rounds;
            finished.repetitions.push_back(std::move(one));
        }
        finished.statistics = statistics_of(finished.repetitions, {});
        return finished;
    }

private:
    bool is_chase(const ProbePoint& point) const {
        return point.kind == Kind::chase || point.kind == Kind::chase_shared;
    }
    void prepare(const ProbePoint& point) {
        const std::size_t bytes = point.bytes > 0 ? point.bytes : shared_words * 4;
        if (point.kind == Kind::chase)
            memory_ = cycle_through(bytes, line_words(facts_), order_);
        else
            memory_ = distinct_words(bytes);
        device_.set_memory(std::as_bytes(std::span(memory_)));
        place_ = 0;
        device_.set_first_result(0);
    }
    ProbeLaunch launch_of(const ProbePoint& point, std::uint32_t rounds) const {
        ProbeLaunch launch{.groups = groups_per_core * static_cast<unsigned>(facts_.cores),
                           .items = items_of(facts_),
                           .mask = static_cast<std::uint32_t>(
                               memory_.size() * sizeof(std::uint32_t) / element_bytes - 1),
                           .rounds = rounds};
        switch (point.kind) {
            case Kind::peak_f64:
            case Kind::peak_f32:
                launch.kernel = point.kind == Kind::peak_f64 ? "peak_f64" : "peak_f32";
                launch.mask = 1;
                break;
            case Kind::read_shared:
                launch.kernel = "read_shared";
                launch.mask = shared_words / 4 - 1;
                break;
            case Kind::chase_shared:
                launch.kernel = "chase_shared";
                launch.mask = shared_words - 1;
                launch.groups = 1;
                break;
            case Kind::read:
                launch.kernel = "read_memory";
                break;
            case Kind::chase:
                launch.kernel = "chase_memory";
                launch.groups = launch.items = 1;
                break;
            case Kind::launch:
                launch.groups = 4 * static_cast<unsigned>(facts_.cores);
                launch.items = items_of(facts_, 1024);
                launch.rounds = 0;
                launch.launches = point.launches;
                break;
        }
        return launch;
    }
    // As many as take a repetition's time.
    std::uint32_t rounds_for(const ProbePoint& point) {
        constexpr std::uint32_t most = 1U << 30;
        std::uint32_t rounds = 16;
        if (point.kind == Kind::launch) {
            run(point, rounds);
            return rounds;
        }
        // What a cache may hold has been in it before it is timed.
        if (point.kind == Kind::chase)
            rounds = static_cast<std::uint32_t>(
                std::clamp<std::size_t>(order_.size() / 8, 16, std::size_t{1} << 17));
        if (point.kind == Kind::read) {
            const ProbeLaunch launch = launch_of(point, 1);
            const auto once = std::size_t{launch.items} * 4 * element_bytes;
            rounds = static_cast<std::uint32_t>(
                std::clamp<std::size_t>(point.bytes / once, 16, std::size_t{1} << 17));
            if (point.bytes > (std::size_t{1} << 24)) rounds = 16;  // all groups together read it
        }
        while (rounds < most) {
            const double seconds = run(point, rounds);
            if (seconds > options_.seconds_per_repetition / 2) break;
            const double more = options_.seconds_per_repetition / std::max(seconds, 1e-7);
            rounds = static_cast<std::uint32_t>(
                std::min<double>(most, std::ceil(rounds * std::clamp(more, 1.5, 8.0))));
        }
        return rounds;
    }
    double run(const ProbePoint& point, std::uint32_t rounds) {
        const ProbeLaunch launch = launch_of(point, rounds);
        const double seconds = device_.run(launch);
        if (!(seconds > 0))
            throw DeviceError(fmt::format("{}: the device's timer says {} s", point.name, seconds));
        verify(point, launch);
        return seconds;
    }
    template <typename Type>
    Type first_result() {
        Type result{};
        std::array<std::byte, sizeof(Type)> bytes{};
        device_.read_results(bytes);
        std::memcpy(&result, bytes.data(), sizeof result);
        return result;
    }
    template <typename Type>
    void expect(const ProbePoint& point, Type expected) {
        const Type found = first_result<Type>();
        if (found != expected)
            throw DeviceError(fmt::format("{}: the kernel's result is {}, it should be {}",
                                          point.name, found, expected));
    }
    void verify(const ProbePoint& point, const ProbeLaunch& launch) {
        const std::uint64_t done = std::uint64_t{launch.rounds} * steps;
        switch (point.kind) {
            case Kind::peak_f64:
                return expect(point, counted<double>(done));
            case Kind::peak_f32:
                return expect(point, counted<float>(done));
            case Kind::chase_shared: {
                place_ = static_cast<std::uint32_t>(
                    (place_ + std::uint64_t{launch.rounds} * 8 * shared_stride) % shared_words);
                return expect(point, place_);
            }
            case Kind::chase: {
                place_ = static_cast<std::uint32_t>((place_ + std::uint64_t{launch.rounds} * 8) %
                                                    order_.size());
                return expect(point,
                              static_cast<std::uint32_t>(order_[place_] * line_words(facts_)));
            }
            case Kind::read:
            case Kind::read_shared: {
                std::uint32_t sum = 0, at = 0;
                for (std::uint64_t i = 0; i < done; ++i, at = (at + launch.items) & launch.mask)
                    for (unsigned w = 0; w < 4; ++w) sum ^= memory_[std::size_t{at} * 4 + w];
                return expect(point, sum);
            }
            case Kind::launch:
                return;
        }
    }
    std::map<std::string, double> counters(const ProbePoint& point, std::uint32_t rounds) const {
        const ProbeLaunch launch = launch_of(point, rounds);
        const double items = static_cast<double>(launch.groups) * launch.items;
        switch (point.kind) {
            case Kind::peak_f64:
            case Kind::peak_f32:
                return {{match_operations, 2.0 * chains * steps * rounds * items},
                        {match_vector_width, 1}};
            case Kind::read_shared:
                return {{match_bytes, 4.0 * element_bytes * rounds * items}};
            case Kind::chase_shared:
                return {{match_steps, 8.0 * rounds}};
            case Kind::read:
                return {{match_bytes, 4.0 * element_bytes * rounds * items},
                        {match_working_set, static_cast<double>(point.bytes)}};
            case Kind::chase:
                return {{match_steps, 8.0 * rounds},
                        {match_working_set, static_cast<double>(point.bytes)}};
            case Kind::launch:
                break;
        }
        return {{match_launches, point.launches}};
    }

    ProbedDevice& device_;
    const ProbedFacts& facts_;
    const ProbeOptions& options_;
    Words memory_, order_;
    std::uint32_t place_ = 0;  // of a chase: index into order_, or the word
    std::size_t places_ = 0;
};

std::map<std::string, std::string> context_of(const ProbedFacts& facts,
                                              const ProbeOptions& options) {
    std::map<std::string, std::string> context;
    context["backend"] = facts.backend;
    context["device"] = facts.id;
    context["device_name"] = facts.name;
    context["device_vendor"] = facts.vendor;
    if (!facts.architecture.empty()) context["device_architecture"] = facts.architecture;
    if (!facts.compute_capability.empty()) context["compute_capability"] = facts.compute_capability;
    context["driver"] = facts.driver;
    context["device_type"] = facts.cpu ? "cpu" : "gpu";
    context["cores"] = std::to_string(facts.cores);
    context["warp_size"] = std::to_string(std::max(1, facts.warp_size));
    context["occupipe_version"] = options.version;
    const auto put = [&](const char* key, const std::optional<std::int64_t>& value) {
        if (value) context[key] = std::to_string(*value);
    };
    put(match_lanes_context, facts.lanes);
    if (facts.lanes) context[match_lanes_source_context] = facts.lanes_source;
    if (facts.nominal_clock_hz && *facts.nominal_clock_hz > 0) {
        context["clock_hz"] = fmt::format("{:.0f}", *facts.nominal_clock_hz);
        context["clock_source"] = "what the device states; no number of match depends on it";
    }
    put(match_line_context, facts.line_bytes);
    put(match_shared_context, facts.shared_bytes);
    put(match_last_cache_context, facts.last_cache_bytes);
    context["date"] = date_now();
    return context;
}

}  // namespace

std::vector<ProbePoint> probe_points(const ProbedFacts& facts, bool quick) {
    std::vector<ProbePoint> points;
    const unsigned groups = groups_per_core * static_cast<unsigned>(facts.cores);
    const auto add = [&](ProbePoint point, const std::string& name) {
        point.name = name;
        points.push_back(std::move(point));
    };
    if (facts.f64)
        add({.kind = Kind::peak_f64, .name = {}},
            fmt::format("{}.f64/vector_width:1/groups:{}", match_peak, groups));
    add({.kind = Kind::peak_f32, .name = {}},
        fmt::format("{}.f32/vector_width:1/groups:{}", match_peak, groups));
    if (facts.shared_bytes) {
        add({.kind = Kind::read_shared, .name = {}},
            fmt::format("{}/groups:{}", match_read_shared, groups));
        add({.kind = Kind::chase_shared, .name = {}},
            fmt::format("{}/groups:1", match_chase_shared));
    }
    constexpr std::size_t least = std::size_t{1} << 14, unknown = std::size_t{1} << 28;
    const auto room = std::bit_floor(static_cast<std::size_t>(
        std::max<std::int64_t>(facts.memory_bytes / 4, static_cast<std::int64_t>(least))));
    const std::size_t beyond =
        facts.last_cache_bytes
            ? std::bit_ceil(4 * static_cast<std::size_t>(*facts.last_cache_bytes))
            : unknown;
    std::vector<std::size_t> all, kept;
    for (std::size_t bytes = least; bytes <= std::min(beyond, room); bytes *= 2)
        all.push_back(bytes);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!quick || i % 2 == (all.size() - 1) % 2) kept.push_back(all[i]);
    for (const std::size_t bytes : kept)
        add({.kind = Kind::read, .name = {}, .bytes = bytes},
            fmt::format("{}/{}:{}/groups:{}", match_read, match_working_set, bytes, groups));
    for (const std::size_t bytes : kept)
        add({.kind = Kind::chase, .name = {}, .bytes = bytes},
            fmt::format("{}/{}:{}/groups:1", match_chase, match_working_set, bytes));
    for (const unsigned launches : {64U, 512U})
        add({.kind = Kind::launch, .name = {}, .launches = launches},
            fmt::format("{}/{}:{}", match_launch, match_launches, launches));
    return points;
}

bool measure_probed_device(ProbedDevice& device, const ProbeOptions& options) {
    require_free(options.output, options.overwrite);
    const ProbedFacts& facts = device.facts();
    const auto points = probe_points(facts, options.quick);
    std::string key = fmt::format("{}, {}, version {}:", facts.id, facts.name, options.version);
    for (const ProbePoint& point : points) key += " " + point.name;
    Journal journal(options.output, key, context_json(context_of(facts, options)), points.size());
    Session session(device, options);
    return measure_points(journal, points, options.progress,
                          [&](const ProbePoint& point) { return session.measure(point); });
}

}  // namespace occupipe::automatch
