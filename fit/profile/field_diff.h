// SPDX-License-Identifier: MIT
// What a described type (core/fields.h) has that can be compared, as a flat list.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/annotation.h"
#include "core/estimate.h"
#include "core/fields.h"

namespace occupipe {

// "fma.f32 λ", "issue limit": a number, or a word.
struct Parameter {
    std::string name;
    std::optional<Estimate> estimate;
    std::string word;  // where there is no estimate
};

// The fields of one record that tell items of a list apart, as words: "shape_n", "16".
template <class T>
struct IdentityWords : IgnoreFields<T> {
    explicit IdentityWords(const T& from) : from_(from) {}

    std::string words;

    template <class M>
    void operator()(std::string_view, M T::*member, const Field& field = {}) {
        if (!field.identity) return;
        if (!words.empty()) words += ' ';
        if constexpr (std::floating_point<M>) {
            words += fmt::format("{:g}", from_.*member);
        } else if constexpr (std::integral<M> || std::same_as<M, std::string>) {
            words += fmt::format("{}", from_.*member);
        }
    }

private:
    const T& from_;
};

template <class T>
std::string identity_of(const T& value) {
    IdentityWords<T> identity(value);
    describe(identity, std::type_identity<T>{});
    return std::move(identity.words);
}

template <class T>
class FieldParameters {
public:
    // `prefix` stands before the names; what is per copy is divided by `copies`.
    FieldParameters(const T& from, std::string prefix, double copies, std::vector<Parameter>& out)
        : from_(from), prefix_(std::move(prefix)), copies_(copies), out_(out) {}

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& field = {}) {
        if (!field.compared || field.identity) return;
        if constexpr (is_optional<M>) {
            if (from_.*member) add(key, *(from_.*member), field);
        } else {
            if (field.default_unwritten && from_.*member == T{}.*member) return;
            add(key, from_.*member, field);
        }
    }

    void with_error(std::string_view key, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& field = {}) {
        if (from_.*value)
            add(key, Estimate{.value = *(from_.*value), .std_error = from_.*error, .note = {}},
                field);
    }

    template <class M>
    void record(std::string_view, M T::*member, const Field& field = {}) {
        collect(from_.*member, joined(field.label == nullptr ? "" : field.label), copies_);
    }

    template <class E>
    void named(std::string_view, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> entries = {}) {
        for (const E& entry : from_.*member)
            collect(entry, joined(entry.*name_member<E>()), copies(entry, entries));
    }

    template <class E>
    void list(std::string_view, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> entries = {}) {
        std::map<std::string, int> count;
        for (const E& entry : from_.*member) {
            std::string identity = identity_of(entry);
            const int number = ++count[identity];
            if (entries.ordinal != nullptr) {
                identity += fmt::format(" {} {}", entries.ordinal, number);
            } else if (number > 1) {
                identity += fmt::format(" ({})", number);
            }
            const std::string label = joined(entries.label);
            collect(entry, label.empty() ? identity : fmt::format("{} {}", label, identity),
                    copies(entry, entries));
        }
    }

    void name(std::string T::*, NameFault = nullptr) {}  // it is in the prefix
    void check(std::optional<Fault> (*)(const T&)) {}

private:
    template <class E>
    void collect(const E& value, std::string prefix, double copies) const {
        FieldParameters<E> parameters(value, std::move(prefix), copies, out_);
        describe(parameters, std::type_identity<E>{});
    }

    template <class E>
    double copies(const E& entry, const Entries<T, E>& entries) const {
        return entries.copies == nullptr ? copies_ : entries.copies(from_, entry);
    }

    std::string joined(std::string_view word) const {
        const bool both = !prefix_.empty() && !word.empty();
        return fmt::format("{}{}{}", prefix_, both ? " " : "", word);
    }

    template <class V>
    void add(std::string_view key, const V& value, const Field& field) {
        std::string name = joined(field.label == nullptr ? key : field.label);
        if (*field.unit != '\0') name += fmt::format(" [{}]", field.unit);
        if constexpr (std::same_as<V, Estimate>) {
            out_.push_back(
                {std::move(name), field.per_copy ? value.times(1 / copies_) : value, {}});
        } else if constexpr (std::is_enum_v<V>) {
            out_.push_back({std::move(name), std::nullopt, std::string(to_string(value))});
        } else if constexpr (std::integral<V> || std::floating_point<V>) {
            const double number = static_cast<double>(value);
            out_.push_back(
                {std::move(name), Estimate{.value = number, .std_error = {}, .note = {}}, {}});
        } else {
            static_assert(std::same_as<V, std::string> || std::same_as<V, Annotation>);
        }
    }

    const T& from_;
    std::string prefix_;
    double copies_;
    std::vector<Parameter>& out_;
};

// In the order of their description; names occur once.
template <class T>
std::vector<Parameter> parameters_of(const T& value) {
    std::vector<Parameter> out;
    FieldParameters<T> parameters(value, {}, 1, out);
    describe(parameters, std::type_identity<T>{});
    return out;
}

}  // namespace occupipe
