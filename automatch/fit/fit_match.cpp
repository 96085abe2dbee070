// SPDX-License-Identifier: MIT
#include "automatch/fit/fit_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "automatch/rows.h"
#include "core/automatch_rows.h"
#include "core/error.h"
#include "core/statistics.h"
#include "fit/curves/curve.h"

namespace occupipe::automatch {
namespace {

// One number with how well it is known.
struct Value {
    double value = 0;
    double error = 0;
};

// The median of n values that differ by chance, and its standard error by the median absolute
// deviation; π/2 is what a median's variance is beside a mean's.
Value median_with_error(std::vector<double> all) {
    Value result{.value = median(all), .error = 0};
    for (double& one : all) one = std::abs(one - result.value);
    const auto n = static_cast<double>(all.size());
    result.error = normal_mad * median(std::move(all)) * std::sqrt(1.5708 / n);
    return result;
}

// Points that say the same: their median; what they differ by counts where it is more than what
// their repetitions do.
Value together(const std::vector<Value>& points) {
    std::vector<double> values, errors;
    for (const Value& point : points) {
        values.push_back(point.value);
        errors.push_back(point.error);
    }
    Value result = median_with_error(values);
    const double own = median(std::move(errors)) / std::sqrt(static_cast<double>(points.size()));
    result.error = std::max(result.error, own);
    return result;
}

Estimate estimate_of(const Value& value, std::string note = {}) {
    return {.value = value.value, .std_error = value.error, .note = std::move(note)};
}

struct Cache {
    int level = 0;
    std::int64_t bytes = 0;
    std::int64_t instances = 1;
};

double counter(const MeasurementRow& row, const char* name) {
    return row.counters.find(name).value_or(0);
}

// Part of its time in which a repetition had its processors; devices that are nobody else's do not
// tell.
double share_of(const MeasurementRow& row) { return row.counters.find("cpu_share").value_or(1); }

std::string bytes_text(double bytes) {
    constexpr double kibi = 1024;
    if (bytes >= kibi * kibi) return fmt::format("{:g} MiB", bytes / kibi / kibi);
    return fmt::format("{:g} KiB", bytes / kibi);
}

class Fit {
public:
    explicit Fit(std::span<const MeasurementFile> files) {
        for (const MeasurementFile& file : files) {
            read_context(file);
            for (const MeasurementRow& row : file.rows)
                if (is_automatch(row) && !row.error && row.seconds > 0)
                    points_[row.name()].push_back(&row);
        }
    }

    MatchFit run() {
        peaks();
        caches();
        barrier();
        launches();
        drift();
        return std::move(fit_);
    }

private:
    static std::string text(const MeasurementFile& file, const std::string& key) {
        const auto it = file.context.find(key);
        return it == file.context.end() ? std::string{} : it->second;
    }

    static std::int64_t number(const MeasurementFile& file, const std::string& key,
                               std::string_view digits) {
        std::int64_t value = 0;
        const auto [stop, fault] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (fault != std::errc{} || stop != digits.data() + digits.size() || value < 1)
            throw InputError(file.path, SourcePosition{}, "context." + key,
                             fmt::format("'{}' is not a positive whole number", digits));
        return value;
    }

    void read_context(const MeasurementFile& file) {
        if (const std::string lines = text(file, match_line_context); !lines.empty())
            fit_.device.line_bytes = number(file, match_line_context, lines);
        read_device_context(file);
        const std::string told = text(file, match_caches_context);
        if (told.empty()) return;
        if (const std::string cores = text(file, "cores"); !cores.empty())
            fit_.device.processors = number(file, "cores", cores);
        caches_.clear();
        std::istringstream words(told);
        for (std::string word; words >> word;) {  // L1:49152x2
            const auto colon = word.find(':'), times = word.find('x');
            if (word.front() != 'L' || colon == std::string::npos || times == std::string::npos ||
                times < colon)
                throw InputError(file.path, SourcePosition{},
                                 std::string("context.") + match_caches_context,
                                 fmt::format("'{}' is not LEVEL:BYTESxINSTANCES", word));
            const std::string_view all = word;
            caches_.push_back(
                {.level =
                     static_cast<int>(number(file, match_caches_context, all.substr(1, colon - 1))),
                 .bytes =
                     number(file, match_caches_context, all.substr(colon + 1, times - colon - 1)),
                 .instances = number(file, match_caches_context, all.substr(times + 1))});
        }
        const Cache& last = caches_.back();
        fit_.device.fast_bytes = last.bytes * last.instances;
    }

