// SPDX-License-Identifier: MIT
#include "automatch/cpu/measure_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>

#include "automatch/cpu/probes.h"
#include "automatch/cpu/team.h"
#include "automatch/measure_points.h"
#include "automatch/rows.h"
#include "bench/harness/date.h"
#include "bench/harness/journal.h"
#include "core/error.h"
#include "core/measurement.h"

namespace occupipe::automatch {

using bench::context_json;
using bench::date_now;
using bench::FinishedPoint;
using bench::Journal;
using bench::Repetition;
using bench::statistics_of;

namespace {

// A repetition takes about as long: an interruption then spoils few of them, and the timer's
// resolution is nothing beside it.
constexpr double seconds_per_repetition = 0.002;
constexpr int most_repetitions = 300;
constexpr double most_seconds = 3;  // of a point, once it has some repetitions

int undisturbed_repetitions(bool quick) { return quick ? 12 : 20; }

// Whether the fastest quarter agree: what disturbs makes repetitions slower, never faster, and not
// all of it shows in the time that a thread was given.
bool fastest_agree(std::vector<double> seconds) {
    constexpr double alike = 0.02;
    const std::size_t quarter = seconds.size() / 4;
    if (quarter < 3) return false;
    std::ranges::sort(seconds);
    return seconds[quarter - 1] <= (1 + alike) * seconds.front();
}

std::size_t cores(const Host& host) { return host.cores.size(); }

// What one repetition did.
struct Work {
    TeamRun run;
    std::int64_t depth = 1;  // iterations, steps, barriers or kilobytes
    std::map<std::string, double> counters;
};

class Probe {
public:
    virtual ~Probe() = default;
    virtual Work once(std::int64_t depth) = 0;
    virtual std::int64_t first_depth() const { return 1024; }
};

class PeakProbe : public Probe {
public:
    PeakProbe(Team& team, const PeakLoop& loop) : team_(team), loop_(loop) {}
    Work once(std::int64_t depth) override {
        const TeamRun run = team_.run([&](int) { loop_.run(depth); });
        return {.run = run,
                .depth = depth,
                .counters = {{match_operations,
                              static_cast<double>(depth) * loop_.operations() * team_.size()},
                             {match_vector_width, loop_.width}}};
    }

private:
    Team& team_;
    PeakLoop loop_;
};

// Every thread reads a part of its own, round and round; a repetition goes on where the last one
// ended, so that a set beyond the caches is never found there.
class ReadProbe : public Probe {
public:
    ReadProbe(Team& team, std::size_t bytes, bool one_by_one)
        : team_(team),
          read_(one_by_one ? read_one_by_one : read_all),
          part_(bytes / static_cast<std::size_t>(team.size()) / block * block),
          pages_(part_ * static_cast<std::size_t>(team.size())),
          at_(static_cast<std::size_t>(team.size()), Place{}) {
        team_.run([&](int thread) {  // by who reads them
            std::fill_n(begin_of(thread), part_, std::byte{1});
            read_(begin_of(thread), part_);
        });
    }
    std::int64_t first_depth() const override { return static_cast<std::int64_t>(1); }
    // depth: blocks that each thread reads.
    Work once(std::int64_t depth) override {
        const TeamRun run = team_.run([&](int thread) {
            std::size_t& at = at_[static_cast<std::size_t>(thread)].at;
            for (auto left = static_cast<std::size_t>(depth) * block; left > 0;) {
                const std::size_t bytes = std::min(left, part_ - at);
                read_(begin_of(thread) + at, bytes);
                left -= bytes;
                at = at + bytes == part_ ? 0 : at + bytes;
            }
        });
        return {.run = run,
                .depth = depth,
                .counters = {{match_bytes, static_cast<double>(depth) * block * team_.size()},
                             {match_working_set, static_cast<double>(part_) * team_.size()}}};
    }

private:
    static constexpr std::size_t block = 1024;
    struct alignas(128) Place {
        std::size_t at = 0;
    };
    std::byte* begin_of(int thread) {
        return pages_.data() + part_ * static_cast<std::size_t>(thread);
    }

