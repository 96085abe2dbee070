// SPDX-License-Identifier: MIT
// A described type (core/fields.h) as YAML.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/annotation.h"
#include "core/estimate.h"
#include "core/fields.h"
#include "core/files/quantity_yaml.h"
#include "core/files/yaml_text.h"

namespace occupipe {

// Text to be written, before it is divided into lines.
struct YamlTree {
    enum class Kind {
        scalar,    // `text` after the key
        map,       // children
        list,      // children without keys
        verbatim,  // `text` after the key's colon, line ends included
    };

    std::string key;
    Kind kind = Kind::scalar;
    std::string text;
    std::vector<YamlTree> children;
};

// "key: {…}" where a map of scalars fits on a line, else a line per child. Items of a list that are
// such maps stand on one line each.
std::string yaml_lines(const YamlTree& tree, std::size_t indent);
// What stands after "key:", one line or several.
std::string annotation_text(const Annotation& annotation, std::size_t indent);

template <class T>
std::vector<YamlTree> write_fields(const T& value);

template <class T>
class FieldWriter {
public:
    explicit FieldWriter(const T& from) : from_(from) {}

    std::vector<YamlTree> fields;

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& field = {}) {
        if constexpr (is_optional<M>) {
            if (from_.*member) scalar(key, text(*(from_.*member)));
        } else if constexpr (std::same_as<M, std::string>) {
            if (field.required || !(from_.*member).empty()) scalar(key, yaml_scalar(from_.*member));
        } else if constexpr (std::same_as<M, Annotation>) {
            constexpr std::size_t indent = 2;
            if (!(from_.*member).entries.empty())
                fields.push_back({std::string(key),
                                  YamlTree::Kind::verbatim,
                                  annotation_text(from_.*member, indent) + "\n",
                                  {}});
        } else {
            if (field.default_unwritten && from_.*member == T{}.*member) return;
            scalar(key, text(from_.*member));
        }
    }

    void with_error(std::string_view key, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& = {}) {
        if (from_.*value)
            scalar(key, quantity_text(
                            {.value = *(from_.*value), .std_error = from_.*error, .note = {}}));
    }

    template <class M>
    void record(std::string_view key, M T::*member, const Field& field = {}) {
        std::vector<YamlTree> children = write_fields(from_.*member);
        if (field.required || !children.empty())
            fields.push_back({std::string(key), YamlTree::Kind::map, {}, std::move(children)});
    }

    template <class E>
    void named(std::string_view key, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> entries = {}) {
        YamlTree tree{std::string(key), YamlTree::Kind::map, {}, {}};
        for (const E& entry : from_.*member)
            tree.children.push_back({yaml_scalar(entry.*name_member<E>()),
                                     YamlTree::Kind::map,
                                     {},
                                     write_fields(entry)});
        if (entries.required || !tree.children.empty()) fields.push_back(std::move(tree));
    }

    template <class E>
    void list(std::string_view key, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> entries = {}) {
        YamlTree tree{std::string(key), YamlTree::Kind::list, {}, {}};
        for (const E& entry : from_.*member)
            tree.children.push_back({{}, YamlTree::Kind::map, {}, write_fields(entry)});
        if (entries.required || !tree.children.empty()) fields.push_back(std::move(tree));
    }

    void name(std::string T::*, NameFault = nullptr) {}  // its parent writes it
    void check(std::optional<Fault> (*)(const T&)) {}

private:
    void scalar(std::string_view key, std::string text) {
        fields.push_back({std::string(key), YamlTree::Kind::scalar, std::move(text), {}});
    }

    template <class V>
    static std::string text(const V& value) {
        if constexpr (std::same_as<V, std::string>) {
            return yaml_scalar(value);
        } else if constexpr (std::same_as<V, Estimate>) {
            return quantity_text(value);
        } else if constexpr (std::is_enum_v<V>) {
            return std::string(to_string(value));
        } else if constexpr (std::floating_point<V>) {
            return yaml_number(value);
        } else {
            static_assert(std::integral<V>);
            return fmt::format("{}", value);
        }
    }

    const T& from_;
};

// In the order of their description, without absent ones.
template <class T>
std::vector<YamlTree> write_fields(const T& value) {
    FieldWriter<T> writer(value);
    describe(writer, std::type_identity<T>{});
    return std::move(writer.fields);
}

}  // namespace occupipe