    // Of a device of OpenCL's or CUDA's.
    void read_device_context(const MeasurementFile& file) {
        const std::string backend = text(file, "backend");
        if (backend != "opencl" && backend != "cuda") return;
        if (std::ranges::none_of(file.rows, is_automatch)) return;
        gpu_ = true;
        if (const std::string lanes = text(file, match_lanes_context); !lanes.empty())
            fit_.device.processors = number(file, match_lanes_context, lanes);
        lanes_source_ = text(file, match_lanes_source_context);
        std::int64_t shared = 0;
        if (const std::string bytes = text(file, match_shared_context); !bytes.empty())
            shared = number(file, match_shared_context, bytes) *
                     number(file, "cores", text(file, "cores"));
        if (const std::string bytes = text(file, match_last_cache_context); !bytes.empty()) {
            last_cache_ = number(file, match_last_cache_context, bytes);
            fit_.device.fast_bytes = shared + *last_cache_;
        } else {
            fit_.notes.emplace_back(
                "match: the device does not tell the size of its last cache: Z is not known, and "
                "numbers of memory are bounds; with CUDA the driver tells");
        }
        if (text(file, "device_type") == "cpu") {
            scalar_ = true;
            fit_.notes.emplace_back(
                "match: this is a CPU through OpenCL, whose work-items compute one number at a "
                "time: its vector units do more than π0, of which this is a lower bound; --device "
                "cpu measures it natively, with barriers in place of launches");
        }
    }

    // What one repetition says, of those that nothing disturbed; the least disturbed quarter, where
    // there are fewer than five.
    template <typename Function>
    Value over_repetitions(const std::string& name, const std::vector<const MeasurementRow*>& rows,
                           const Function& says) {
        constexpr std::size_t least = 5;
        std::vector<const MeasurementRow*> chosen = rows;
        std::ranges::stable_sort(
            chosen, [](const auto* a, const auto* b) { return share_of(*a) > share_of(*b); });
        const auto undisturbed = static_cast<std::size_t>(std::ranges::count_if(
            chosen, [](const MeasurementRow* row) { return share_of(*row) >= match_undisturbed; }));
        if (undisturbed >= least) {
            chosen.resize(undisturbed);
        } else {
            chosen.resize(std::max<std::size_t>(
                1, std::min(chosen.size(), std::max(chosen.size() / 4, least))));
            disturbed_.push_back(fmt::format("{} ({} of {})", name.substr(0, name.find("/threads")),
                                             undisturbed, rows.size()));
        }
        // Their fastest quarter: what else disturbs (another tenant of the processor, its clock)
        // makes them slower, never faster.
        std::ranges::stable_sort(chosen, {}, &seconds_of_one);
        const double scatter =
            seconds_of_one(chosen[chosen.size() / 2]) / seconds_of_one(chosen.front());
        if (scatter > 1.25)
            scattered_.push_back(fmt::format("{} ({:.2g} times as long in the median)",
                                             name.substr(0, name.find("/threads")), scatter));
        chosen.resize(std::min(chosen.size(), std::max<std::size_t>(3, chosen.size() / 4)));
        std::vector<double> values;
        for (const MeasurementRow* row : chosen) values.push_back(says(*row));
        Value value{.value = median(values), .error = 0};
        value.error = std::abs(values.back() - values.front()) / 2;
        return value;
    }

    // Repetitions of a point may differ in what they did.
    static double seconds_of_one(const MeasurementRow* row) {
        return row->seconds / static_cast<double>(row->shape.depth);
    }

    // The fastest of the vector widths of one type, and the narrowest that is as fast.
    std::optional<std::pair<Value, double>> fastest(const std::string& type) {
        std::map<double, Value> by_width;
        for (const auto& [name, rows] : points_) {
            if (rows.front()->subject != std::string(match_peak) + "." + type) continue;
            by_width[counter(*rows.front(), match_vector_width)] =
                over_repetitions(name, rows, [](const MeasurementRow& row) {
                    return counter(row, match_operations) / row.seconds;
                });
        }
        if (by_width.empty()) return std::nullopt;
        const auto best = std::ranges::max_element(
            by_width, [](const auto& a, const auto& b) { return a.second.value < b.second.value; });
        for (const auto& [width, value] : by_width)
            if (value.value >= 0.95 * best->second.value) return std::pair(best->second, width);
        return std::pair(best->second, best->first);
    }

