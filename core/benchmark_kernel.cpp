// SPDX-License-Identifier: MIT
#include "core/benchmark_kernel.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace occupipe {
namespace {

using Step = BenchmarkKernel::Step;

// Builds the body of the loop, remembering the last node of each chain.
class GraphBuilder {
public:
    GraphBuilder(const BenchmarkKernel& kernel, const GraphOptions& options)
        : kernel_(kernel), options_(options), steps_(kernel.steps()) {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            last_of_kind_[steps_[i].second] = i;
            last_of_chain_[{steps_[i].apart, steps_[i].chain}] = i;
        }
    }

    std::vector<KernelItem> body() {
        for (std::size_t i = 0; i < steps_.size(); ++i) add_step(i);
        if (options_.loop == LoopForm::instructions && kernel_.counted_loop) add_control();
        close_chains();
        return std::move(items_);
    }

private:
    using Chain = std::pair<bool, int>;

    const BenchmarkInstruction& instruction_of(const Step& step) const {
        return step.second ? *kernel_.second : kernel_.first;
    }

    std::string op_of(std::size_t place) const {
        const Step& step = steps_[place];
        const std::string& name = instruction_of(step).name;
        if (options_.loop != LoopForm::costs || !kernel_.counted_loop) return name;
        const bool pays = step.second || !kernel_.second || options_.first_pays;
        const bool cpi = pays && last_of_kind_.at(step.second) == place;
        const bool latency = last_of_chain_.at({step.apart, step.chain}) == place;
        return cpi || latency ? after_loop(name, cpi, latency) : name;
    }

    void add(std::string id, std::string op, std::vector<Dependence> after) {
        KernelInstruction made;
        made.id = std::move(id);
        made.op = std::move(op);
        made.after = std::move(after);
        items_.emplace_back(std::move(made));
    }

    // The chain's last node so far; the first of an iteration waits for the one before it, which is
    // not known yet.
    std::vector<Dependence> behind(const Chain& chain, const std::string& id) {
        std::vector<Dependence> after;
        const auto found = end_of_.find(chain);
        if (found != end_of_.end())
            after.push_back({found->second, 0});
        else
            first_of_[chain] = items_.size();
        end_of_[chain] = id;
        return after;
    }

    void add_step(std::size_t place) {
        const Step& step = steps_[place];
        const BenchmarkInstruction& instruction = instruction_of(step);
        const Chain chain{step.apart, step.chain};
        const std::string id = fmt::format("{}{}s{}", step.apart ? 'd' : 'c', step.chain, step.at);
        if (instruction.chained) return add(id, op_of(place), behind(chain, id));
        free_.push_back(items_.size());
        add(id, op_of(place), {});
        if (!instruction.gathered_by.empty()) gather(id, instruction, chain);
    }

    // The additions behind one load.
    void gather(const std::string& load, const BenchmarkInstruction& instruction,
                const Chain& chain) {
        std::vector<Dependence> word;
        if (options_.gathers_wait) word.push_back({load, 0});
        int number = 0;
        const auto sum = [&](std::vector<Dependence> after, bool in_chain) {
            const std::string id = fmt::format("{}g{}", load, number++);
            if (in_chain) {
                const std::vector<Dependence> before = behind(chain, id);
                after.insert(after.begin(), before.begin(), before.end());
            }
            add(id, instruction.gathered_by, std::move(after));
            return id;
        };
        if (instruction.words < 4) {
            for (int i = 0; i < instruction.words; ++i) sum(word, true);
            return;
        }
        const std::string left = sum(word, false);
        const std::string right = sum(word, false);
        sum({{sum({{left, 0}, {right, 0}}, false), 0}}, true);
    }

    void add_control() {
        add("count", loop_count, {{"count", 1}, {"branch", 1}});
        add("compare", loop_compare, {{"count", 0}});
        add("branch", loop_branch, {{"compare", 0}});
        // What waits for nothing in its iteration still waits until the iteration begins.
        for (const auto& [chain, place] : first_of_) wait_for_branch(place);
        for (const std::size_t place : free_) wait_for_branch(place);
    }