    Team& team_;
    void (*read_)(const std::byte*, std::size_t);
    std::size_t part_;
    Pages pages_;
    std::vector<Place> at_;
};

class ChaseProbe : public Probe {
public:
    ChaseProbe(Team& alone, std::size_t bytes, std::size_t line_bytes)
        : alone_(alone), bytes_(bytes), pages_(bytes) {
        make_chase(pages_.data(), bytes, line_bytes);
        at_ = pages_.data();
        // Once around what a cache may hold; beyond, every line is as far away as any other.
        constexpr std::int64_t most = 1 << 22;
        const auto lines = static_cast<std::int64_t>(bytes / line_bytes);
        alone_.run([&](int) { at_ = chase(at_, std::min(lines, most) / 8 * 8); });
    }
    Work once(std::int64_t depth) override {
        const TeamRun run = alone_.run([&](int) { at_ = chase(at_, depth); });
        return {.run = run,
                .depth = depth,
                .counters = {{match_steps, static_cast<double>(depth)},
                             {match_working_set, static_cast<double>(bytes_)}}};
    }

private:
    Team& alone_;
    std::size_t bytes_;
    Pages pages_;
    void* at_ = nullptr;
};

class BarrierProbe : public Probe {
public:
    explicit BarrierProbe(Team& team) : team_(team), barrier_(team.size()) {}
    Work once(std::int64_t depth) override {
        const TeamRun run = team_.run([&](int) {
            for (std::int64_t i = 0; i < depth; ++i) barrier_.wait();
        });
        return {
            .run = run, .depth = depth, .counters = {{match_barriers, static_cast<double>(depth)}}};
    }

private:
    Team& team_;
    SpinBarrier barrier_;
};

// As many iterations as take a repetition's time; an interruption may make it fewer.
std::int64_t depth_for(Probe& probe) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    std::int64_t depth = std::max<std::int64_t>(8, probe.first_depth());
    constexpr int patience = 40;  // then a disturbed one has to do
    for (int attempt = 0; depth < most; ++attempt) {
        const Work work = probe.once(depth);
        if (work.run.cpu_share >= match_undisturbed || attempt >= patience) {
            if (work.run.seconds > seconds_per_repetition / 2) return depth;
            const double more = seconds_per_repetition / std::max(work.run.seconds, 1e-7);
            depth = static_cast<std::int64_t>(static_cast<double>(depth) * std::min(more, 8.0)) /
                        8 * 8 +
                    8;
        }
    }
    return depth;
}

std::map<std::string, std::string> host_context(const Host& host, const HostOptions& options) {
    std::map<std::string, std::string> context;
    context["backend"] = "cpu";
    context["device"] = "cpu";
    context["vectors"] = host.one_by_one ? "none" : "the widest";
    context["device_name"] = host.name;
    context["device_vendor"] = host.vendor;
    context["device_architecture"] = "CPU";
    context["device_type"] = "cpu";
    context["cores"] = std::to_string(cores(host));
    context["warp_size"] = "1";
    context["occupipe_version"] = options.version;
    context["clock_source"] =
        "witnessed before each repetition: a chain of dependent integer additions, assumed to take "
        "one cycle each";
    context[match_threads_context] = std::to_string(host.logical.size());
    std::int64_t line = 0;
    std::string caches;
    for (const HostCache& cache : host.caches) {
        line = std::max(line, cache.line_bytes);
        caches += fmt::format("{}L{}:{}x{}", caches.empty() ? "" : " ", cache.level, cache.bytes,
                              cache.instances);
    }
    if (line > 0) context[match_line_context] = std::to_string(line);
    context[match_caches_context] = caches;
    std::string load;
    std::ifstream("/proc/loadavg") >> load;
    if (!load.empty()) context["load_average_at_begin"] = load;
    context["date"] = date_now();
    return context;
}

// The least and the largest of a thread's part are multiples of a block.
std::vector<std::size_t> working_sets(std::size_t least, std::size_t largest) {
    std::vector<std::size_t> all;
    for (std::size_t bytes = least; bytes <= largest; bytes *= 2) all.push_back(bytes);
    return all;
}

std::vector<PeakLoop> loops_of(const Host& host) {
    std::vector<PeakLoop> loops = peak_loops();
    if (host.one_by_one) std::erase_if(loops, [](const PeakLoop& loop) { return loop.width > 1; });
    return loops;
}

class Session {
public:
    Session(const Host& host, const HostOptions& options)
        : host_(host),
          options_(options),
          all_(host.cores),
          alone_({host.cores.front()}),
          logical_(host.logical),
          loops_(loops_of(host)) {}

