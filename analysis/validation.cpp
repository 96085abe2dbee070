// SPDX-License-Identifier: MIT
#include "analysis/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "analysis/accuracy.h"
#include "analysis/shipped_files.h"
#include "analysis/stand_ins.h"
#include "analysis/what_if.h"
#include "core/error.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/parallel.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

// A class of instructions: names that begin and end like this, and whose numbers may stand for
// them, best first. The first row that fits counts.
struct Class {
    std::string_view begin;
    std::string_view end;
    std::array<std::string_view, 3> numbers;
    std::string_view what;
};

constexpr Class classes[] = {
    {"bar.", "", {"bar.sync"}, "barriers"},
    {"mma.", "", {}, "matrix instructions"},
    {"ld.shared", "", {"ld.shared.s32", "ld.shared.u32"}, "accesses to shared memory"},
    {"st.shared", "", {"st.shared.u32", "ld.shared.s32", "ld.shared.u32"}, "shared memory"},
    {"atom.shared", "", {"ld.shared.s32", "ld.shared.u32"}, "accesses to shared memory"},
    {"ldmatrix", "", {"ld.shared.s32", "ld.shared.u32"}, "accesses to shared memory"},
    {"ld.const", "", {"ld.shared.s32", "ld.shared.u32"}, "constants, as shared memory"},
    {"ld.", "", {"ld.global.s32", "ld.global.u32"}, "accesses to global memory"},
    {"st.", "", {"st.global.u32", "ld.global.s32", "ld.global.u32"}, "global memory"},
    {"atom.", "", {"ld.global.s32", "ld.global.u32"}, "accesses to global memory"},
    {"red.", "", {"ld.global.s32", "ld.global.u32"}, "accesses to global memory"},
    {"cp.async", "", {"ld.global.s32", "ld.global.u32"}, "accesses to global memory"},
    {"shfl.", "", {"ld.shared.s32", "ld.shared.u32"}, "exchanges, as shared memory"},
    {"rcp.", "", {"cos.approx.f32"}, "special functions"},
    {"rsqrt.", "", {"cos.approx.f32"}, "special functions"},
    {"sqrt.", "", {"cos.approx.f32"}, "special functions"},
    {"ex2.", "", {"cos.approx.f32"}, "special functions"},
    {"lg2.", "", {"cos.approx.f32"}, "special functions"},
    {"sin.", "", {"cos.approx.f32"}, "special functions"},
    {"cvt.", "", {"cos.approx.f32"}, "conversions, as special functions"},
    {"", ".f64", {"mul.f64", "fma.f64"}, "double precision"},
    {"", ".f32", {"mul.f32", "fma.f32"}, "single precision"},
    {"", "", {"mul.s32", "mad.s32", "add.s32"}, "integers"},
};

