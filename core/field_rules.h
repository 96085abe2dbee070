// SPDX-License-Identifier: MIT
// Whether the values of a described type (core/fields.h) are possible.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/estimate.h"
#include "core/fields.h"

namespace occupipe {

// Called with the way to what is refused, and why; does not return.
using Refuse = std::function<void(const Keys& keys, const std::string& reason)>;

template <class T>
void check_fields(const T& value, const Keys& at, const Refuse& refuse);

// The same of a whole profile, compiled once (core/gpu_profile.cpp).
struct GpuProfile;
void check_profile(const GpuProfile& profile, const Refuse& refuse);

template <class T>
class FieldRules {
public:
    FieldRules(const T& from, const Keys& at, const Refuse& refuse)
        : from_(from), at_(at), refuse_(refuse) {}

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& field = {}) {
        if constexpr (is_optional<M>) {
            if (from_.*member) value(key, *(from_.*member), field);
        } else {
            value(key, from_.*member, field);
        }
    }

    void with_error(std::string_view key, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& field = {}) {
        if (from_.*value) {
            quantity(key, *(from_.*value), from_.*error, field);
        } else if (from_.*error) {
            refuse_(below(key), "has a standard error but no value");
        }
    }

    template <class M>
    void record(std::string_view key, M T::*member, const Field& = {}) {
        check_fields(from_.*member, below(key), refuse_);
    }

    template <class E>
    void named(std::string_view key, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> = {}) {
        std::set<std::string_view> seen;
        for (const E& entry : from_.*member) {
            const std::string& name = entry.*name_member<E>();
            Keys keys = below(key);
            keys.push_back(name);
            if (const auto fault = name_fault(name)) refuse_(keys, *fault);
            if (!seen.insert(name).second) refuse_(keys, "duplicate name");
            check_fields(entry, keys, refuse_);
        }
    }

    template <class E>
    void list(std::string_view key, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> = {}) {
        for (std::size_t i = 0; i < (from_.*member).size(); ++i) {
            Keys keys = below(key);
            keys.push_back(fmt::format("[{}]", i));
            check_fields((from_.*member)[i], keys, refuse_);
        }
    }

    void name(std::string T::*member, NameFault fault = nullptr) {
        if (fault == nullptr) return;
        if (const auto reason = fault(from_.*member)) refuse_(at_, *reason);
    }

    void check(std::optional<Fault> (*rule)(const T&)) {
        const std::optional<Fault> fault = rule(from_);
        if (!fault) return;
        Keys keys = at_;
        keys.insert(keys.end(), fault->keys.begin(), fault->keys.end());
        refuse_(keys, fault->reason);
    }

private:
    Keys below(std::string_view key) const {
        Keys keys = at_;
        keys.emplace_back(key);
        return keys;
    }

    // The way to the value is made where it is refused: simulations check their profile every time.
    void number(std::string_view key, double value, const Range& range,
                const char* part = nullptr) const {
        if (std::isfinite(value) && range.holds(value)) return;
        Keys keys = below(key);
        if (part != nullptr) keys.emplace_back(part);
        refuse_(keys, fmt::format("must be {}, not {}", range.words, value));
    }

    void quantity(std::string_view key, double value, const std::optional<double>& error,
                  const Field& field) const {
        number(key, value, field.range);
        if (error) number(key, *error, not_negative, "std_error");
    }

    template <class V>
    void value(std::string_view key, const V& value, const Field& field) const {
        if constexpr (std::same_as<V, std::string>) {
            if (field.fault == nullptr) return;
            if (const auto reason = field.fault(value)) refuse_(below(key), *reason);
        } else if constexpr (std::same_as<V, Estimate>) {
            quantity(key, value.value, value.std_error, field);
            for (const ErrorTerm& term : value.error_terms) {
                if (const auto fault = name_fault(term.name))
                    refuse_(below(key), fmt::format("error_terms: {}", *fault));
                number(key, term.size, not_negative, "error_terms");
            }
            for (const Doubt& doubt : value.doubts)
                if (doubt.size) number(key, *doubt.size, finite, "doubts");
        } else if constexpr (std::floating_point<V>) {
            number(key, value, field.range);
        } else if constexpr (std::integral<V>) {
            if (value < field.least)
                refuse_(below(key), fmt::format("must be at least {}, not {}", field.least, value));
            if (value > field.most)
                refuse_(below(key), fmt::format("must be at most {}, not {}", field.most, value));
        }
    }

    const T& from_;
    const Keys& at_;
    const Refuse& refuse_;
};

// `at` is the way to `value`.
template <class T>
void check_fields(const T& value, const Keys& at, const Refuse& refuse) {
    FieldRules<T> rules(value, at, refuse);
    describe(rules, std::type_identity<T>{});
}

}  // namespace occupipe