    void wait_for_branch(std::size_t place) {
        std::get<KernelInstruction>(items_[place]).after.push_back({"branch", 1});
    }

    void close_chains() {
        for (const auto& [chain, place] : first_of_) {
            auto& after = std::get<KernelInstruction>(items_[place]).after;
            after.insert(after.begin(), {end_of_.at(chain), 1});
        }
    }

    const BenchmarkKernel& kernel_;
    const GraphOptions& options_;
    std::vector<Step> steps_;
    std::map<bool, std::size_t> last_of_kind_;
    std::map<Chain, std::size_t> last_of_chain_;
    std::vector<KernelItem> items_;
    std::map<Chain, std::string> end_of_;
    std::map<Chain, std::size_t> first_of_;  // places in items_
    std::vector<std::size_t> free_;
};

}  // namespace

std::string BenchmarkKernel::subject() const {
    return second ? mix_name({first.name, beta, second->name}) : first.name;
}

std::vector<BenchmarkKernel::Step> BenchmarkKernel::steps() const {
    std::vector<Step> all;
    std::array<int, 2> numbers = {0, 0};
    for (std::int64_t at = 0; at < body; ++at) {
        const bool is_second = second && at % period() == beta;
        const bool apart = is_second && separate_chains;
        const int of_it = (is_second ? *second : first).one_chain ? 1 : chains;
        for (int c = 0; c < of_it; ++c)
            all.push_back({is_second, apart, c, numbers[apart ? 1 : 0]++, at});
    }
    return all;
}

BenchmarkKernel chained_kernel(std::string_view subject, int chains) {
    BenchmarkKernel kernel;
    kernel.chains = chains;
    if (const auto mix = parse_mix(subject)) {
        kernel.first.name = mix->first;
        kernel.second = BenchmarkInstruction{.name = mix->second};
        kernel.beta = mix->beta;
    } else {
        kernel.first.name = subject;
    }
    kernel.body = kernel.period();
    return kernel;
}

std::string after_loop(std::string_view name, bool cpi, bool latency) {
    return fmt::format("{}.loop{}", name, !latency ? "_time" : !cpi ? "_chain" : "");
}

Kernel benchmark_graph(const BenchmarkKernel& kernel, std::int64_t iterations,
                       const GraphOptions& options) {
    if (kernel.chains < 1 || kernel.body < 1 || iterations < 1)
        throw InputError(kernel.subject() + ": chains and depth must be at least 1");
    if (kernel.body % kernel.period() != 0)
        throw InputError(
            fmt::format("{}: the loop's body is not a multiple of the mix's period, {}",
                        kernel.subject(), kernel.period()));
    Repeat loop;
    loop.count = iterations;
    loop.body = GraphBuilder(kernel, options).body();
    Kernel graph;
    graph.name = kernel.subject();
    graph.warps.push_back({1, {std::move(loop)}});
    validate(graph);
    return graph;
}

Kernel measured_graph(const BenchmarkKernel& kernel, const MeasurementShape& shape,
                      const GraphOptions& options) {
    const std::string name = measurement_name(kernel.subject(), shape);
    if (kernel.chains < 1 || shape.depth < 1)
        throw InputError(name + ": chains and depth must be at least 1");
    if (shape.depth % kernel.period() != 0)
        throw InputError(fmt::format("{}: the depth is not a multiple of the mix's period, {}",
                                     name, kernel.period()));
    BenchmarkKernel written = kernel;
    // Without the loop, one period says the same as the whole body.
    if (options.loop == LoopForm::none || kernel.body < 1 || shape.depth % kernel.body != 0)
        written.body = kernel.period();
    GraphOptions form = options;
    if (written.body != kernel.body) form.loop = LoopForm::none;
    Kernel graph = benchmark_graph(written, shape.depth / written.body, form);
    graph.name = name;
    return graph;
}

}  // namespace occupipe
