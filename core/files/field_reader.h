// SPDX-License-Identifier: MIT
// Reads a described type (core/fields.h) from a map in a file.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/annotation.h"
#include "core/enum_text.h"
#include "core/estimate.h"
#include "core/fields.h"
#include "core/files/document.h"
#include "core/files/quantity_yaml.h"

namespace occupipe {

Annotation read_annotation(const Document& document, const DocumentNode& map);

template <class T>
struct CollectKeys : IgnoreFields<T> {
    std::vector<std::string_view> keys;

    template <class M>
    void operator()(std::string_view key, M T::*, const Field& = {}) {
        keys.push_back(key);
    }
    void with_error(std::string_view key, std::optional<double> T::*, std::optional<double> T::*,
                    const Field& = {}) {
        keys.push_back(key);
    }
    template <class M>
    void record(std::string_view key, M T::*, const Field& = {}) {
        keys.push_back(key);
    }
    template <class E>
    void named(std::string_view key, std::vector<E> T::*,
               std::type_identity_t<Entries<T, E>> = {}) {
        keys.push_back(key);
    }
    template <class E>
    void list(std::string_view key, std::vector<E> T::*, std::type_identity_t<Entries<T, E>> = {}) {
        keys.push_back(key);
    }
};

// The keys of T's fields.
template <class T>
std::vector<std::string_view> keys_of() {
    CollectKeys<T> collect;
    describe(collect, std::type_identity<T>{});
    return std::move(collect.keys);
}

template <class T>
T read_fields(const Document& document, const DocumentNode& map);

// Fields of one map, in the order of their description.
template <class T>
class FieldReader {
public:
    FieldReader(const Document& document, const DocumentNode& map, T& out)
        : document_(document), map_(map), out_(out) {}

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& field = {}) {
        if (const DocumentNode* const node = entry(key, field.required))
            out_.*member = value<typename OptionalOf<M>::Value>(*node, field);
    }

    void with_error(std::string_view key, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& field = {}) {
        const DocumentNode* const node = entry(key, field.required);
        if (node == nullptr) return;
        if (node->kind != DocumentNode::Kind::map) {
            out_.*value = document_.number(*node);
            return;
        }
        document_.only_keys(*node, {"value", "std_error"});
        out_.*value = document_.number(document_.required(*node, "value"));
        if (const DocumentNode* const known = Document::find(*node, "std_error"))
            out_.*error = document_.number(*known);
    }

    template <class M>
    void record(std::string_view key, M T::*member, const Field& field = {}) {
        if (const DocumentNode* const node = entry(key, field.required))
            out_.*member = read_fields<M>(document_, *node);
    }

    template <class E>
    void named(std::string_view key, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> entries = {}) {
        const DocumentNode* const node = entry(key, entries.required);
        if (node == nullptr) return;
        for (const DocumentNode& child : document_.entries(*node)) {
            (out_.*member).push_back(read_fields<E>(document_, child));
            (out_.*member).back().*name_member<E>() = child.key;
        }
    }

    template <class E>
    void list(std::string_view key, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> entries = {}) {
        const DocumentNode* const node = entry(key, entries.required);
        if (node == nullptr) return;
        for (const DocumentNode& child : document_.items(*node))
            (out_.*member).push_back(read_fields<E>(document_, child));
    }

    void name(std::string T::*, NameFault = nullptr) {}  // its parent knows it
    void check(std::optional<Fault> (*)(const T&)) {}    // core/field_rules.h

private:
    const DocumentNode* entry(std::string_view key, bool required) const {
        return required ? &document_.required(map_, key) : Document::find(map_, key);
    }

    template <class V>
    V value(const DocumentNode& node, const Field& field) const {
        if constexpr (std::same_as<V, std::string>) {
            return document_.text(node);
        } else if constexpr (std::same_as<V, Estimate>) {
            return read_quantity(document_, node);
        } else if constexpr (std::same_as<V, Annotation>) {
            return read_annotation(document_, node);
        } else if constexpr (std::is_enum_v<V>) {
            return word_of<V>(document_, node);
        } else if constexpr (std::integral<V>) {
            const std::int64_t most =
                std::min<std::int64_t>(field.most, std::numeric_limits<V>::max());
            return static_cast<V>(document_.integer(node, field.least, most));
        } else {
            static_assert(std::floating_point<V>);
            return document_.number(node);
        }
    }

    const Document& document_;
    const DocumentNode& map_;
    T& out_;
};

// Like read_fields(), where the keys of the map are known to be good.
template <class T>
T read_known_fields(const Document& document, const DocumentNode& map) {
    T out;
    FieldReader<T> reader(document, map, out);
    describe(reader, std::type_identity<T>{});
    return out;
}

// Refuses unknown keys, missing ones and values of another kind, with their place in the file.
// Whether the values are possible is for check_fields() (core/field_rules.h).
template <class T>
T read_fields(const Document& document, const DocumentNode& map) {
    document.only_keys(map, keys_of<T>());
    return read_known_fields<T>(document, map);
}

}  // namespace occupipe
