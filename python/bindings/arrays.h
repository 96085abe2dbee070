// SPDX-License-Identifier: MIT
// Vectors of C++ as NumPy arrays: the array takes the vector over, nothing is copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace occupipe::python {

template <class T>
using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>;
using Floats = Array<double>;
using Integers = Array<std::int64_t>;
using Flags = Array<bool>;

// `shape`: its product is the vector's size; absent: one dimension.
template <class T>
Array<T> array_of(std::vector<T> values, std::vector<std::size_t> shape = {}) {
    if (shape.empty()) shape = {values.size()};
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = kept->data();
    const nanobind::capsule owner(kept.release(), [](void* pointer) noexcept {
        delete static_cast<std::vector<T>*>(pointer);
    });
    return Array<T>(data, shape.size(), shape.data(), owner);
}

// vector<bool> has no data(); bytes of 0 and 1.
inline Flags flags_of(const std::vector<std::uint8_t>& values,
                      std::vector<std::size_t> shape = {}) {
    if (shape.empty()) shape = {values.size()};
    auto kept = std::make_unique<bool[]>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) kept[i] = values[i] != 0;
    bool* const data = kept.get();
    const nanobind::capsule owner(
        kept.release(), [](void* pointer) noexcept { delete[] static_cast<bool*>(pointer); });
    return Flags(data, shape.size(), shape.data(), owner);
}

}  // namespace occupipe::python
