// SPDX-License-Identifier: MIT
#include "analysis/tuning/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>

#include "analysis/tuning/enumeration.h"
#include "analysis/tuning/tune_journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/parallel.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

// Changes with all that decides over a row: a journal of another one is another's.
std::string made_of(const TuningSpace& space, const GpuProfile& profile,
                    const TuneOptions& options) {
    const std::string source = read_text_file(space.source);
    std::string all = fmt::format(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", OCCUPIPE_VERSION, read_text_file(space.file), source,
        code_key(space.source, source, "", space.compiler_options, {space.kernel}, {}),
        format_profile(profile), fmt::join(options.models, ","), to_string(options.memory.pricing),
        options.max_simulated);
    for (const auto* changes :
         {&options.changes.uses, &options.changes.what_ifs, &options.changes.classes})
        all += fmt::format("{}\n", fmt::join(*changes, "\n"));
    return content_hash(all);
}

// Those that are to be predicted, in their order.
std::vector<std::uint64_t> chosen(const TuningSpace& space, std::vector<std::uint64_t> numbers,
                                  const TuneOptions& options) {
    shuffle(numbers, options.seed);
    if (options.first.empty()) {
        if (options.draws && *options.draws < numbers.size()) numbers.resize(*options.draws);
        return numbers;
    }
    std::set<std::string> wanted;
    for (const Configuration& one : options.first) wanted.insert(to_text(one));
    const auto others = std::ranges::stable_partition(numbers, [&](std::uint64_t number) {
        return wanted.contains(to_text(configuration_of(space, number)));
    });
    const std::size_t first = numbers.size() - others.size();
    if (options.draws && *options.draws < others.size()) numbers.resize(first + *options.draws);
    return numbers;
}

}  // namespace

Tuned tune(const TuningSpace& space, const GpuProfile& profile, const TuneOptions& options) {
    Tuned tuned{.gpu = profile.device.name,
                .clock_hz = profile.clock_hz,
                .models = find_models(options.models),
                .combinations = combinations(space)};
    std::vector<std::uint64_t> numbers = numbers_of(space, options.stop);
    tuned.of_space = numbers.size();
    if (numbers.empty())
        throw InputError(fmt::format("{}: its conditions exclude all {} configurations", space.file,
                                     tuned.combinations));
    numbers = chosen(space, std::move(numbers), options);
    tuned.asked = numbers.size();
    Predictor predictor(space, profile,
                        {.changes = options.changes,
                         .memory = options.memory,
                         .run = options.run,
                         .models = tuned.models,
                         .max_simulated = options.max_simulated,
                         .cache = options.cache,
                         .stop = options.stop});
    std::optional<TuneJournal> journal;
    if (!options.journal.empty()) {
        journal.emplace(options.journal, made_of(space, profile, options), tuned.models,
                        options.force);
        const std::set<std::uint64_t> asked(numbers.begin(), numbers.end());
        std::set<std::uint64_t> done;
        for (TunedConfiguration& row : journal->take_rows()) {
            if (row.number >= tuned.combinations) continue;
            predictor.remember(row);
            if (!asked.contains(row.number) || !done.insert(row.number).second) continue;
            row.configuration = configuration_of(space, row.number);
            tuned.rows.push_back(std::move(row));
        }
        std::erase_if(numbers, [&](std::uint64_t number) { return done.contains(number); });
    }
    TuneProgress progress{
        .done = tuned.rows.size(), .all = tuned.asked, .resumed = tuned.rows.size()};
    const auto began = std::chrono::steady_clock::now();
    const auto tell = [&] {
        progress.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        if (options.progress) options.progress(progress);
    };
    tell();
    std::mutex mutex;
    std::atomic<bool> stopped = false;
    parallel_for(
        numbers.size(),
        [&](std::size_t i) {
            if (stopped) return;
            TunedConfiguration row{predictor.predict(configuration_of(space, numbers[i])),
                                   numbers[i]};
            if (row.refused == Refusal::stopped) {
                stopped = true;
                return;
            }
            const std::scoped_lock lock(mutex);
            if (journal) journal->add(row);
            tuned.rows.push_back(std::move(row));
            ++progress.done;
            tell();
        },
        options.threads);
    tuned.stopped = stopped;
    std::ranges::sort(tuned.rows, {}, &TunedConfiguration::number);
    return tuned;
}

}  // namespace occupipe::analysis
