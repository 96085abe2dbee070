// SPDX-License-Identifier: MIT
#include "analysis/validation/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "analysis/measured/accuracy.h"
#include "ask/kernel_memory.h"
#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/parallel.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

// Reuse is found anew at every occupancy: a quarter of what a single prediction records.
constexpr std::uint64_t most_references = 1 << 22;

// What every point assumes, the curve does.
void gather_common(ValidationCurve& curve) {
    if (curve.points.empty()) return;
    const std::vector<std::string> first = curve.points.front().assumptions;
    for (const std::string& said : first) {
        const bool everywhere = std::ranges::all_of(curve.points, [&](const auto& point) {
            return std::ranges::find(point.assumptions, said) != point.assumptions.end();
        });
        if (!everywhere) continue;
        for (ValidationPoint& point : curve.points) std::erase(point.assumptions, said);
        curve.assumptions.push_back(said);
    }
}

std::vector<AccuracyPoint> curve_of(const ValidationCurve& curve, std::size_t model) {
    std::vector<AccuracyPoint> points;
    for (const ValidationPoint& one : curve.points)
        if (one.measured && model < one.predicted.size() && one.predicted[model])
            points.push_back({static_cast<double>(one.launch.warps()),
                              one.measured->warps_per_cycle,
                              one.predicted[model]->warps_per_cycle});
    return points;
}

}  // namespace

const std::vector<std::string>& tabulated_models() {
    static const std::vector<std::string> names = {
        "pipeline",          "volkov",        "mwp-cwp",    "wfg",
        "mwp-cwp-corrected", "wfg-corrected", "gpumech-rr", "gpumech-gto"};
    return names;
}

std::string validation_architecture(const GpuProfile& profile, std::string& assumption) {
    std::string own = architecture_of(profile);
    if (!own.empty()) return own;
    assumption =
        fmt::format("machine code of sm_75 replaces that of {}, which is not executed",
                    profile.device.compute_capability.empty()
                        ? profile.device.name
                        : fmt::format("compute capability {}", profile.device.compute_capability));
    return "sm_75";
}

int groups_at_once(const ReadyKernel& ready, std::int64_t shared_bytes) {
    const OccupancyLimits& code = occupancy_limits(ready.architecture);
    GroupNeeds needs = ready.needs;
    needs.shared_bytes = shared_bytes;
    std::int64_t most = ready.groups_at_most;
    if (!ready.stands_in) most = std::min<std::int64_t>(most, occupancy(code, needs).groups);
    if (ready.limits.groups) most = std::min(most, *ready.limits.groups);
    if (ready.limits.warps) most = std::min(most, *ready.limits.warps / ready.group_warps);
    if (ready.limits.registers && needs.registers > 0) {
        constexpr std::int64_t unit = OccupancyLimits::register_unit;
        const std::int64_t of_warp =
            (std::int64_t{needs.registers} * OccupancyLimits::warp_threads + unit - 1) / unit *
            unit;
        most = std::min(most, *ready.limits.registers / (of_warp * ready.group_warps));
    }
    if (ready.limits.shared_memory_bytes && shared_bytes > 0)
        most = std::min(most,
                        *ready.limits.shared_memory_bytes / ((shared_bytes + code.shared_unit - 1) /
                                                             code.shared_unit * code.shared_unit));
    return static_cast<int>(most);
}

