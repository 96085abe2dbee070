// SPDX-License-Identifier: MIT
#include "bench/opencl/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"

namespace occupipe::bench {

void check_results(std::span<const std::byte> bytes, DataType type, const std::string& subject) {
    const DataType element = element_type(type);
    for (std::size_t i = 0; i + type_size(element) <= bytes.size(); i += type_size(element)) {
        // Values of two bytes have no poison of their own: a half of it.
        std::uint32_t word = 0;
        std::memcpy(&word, &bytes[i], std::min<std::size_t>(sizeof word, type_size(element)));
        const std::uint32_t untouched =
            type_size(element) == 2 ? (i % 4 == 0 ? result_poison & 0xffff : result_poison >> 16)
                                    : result_poison;
        bool finite = true;
        if (element == DataType::f32) {
            finite = std::isfinite(std::bit_cast<float>(word));
        } else if (element == DataType::f64) {
            double value = 0;
            std::memcpy(&value, &bytes[i], sizeof value);
            finite = std::isfinite(value);
        }
        if (word == untouched || !finite) {
            throw DeviceError(fmt::format("{}: work-item {} stored {}", subject,
                                          i / type_size(type),
                                          finite ? "nothing" : "not a finite number"));
        }
    }
}

}  // namespace occupipe::bench
