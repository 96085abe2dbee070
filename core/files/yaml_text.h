// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace occupipe {

// `text` as a YAML scalar that reads back as this text, plain where that is safe (inside flow
// maps, too), else in double quotes.
std::string yaml_scalar(std::string_view text);

// The shortest decimal that reads back as this number.
std::string yaml_number(double value);

}  // namespace occupipe
