// SPDX-License-Identifier: MIT
// One value of a described type (core/fields.h) from those of several machines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/annotation.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/fields.h"
#include "core/statistics.h"
#include "fit/curves/curve.h"
#include "fit/profile/pool.h"

namespace occupipe {

// One machine's value, and the file that it stands in.
template <class T>
struct OfMachine {
    const T* value = nullptr;
    const std::string* path = nullptr;
    // Makes λ of one copy of a subsystem here λ of one as the first machine has them.
    double per_copy = 1;
};

template <class T>
using OfMachines = std::vector<OfMachine<T>>;  // not empty

// Whether two items of lists are of the same thing, measured in the same places.
template <class T>
struct SameItem : IgnoreFields<T> {
    SameItem(const T& a, const T& b) : a_(a), b_(b) {}

    bool same = true;

    template <class M>
    void operator()(std::string_view, M T::*member, const Field& field = {}) {
        if (field.identity || field.grid) same = same && a_.*member == b_.*member;
    }

private:
    const T& a_;
    const T& b_;
};

template <class T>
bool same_item(const T& a, const T& b) {
    SameItem<T> compare(a, b);
    describe(compare, std::type_identity<T>{});
    return compare.same;
}

// A value in a message.
template <class V>
std::string field_text(const V& value) {
    if constexpr (is_optional<V>) {
        return value ? field_text(*value) : "none";
    } else if constexpr (std::same_as<V, Estimate>) {
        return estimate_text(value);
    } else if constexpr (std::is_enum_v<V>) {
        return std::string(to_string(value));
    } else if constexpr (std::same_as<V, Annotation>) {
        return value.text;
    } else {
        return fmt::format("{}", value);
    }
}

template <class T>
class FieldMerger {
public:
    // `in_list`: quantities that not every machine has are left out, so that items of a list stand
    // for the same machines.
    // `contradictions` gets a line for every bound that the merged value contradicts.
    FieldMerger(const OfMachines<T>& from, Keys at, bool in_list,
                std::vector<std::string>& contradictions, std::string notes = {})
        : merged(*from.front().value),
          from_(from),
          at_(std::move(at)),
          in_list_(in_list),
          contradictions_(contradictions),
          notes_(std::move(notes)) {}

    T merged;
    bool holds_something = false;  // a quantity, or a list of such

    // After all fields.
    void finish() {
        if (note_ != nullptr) merged.*note_ = notes_;
    }

    template <class M>
    void operator()(std::string_view key, M T::*member, const Field& field = {}) {
        switch (field.merge) {
            case Merge::first:
                return;
            case Merge::first_noting_rest:
                return note_others(key, member);
            case Merge::must_agree:
                return require_same(key, member);
            case Merge::least:
                if constexpr (std::same_as<M, std::optional<double>>) take_least(member);
                return;
            case Merge::notes:
                if constexpr (std::same_as<M, std::string>) note_ = member;
                return;
            case Merge::by_kind:
                break;
        }
        using Value = typename OptionalOf<M>::Value;
        if (field.identity || field.grid) return;
        if constexpr (std::same_as<Value, Estimate>) {
            pool_all(key, member, field);
        } else if constexpr (std::floating_point<Value>) {
            take_median(member);
        } else if constexpr (is_optional<M>) {
            for (const OfMachine<T>& machine : from_)
                if (merged.*member != machine.value->*member) (merged.*member).reset();
        } else if constexpr (std::integral<Value>) {
            require_same(key, member);
        }
    }

    void with_error(std::string_view, std::optional<double> T::*value,
                    std::optional<double> T::*error, const Field& = {}) {
        std::vector<Estimate> known;
        for (const OfMachine<T>& machine : from_)
            if (machine.value->*value)
                known.push_back({.value = *(machine.value->*value),
                                 .std_error = machine.value->*error,
                                 .note = {}});
        if (known.empty()) return;
        const Pooled pooled = pool(known);
        merged.*value = pooled.estimate.value;
        merged.*error = pooled.estimate.std_error;
        holds_something = true;
    }

