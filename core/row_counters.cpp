// SPDX-License-Identifier: MIT
#include "core/row_counters.h"

#include <algorithm>
#include <stdexcept>

namespace occupipe {

RowCounters::RowCounters(Names names, std::vector<double> values)
    : names_(std::move(names)), values_(std::move(values)) {}

RowCounters::RowCounters(const std::map<std::string, double>& counters) {
    auto names = std::make_shared<std::vector<std::string>>();
    for (const auto& [name, value] : counters) {
        names->push_back(name);
        values_.push_back(value);
    }
    names_ = std::move(names);
}

std::size_t RowCounters::place_of(std::string_view name) const {
    if (empty()) return 0;
    return static_cast<std::size_t>(std::ranges::lower_bound(*names_, name) - names_->begin());
}

std::optional<double> RowCounters::find(std::string_view name) const {
    // Most names are of another length: faster than place_of, which reads them.
    for (std::size_t i = 0; i < size(); ++i)
        if ((*names_)[i] == name) return values_[i];
    return std::nullopt;
}

double RowCounters::at(std::string_view name) const {
    const auto value = find(name);
    if (!value) throw std::out_of_range("no counter " + std::string(name));
    return *value;
}

double& RowCounters::operator[](std::string_view name) {
    const std::size_t place = place_of(name);
    if (!stands_at(place, name)) {
        auto names = names_ ? std::make_shared<std::vector<std::string>>(*names_)
                            : std::make_shared<std::vector<std::string>>();
        names->emplace(names->begin() + static_cast<std::ptrdiff_t>(place), name);
        names_ = std::move(names);
        values_.insert(values_.begin() + static_cast<std::ptrdiff_t>(place), 0.0);
    }
    return values_[place];
}

void RowCounters::erase(std::string_view name) {
    const std::size_t place = place_of(name);
    if (!stands_at(place, name)) return;
    auto names = std::make_shared<std::vector<std::string>>(*names_);
    names->erase(names->begin() + static_cast<std::ptrdiff_t>(place));
    names_ = std::move(names);
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace occupipe
