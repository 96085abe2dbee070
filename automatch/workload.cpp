// SPDX-License-Identifier: MIT
#include "automatch/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/field_rules.h"
#include "core/fields.h"
#include "core/files/field_reader.h"
#include "core/files/field_writer.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"

namespace occupipe::automatch {

std::string_view to_string(LoopKind kind) {
    switch (kind) {
        case LoopKind::parallel:
            return "parallel";
        case LoopKind::sequential:
            return "sequential";
        case LoopKind::reduction:
            break;
    }
    return "reduction";
}

constexpr auto words(std::type_identity<LoopKind>) {
    return std::array{LoopKind::parallel, LoopKind::sequential, LoopKind::reduction};
}

double below(const std::vector<DistanceCount>& counts, double limit) {
    double sum = 0;
    for (const DistanceCount& c : counts) {
        const double width = static_cast<double>(c.to - c.from) + 1;
        const double inside = std::clamp(limit - static_cast<double>(c.from), 0.0, width);
        sum += static_cast<double>(c.count) * inside / width;
    }
    return sum;
}

const ReuseDistances* Workload::reuse_of(std::int64_t unit_bytes) const {
    const auto found = std::ranges::find(reuse, unit_bytes, &ReuseDistances::unit_bytes);
    return found == reuse.end() ? nullptr : &*found;
}

namespace {

// So that sums of a few of them are exact, also as double.
constexpr std::int64_t most = 1'000'000'000'000'000;
constexpr Field count{.required = true, .least = 0, .most = most};
constexpr Field some{.least = 0, .most = most, .default_unwritten = true};
constexpr Field positive_count{.required = true, .most = most};

// Ascending and apart.
std::optional<Fault> order_fault(const char* key, const std::vector<DistanceCount>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const Keys at = {key, fmt::format("[{}]", i)};
        if (counts[i].to < counts[i].from) return Fault{at, "its end is before its begin"};
        if (i > 0 && counts[i].from <= counts[i - 1].to)
            return Fault{at, "distances must ascend and not overlap"};
    }
    return std::nullopt;
}

// Sums of products, each of which may be large.
__extension__ using Wide = __int128;

template <class Items, class Of>
Wide sum_of(const Items& items, const Of& of) {
    Wide sum = 0;
    for (const auto& item : items) sum += of(item);
    return sum;
}

std::optional<Fault> operations_fault(const Operations& o) {
    if (o.additions + o.multiplications + o.divisions + o.square_roots + o.functions != o.total)
        return Fault{{"total"},
                     "is not the sum of additions, multiplications, divisions, square_roots and "
                     "functions"};
    if (o.single_precision > o.total) return Fault{{"single_precision"}, "is more than total"};
    if (o.vectorisable > o.total) return Fault{{"vectorisable"}, "is more than total"};
    if (o.fused_pairs > std::min(o.additions, o.multiplications))
        return Fault{{"fused_pairs"}, "is more than there are additions or multiplications"};
    return std::nullopt;
}

std::optional<Fault> schedule_fault(const Schedule& s) {
    const auto levels = [](const auto& item) -> Wide { return item.levels; };
    if (sum_of(s.widths, levels) != s.depth)
        return Fault{{"widths"}, "their levels do not add up to depth"};
    if (!s.parallelism.empty() && sum_of(s.parallelism, levels) != s.depth)
        return Fault{{"parallelism"}, "its levels do not add up to depth"};
    if (auto fault = order_fault("reach", s.reach)) return fault;
    if (sum_of(s.reach, [](const DistanceCount& c) -> Wide { return c.count; }) + s.first_reach >
        s.depth)
        return Fault{{"reach"}, "has more levels than there are"};
    return std::nullopt;
}

std::optional<Fault> reuse_fault(const ReuseDistances& r) {
    if (auto fault = order_fault("distances", r.distances)) return fault;
    if (sum_of(r.distances, [](const DistanceCount& c) -> Wide { return c.count; }) + r.first !=
        r.references)
        return Fault{{"references"}, "is not the sum of first and the counts of distances"};
    return std::nullopt;
}

std::optional<Fault> workload_fault(const Workload& w) {
    if (w.schedules.empty()) return Fault{{"schedules"}, "must not be empty"};
    for (std::size_t i = 0; i < w.schedules.size(); ++i) {
        const Schedule& s = w.schedules[i];
        const auto f64 = [](const auto& x) { return static_cast<Wide>(x.levels) * x.f64; };
        const auto f32 = [](const auto& x) { return static_cast<Wide>(x.levels) * x.f32; };
        const Keys at = {"schedules", fmt::format("[{}]", i), "widths"};
        if (sum_of(s.widths, f64) + sum_of(s.widths, f32) != w.operations.total)
            return Fault{at, "their operations do not add up to operations.total"};
        if (sum_of(s.widths, f32) != w.operations.single_precision)
            return Fault{at, "f32 does not add up to operations.single_precision"};
        if (s.parallelism.empty()) continue;
        const Keys ranges = {"schedules", fmt::format("[{}]", i), "parallelism"};
        const auto both = [](const LevelRange& x) { return static_cast<Wide>(x.f64) + x.f32; };
        if (sum_of(s.parallelism, both) != w.operations.total)
            return Fault{ranges, "its operations do not add up to operations.total"};
    }
    for (std::size_t i = 0; i < w.reuse.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (w.reuse[i].unit_bytes == w.reuse[j].unit_bytes)
                return Fault{{"reuse", fmt::format("[{}]", i), "unit_bytes"}, "stands there twice"};
    return std::nullopt;
}

}  // namespace

template <class Io>
void describe(Io& io, std::type_identity<Operations>) {
    using T = Operations;
    io("total", &T::total, count);
    io("single_precision", &T::single_precision, some);
    io("additions", &T::additions, some);
    io("multiplications", &T::multiplications, some);
    io("divisions", &T::divisions, some);
    io("square_roots", &T::square_roots, some);
    io("functions", &T::functions, some);
    io("fused_pairs", &T::fused_pairs, some);
    io("vectorisable", &T::vectorisable, some);
    io.check(&operations_fault);
}

template <class Io>
void describe(Io& io, std::type_identity<LevelWidth>) {
    io("levels", &LevelWidth::levels, positive_count);
    io("f64", &LevelWidth::f64, some);
    io("f32", &LevelWidth::f32, some);
}

template <class Io>
void describe(Io& io, std::type_identity<LevelRange>) {
    io("levels", &LevelRange::levels, positive_count);
    io("f64", &LevelRange::f64, some);
    io("f32", &LevelRange::f32, some);
}

template <class Io>
void describe(Io& io, std::type_identity<DistanceCount>) {
    io("from", &DistanceCount::from, count);
    io("to", &DistanceCount::to, count);
    io("count", &DistanceCount::count, positive_count);
}

template <class Io>
void describe(Io& io, std::type_identity<Schedule>) {
    using T = Schedule;
    io("name", &T::name, {.required = true, .fault = &title_fault});
    io("depth", &T::depth, count);
    io.list("widths", &T::widths, {.required = true});
    io.list("parallelism", &T::parallelism);
    io.list("reach", &T::reach);
    io("first_reach", &T::first_reach, some);
    io.check(&schedule_fault);
}

template <class Io>
void describe(Io& io, std::type_identity<ReuseDistances>) {
    using T = ReuseDistances;
    io("unit_bytes", &T::unit_bytes, positive_count);
    io("references", &T::references, count);
    io("first", &T::first, count);
    io.list("distances", &T::distances);
    io.check(&reuse_fault);
}

template <class Io>
void describe(Io& io, std::type_identity<Loop>) {
    using T = Loop;
    io("name", &T::name, {.required = true, .fault = &title_fault});
    io("parent", &T::parent, {.fault = &control_character_fault});
    io("kind", &T::kind, {.required = true});
    io("instances", &T::instances, count);
    io("iterations", &T::iterations, count);
    io("reason", &T::reason, {.fault = &control_character_fault});
}

template <class Io>
void describe(Io& io, std::type_identity<Workload>) {
    using T = Workload;
    io("kernel", &T::kernel, {.required = true, .fault = &title_fault});
    io("program", &T::program, {.fault = &control_character_fault});
    io("arguments", &T::arguments, {.fault = &control_character_fault});
    io("partial", &T::partial, {.fault = &control_character_fault});
    io("unseen", &T::unseen, {.fault = &control_character_fault});
    io("calls", &T::calls, {.most = most, .default_unwritten = true});
    io.record("operations", &T::operations, {.required = true});
    io.list("schedules", &T::schedules, {.required = true});
    io.list("reuse", &T::reuse, {.required = true});
    io("synchronisations", &T::synchronisations, {.least = 0, .most = most});
    io("synchronisations_from", &T::synchronisations_from, {.fault = &control_character_fault});
    io.list("loops", &T::loops);
    io.check(&workload_fault);
}

namespace {
constexpr std::string_view workload_format = "occupipe-workload/1";
}

Workload parse_workload(const std::string& text, const std::string& file_name) {
    const Document document = parse_yaml(text, file_name);
    const DocumentNode& root = document.root();
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != workload_format)
        document.fail(
            format, fmt::format("unknown format '{}'; expected {}", format.text, workload_format));
    std::vector<std::string_view> keys = keys_of<Workload>();
    keys.insert(keys.begin(), "format");
    document.only_keys(root, keys);
    Workload workload = read_known_fields<Workload>(document, root);
    check_fields(workload, {}, [&](const Keys& at, const std::string& reason) {
        throw InputError(file_name, document.locate(at), key_path(at), reason);
    });
    return workload;
}

Workload read_workload(const std::filesystem::path& path) {
    return parse_workload(read_text_file(path), path.string());
}

std::string format_workload(const Workload& workload) {
    std::string text = fmt::format("format: {}\n", workload_format);
    for (const YamlTree& field : write_fields(workload)) text += yaml_lines(field, 0);
    return text;
}

}  // namespace occupipe::automatch
