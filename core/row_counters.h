// SPDX-License-Identifier: MIT
// The counters of a measurement's row: numbers by name. A file has as many rows as it has
// repetitions, but few sets of names, so rows share these: a row keeps its numbers alone.
//
//     RowCounters row = {{"unroll", 64}, {"chains", 1}};
//     row.find("unroll")    // 64
//     row.find("depth")     // nullopt
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace occupipe {

class RowCounters {
public:
    using Names = std::shared_ptr<const std::vector<std::string>>;  // ascending, each once

    RowCounters() = default;
    RowCounters(Names names, std::vector<double> values);  // as many, in the same order
    RowCounters(const std::map<std::string, double>& counters);
    RowCounters(std::initializer_list<std::pair<const std::string, double>> counters)
        : RowCounters(std::map<std::string, double>(counters)) {}

    bool empty() const { return values_.empty(); }
    std::size_t size() const { return values_.size(); }
    std::optional<double> find(std::string_view name) const;
    bool contains(std::string_view name) const { return find(name).has_value(); }
    double at(std::string_view name) const;  // throws std::out_of_range
    // Calls take(name, number) for each, by name.
    template <class Take>
    void for_each(const Take& take) const {
        for (std::size_t i = 0; i < size(); ++i) take((*names_)[i], values_[i]);
    }

    double& operator[](std::string_view name);  // 0 where it was not there
    void erase(std::string_view name);

private:
    // Where the name stands, or would stand.
    std::size_t place_of(std::string_view name) const;
    bool stands_at(std::size_t place, std::string_view name) const {
        return place < size() && (*names_)[place] == name;
    }

    Names names_;  // none where it is empty
    std::vector<double> values_;
};

}  // namespace occupipe
