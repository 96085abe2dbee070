// SPDX-License-Identifier: MIT
// Two observers of one launch.
//   BothObservers both(&streams, &memory);
//   isa::execute(module, kernel, shape, parameters, options, &both);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "isa/machine/machine.h"

namespace occupipe::extract {

// Hands everything on to both, the first one first; either may be absent.
class BothObservers : public isa::Observer {
public:
    BothObservers(isa::Observer* first, isa::Observer* second) : all_{first, second} {}

    // Groups of the second alone are told to it without a way round.
    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override {
        auto first = all_[0] != nullptr ? all_[0]->begin(group) : nullptr;
        auto second = all_[1] != nullptr ? all_[1]->begin(group) : nullptr;
        if (!first) return second;
        auto both = std::make_unique<Group>();
        both->of = this;
        both->all = {std::move(first), std::move(second)};
        return both;
    }
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override {
        auto* const both = dynamic_cast<Group*>(observer.get());
        if (both == nullptr || both->of != this) return all_[1]->end(group, std::move(observer));
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (both->all[i]) all_[i]->end(group, std::move(both->all[i]));
    }

private:
    struct Group : isa::GroupObserver {
        void steps(std::uint32_t warp, std::span<const isa::Executed> executed) override {
            for (const auto& one : all)
                if (one) one->steps(warp, executed);
        }
        void access(std::uint32_t warp, std::size_t instruction,
                    const isa::MemoryAccess& access) override {
            for (const auto& one : all)
                if (one) one->access(warp, instruction, access);
        }
        void barrier(bool to_all) override {
            for (const auto& one : all)
                if (one) one->barrier(to_all);
        }

        const BothObservers* of = nullptr;
        std::array<std::unique_ptr<isa::GroupObserver>, 2> all;
    };
    std::array<isa::Observer*, 2> all_;
};

}  // namespace occupipe::extract
