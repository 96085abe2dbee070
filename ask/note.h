// SPDX-License-Identifier: MIT
// What a prediction takes for granted, what was changed for it, and what makes it doubtful.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace occupipe::analysis {

struct Note {
    enum class Kind : std::uint8_t {
        // Of the source.
        occupancy,  // groups of the code on a core
        sample,     // groups that stand for all
        classes,    // warps that stand for others
        compiler,
        code,  // anything else
        // Asked for.
        use,
        what_if,
        assumed_latency,
        // Of kernel and profile.
        assumption,    // of the profile's author, or a scope that no measurement showed
        substitute,    // numbers of the same instruction, or of its unit
        of_class,      // numbers of another instruction of its class
        architecture,  // the code is of another one
        // Of the launch.
        fitted,  // to the profile's limits
        reuse,
        memory,  // its levels, and what they cost
        launch,  // its overhead is much of the time
        fetch,   // code that the instruction cache does not hold
        // What makes it doubtful.
        weak,            // values that measurements did not determine
        without_effect,  // a change that this kernel does not depend on
        too_short,       // for the longest warp
        not_priced,      // the kernel does what no model has a price for
        // Of the model.
        model,
        unused,
    };

    Kind kind = Kind::code;
    std::string sentence;
    std::string subject = {};  // an op, where the note is about one
    double size = 0;           // passes of an op of a class

    bool operator==(const Note&) const = default;
};

using Notes = std::vector<Note>;

// The options of the question say these; all others the reader has to be told.
constexpr bool asked_for(Note::Kind kind) { return kind <= Note::Kind::assumed_latency; }

// How much a note may change what a reader makes of a prediction: 0 the most.
constexpr int rank(Note::Kind kind) {
    using Kind = Note::Kind;
    switch (kind) {
        case Kind::too_short:
        case Kind::not_priced:
        case Kind::classes:
        case Kind::weak:
        case Kind::without_effect:
        case Kind::of_class:
        case Kind::architecture:
        case Kind::fetch:
        case Kind::launch:
            return 0;
        case Kind::reuse:
        case Kind::fitted:
        case Kind::sample:
            return 1;
        case Kind::assumption:
        case Kind::substitute:
            return 2;
        case Kind::unused:
        case Kind::code:
        case Kind::use:
        case Kind::what_if:
        case Kind::assumed_latency:
            return 3;
        case Kind::occupancy:
        case Kind::compiler:
        case Kind::memory:
            return 4;
        case Kind::model:
            return 5;
    }
    return 5;
}

inline const std::string& text(const Note& note) { return note.sentence; }

inline std::vector<std::string> texts(const Notes& notes) {
    std::vector<std::string> all;
    all.reserve(notes.size());
    for (const Note& one : notes) all.push_back(text(one));
    return all;
}

inline void add_notes(Notes& all, Note::Kind kind, const std::vector<std::string>& sentences) {
    for (const std::string& one : sentences) all.push_back({kind, one});
}

inline void add_notes(Notes& all, const Notes& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// Those whose text is not there yet.
inline void add_new_notes(Notes& all, const Notes& more) {
    for (const Note& one : more)
        if (std::ranges::find(all, text(one), text) == all.end()) all.push_back(one);
}

}  // namespace occupipe::analysis