    void peaks() {
        MatchDevice& device = fit_.device;
        if (!device.processors) {
            if (const auto f64 = gpu_ ? fastest("f64") : std::nullopt)
                fit_.notes.push_back(fmt::format(
                    "match: the device does not tell how many lanes it has, so that n_p and π0 are "
                    "not known; all together reach {:.4g} GFLOP/s in double precision",
                    1e-9 * f64->first.value));
            return;
        }
        const auto cores = static_cast<double>(*device.processors);
        const auto per_core = [&](const Value& all) {
            return Value{all.value / cores, all.error / cores};
        };
        if (const auto f64 = fastest("f64")) {
            const auto& [all, width] = *f64;
            device.vector_width = static_cast<std::int64_t>(width);
            device.flops_per_second = estimate_of(
                per_core(all),
                gpu_ ? fmt::format("a lane of {:g} ({}), all at work", cores, lanes_source_)
                     : fmt::format("vectors of {:g}, all {:g} cores at work", width, cores));
            if (const auto clock = witnessed_clock())
                fit_.notes.push_back(
                    fmt::format("match: π0 is {:.2f} vector multiply-adds a cycle at the witnessed "
                                "{:.4g} MHz; a "
                                "core has one or two units for them",
                                per_core(all).value / (2 * width * *clock), *clock / 1e6));
        }
        if (const auto f32 = fastest("f32"))
            device.f32_flops_per_second = estimate_of(
                per_core(f32->first),
                gpu_ ? fmt::format("a lane of {:g} ({}), all at work", cores, lanes_source_)
                     : fmt::format("vectors of {:g}, all {:g} cores at work", f32->second, cores));
        else if (gpu_)
            device.vector_width = 1;
        if (!scalar_) return;
        for (auto* const peak : {&device.flops_per_second, &device.f32_flops_per_second})
            if (*peak)
                *peak = Estimate{.value = (*peak)->value,
                                 .kind = Estimate::Kind::lower_bound,
                                 .note = "one number at a time; vector units do more"};
        device.vector_width.reset();
    }

    std::optional<double> witnessed_clock() const {
        std::vector<double> clocks;
        for (const auto& [name, rows] : points_)
            for (const MeasurementRow* row : rows)
                if (row->clock_hz) clocks.push_back(*row->clock_hz);
        if (clocks.empty()) return std::nullopt;
        return median(std::move(clocks));
    }

    // By working set.
    std::map<double, Value> curve(const char* subject, bool latency) {
        std::map<double, Value> all;
        for (const auto& [name, rows] : points_) {
            if (rows.front()->subject != subject) continue;
            all[counter(*rows.front(), match_working_set)] =
                over_repetitions(name, rows, [&](const MeasurementRow& row) {
                    return latency ? row.seconds / counter(row, match_steps)
                                   : counter(row, match_bytes) / row.seconds;
                });
        }
        return all;
    }

    // Of the sets that this level holds and the one before does not, with room to spare on both
    // sides; of the set in its geometric middle where there is none.
    static std::optional<Value> of_level(const std::map<double, Value>& curve, double before,
                                         double capacity) {
        std::vector<Value> inside;
        const Value* nearest = nullptr;
        double least = std::log(2.0);
        const double middle = std::sqrt(std::max(before, capacity / 16) * capacity);
        for (const auto& [bytes, value] : curve) {
            if (bytes >= 2 * before && bytes <= capacity / 2) inside.push_back(value);
            const double away = std::abs(std::log(bytes / middle));
            if (bytes > before && bytes < capacity && away < least) least = away, nearest = &value;
        }
        if (!inside.empty()) return together(inside);
        return nearest != nullptr ? std::optional(*nearest) : std::nullopt;
    }

    // Of the sets far beyond the last cache; a bound where there are none.
    void slow(const std::map<double, Value>& curve, std::optional<Estimate>& into,
              Estimate::Kind bound) const {
        if (curve.empty()) return;
        const auto last = static_cast<double>(gpu_ ? last_cache_.value_or(0)
                                                   : fit_.device.fast_bytes.value_or(0));
        std::vector<Value> beyond;
        for (const auto& [bytes, value] : curve)
            if (last > 0 && bytes >= 4 * last) beyond.push_back(value);
        if (!beyond.empty()) {
            into = estimate_of(together(beyond),
                               fmt::format("working set of {}", bytes_text(curve.rbegin()->first)));
            return;
        }
        into = estimate_of(curve.rbegin()->second,
                           fmt::format("the largest working set, {}, is {} four times the last "
                                       "cache",
                                       bytes_text(curve.rbegin()->first),
                                       last > 0 ? "less than" : "not known to be"));
        into->kind = bound;
    }