const InstructionTiming* of_class(const GpuProfile& profile, std::string_view op,
                                  std::string_view& what) {
    for (const Class& one : classes) {
        if (!op.starts_with(one.begin) || !op.ends_with(one.end)) continue;
        what = one.what;
        for (const std::string_view name : one.numbers) {
            const InstructionTiming* const found =
                name.empty() ? nullptr : profile.find_instruction(name);
            if (found && found->determined()) return found;
        }
        return nullptr;
    }
    return nullptr;
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

// Groups that a core with these limits holds at once, at most `most`.
std::int64_t groups_within(const Limits& limits, const ReadyKernel& ready, std::int64_t most) {
    if (limits.groups) most = std::min(most, *limits.groups);
    if (limits.warps) most = std::min(most, *limits.warps / ready.group_warps);
    if (limits.registers && ready.needs.registers > 0) {
        constexpr std::int64_t unit = OccupancyLimits::register_unit;
        const std::int64_t of_warp =
            (std::int64_t{ready.needs.registers} * OccupancyLimits::warp_threads + unit - 1) /
            unit * unit;
        most = std::min(most, *limits.registers / (of_warp * ready.group_warps));
    }
    if (limits.shared_memory_bytes && ready.needs.shared_bytes > 0)
        most = std::min(most, *limits.shared_memory_bytes / ready.needs.shared_bytes);
    return most;
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
        fmt::format("machine code of sm_75 stands for that of {}, which is not executed",
                    profile.device.compute_capability.empty()
                        ? profile.device.name
                        : fmt::format("compute capability {}", profile.device.compute_capability));
    return "sm_75";
}

ReadyKernel ready_kernel(const SuiteKernel& kernel, const std::string& size,
                         const GpuProfile& profile, const CompileText& compile) {
    ReadyKernel ready;
    ready.suite = kernel;
    std::string stands_in;
    const std::string architecture = validation_architecture(profile, stands_in);
    const LaunchPlan plan = read_launches(size == "small" ? kernel.small : kernel.large);
    const KernelFile file = compile(plan, architecture);
    KernelsInOptions options;
    options.kernel = kernel.name;
    options.known = known_names(profile);
    KernelIn in = kernel_in(plan, file, options);
    ready.kernel = std::move(in.extracted.kernel);
    ready.architecture = in.architecture;
    ready.group_warps = in.occupancy.group_warps;
    const isa::Kernel& code = file.cubin.kernel(kernel.name);
    ready.dynamic_shared_bytes = in.launch.shared_bytes;
    ready.needs = {.group_threads = static_cast<int>(in.launch.block[0] * in.launch.block[1] *
                                                     in.launch.block[2]),
                   .registers = static_cast<int>(code.registers.value_or(0)),
                   .shared_bytes = isa::own_shared_bytes(code, ready.architecture) +
                                   ready.dynamic_shared_bytes};
    // Of an architecture whose code another one's stands for, the profile alone says what fits.
    const bool own = stands_in.empty() || (!profile.limits.warps && !profile.limits.groups);
    const std::int64_t most =
        groups_within(profile.limits, ready, own ? in.occupancy.groups : most_groups);
    ready.groups_at_most = static_cast<int>(most);
    ready.groups = static_cast<std::int64_t>(in.seen.groups);
    for (const auto& [name, machine] : in.extracted.names)
        for (const auto& [text, count] : machine) ready.executed[name] += count;
    if (!stands_in.empty()) ready.assumptions.push_back(stands_in);
    if (!own)
        std::erase_if(in.assumptions,
                      [](const std::string& said) { return said.starts_with("a core of sm_"); });
    std::ranges::move(in.assumptions, std::back_inserter(ready.assumptions));
    return ready;
}

Completed completed(const GpuProfile& profile, const ReadyKernel& ready) {
    Completed out{.profile = profile};
    out.assumptions = assumed_in_profile(ready.kernel, out.profile);
    std::ranges::move(apply_stand_ins(ready.kernel, out.profile),
                      std::back_inserter(out.assumptions));
    std::vector<std::string> uses;
    double substituted = 0, all = 0;
    for (const auto& [name, count] : ready.executed) all += count;
    for (const LackingOp& lacking : lacking_ops(out.profile, ready.kernel, profile)) {
        std::string_view what;
        const InstructionTiming* const found = of_class(profile, lacking.op, what);
        if (!found) {
            out.lacking.push_back(lacking.op);
            continue;
        }
        uses.push_back(lacking.op + "=" + found->name);
        out.assumptions.push_back(fmt::format("{} uses the numbers of {} for its class: {}",
                                              lacking.op, found->name, what));
        const auto count = ready.executed.find(lacking.op);
        if (count != ready.executed.end()) substituted += count->second;
    }
    apply_uses(uses, ready.kernel, out.profile);
    if (all > 0) out.substituted = substituted / all;
    return out;
}

std::vector<Launch> occupancies(const ReadyKernel& ready, int cores, int waves) {
    std::vector<Launch> launches;
    for (int at_once = 1; at_once <= ready.groups_at_most; ++at_once)
        launches.push_back({.group_warps = ready.group_warps,
                            .concurrent_groups = at_once,
                            .groups = static_cast<std::int64_t>(at_once) * cores * waves});
    return launches;
}

ValidationCurve predicted_curve(const ReadyKernel& ready, const GpuProfile& profile,
                                const std::vector<Launch>& launches,
                                const std::vector<std::string>& models,
                                const ModelOptions& options) {
    ValidationCurve curve{.kernel = ready.suite.name, .published = ready.suite.published};
    curve.assumptions = ready.assumptions;
    for (const Launch& launch : launches)
        curve.points.push_back({launch, std::nullopt, {models.size(), std::nullopt}});
    if (ready.groups_at_most < 1) {
        curve.not_predicted =
            fmt::format("a core of {} does not hold one group", profile.device.name);
        return curve;
    }
    const Completed with = completed(profile, ready);
    std::ranges::copy(with.assumptions, std::back_inserter(curve.assumptions));
    curve.substituted = with.substituted;
    if (!with.lacking.empty()) {
        curve.not_predicted =
            fmt::format("the profile has no numbers for {}", fmt::join(with.lacking, ", "));
        return curve;
    }
    validate(with.profile);
    std::vector<std::string> failed(launches.size() * models.size());
    parallel_for(failed.size(), [&](std::size_t i) {
        const std::size_t m = i % models.size(), p = i / models.size();
        try {
            const Prediction made =
                find_model(models[m]).predict(with.profile, ready.kernel, launches[p], options);
            curve.points[p].predicted[m] = Throughput{made.cycles, made.warps_per_cycle};
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
