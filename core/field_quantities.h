// SPDX-License-Identifier: MIT
// Every quantity of a described type (core/fields.h), wherever in it.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/estimate.h"
#include "core/fields.h"

namespace occupipe {

using SeeQuantity = std::function<void(const Keys& keys, const Estimate& estimate)>;

template <class T>
void each_quantity(const T& value, const Keys& at, const SeeQuantity& see);

template <class T>
class FieldQuantities : public IgnoreFields<T> {
public:
    FieldQuantities(const T& from, const Keys& at, const SeeQuantity& see)
        : from_(from), at_(at), see_(see) {}

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& = {}) {
        if constexpr (std::same_as<M, Estimate>) {
            see_(below(key), from_.*member);
        } else if constexpr (std::same_as<M, std::optional<Estimate>>) {
            if (from_.*member) see_(below(key), *(from_.*member));
        }
    }

    void with_error(std::string_view key, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& = {}) {
        if (from_.*value)
            see_(below(key), {.value = *(from_.*value), .std_error = from_.*error, .note = {}});
    }

    template <class M>
    void record(std::string_view key, M T::*member, const Field& = {}) {
        each_quantity(from_.*member, below(key), see_);
    }

    template <class E>
    void named(std::string_view key, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> = {}) {
        for (const E& entry : from_.*member)
            each_quantity(entry, below(key, entry.*name_member<E>()), see_);
    }

    template <class E>
    void list(std::string_view key, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> = {}) {
        for (std::size_t i = 0; i < (from_.*member).size(); ++i)
            each_quantity((from_.*member)[i], below(key, fmt::format("[{}]", i)), see_);
    }

private:
    Keys below(std::string_view key, const std::string& entry = {}) const {
        Keys keys = at_;
        keys.emplace_back(key);
        if (!entry.empty()) keys.push_back(entry);
        return keys;
    }

    const T& from_;
    const Keys& at_;
    const SeeQuantity& see_;
};

// In the order of their description; `at` is the way to `value`.
template <class T>
void each_quantity(const T& value, const Keys& at, const SeeQuantity& see) {
    FieldQuantities<T> quantities(value, at, see);
    describe(quantities, std::type_identity<T>{});
}

}  // namespace occupipe