    void caches() {
        const auto reads = curve(match_read, false), chases = curve(match_chase, true);
        MatchDevice& device = fit_.device;
        slow(reads, device.slow_bytes_per_second, Estimate::Kind::upper_bound);
        slow(chases, device.slow_latency_seconds, Estimate::Kind::lower_bound);
        fast(reads, device.fast_bytes_per_second, false);
        fast(chases, device.fast_latency_seconds, true);
        knee(chases);
    }

    void fast(const std::map<double, Value>& curve, std::optional<Estimate>& into, bool latency) {
        double sum = 0, variance = 0, levels = 0, before = 0;
        std::string each;
        const auto add = [&](const std::string& name, const std::optional<Value>& level) {
            if (!level) {
                fit_.notes.push_back(fmt::format("match: no working set of {} was measured for {}",
                                                 name, latency ? "latency" : "bandwidth"));
                return;
            }
            // 1/x has the error e/x².
            const double term = latency ? level->value : 1 / level->value;
            const double error =
                latency ? level->error : level->error / level->value / level->value;
            sum += term;
            variance += error * error;
            levels += 1;
            const Estimate own =
                estimate_of({level->value, level->error}).times(latency ? 1e9 : 1e-9);
            each += fmt::format("{}{} {} {}", each.empty() ? "" : ", ", name, estimate_text(own),
                                latency ? "ns" : "GB/s");
        };
        for (const Cache& cache : caches_) {
            // One core's chase has one instance, all cores' reading all of them.
            const double capacity = static_cast<double>(cache.bytes) *
                                    (latency ? 1.0 : static_cast<double>(cache.instances));
            add(fmt::format("L{}", cache.level), of_level(curve, before, capacity));
            before = capacity;
        }
        if (gpu_ && last_cache_) {
            if (const auto shared = groups_own(latency)) add("shared memory", shared);
            // Each core walks through the whole set, of which no first level holds more.
            constexpr double largest_first_level = 256 << 10;
            const auto last = static_cast<double>(*last_cache_);
            add("last cache", of_level(curve, std::min(largest_first_level, last / 8), last));
        }
        if (levels == 0) return;
        const double mean = sum / levels, error = std::sqrt(variance) / levels;
        into = latency ? estimate_of({mean, error}, "mean of " + each)
                       : estimate_of({1 / mean, error / mean / mean}, "harmonic mean of " + each);
    }

    // Memory of the groups.
    std::optional<Value> groups_own(bool latency) {
        for (const auto& [name, rows] : points_)
            if (rows.front()->subject == (latency ? match_chase_shared : match_read_shared))
                return over_repetitions(name, rows, [&](const MeasurementRow& row) {
                    return latency ? row.seconds / counter(row, match_steps)
                                   : counter(row, match_bytes) / row.seconds;
                });
        return std::nullopt;
    }

    // Where chases leave the last cache, beside what the system says of it.
    void knee(const std::map<double, Value>& chases) {
        if (chases.size() < 3 || (caches_.empty() && !last_cache_)) return;
        const double told = static_cast<double>(gpu_ ? *last_cache_ : caches_.back().bytes);
        const double before = gpu_ ? std::min(double{256 << 10}, told / 8)
                              : caches_.size() > 1
                                  ? static_cast<double>(caches_[caches_.size() - 2].bytes)
                                  : 0;
        std::optional<Value> inside;
        for (const auto& [bytes, value] : chases)
            if (bytes >= 2 * before && !inside) inside = value;
        const Value& beyond = chases.rbegin()->second;
        if (!inside || beyond.value < 1.5 * inside->value) {
            fit_.notes.emplace_back(
                "match: chases do not show where the last cache ends; Z is what the system tells");
            return;
        }
        const double edge = std::sqrt(inside->value * beyond.value);
        double held = 0, left = 0;
        for (const auto& [bytes, value] : chases) {
            if (value.value <= edge) held = bytes;
            if (value.value > edge && left == 0) left = bytes;
        }
        const bool agrees = held <= 2 * told && left >= told / 2;
        fit_.notes.push_back(fmt::format(
            "match: chases leave the last cache between {} and {}; the system tells {}{}",
            bytes_text(std::min(held, left)), bytes_text(std::max(held, left)), bytes_text(told),
            agrees ? ""
                   : ", which this process does not have to itself: Z is what is told, so that "
                     "bounds hold"));
    }

