// SPDX-License-Identifier: MIT
#include "analysis/validation/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/measured/accuracy.h"
#include "ask/memory/kernel_memory.h"
#include "ask/shipped_files.h"
#include "ask/stand_ins.h"
#include "ask/weak_values.h"
#include "ask/what_if.h"
#include "core/error.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/parallel.h"
#include "sim/models/registry.h"
#include "sim/models/shared_work.h"

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

// Reuse is found anew at every occupancy: a quarter of what a single prediction records.
constexpr std::uint64_t most_references = 1 << 22;

// Through the banks of shared memory, by the width in an op's name.
int passes_of_width(std::string_view op) {
    if (!op.starts_with("ld.shared") && !op.starts_with("st.shared")) return 1;
    if (op.find(".v4.") != op.npos || op.find(".v2.u64") != op.npos) return 4;
    return op.find(".v2.") != op.npos || op.ends_with("64") ? 2 : 1;
}

std::set<std::string> ops_of_global_memory(const Kernel& kernel) {
    std::set<std::string> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (one.memory && (one.memory->sectors > 0 || one.memory->bytes == 0)) ops.insert(one.op);
    });
    return ops;
}

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
        fmt::format("machine code of sm_75 stands for that of {}, which is not executed",
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
    options.tell_occupancy = !ready.stands_in;
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
    std::ranges::move(in.assumptions, std::back_inserter(ready.assumptions));
    ready.warnings = in.warnings;
    if (in.memory) {
        in.streams = {};  // no more looked at
        ready.in = std::make_shared<const KernelIn>(std::move(in));
    }
    return ready;
}

Completed completed(const GpuProfile& profile, const ReadyKernel& ready, const Kernel& kernel,
                    MemoryPricing pricing) {
    Completed out{.profile = profile, .kernel = kernel};
    out.assumptions = assumed_in_profile(kernel, out.profile);
    std::ranges::move(apply_stand_ins(kernel, out.profile), std::back_inserter(out.assumptions));
    double all = 0;
    for (const auto& [name, count] : ready.executed) all += count;
    const auto take_classes = [&](const std::set<std::string>& but, bool by_pass) {
        std::vector<std::string> uses;
        std::map<std::string, double> passes;
        out.lacking.clear();
        for (const LackingOp& lacking : lacking_ops(out.profile, out.kernel, profile)) {
            if (but.contains(lacking.op)) continue;
            std::string_view what;
            const InstructionTiming* const found = of_class(profile, lacking.op, what);
            if (!found) {
                out.lacking.push_back(lacking.op);
                continue;
            }
            uses.push_back(lacking.op + "=" + found->name);
            std::string said = fmt::format("{} uses the numbers of {} for its class: {}",
                                           lacking.op, found->name, what);
            if (const int wide = by_pass ? passes_of_width(lacking.op) : 1; wide > 1) {
                passes[lacking.op] = wide;
                said += fmt::format(", λ for each of {} passes", wide);
            }
            out.assumptions.push_back(std::move(said));
            const auto count = ready.executed.find(lacking.op);
            if (count != ready.executed.end() && all > 0) out.substituted += count->second / all;
        }
        apply_uses(uses, out.kernel, out.profile);
        for (const auto& [op, times] : passes) {
            InstructionTiming& one = *out.profile.find_instruction(op);
            one.cpi = one.cpi.times(times);
        }
    };
    if (pricing == MemoryPricing::none || !kernel.memory) {
        take_classes({}, false);
        return out;
    }
    take_classes(ops_of_global_memory(kernel), true);
    PricedMemory priced = price_memory(kernel, out.profile, pricing, {});
    out.dram_bytes_per_warp = dram_bytes_per_warp(priced);
    out.kernel = std::move(priced.kernel);
    out.profile = std::move(priced.profile);
    std::ranges::move(priced.said, std::back_inserter(out.assumptions));
    take_classes({}, true);
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
                                MemoryPricing pricing) {
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
    std::vector<Completed> with;
    for (const ToldLaunch& one : launches) {
        with.push_back(completed(profile, ready, one.kernel, pricing));
        const Completed& last = with.back();
        if (!last.lacking.empty()) {
            curve.not_predicted =
                fmt::format("the profile has no numbers for {}", fmt::join(last.lacking, ", "));
            return curve;
        }
        validate(last.profile);
        ValidationPoint& point = curve.points[with.size() - 1];
        point.dram_bytes_per_warp = last.dram_bytes_per_warp;
        point.assumptions = one.said;
        std::ranges::copy(last.assumptions, std::back_inserter(point.assumptions));
        curve.substituted = last.substituted;
    }
    gather_common(curve);
    if (!with.empty())
        for (std::string& weak : weak_values(with.back().kernel, with.back().profile))
            curve.warnings.push_back(std::move(weak));
    std::vector<std::string> failed(launches.size() * models.size()), short_of(failed.size());
    std::vector<SharedWork> shared(with.size());
    std::vector<std::optional<Problem>> problems(with.size());
    std::vector<std::string> refused(with.size());
    for (std::size_t p = 0; p < with.size(); ++p) {
        try {
            problems[p].emplace(with[p].profile, with[p].kernel, launches[p].launch);
        } catch (const InputError& error) {
            refused[p] = error.what();
        }
    }
    parallel_for(failed.size(), [&](std::size_t i) {
        const std::size_t m = i % models.size(), p = i / models.size();
        ModelOptions own = options;
        own.shared = &shared[p];
        own.memory.dram_bytes_per_warp = with[p].dram_bytes_per_warp;
        if (!problems[p]) {
            failed[i] = refused[p];
            return;
        }
        try {
            const Prediction made = find_model(models[m]).predict(*problems[p], own);
            // As of what is measured: where groups differ, the core that ends last may have run
            // fewer than others.
            const Launch& shape = launches[p].launch;
            curve.points[p].predicted[m] =
                Throughput{made.cycles, static_cast<double>(shape.groups_per_core(profile.cores)) *
                                            shape.group_warps / made.cycles};
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
