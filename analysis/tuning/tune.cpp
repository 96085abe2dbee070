// SPDX-License-Identifier: MIT
#include "analysis/tuning/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "analysis/tuning/enumeration.h"
#include "analysis/tuning/tune_journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/parallel.h"
#include "sim/engine/run_progress.h"
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

// Those that are to be predicted, in their order; `first` of them are options.first.
std::vector<std::uint64_t> chosen(const TuningSpace& space, std::vector<std::uint64_t> numbers,
                                  const TuneOptions& options, std::size_t& first) {
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
    first = numbers.size() - others.size();
    if (options.draws && *options.draws < others.size()) numbers.resize(first + *options.draws);
    return numbers;
}

// Of what a simulation says that came to its limit; the second one is advice on options.
std::string first_line(const std::string& text, bool at_limit) {
    return at_limit ? text.substr(0, text.find('\n')) : text;
}

// What predicts configurations of a space, with all threads.
class Run {
public:
    Run(const TuningSpace& space, const GpuProfile& profile, const TuneOptions& options,
        Tuned& tuned)
        : space_(space),
          options_(options),
          tuned_(tuned),
          predictor_(space, profile,
                     {.changes = options.changes,
                      .memory = options.memory,
                      .run = options.run,
                      .models = tuned.models,
                      .max_simulated = options.max_simulated,
                      .cache = options.cache,
                      .stop = [this] { return asked_to_stop() || spent(); }}) {}

    // Takes what the journals have of these numbers, and drops it from them. Coarse rows count with
    // a budget alone, of which those of other shards have spent nothing.
    void resume(const std::string& made_of, std::vector<std::uint64_t>& numbers) {
        std::vector<TunedConfiguration> rows;
        for (const auto& shard : options_.join)
            std::ranges::move(read_tune_journal(shard, made_of, tuned_.models),
                              std::back_inserter(rows));
        for (TunedConfiguration& row : rows) row.spent.reset();
        if (!options_.journal.empty()) {
            journal_.emplace(options_.journal, made_of, tuned_.models, options_.force);
            std::ranges::move(journal_->take_rows(), std::back_inserter(rows));
        }
        const std::set<std::uint64_t> asked(numbers.begin(), numbers.end());
        std::map<std::uint64_t, TunedConfiguration> done;
        for (TunedConfiguration& row : rows) {
            if (row.number >= tuned_.combinations) continue;
            if (row.stage == Stage::coarse && !options_.budget_seconds) continue;
            before_ = std::max(before_, row.spent.value_or(0));
            predictor_.remember(row, row.stage);
            if (!asked.contains(row.number)) continue;
            row.configuration = configuration_of(space_, row.number);
            const auto [place, fresh] = done.try_emplace(row.number, row);
            if (fresh) continue;
            if (row.stage == Stage::exact)
                place->second = std::move(row);
            else if (place->second.stage == Stage::coarse)
                place->second.at_limit = row.at_limit;
        }
        std::erase_if(numbers, [&](std::uint64_t number) { return done.contains(number); });
        for (auto& [number, row] : done) tuned_.rows.push_back(std::move(row));
        resumed_ = tuned_.rows.size();
    }

    // Each of these, in this order.
    void predict(const std::vector<std::uint64_t>& numbers, Stage stage) {
        begin(stage, tuned_.asked, tuned_.rows.size());
        std::atomic<bool> stopped = false;
        parallel_for(
            numbers.size(),
            [&](std::size_t i) {
                if (stopped) return;
                TunedConfiguration row{
                    predictor_.predict(configuration_of(space_, numbers[i]), stage), numbers[i]};
                if (row.refused == Refusal::stopped) {
                    stopped = true;
                    return;
                }
                if (row.at_limit && stage == Stage::exact) throw LimitReached(row.refusal);
                row.refusal = first_line(row.refusal, row.at_limit);
                row.stage = stage;
                if (stage == Stage::coarse) row.coarse_limiter = row.limiter;
                const std::scoped_lock lock(mutex_);
                keep(row);
                tuned_.rows.push_back(std::move(row));
                ++progress_.done;
                tell();
            },
            options_.threads);
        tuned_.stopped = stopped;
    }

