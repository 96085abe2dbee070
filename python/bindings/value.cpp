// SPDX-License-Identifier: MIT
#include "python/bindings/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/error.h"

namespace occupipe::python {

Estimate estimate_of(const Number& number) {
    if (const auto* estimate = std::get_if<Estimate>(&number)) return *estimate;
    const double value = std::get<double>(number);
    require_finite(value, "value");
    Estimate plain;
    plain.value = value;
    return plain;
}

std::optional<Estimate> estimate_of(const std::optional<Number>& number) {
    if (!number) return std::nullopt;
    return estimate_of(*number);
}

void require_finite(double value, const std::string& what) {
    if (!std::isfinite(value))
        throw InputError({}, {}, what, "must be finite; what is not known is None");
}

void refuse_word(const std::string& text, const std::string& key,
                 const std::vector<std::string>& words) {
    throw InputError({}, {}, key,
                     fmt::format("'{}' is not one of {}", text, fmt::join(words, ", ")));
}

std::string repr_of_value(nb::handle self) {
    std::string text = nb::cast<std::string>(self.type().attr("__name__")) + "(";
    bool first = true;
    for (const nb::handle name : self.type().attr("__match_args__")) {
        const nb::object value = nb::getattr(self, name);
        if (value.is_none() || nb::isinstance<nb::str>(value) || nb::isinstance<nb::tuple>(value)) {
            if (value.is_none() || nb::len(value) == 0) continue;
            // An estimate is a value where it does not say otherwise.
            if (nb::isinstance<Estimate>(self) && value.equal(nb::str("value"))) continue;
        }
        text += fmt::format("{}{}={}", first ? "" : ", ", nb::cast<std::string>(name),
                            nb::repr(value).c_str());
        first = false;
    }
    return text + ")";
}

nb::object replaced(nb::handle self, const nb::kwargs& changes) {
    nb::dict fields;
    std::vector<std::string> names;
    for (const nb::handle name : self.type().attr("__match_args__")) {
        fields[name] = nb::getattr(self, name);
        names.push_back(nb::cast<std::string>(name));
    }
    for (const auto& [name, value] : changes) {
        if (!fields.contains(name))
            throw nb::type_error(fmt::format("{} has no field '{}'; it has {}",
                                             nb::cast<std::string>(self.type().attr("__name__")),
                                             nb::cast<std::string>(name), fmt::join(names, ", "))
                                     .c_str());
        fields[name] = value;
    }
    return self.type()(**fields);
}

}  // namespace occupipe::python
