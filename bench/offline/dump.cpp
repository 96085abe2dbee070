// SPDX-License-Identifier: MIT
#include "bench/offline/dump.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "bench/offline/carrier.h"
#include "bench/offline/kernel_name.h"
#include "bench/offline/launches.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

// Kernels as they are first needed, each compiled and written once.
class KernelFolder {
public:
    KernelFolder(Carrier& carrier, const DumpOptions& options)
        : carrier_(carrier), options_(options) {}

    struct Entry {
        KernelSource source;
        std::string name;
        std::optional<CarriedKernel> kernel;
        std::string reason;  // why there is none
    };

    const Entry& of(const KernelPlan& plan) {
        const std::string key = plan.subject() + kernel_name(plan);
        const auto [at, is_new] = entries_.try_emplace(key);
        Entry& entry = at->second;
        if (!is_new) return entry;
        entry.source = kernel_source(plan);
        const std::string plain = kernel_name(plan);
        entry.name = plain;
        // Names that differ in punctuation alone.
        for (int i = 2; !names_.insert(entry.name).second; ++i) {
            entry.name = fmt::format("{}_{}", plain, i);
        }
        try {
            entry.kernel = carrier_.carry(entry.source, entry.name, options_.placement);
        } catch (const DeviceError& error) {
            entry.reason = error.what();
            return entry;
        }
        // Not before there is something to write: a refused dump leaves no folder.
        std::filesystem::create_directories(options_.folder / "kernels");
        for (const auto& [extension, content] : entry.kernel->files) {
            write_text_file(options_.folder / "kernels" / (entry.name + extension), content,
                            options_.overwrite);
        }
        entry.kernel->files.clear();
        return entry;
    }

    std::size_t size() const { return entries_.size(); }

private:
    Carrier& carrier_;
    const DumpOptions& options_;
    std::map<std::string, Entry> entries_;
    std::set<std::string> names_;
};

std::size_t count_kernels(const SweepPlan& sweep) {
    std::set<std::string> names;
    for (const PlannedPoint& point : sweep.points) {
        names.insert(point.plan.subject() + kernel_name(point.plan));
    }
    return names.size();
}

}  // namespace

DumpResult dump_sweep(Backend& backend, const SweepPlan& sweep, const DumpOptions& options) {
    auto* const carrier = dynamic_cast<Carrier*>(&backend);
    if (!carrier) {
        throw InputError(fmt::format(
            "--dump: {} cannot be dumped; use --device cuda --arch sm_NN, or an OpenCL device",
            backend.facts().id));
    }
    if (options.placement && !carrier->tells_placement()) {
        throw InputError(fmt::format(
            "placement: kernels for {} cannot read on which core and in which slot a warp runs; "
            "leave it out",
            backend.facts().id));
    }
    const std::filesystem::path table = options.folder / "launches.csv";
    if (options.overwrite == Overwrite::no && std::filesystem::exists(table)) {
        throw InputError(fmt::format("{}: exists; --force replaces it", table.string()));
    }
    DumpResult result;
    std::vector<CarriedLaunch> launches;
    std::set<std::string> names;
    std::set<std::string> launch_rows;
    KernelFolder kernels(*carrier, options);
    const std::size_t total = count_kernels(sweep);
    for (const PlannedPoint& point : sweep.points) {
        if (!names.insert(point.name()).second) continue;
        if (measures_launches(point.plan.first->pattern)) {
            if (launch_rows.insert(point.plan.subject()).second) {
                result.skipped.push_back(
                    {point.plan.subject(), "the launch itself is measured, not a kernel's cycles"});
            }
            continue;
        }
        const std::size_t before = kernels.size();
        const KernelFolder::Entry& entry = kernels.of(point.plan);
        const bool is_new = kernels.size() > before;
        if (is_new && options.progress) options.progress(kernels.size(), total);
        if (!entry.kernel) {
            if (is_new) result.skipped.push_back({entry.name, entry.reason});
            continue;
        }
        try {
            launches.push_back({point, entry.name, entry.kernel->in, entry.kernel->counts,
                                entry.kernel->beside,
                                carrier->carried_shared_bytes(
                                    entry.source, entry.kernel->static_shared_bytes, point.shape),
                                carrier->stamp_bytes(point.plan)});
        } catch (const DeviceError& error) {
            result.skipped.push_back({point.name(), error.what()});
        }
    }
    if (launches.empty()) {
        const auto& reasons = result.skipped.empty() ? sweep.skipped : result.skipped;
        const std::string why = reasons.empty() ? ""
                                                : fmt::format(": {}: {}", reasons.front().subject,
                                                              reasons.front().reason);
        throw InputError("--dump: none of the points can be dumped" + why);
    }
    write_text_file(table, format_launches(launches, backend.facts(), options.repetitions),
                    options.overwrite);
    result.kernels = kernels.size();
    result.launches = launches.size() * static_cast<std::size_t>(options.repetitions);
    return result;
}

}  // namespace occupipe::bench