ReadyKernel ready_kernel(const SuiteKernel& kernel, const std::string& size,
                         const GpuProfile& profile, const CompileText& compile, TellMemory memory) {
    ReadyKernel ready;
    ready.suite = kernel;
    std::string stands_in;
    const std::string architecture = validation_architecture(profile, stands_in);
    const LaunchPlan plan = read_launches(size == "small" ? kernel.small : kernel.large);
    const KernelFile file = compile(plan, architecture);
    KernelsInOptions options;
    options.kernel = kernel.name;
    options.known = known_names(profile);
    options.memory_references = most_references;
    if (memory == TellMemory::yes) options.memory_cores = profile.cores;
    ready.stands_in = !stands_in.empty() && (profile.limits.warps || profile.limits.groups);
    KernelIn in = kernel_in(plan, file, options);
    ready.kernel = in.extracted.kernel;
    ready.architecture = in.architecture;
    ready.group_warps = in.occupancy.group_warps;
    const isa::Kernel& code = file.cubin.kernel(kernel.name);
    ready.dynamic_shared_bytes = in.launch.shared_bytes;
    ready.needs = {.group_threads = static_cast<int>(in.launch.block[0] * in.launch.block[1] *
                                                     in.launch.block[2]),
                   .registers = static_cast<int>(code.registers.value_or(0)),
                   .shared_bytes = isa::own_shared_bytes(code, ready.architecture) +
                                   ready.dynamic_shared_bytes};
    ready.limits = profile.limits;
    ready.groups_at_most = ready.stands_in ? std::numeric_limits<int>::max() : in.occupancy.groups;
    ready.groups_at_most = groups_at_once(ready, ready.needs.shared_bytes);
    ready.groups = static_cast<std::int64_t>(in.seen.groups);
    for (const auto& [name, machine] : in.extracted.names)
        for (const auto& [text, count] : machine) ready.executed[name] += count;
    if (!stands_in.empty()) ready.assumptions.push_back(stands_in);
    if (ready.stands_in)
        std::erase_if(in.assumptions,
                      [](const Note& note) { return note.kind == Note::Kind::occupancy; });
    std::ranges::move(texts(in.assumptions), std::back_inserter(ready.assumptions));
    ready.warnings = in.warnings;
    if (in.memory) {
        in.streams = {};  // no more looked at
        ready.in = std::make_shared<const KernelIn>(std::move(in));
    }
    return ready;
}

Ready completed(const GpuProfile& profile, const ReadyKernel& kernel, MemoryPricing pricing) {
    return ready(loaded_kernel(kernel.suite.name, kernel.kernel), profile,
                 {.substitutes = Strength::of_class}, {.pricing = pricing});
}

double substituted(const ReadyKernel& kernel, const Ready& completed, const Priced& priced) {
    double all = 0, of_class = 0;
    for (const auto& [name, count] : kernel.executed) all += count;
    if (all == 0) return 0;
    for (const Notes* notes : {&completed.notes, &priced.notes})
        for (const Note& note : *notes)
            if (const auto found = kernel.executed.find(note.subject);
                note.kind == Note::Kind::of_class && found != kernel.executed.end())
                of_class += found->second / all;
    return of_class;
}

std::vector<Launch> occupancies(const ReadyKernel& ready, int cores, int waves) {
    std::vector<Launch> launches;
    for (int at_once = 1; at_once <= ready.groups_at_most; ++at_once)
        launches.push_back({.group_warps = ready.group_warps,
                            .concurrent_groups = at_once,
                            .groups = static_cast<std::int64_t>(at_once) * cores * waves});
    return launches;
}

std::vector<ToldLaunch> tell_launches(const ReadyKernel& ready, const std::vector<Launch>& launches,
                                      int cores) {
    std::vector<ToldLaunch> told(launches.size());
    parallel_for(launches.size(), [&](std::size_t i) {
        told[i] = {.launch = launches[i], .cores = cores, .kernel = ready.kernel, .said = {}};
        if (ready.in)
            told[i].kernel = with_memory(*ready.in, ready.kernel, launches[i], cores, told[i].said);
    });
    return told;
}

