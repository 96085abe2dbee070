// SPDX-License-Identifier: MIT
#include "published/published.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "published/published_files.h"

namespace occupipe::analysis {
namespace {

bool holds(const std::vector<std::string>& all, std::string_view one) {
    return std::ranges::find(all, one) != all.end();
}

template <class Row>
std::vector<PublishedFigure> figures_of(const std::vector<Row>& rows, std::string_view capability,
                                        std::string_view instruction) {
    std::vector<PublishedFigure> figures;
    for (const Row& row : rows)
        if (holds(row.capabilities, capability) && holds(row.instructions, instruction))
            figures.push_back(row.figure);
    return figures;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string citation(const PublishedFigure& figure) {
    std::string text = figure.source;
    for (const std::string* part : {&figure.at, &figure.device})
        if (!part->empty()) text += ", " + *part;
    return text;
}

std::pair<double, double> span_of(std::span<const PublishedFigure> figures) {
    std::pair<double, double> span = {figures.front().low, figures.front().high};
    for (const PublishedFigure& figure : figures) {
        span.first = std::min(span.first, figure.low);
        span.second = std::max(span.second, figure.high);
    }
    return span;
}

std::vector<PublishedFigure> Published::cpi(std::string_view capability,
                                            std::string_view instruction, int warp_size) const {
    std::vector<PublishedFigure> figures;
    const auto operation = std::ranges::find_if(
        operations, [&](const auto& o) { return holds(o.instructions, instruction); });
    if (operation == operations.end()) return figures;
    for (const PublishedThroughput& throughput : throughputs) {
        if (!holds(throughput.capabilities, capability)) continue;
        for (const auto& [name, results] : throughput.results) {
            if (name != operation->name) continue;
            const double cpi = static_cast<double>(warp_size) * operation->results / results;
            figures.push_back({cpi, cpi, throughput.source, {}, {}});
        }
    }
    return figures;
}

std::vector<PublishedFigure> Published::rate(std::string_view capability,
                                             std::string_view instruction) const {
    return figures_of(rates, capability, instruction);
}

std::vector<PublishedFigure> Published::latency(std::string_view capability,
                                                std::string_view instruction) const {
    return figures_of(latencies, capability, instruction);
}

std::vector<PublishedFigure> Published::issue_width(std::string_view capability) const {
    std::vector<PublishedFigure> figures;
    for (const PublishedIssue& issue : issues)
        if (holds(issue.capabilities, capability)) figures.push_back(issue.figure);
    return figures;
}

std::vector<PublishedFigure> Published::memory_bandwidth(std::string_view device_name) const {
    std::size_t longest = 0;
    const auto matches = [&](const PublishedBandwidth& b) {
        return device_name.find(b.figure.device) != std::string_view::npos;
    };
    for (const PublishedBandwidth& b : bandwidths)
        if (matches(b)) longest = std::max(longest, b.figure.device.size());
    std::vector<PublishedFigure> figures;
    for (const PublishedBandwidth& b : bandwidths)
        if (matches(b) && b.figure.device.size() == longest) figures.push_back(b.figure);
    return figures;
}

const PublishedCore* Published::core(std::string_view vendor, int family, int model) const {
    const auto found = std::ranges::find_if(cores, [&](const PublishedCore& core) {
        return core.vendor == vendor && core.family == family &&
               std::ranges::any_of(core.models, [&](const auto& range) {
                   return range.first <= model && model <= range.second;
               });
    });
    return found == cores.end() ? nullptr : &*found;
}

const PublishedSource* Published::source(std::string_view id) const {
    const auto found = std::ranges::find(sources, id, &PublishedSource::id);
    return found == sources.end() ? nullptr : &*found;
}

bool Published::knows_throughput(std::string_view capability) const {
    return std::ranges::any_of(throughputs,
                               [&](const auto& t) { return holds(t.capabilities, capability); });
}

void Published::add(const Published& other) {
    for (const PublishedSource& one : other.sources) {
        const PublishedSource* const known = source(one.id);
        if (known == nullptr)
            sources.push_back(one);
        else if (!(*known == one))
            throw InputError(fmt::format("published figures: two sources are called '{}'", one.id));
    }
    for (const PublishedOperation& one : other.operations) {
        if (std::ranges::find(operations, one.name, &PublishedOperation::name) != operations.end())
            throw InputError(
                fmt::format("published figures: two operations are called '{}'", one.name));
        operations.push_back(one);
    }
    append(throughputs, other.throughputs);
    append(latencies, other.latencies);
    append(rates, other.rates);
    append(issues, other.issues);
    append(bandwidths, other.bandwidths);
    append(cores, other.cores);
}

const Published& built_in_published() {
    static const Published all = [] {
        Published published;
        for (const EmbeddedFile& file : published::published_files())
            if (file.name != published::shelf_file)
                published.add(
                    parse_published(std::string(file.text), std::string(file.name), published));
        return published;
    }();
    return all;
}

}  // namespace occupipe::analysis
