// SPDX-License-Identifier: MIT
#include "core/estimate.h"

namespace occupipe {

std::string_view sign_of(Estimate::Kind kind) {
    switch (kind) {
        case Estimate::Kind::value:
            return "";
        case Estimate::Kind::upper_bound:
            return "≤ ";
        case Estimate::Kind::lower_bound:
            return "≥ ";
        case Estimate::Kind::undetermined:
            break;
    }
    return "bound ";
}

std::string_view to_string(Estimate::Kind kind) {
    switch (kind) {
        case Estimate::Kind::value:
            return "value";
        case Estimate::Kind::upper_bound:
            return "upper bound";
        case Estimate::Kind::lower_bound:
            return "lower bound";
        case Estimate::Kind::undetermined:
            break;
    }
    return "bound of unknown direction";
}

}  // namespace occupipe