ValidationCurve predicted_curve(const ReadyKernel& ready, const GpuProfile& profile,
                                const std::vector<ToldLaunch>& launches,
                                const std::vector<std::string>& models, const ModelOptions& options,
                                MemoryPricing pricing, Timed timed) {
    ValidationCurve curve{.kernel = ready.suite.name, .published = ready.suite.published};
    curve.assumptions = ready.assumptions;
    curve.warnings = ready.warnings;
    for (const ToldLaunch& one : launches)
        curve.points.push_back({.launch = one.launch,
                                .measured = {},
                                .predicted = {models.size(), std::nullopt},
                                .dram_bytes_per_warp = {},
                                .assumptions = {}});
    if (ready.groups_at_most < 1) {
        curve.not_predicted =
            fmt::format("a core of {} does not hold one group", profile.device.name);
        return curve;
    }
    const Ready kernel = completed(profile, ready, pricing);
    std::vector<Told> with;
    for (const ToldLaunch& one : launches) {
        with.push_back(at_launch(priced(kernel, one.kernel), one.launch));
        const Priced& last = *with.back().priced;
        if (!last.lacking.empty()) {
            curve.not_predicted =
                fmt::format("the profile has no numbers for {}", fmt::join(last.lacking, ", "));
            return curve;
        }
        ValidationPoint& point = curve.points[with.size() - 1];
        point.dram_bytes_per_warp = last.dram_bytes_per_warp;
        point.assumptions = one.said;
        for (const Notes* notes : {&kernel.notes, &last.notes})
            for (const Note& note : *notes)
                if (note.kind != Note::Kind::weak) point.assumptions.push_back(text(note));
        curve.substituted = substituted(ready, kernel, last);
    }
    gather_common(curve);
    if (!with.empty())
        for (const Note& note : with.back().priced->notes)
            if (note.kind == Note::Kind::weak) curve.warnings.push_back(text(note));
    std::vector<std::string> failed(launches.size() * models.size()), short_of(failed.size());
    parallel_for(failed.size(), [&](std::size_t i) {
        const std::size_t m = i % models.size(), p = i / models.size();
        try {
            const Prediction made = predict(with[p], find_model(models[m]), options);
            // As of what is measured: where groups differ, the core that ends last may have run
            // fewer than others.
            const Launch& shape = launches[p].launch;
            const double cycles =
                timed == Timed::launch ? made.seconds * profile.clock_hz : made.cycles;
            curve.points[p].predicted[m] =
                Throughput{cycles, static_cast<double>(shape.groups_per_core(profile.cores)) *
                                       shape.group_warps / cycles};
            if (ready.in)
                short_of[i] =
                    shorter_than_absent(*ready.in, profile, launches[p].launch, made.cycles);
        } catch (const InputError& error) {
            failed[i] = error.what();  // the model cannot predict this kernel
        }
    });
    for (std::size_t m = 0; m < models.size(); ++m) {
        std::size_t without = 0;
        std::string first;
        for (std::size_t p = 0; p < launches.size(); ++p) {
            const std::string& why = failed[p * models.size() + m];
            if (why.empty()) continue;
            ++without;
            if (first.empty()) first = why;
        }
        if (without == launches.size())
            curve.assumptions.push_back(fmt::format("{} predicts nothing: {}", models[m], first));
        else if (without > 0)
            curve.assumptions.push_back(
                fmt::format("{} predicts nothing at {} of {} occupancies: {}", models[m], without,
                            launches.size(), first));
        for (std::size_t p = launches.size(); p-- > 0;) {
            const std::string& said = short_of[p * models.size() + m];
            if (said.empty()) continue;
            curve.warnings.push_back(fmt::format("{}, {} groups at once: {}", models[m],
                                                 launches[p].launch.concurrent_groups, said));
            break;
        }
    }
    return curve;
}

CurveAccuracy accuracy_of(const ValidationCurve& curve, std::size_t model) {
    const std::vector<AccuracyPoint> points = curve_of(curve, model);
    return {mape(points), mape_shape(points)};
}

CurveAccuracy mean_accuracy(const std::vector<ValidationCurve>& curves, std::size_t model) {
    double level = 0, shape = 0;
    int levels = 0, shapes = 0;
    for (const ValidationCurve& curve : curves) {
        const CurveAccuracy one = accuracy_of(curve, model);
        if (one.mape) {
            level += *one.mape;
            ++levels;
        }
        if (one.mape_shape) {
            shape += *one.mape_shape;
            ++shapes;
        }
    }
    CurveAccuracy mean;
    if (levels > 0) mean.mape = level / levels;
    if (shapes > 0) mean.mape_shape = shape / shapes;
    return mean;
}

std::vector<PublishedAccuracy> read_published_accuracies(const std::filesystem::path& file) {
    const auto records = parse_csv(read_text_file(file), file.string());
    const std::vector<std::string> header = {"device", "profile", "kernel",
                                             "model",  "mape",    "mape_shape"};
    if (records.empty() || records.front().fields != header)
        throw InputError(file.string(), {1, 1}, {},
                         fmt::format("the first line has to be {}", fmt::join(header, ",")));
    std::vector<PublishedAccuracy> all;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto& fields = records[i].fields;
        const auto number = [&](std::size_t column) {
            std::size_t end = 0;
            double value = -1;
            try {
                value = std::stod(fields[column], &end);
            } catch (const std::exception&) {
                end = 0;
            }
            if (end == 0 || end != fields[column].size() || !(value >= 0))
                throw InputError(file.string(), {records[i].line, 1}, header[column],
                                 fmt::format("'{}' is not a percentage", fields[column]));
            return value;
        };
        all.push_back({fields[0], fields[1], fields[2], fields[3], {number(4), number(5)}});
    }
    return all;
}

std::vector<PublishedAccuracy> shipped_published_accuracies() {
    const std::filesystem::path index = shipped_suite_index();
    if (index.empty()) return {};
    return read_published_accuracies(index.parent_path() / "published.csv");
}

}  // namespace occupipe::analysis
