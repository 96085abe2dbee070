// SPDX-License-Identifier: MIT
// The words in which a type of a file names its fields, each once:
//
//   template <class Io>
//   void describe(Io& io, std::type_identity<Subsystem>) {
//       using T = Subsystem;
//       io.name(&T::name, &reserved_name);
//       io("scope", &T::scope, {.compared = false});
//       io("contention", &T::contention, {.range = share_below_one});
//   }
//
// From it come reading and writing (core/files/field_reader.h, field_writer.h), the rules
// (core/field_rules.h), and two profiles' comparison and merging (fit/profile/field_diff.h,
// field_merge.h): each of them is an Io. A profile's types are described in core/profile_fields.h.
//
// What an Io is asked, the order being that of the file:
//   io(key, member, Field)                      text, number, count, word of an enum, Estimate,
//                                               Annotation, and optional ones
//   io.with_error(key, value, error, Field)     an Estimate that the type keeps as two numbers
//   io.record(key, member, Field)               a map of keys, described itself
//   io.named(key, member, Entries)              a map of records by name
//   io.list(key, member, Entries)               a list of records
//   io.name(member, fault)                      in a record of such a map: its name
//   io.check(rule)                              what concerns more than one field
// An enum needs `words(std::type_identity<Enum>)`, an array of its values, and to_string().
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/name_rules.h"

namespace occupipe {

// The way from the root of a file to a value: keys, and "[2]" for an item of a list.
using Keys = std::vector<std::string>;

inline std::string key_path(const Keys& keys) {
    std::string path;
    for (const std::string& key : keys) {
        if (!path.empty() && !key.starts_with('[')) path += '.';
        path += key;
    }
    return path;
}

// Numbers that a field may hold; none is infinite.
struct Range {
    bool (*holds)(double value);
    std::string_view words;  // after "must be"
};
inline constexpr Range finite{[](double) { return true; }, "a finite number"};
inline constexpr Range positive{[](double v) { return v > 0; }, "a positive finite number"};
inline constexpr Range not_negative{[](double v) { return v >= 0; },
                                    "a finite number of at least 0"};
// So that no time that follows from them is infinite.
inline constexpr Range clock_rate{[](double v) { return v >= 1 && v <= 1e15; },
                                  "a positive finite number from 1 to 1e15"};
inline constexpr Range some_seconds{[](double v) { return v > 0 && v <= 1e6; },
                                    "a positive finite number of at most 1e6"};
inline constexpr Range some_rate{[](double v) { return v >= 1 && v <= 1e18; },
                                 "a positive finite number from 1 to 1e18"};
inline constexpr Range share_below_one{[](double v) { return v >= 0 && v < 1; },
                                       "at least 0 and below 1"};
inline constexpr Range probability{[](double v) { return v >= 0 && v <= 1; }, "from 0 to 1"};

// What one profile has of several machines' values.
enum class Merge {
    // Quantities are pooled, where only some machines have them over these; numbers become their
    // median; counts must agree; the first machine's text and words stay. What is optional and no
    // quantity stays where all agree.
    by_kind,
    first,              // the first machine's
    first_noting_rest,  // the same; a note says what others have
    must_agree,         // machines that differ in it are not of one model
    least,              // optional numbers: of those that have it, if the first has it
    notes,              // text that says how the others' values were merged
};

struct Field {
    bool required = false;  // in a file
    Range range = positive;
    std::int64_t least = 1;  // of a count
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    // Why a text is refused; null: every text is fine.
    std::optional<std::string> (*fault)(std::string_view text) = nullptr;
    bool default_unwritten = false;  // written only where it is not the type's default

    const char* label = nullptr;  // in a comparison; null: the key, "": nothing
    const char* unit = "";        // after the label; "" in core cycles and counts
    bool compared = true;         // texts never are
    bool identity = false;        // of items of a list: the same item has the same
    bool grid = false;      // items are merged only where this is the same, compared all the same
    bool per_copy = false;  // λ of one copy of a subsystem: times as much as the core's
    // Merged, the record's notes say the values' range under this name; null: they do not.
    const char* spread = nullptr;
    Merge merge = Merge::by_kind;
};

// Of the records in a map or a list.
template <class Owner, class Entry>
struct Entries {
    bool required = false;
    const char* label = "";         // of a list, in a comparison
    const char* ordinal = nullptr;  // items of equal identity are counted: "level" 1, "level" 2 …
    // What a Field that is `per_copy` is divided by to be the core's; null: 1.
    int (*copies)(const Owner& owner, const Entry& entry) = nullptr;
    const char* other_copies = "";  // note on a merged entry of which a machine has others
    // Whether two machines' entries of one name may be merged; null: they always may.
    bool (*alike)(const Entry& a, const Entry& b) = nullptr;
};

// A rule that does not hold, below the record that was checked.
struct Fault {
    Keys keys;
    std::string reason;
};

using NameFault = std::optional<std::string> (*)(std::string_view name);

// Of what people read: terminals and tables take control characters for commands.
inline std::optional<std::string> title_fault(std::string_view text) {
    if (text.empty()) return "must not be empty";
    return control_character_fault(text);
}

template <class T>
struct OptionalOf : std::false_type {
    using Value = T;
};
template <class T>
struct OptionalOf<std::optional<T>> : std::true_type {
    using Value = T;
};
template <class T>
inline constexpr bool is_optional = OptionalOf<T>::value;

// An Io that does nothing with what it does not look at.
template <class T>
struct IgnoreFields {
    template <class M>
    void operator()(std::string_view, M T::*, const Field& = {}) {}
    void with_error(std::string_view, std::optional<double> T::*, std::optional<double> T::*,
                    const Field& = {}) {}
    template <class M>
    void record(std::string_view, M T::*, const Field& = {}) {}
    template <class E>
    void named(std::string_view, std::vector<E> T::*, std::type_identity_t<Entries<T, E>> = {}) {}
    template <class E>
    void list(std::string_view, std::vector<E> T::*, std::type_identity_t<Entries<T, E>> = {}) {}
    void name(std::string T::*, NameFault = nullptr) {}
    void check(std::optional<Fault> (*)(const T&)) {}
};

// Which member is the name of T's records.
template <class T>
std::string T::*name_member() {
    struct Find : IgnoreFields<T> {
        std::string T::*found = nullptr;
        void name(std::string T::*member, NameFault = nullptr) { found = member; }
    } find;
    describe(find, std::type_identity<T>{});
    return find.found;
}

}  // namespace occupipe
