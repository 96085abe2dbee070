// SPDX-License-Identifier: MIT
#include "sim/program/stream_order.h"

#include <algorithm>
#include <tuple>

#include "sim/machine/bits.h"

namespace occupipe::sim {
namespace {

constexpr std::size_t max_instances = 4096;  // of all streams, to look at

// The instances of the program with short loops, in program order.
class Instances {
public:
    explicit Instances(const LoopProgram& program) : program_(program) {
        const std::size_t streams = program.streams.size();
        for (std::size_t s = 0; s < streams; ++s) {
            first_.push_back(order_.size());
            const auto stream = static_cast<std::int32_t>(s);
            for (std::int64_t j = 0; j < program.streams[s].instances; ++j)
                order_.emplace_back(program.program_index(stream, j), stream, j);
        }
        std::sort(order_.begin(), order_.end());
        issued_.resize(order_.size() * streams);
    }

    // Adds to `laggards` what the instances show, one after the other.
    void collect(std::vector<std::uint64_t>& laggards) {
        const std::size_t streams = program_.streams.size();
        std::vector<std::int64_t> preceding(streams);  // instances of each stream
        for (const auto& [index, stream, j] : order_) {
            find_issued(stream, j);
            const std::int64_t* const issued = at(stream, j);
            const auto end = static_cast<std::size_t>(program_.streams[stream].top_end);
            for (std::size_t other = stream + 1; other < end; ++other)
                if (issued[other] < preceding[other])
                    laggards[stream] |= bit(static_cast<std::int32_t>(other));
            ++preceding[stream];
        }
    }

private:
    std::int64_t* at(std::int32_t stream, std::int64_t j) {
        return issued_.data() + (first_[stream] + j) * program_.streams.size();
    }

    // How many instances of each stream have issued for certain when this one may: those that it
    // depends on, those that the one before it of the same stream depends on, and so on.
    void find_issued(std::int32_t stream, std::int64_t j) {
        std::int64_t* const issued = at(stream, j);
        const auto include = [&](std::int32_t producer, std::int64_t count) {
            const std::int64_t* const from = at(producer, count - 1);
            for (std::size_t s = 0; s < program_.streams.size(); ++s)
                issued[s] = std::max(issued[s], from[s]);
            issued[producer] = std::max(issued[producer], count);
        };
        if (j > 0) include(stream, j);
        const auto& s = program_.streams[stream];
        for (std::int32_t e = s.first_edge; e < s.first_edge + s.edge_count; ++e) {
            const LoopProgram::Edge& edge = program_.edges[e];
            if (edge.required(j) > 0) include(edge.producer, edge.required(j));
        }
    }

    const LoopProgram& program_;
    std::vector<std::size_t> first_;                                           // per stream
    std::vector<std::tuple<std::int64_t, std::int32_t, std::int64_t>> order_;  // index, stream, j
    std::vector<std::int64_t> issued_;  // per instance and stream
};

}  // namespace

std::vector<std::uint64_t> possible_laggards(const LoopProgram& program) {
    const LoopProgram shortened = with_short_loops(program);
    std::vector<std::uint64_t> laggards(program.streams.size());
    std::size_t instances = 0;
    for (const auto& stream : shortened.streams)
        instances += std::min<std::size_t>(stream.instances, max_instances);
    if (instances <= max_instances) {
        Instances(shortened).collect(laggards);
        return laggards;
    }
    for (std::size_t s = 0; s < laggards.size(); ++s)
        for (auto other = static_cast<std::int32_t>(s) + 1; other < program.streams[s].top_end;
             ++other)
            laggards[s] |= bit(other);
    return laggards;
}

}  // namespace occupipe::sim
