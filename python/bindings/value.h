// SPDX-License-Identifier: MIT
// What all values of the Python package have in common: they cannot be changed, only replaced, so
// that no change is lost on a copy.
//   add_value_methods(cls, {"value", "std_error"});   // repr, ==, hash, replace(value=2)
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/estimate.h"

namespace nb = nanobind;

namespace occupipe::python {

// A number stands for itself without an error.
using Number = std::variant<Estimate, double>;
Estimate estimate_of(const Number& number);
std::optional<Estimate> estimate_of(const std::optional<Number>& number);

// Throws InputError for a number that is not finite.
void require_finite(double value, const std::string& what);

template <class T>
using TupleOf = nb::typed<nb::tuple, T, nb::ellipsis>;

template <class T>
TupleOf<T> tuple_of(const std::vector<T>& values) {
    nb::list list;
    for (const T& value : values) list.append(nb::cast(value));
    return nb::borrow<TupleOf<T>>(nb::tuple(list));
}

// Throws InputError that lists the words.
[[noreturn]] void refuse_word(const std::string& text, const std::string& key,
                              const std::vector<std::string>& words);

// The value that a word of a profile or kernel stands for.
template <class Enum>
Enum enum_of(const std::string& text, const std::string& key) {
    std::vector<std::string> known;
    for (const Enum value : words(std::type_identity<Enum>{})) {
        if (to_string(value) == text) return value;
        known.emplace_back(to_string(value));
    }
    refuse_word(text, key, known);
}

template <class Enum>
std::optional<Enum> enum_of(const std::optional<std::string>& text, const std::string& key) {
    if (!text) return std::nullopt;
    return enum_of<Enum>(*text, key);
}

template <class Enum>
std::optional<std::string> word_of(const std::optional<Enum>& value) {
    if (!value) return std::nullopt;
    return std::string(to_string(*value));
}

std::string repr_of_value(nb::handle self);
nb::object replaced(nb::handle self, const nb::kwargs& changes);

// `names`: of the fields, which are arguments of the constructor as well.
template <class T>
void add_value_methods(nb::class_<T>& cls, std::initializer_list<const char*> names) {
    nb::list list;
    for (const char* name : names) list.append(nb::str(name));
    cls.attr("__match_args__") = nb::tuple(list);
    cls.def("__repr__", [](nb::handle self) { return repr_of_value(self); });
    cls.def(
        "__eq__", [](const T& a, const T& b) { return a == b; }, nb::is_operator(),
        nb::sig("def __eq__(self, arg: object, /) -> bool"));
    cls.def("__hash__",
            [](nb::handle self) { return nb::hash(nb::str(repr_of_value(self).c_str())); });
    const std::string sig = std::string("def replace(self, **changes: object) -> ") +
                            nb::cast<std::string>(cls.attr("__name__"));
    static const std::string kept = sig;
    cls.def(
        "replace",
        [](nb::handle self, const nb::kwargs& changes) { return replaced(self, changes); },
        nb::sig(kept.c_str()), "A copy with these fields changed.");
}

// Each part of the module adds itself.
void bind_errors(nb::module_& module);
void bind_estimates(nb::module_& module);
void bind_profiles(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_measurements(nb::module_& module);
void bind_fits(nb::module_& module);
void bind_predictions(nb::module_& module);
void bind_machine_code(nb::module_& module);
void bind_rooflines(nb::module_& module);
void bind_tuning(nb::module_& module);

}  // namespace occupipe::python