    template <class M>
    void record(std::string_view key, M T::*member, const Field& = {}) {
        OfMachines<M> parts;
        for (const OfMachine<T>& machine : from_)
            parts.push_back({&(machine.value->*member), machine.path, machine.per_copy});
        FieldMerger<M> merger(parts, below(key), in_list_, contradictions_);
        describe(merger, std::type_identity<M>{});
        merger.finish();
        merged.*member = std::move(merger.merged);
        holds_something = holds_something || merger.holds_something;
    }

    // Every name that one of the machines has, in the order of first appearance.
    template <class E>
    void named(std::string_view key, std::vector<E> T::*member,
               std::type_identity_t<Entries<T, E>> entries = {}) {
        std::string E::*const name = name_member<E>();
        std::vector<std::string> order;
        for (const OfMachine<T>& machine : from_)
            for (const E& entry : machine.value->*member)
                if (std::ranges::find(order, entry.*name) == order.end())
                    order.push_back(entry.*name);
        (merged.*member).clear();
        for (const std::string& one : order)
            (merged.*member).push_back(merge_entry(key, member, entries, one));
    }

    // Items that every machine has, in the order of the first.
    template <class E>
    void list(std::string_view key, std::vector<E> T::*member,
              std::type_identity_t<Entries<T, E>> = {}) {
        (merged.*member).clear();
        const std::vector<E>& first = from_.front().value->*member;
        for (std::size_t i = 0; i < first.size(); ++i) {
            const auto earlier =
                std::count_if(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(i),
                              [&](const E& item) { return same_item(item, first[i]); });
            OfMachines<E> items;
            for (const OfMachine<T>& machine : from_)
                if (const E* const item = nth_like(machine.value->*member, first[i], earlier))
                    items.push_back({item, machine.path, machine.per_copy});
            if (items.size() != from_.size()) continue;
            Keys keys = below(key);
            keys.push_back(fmt::format("[{}]", i));
            FieldMerger<E> merger(items, std::move(keys), true, contradictions_);
            describe(merger, std::type_identity<E>{});
            merger.finish();
            if (merger.holds_something) (merged.*member).push_back(std::move(merger.merged));
        }
        holds_something = holds_something || !(merged.*member).empty();
    }

    void name(std::string T::*, NameFault = nullptr) {}
    void check(std::optional<Fault> (*)(const T&)) {}

private:
    Keys below(std::string_view key) const {
        Keys keys = at_;
        keys.emplace_back(key);
        return keys;
    }

    static std::string file_of(const OfMachine<T>& machine) {
        return std::filesystem::path(*machine.path).filename().string();
    }

    void add_note(const std::string& note) {
        if (note.empty()) return;
        notes_ += (notes_.empty() ? "" : "; ") + note;
    }

    template <class M>
    void note_others(std::string_view key, M T::*member) {
        for (const OfMachine<T>& machine : from_)
            if (machine.value->*member != merged.*member)
                add_note(fmt::format("{} has it in {} {}", file_of(machine), key,
                                     field_text(machine.value->*member)));
    }

    template <class M>
    void require_same(std::string_view key, M T::*member) {
        for (const OfMachine<T>& machine : from_)
            if (machine.value->*member != merged.*member)
                throw InputError(*machine.path, SourcePosition{}, key_path(below(key)),
                                 fmt::format("is '{}', but '{}' in {}: only runs of one device "
                                             "model can be merged",
                                             field_text(machine.value->*member),
                                             field_text(merged.*member), *from_.front().path));
    }

    void take_least(std::optional<double> T::*member) {
        for (const OfMachine<T>& machine : from_)
            if (merged.*member && machine.value->*member)
                merged.*member = std::min(*(merged.*member), *(machine.value->*member));
    }

