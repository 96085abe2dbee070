// SPDX-License-Identifier: MIT
#include "core/measurement.h"

#include <fmt/format.h>

#include <charconv>

#include "core/name_rules.h"

namespace occupipe {

std::string measurement_name(std::string_view subject, const MeasurementShape& shape) {
    return fmt::format("{}/group_warps:{}/concurrent_groups:{}/chains:{}/depth:{}", subject,
                       shape.group_warps, shape.concurrent_groups, shape.chains, shape.depth);
}

std::string MeasurementRow::name() const {
    return other_name.empty() ? measurement_name(subject, shape) : other_name;
}

std::string mix_name(const Mix& mix) {
    return fmt::format("mix({}*{},{})", mix.first, mix.beta, mix.second);
}

std::optional<Mix> parse_mix(std::string_view subject) {
    constexpr std::string_view prefix = "mix(";
    if (!subject.starts_with(prefix) || !subject.ends_with(')')) {
        return std::nullopt;
    }
    const std::string_view inside =
        subject.substr(prefix.size(), subject.size() - prefix.size() - 1);
    const auto star = inside.find('*');
    const auto comma = inside.find(',');
    if (star == std::string_view::npos || comma == std::string_view::npos || comma < star) {
        return std::nullopt;
    }
    Mix mix{.first = std::string(inside.substr(0, star)),
            .beta = 0,
            .second = std::string(inside.substr(comma + 1))};
    const char* const begin = inside.data() + star + 1;
    const char* const end = inside.data() + comma;
    const auto [stop, fault] = std::from_chars(begin, end, mix.beta);
    if (fault != std::errc{} || stop != end || mix.beta < 1 || name_fault(mix.first) ||
        name_fault(mix.second)) {
        return std::nullopt;
    }
    return mix;
}

}  // namespace occupipe