    void barrier() {
        for (const auto& [name, rows] : points_) {
            if (rows.front()->subject != match_barrier) continue;
            fit_.device.synchronisation_seconds =
                estimate_of(over_repetitions(name, rows,
                                             [](const MeasurementRow& row) {
                                                 return row.seconds / counter(row, match_barriers);
                                             }),
                            name.substr(name.find("threads")));
        }
    }

    // From one launch to the next, many of them back to back beside fewer.
    void launches() {
        std::map<double, Value> by_number;
        for (const auto& [name, rows] : points_) {
            if (rows.front()->subject != match_launch) continue;
            by_number[counter(*rows.front(), match_launches)] =
                over_repetitions(name, rows, [](const MeasurementRow& row) { return row.seconds; });
        }
        if (by_number.size() < 2) return;
        const auto& [few, first] = *by_number.begin();
        const auto& [many, last] = *by_number.rbegin();
        const Value each{(last.value - first.value) / (many - few),
                         std::hypot(first.error, last.error) / (many - few)};
        if (!(each.value > 0)) {
            fit_.notes.push_back(fmt::format(
                "match: {:g} launches took no longer than {:g}: s0 is not known", many, few));
            return;
        }
        fit_.device.synchronisation_seconds = estimate_of(
            each,
            fmt::format("from one launch to the next, {:g} beside {:g} back to back", many, few));
    }

    void drift() {
        std::vector<std::pair<double, double>> clocks;
        for (const auto& [name, rows] : points_)
            for (const MeasurementRow* row : rows)
                if (row->clock_hz) clocks.emplace_back(counter(*row, "place"), *row->clock_hz);
        std::ranges::sort(clocks);
        if (clocks.size() >= 12) {
            const auto third = static_cast<std::ptrdiff_t>(clocks.size() / 3);
            std::vector<double> early, late;
            for (auto it = clocks.begin(); it != clocks.begin() + third; ++it)
                early.push_back(it->second);
            for (auto it = clocks.end() - third; it != clocks.end(); ++it)
                late.push_back(it->second);
            const double change = median(std::move(late)) / median(std::move(early)) - 1;
            if (std::abs(change) > 0.02)
                fit_.notes.push_back(fmt::format(
                    "match: the clock drifted by {:+.1f} % between the first and the last third of "
                    "the run",
                    100 * change));
        }
        const auto first = [](const std::vector<std::string>& names) {
            constexpr std::size_t shown = 3;
            std::string all;
            for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
                all += (i == 0 ? "" : ", ") + names[i];
            return all + (names.size() > shown ? ", …" : "");
        };
        if (!disturbed_.empty())
            fit_.notes.push_back(fmt::format(
                "match: the machine was busy: of {} points few repetitions had their processors to "
                "themselves ({}); their numbers are not to be trusted",
                disturbed_.size(), first(disturbed_)));
        if (!scattered_.empty())
            fit_.notes.push_back(fmt::format(
                "match: repetitions of {} points scatter although their threads ran all the time, "
                "so that something beside this system's other threads slowed them ({}); the "
                "fastest quarter counts, and may be too slow",
                scattered_.size(), first(scattered_)));
    }

    MatchFit fit_;
    std::vector<Cache> caches_;
    bool gpu_ = false;     // through OpenCL or CUDA
    bool scalar_ = false;  // a CPU through OpenCL: π0 is of one lane of its vectors
    std::optional<std::int64_t> last_cache_;
    std::string lanes_source_;
    std::map<std::string, std::vector<const MeasurementRow*>> points_;
    std::vector<std::string> disturbed_;  // "match.peak.f64/… (2 of 80)"
    std::vector<std::string> scattered_;
};

}  // namespace

std::optional<MatchFit> fit_match(std::span<const MeasurementFile> files) {
    if (!has_automatch_rows(files)) return std::nullopt;
    return Fit(files).run();
}

FitOutcome fit_match_profile(std::span<const MeasurementFile> files) {
    const std::optional<MatchFit> fit = fit_match(files);
    if (!fit)
        throw InputError(files.front().path, SourcePosition{}, "benchmarks",
                         "contains nothing that 'automatch measure' measures");
    FitOutcome outcome = fit_device_alone(files, fit->notes);
    outcome.profile.match = fit->device;
    // As `occupipe fit` says of all that has no mixes.
    outcome.profile.provenance.entries.emplace_back(
        "issue_choice",
        Annotation{.text = "not known: no mix was measured with several warps on a core",
                   .items = {},
                   .entries = {}});
    validate(outcome.profile);
    return outcome;
}

}  // namespace occupipe::automatch