    // Coarse rows, until the budget is spent: `first` of them before all others, whatever it is.
    void refine(const std::set<std::uint64_t>& first) {
        std::vector<TunedConfiguration>& rows = tuned_.rows;
        std::ranges::sort(rows, {}, &TunedConfiguration::number);
        std::vector<bool> taken(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) taken[i] = rows[i].at_limit;
        std::map<std::string, std::vector<std::size_t>> by_code;
        for (std::size_t i = 0; i < rows.size(); ++i) by_code[rows[i].code].push_back(i);
        for (const TunedConfiguration& row : rows)
            if (row.stage == Stage::exact) share(row, by_code[row.code]);
        const auto is_exact = [](const auto& row) { return row.predicted.front().has_value(); };
        begin(Stage::exact,
              static_cast<std::size_t>(std::ranges::count_if(
                  rows, [](const auto& row) { return row.coarse || row.predicted.front(); })),
              static_cast<std::size_t>(std::ranges::count_if(rows, is_exact)));
        const auto next_of_first = [&]() -> std::optional<std::size_t> {
            for (std::size_t i = 0; i < rows.size(); ++i)
                if (first.contains(rows[i].number) && rows[i].stage == Stage::coarse &&
                    rows[i].coarse && !taken[i])
                    return i;
            return std::nullopt;
        };
        const auto next = [&]() -> std::optional<std::size_t> {
            const std::scoped_lock lock(mutex_);
            if (asked_to_stop() || spent()) return std::nullopt;
            const auto found = refining_ ? next_exact(rows, taken) : next_of_first();
            if (found) taken[*found] = true;
            return found;
        };
        const unsigned threads = options_.threads > 0
                                     ? options_.threads
                                     : std::max(1U, std::thread::hardware_concurrency());
        const auto work = [&](std::size_t) {
            while (const auto i = next()) {
                // Others that share their code with it leave these two as they are.
                const ConfigurationPrediction made =
                    predictor_.predict(rows[*i].configuration, Stage::exact);
                if (made.refused == Refusal::stopped) return;
                const std::scoped_lock lock(mutex_);
                if (rows[*i].stage == Stage::exact) continue;  // shared meanwhile
                if (made.at_limit && rows[*i].coarse) {        // stays coarse
                    rows[*i].at_limit = true;
                    keep(rows[*i]);
                    continue;
                }
                make_exact(rows[*i], made);
                share(rows[*i], by_code[rows[*i].code]);
                tell();
            }
        };
        parallel_for(threads, work, threads);
        refining_ = true;
        parallel_for(threads, work, threads);
        refining_ = false;
        tuned_.stopped = asked_to_stop();
    }

    // What the exact rows tell of those that stay coarse.
    void estimate() {
        tuned_.scale = coarse_scale(tuned_.rows);
        estimate_coarse(tuned_.rows);
    }

private:
    using Clock = std::chrono::steady_clock;

    static double since(Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    }
    bool asked_to_stop() const { return options_.stop && options_.stop(); }
    double spent_seconds() const { return before_ + since(start_); }
    bool spent() const { return refining_ && spent_seconds() >= *options_.budget_seconds; }

    void begin(Stage stage, std::size_t all, std::size_t done) {
        progress_ = {.stage = stage, .done = done, .all = all, .resumed = resumed_};
        stage_start_ = Clock::now();
        tell();
    }

    void tell() {
        progress_.seconds = since(stage_start_);
        if (options_.budget_seconds)
            progress_.left = std::max(0.0, *options_.budget_seconds - spent_seconds());
        if (options_.progress) options_.progress(progress_);
    }

    void keep(TunedConfiguration& row) {
        if (options_.budget_seconds) row.spent = spent_seconds();
        if (journal_) journal_->add(row);
    }

    // What was known of the row before remains: its coarse time, and what that cost.
    void make_exact(TunedConfiguration& row, const ConfigurationPrediction& made) {
        row.predicted = made.predicted;
        row.interval = made.interval;
        row.limiter = made.limiter;
        row.refused = made.refused;
        row.refusal = first_line(made.refusal, made.at_limit);
        row.known = made.known;
        row.compile_seconds += made.compile_seconds;
        row.execute_seconds += made.execute_seconds;
        row.model_seconds += made.model_seconds;
        row.stage = Stage::exact;
        keep(row);
        if (row.coarse) ++progress_.done;
    }

    // An exact row with all of the same code and launch.
    void share(const TunedConfiguration& row, const std::vector<std::size_t>& same) {
        if (row.code.empty()) return;
        ConfigurationPrediction made = row;
        made.known = true;
        made.compile_seconds = made.execute_seconds = made.model_seconds = 0;
        for (const std::size_t i : same)
            if (tuned_.rows[i].stage == Stage::coarse) make_exact(tuned_.rows[i], made);
    }

    const TuningSpace& space_;
    const TuneOptions& options_;
    Tuned& tuned_;
    Predictor predictor_;
    std::optional<TuneJournal> journal_;
    std::mutex mutex_;
    TuneProgress progress_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point stage_start_ = start_;
    double before_ = 0;        // seconds of the budget, in runs before
    std::size_t resumed_ = 0;  // rows
    std::atomic<bool> refining_ = false;
};

}  // namespace

Tuned tune(const TuningSpace& space, const GpuProfile& profile, const TuneOptions& options) {
    Tuned tuned{.gpu = profile.device.name,
                .clock_hz = profile.clock_hz,
                .models = find_models(options.models),
                .combinations = combinations(space)};
    Run run(space, profile, options, tuned);
    std::vector<std::uint64_t> numbers = numbers_of(space, options.stop);
    tuned.of_space = numbers.size();
    if (numbers.empty())
        throw InputError(fmt::format("{}: its conditions exclude all {} configurations", space.file,
                                     tuned.combinations));
    std::size_t first = 0;
    numbers = chosen(space, std::move(numbers), options, first);
    const std::set<std::uint64_t> before_others(numbers.begin(), numbers.begin() + first);
    const auto all = static_cast<std::int64_t>(numbers.size());
    numbers.resize(options.shard.end(all));
    numbers.erase(numbers.begin(), numbers.begin() + options.shard.first(all));
    tuned.asked = numbers.size();
    run.resume(made_of(space, profile, options), numbers);
    run.predict(numbers, options.budget_seconds ? Stage::coarse : Stage::exact);
    if (options.budget_seconds) {
        if (!tuned.stopped) run.refine(before_others);
        run.estimate();
    }
    std::ranges::sort(tuned.rows, {}, &TunedConfiguration::number);
    return tuned;
}

}  // namespace occupipe::analysis
