// SPDX-License-Identifier: MIT
#include "core/doubt.h"

#include <fmt/format.h>

namespace occupipe {
namespace {

struct Words {
    std::string_view word;
    std::string_view sentence;
    int digits;  // of the size in percent that the sentence shows; 0: whole numbers
};

Words words_of(Doubt::Kind kind) {
    switch (kind) {
        case Doubt::Kind::law_misses:
            return {"law_misses", "the law misses the measurements by", 2};
        case Doubt::Kind::drifts_in_order:
            return {"drifts_in_order", "measured in the order of the shapes, and times drift by",
                    2};
        case Doubt::Kind::two_kinds:
            return {"two_kinds", "repetitions are of two kinds, apart by", 2};
        case Doubt::Kind::two_states:
            return {"two_states", "times are of two states, apart by", 2};
        case Doubt::Kind::runs_disagree:
            return {"runs_disagree", "runs disagree by", 2};
        case Doubt::Kind::far_off:
            return {"far_off", "repetitions far off their points' medians:", 0};
        case Doubt::Kind::implausible:
            return {"implausible", "implausible for plain arithmetic", 2};
        case Doubt::Kind::bodies_differ:
            return {"bodies_differ", "loop bodies of two lengths differ in speed by", 3};
        case Doubt::Kind::out_of_proportion:
            return {"out_of_proportion", "times are not in proportion to depth, by", 2};
        case Doubt::Kind::at_issue_limit:
            break;
    }
    return {"at_issue_limit", "at the issue limit: the unit itself may be faster", 2};
}

}  // namespace

std::string_view to_string(Doubt::Kind kind) { return words_of(kind).word; }

std::string_view sentence_of(Doubt::Kind kind) { return words_of(kind).sentence; }

std::string doubt_text(const Doubt& doubt) {
    const Words words = words_of(doubt.kind);
    if (!doubt.size) return std::string(words.sentence);
    const double percent = 100 * *doubt.size;
    return words.digits == 0 ? fmt::format("{} {:.0f} %", words.sentence, percent)
                             : fmt::format("{} {:.{}g} %", words.sentence, percent, words.digits);
}

}  // namespace occupipe