    template <class M>
    void take_median(M T::*member) {
        std::vector<double> values;
        for (const OfMachine<T>& machine : from_) {
            if constexpr (is_optional<M>) {
                if (machine.value->*member) values.push_back(*(machine.value->*member));
            } else {
                values.push_back(machine.value->*member);
            }
        }
        if (!values.empty()) merged.*member = median(std::move(values));
    }

    template <class M>
    void pool_all(std::string_view key, M T::*member, const Field& field) {
        std::vector<Estimate> known;
        OfMachines<T> with;
        for (const OfMachine<T>& machine : from_) {
            const double factor = field.per_copy ? machine.per_copy : 1;
            if constexpr (is_optional<M>) {
                if (!(machine.value->*member)) continue;
                known.push_back((machine.value->*member)->times(factor));
            } else {
                known.push_back((machine.value->*member).times(factor));
            }
            with.push_back(machine);
        }
        if constexpr (is_optional<M>) (merged.*member).reset();
        if (known.empty() || (in_list_ && known.size() != from_.size())) return;
        const Pooled pooled = pool(known);
        merged.*member = pooled.estimate;
        holds_something = true;
        for (const std::size_t i : pooled.contradicting) {
            const std::string text =
                fmt::format("{} has {} {}, which {} contradicts", file_of(with[i]), key,
                            estimate_text(known[i]), estimate_text(pooled.estimate));
            contradictions_.push_back(fmt::format("{}: {}", key_path(at_), text));
            add_note(text);
        }
        if (field.spread != nullptr) add_note(spread_note(field.spread, pooled));
    }

    template <class E>
    E merge_entry(std::string_view key, std::vector<E> T::*member, const Entries<T, E>& entries,
                  const std::string& name) const {
        OfMachines<E> found;
        std::string notes;
        double copies_here = 1;
        for (const OfMachine<T>& machine : from_)
            for (const E& entry : machine.value->*member) {
                if (entry.*name_member<E>() != name) continue;
                if (!found.empty() && entries.alike != nullptr &&
                    !entries.alike(*found.front().value, entry))
                    continue;
                const double copies =
                    entries.copies == nullptr ? 1 : entries.copies(*machine.value, entry);
                // By the merged subsystem, which may be another machine's of that name.
                if (found.empty() && entries.copies != nullptr)
                    copies_here = entries.copies(merged, entry);
                if (copies != copies_here)
                    notes += fmt::format("{}{} {}", notes.empty() ? "" : "; ", file_of(machine),
                                         entries.other_copies);
                found.push_back({&entry, machine.path, machine.per_copy * copies_here / copies});
            }
        Keys keys = below(key);
        keys.push_back(name);
        FieldMerger<E> merger(found, std::move(keys), in_list_, contradictions_, std::move(notes));
        describe(merger, std::type_identity<E>{});
        merger.finish();
        return std::move(merger.merged);
    }

    // The item after `earlier` others that is the same as `like`.
    template <class E>
    static const E* nth_like(const std::vector<E>& items, const E& like, std::ptrdiff_t earlier) {
        for (const E& item : items)
            if (same_item(item, like) && earlier-- == 0) return &item;
        return nullptr;
    }

    const OfMachines<T>& from_;
    Keys at_;
    bool in_list_;
    std::vector<std::string>& contradictions_;
    std::string T::*note_ = nullptr;
    std::string notes_;
};

// Throws InputError, naming the machine's file and the key, where machines are not of one model.
// `contradictions`: "instructions.fma.f32: b.yaml has latency ≥ 100, which 6.00 ± 0.10 contradicts"
template <class T>
T merge_fields(const OfMachines<T>& from, std::vector<std::string>& contradictions) {
    FieldMerger<T> merger(from, {}, false, contradictions);
    describe(merger, std::type_identity<T>{});
    merger.finish();
    return std::move(merger.merged);
}

}  // namespace occupipe