    // Absent: stopped.
    std::optional<FinishedPoint> measure(const HostPoint& point) {
        const auto probe = probe_of(point);
        const std::int64_t depth = depth_for(*probe);
        FinishedPoint finished{.name = point.name, .repetitions = {}, .statistics = {}};
        const int wanted = undisturbed_repetitions(options_.quick);
        std::vector<double> undisturbed;
        const auto begin = std::chrono::steady_clock::now();
        const auto enough = [&] {
            const auto count = static_cast<int>(undisturbed.size());
            if (count >= wanted && fastest_agree(undisturbed)) return true;
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            return took.count() > most_seconds && finished.repetitions.size() >= 12;
        };
        for (int i = 0; i < most_repetitions && !enough(); ++i) {
            if (options_.stop != nullptr && *options_.stop) return std::nullopt;
            const auto clock = clock_now();
            const Work work = probe->once(depth);
            if (work.run.cpu_share >= match_undisturbed) undisturbed.push_back(work.run.seconds);
            Repetition one{.repetition_index = i, .iterations = 1};
            one.real_time = 1e9 * work.run.seconds;
            one.cpu_time = 1e9 * work.run.seconds * work.run.cpu_share;
            one.time_unit = "ns";
            one.counters = work.counters;
            one.counters["cpu_share"] = work.run.cpu_share;
            one.counters["place"] = static_cast<double>(places_++);
            if (clock) one.counters["clock_hz"] = *clock;
            one.counters["group_warps"] = 1;
            one.counters["concurrent_groups"] = 1;
            one.counters["chains"] = 1;
            one.counters["depth"] = static_cast<double>(work.depth);
            finished.repetitions.push_back(std::move(one));
        }
        for (Repetition& one : finished.repetitions)
            one.repetitions = static_cast<std::int64_t>(finished.repetitions.size());
        finished.statistics = statistics_of(finished.repetitions, {});
        disturbed_ += static_cast<int>(undisturbed.size()) < wanted ? 1 : 0;
        return finished;
    }
    std::size_t disturbed() const { return disturbed_; }

private:
    std::unique_ptr<Probe> probe_of(const HostPoint& point) {
        switch (point.kind) {
            case HostPoint::Kind::peak:
                return std::make_unique<PeakProbe>(all_, loops_.at(point.loop));
            case HostPoint::Kind::read:
                return std::make_unique<ReadProbe>(all_, point.bytes, host_.one_by_one);
            case HostPoint::Kind::chase: {
                const std::int64_t line = host_.caches.front().line_bytes;
                return std::make_unique<ChaseProbe>(alone_, point.bytes,
                                                    line > 0 ? static_cast<std::size_t>(line) : 64);
            }
            case HostPoint::Kind::barrier:
                break;
        }
        return std::make_unique<BarrierProbe>(logical_);
    }

    const Host& host_;
    const HostOptions& options_;
    Team all_, alone_, logical_;
    std::vector<PeakLoop> loops_;
    std::size_t places_ = 0;
    std::size_t disturbed_ = 0;
};

}  // namespace

std::size_t largest_working_set(const Host& host) {
    const HostCache& last = host.caches.back();
    const auto beyond = std::bit_ceil(4 * static_cast<std::uint64_t>(last.bytes * last.instances));
    const auto room = static_cast<std::uint64_t>(host.memory_bytes) / 4;
    return host.memory_bytes > 0 && beyond > room ? std::bit_floor(room) : beyond;
}

std::vector<HostPoint> host_points(const Host& host, bool quick) {
    std::vector<HostPoint> points;
    const auto threads = cores(host);
    const auto add = [&](HostPoint point, const std::string& what, std::size_t of) {
        point.name = fmt::format("{}/threads:{}", what, of);
        points.push_back(std::move(point));
    };
    const auto loops = loops_of(host);
    for (std::size_t i = 0; i < loops.size(); ++i)
        add({.kind = HostPoint::Kind::peak, .name = {}, .loop = i},
            fmt::format("{}.{}/vector_width:{}", match_peak, loops[i].type, loops[i].width),
            threads);
    const std::size_t largest = largest_working_set(host);
    const std::size_t step = quick ? 1 : 0;  // quick: every second size, and the largest
    const auto sizes = [&](std::size_t least) {
        std::vector<std::size_t> all = working_sets(least, largest), kept;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (step == 0 || i % 2 == (all.size() - 1) % 2) kept.push_back(all[i]);
        return kept;
    };
    for (const std::size_t bytes : sizes(8192 * std::bit_ceil(threads)))
        add({.kind = HostPoint::Kind::read, .name = {}, .bytes = bytes},
            fmt::format("{}/{}:{}", match_read, match_working_set, bytes), threads);
    for (const std::size_t bytes : sizes(8192))
        add({.kind = HostPoint::Kind::chase, .name = {}, .bytes = bytes},
            fmt::format("{}/{}:{}", match_chase, match_working_set, bytes), 1);
    add({.kind = HostPoint::Kind::barrier, .name = {}}, std::string(match_barrier),
        host.logical.size());
    return points;
}

HostResult measure_host(const Host& host, const HostOptions& options) {
    require_free(options.output, options.overwrite);
    const auto points = host_points(host, options.quick);
    std::string key = fmt::format("{}, version {}, CPUs {}, one by one {}:", host.name,
                                  options.version, fmt::join(host.cores, " "), host.one_by_one);
    for (const HostPoint& point : points) key += " " + point.name;
    Journal journal(options.output, key, context_json(host_context(host, options)), points.size());
    Session session(host, options);
    HostResult result{.points = points.size()};
    result.complete =
        measure_points(journal, points, options.progress,
                       [&](const HostPoint& point) { return session.measure(point); });
    result.disturbed = session.disturbed();
    return result;
}

}  // namespace occupipe::automatch
