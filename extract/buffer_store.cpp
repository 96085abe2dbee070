// SPDX-License-Identifier: MIT
#include "extract/buffer_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/launch_files.h"

namespace occupipe::extract {

std::shared_ptr<const isa::SharedBytes> BufferStore::content(const LaunchPlan& plan,
                                                             const BufferPlan& buffer) {
    constexpr std::uint64_t small = 1 << 16;
    const BufferFill& fill = buffer.fill;
    if (buffer.bytes() < small || buffer.bytes() > most_bytes_ ||
        fill.kind == BufferFill::Kind::file)
        return nullptr;
    const std::string key = fmt::format(
        "{} {} {} \"{}\" \"{}\" {} {}", static_cast<int>(buffer.type), buffer.count,
        static_cast<int>(fill.kind), fill.low, fill.high, fill.seed, fmt::join(fill.listed, ","));
    const std::scoped_lock lock(mutex_);
    if (const auto known = contents_.find(key); known != contents_.end()) return known->second;
    auto made = isa::SharedBytes::made(buffer_contents(plan, buffer, fill));
    if (!made) return nullptr;
    if (bytes_ + made->size() > most_bytes_) {
        contents_.clear();
        bytes_ = 0;
    }
    bytes_ += made->size();
    contents_[key] = made;
    return made;
}

}  // namespace occupipe::extract
