// SPDX-License-Identifier: MIT
#include "core/kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/name_rules.h"
#include "core/resolved_kernel.h"

namespace occupipe {
namespace {

constexpr std::int64_t count_limit = std::int64_t{1} << 62;

std::int64_t counted(const std::vector<KernelItem>& items, const std::string& file_name);

std::int64_t counted(const KernelItem& item, const std::string& file_name) {
    const auto* repeat = std::get_if<Repeat>(&item);
    if (repeat == nullptr) {
        return 1;
    }
    if (repeat->count < 1) {
        throw InputError(file_name, repeat->where, "repeat",
                         fmt::format("must be at least 1, not {}", repeat->count));
    }
    std::int64_t count = 0;
    if (__builtin_mul_overflow(repeat->count, counted(repeat->body, file_name), &count) ||
        count > count_limit) {
        throw InputError(file_name, repeat->where, "repeat", "more than 2^62 instructions");
    }
    return count;
}

std::int64_t counted(const std::vector<KernelItem>& items, const std::string& file_name) {
    std::int64_t total = 0;
    for (const KernelItem& item : items) {
        const std::int64_t more = counted(item, file_name);
        if (more > count_limit - total) {
            throw InputError(file_name, {}, "instructions", "more than 2^62 instructions");
        }
        total += more;
    }
    return total;
}

void validate(const Launch& launch, const std::string& file_name) {
    const auto check = [&](const char* key, std::int64_t value) {
        if (value < 1) {
            throw InputError(file_name, {}, fmt::format("launch.{}", key),
                             fmt::format("must be at least 1, not {}", value));
        }
    };
    check("group_warps", launch.group_warps);
    check("concurrent_groups", launch.concurrent_groups);
    check("groups", launch.groups);
    if (launch.groups > most_groups) {
        throw InputError(file_name, {}, "launch.groups",
                         fmt::format("must be at most {}, not {}", most_groups, launch.groups));
    }
    if (launch.group_warps > std::numeric_limits<int>::max() / launch.concurrent_groups ||
        launch.groups > std::numeric_limits<std::int64_t>::max() / launch.group_warps) {
        throw InputError(file_name, {}, "launch", "too many warps");
    }
}

void validate_memory(const Kernel& kernel, const std::string& file_name) {
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (!one.memory) return;
        if (const auto fault = fault_of(*one.memory)) {
            throw InputError(file_name, one.where, fmt::format("{}.memory.{}", one.id, fault->key),
                             fault->reason);
        }
    });
    if (!kernel.memory) return;
    const auto check = [&](const char* key, std::int64_t value, std::int64_t least) {
        if (value < least) {
            throw InputError(file_name, {}, fmt::format("memory.{}", key),
                             fmt::format("must be at least {}, not {}", least, value));
        }
    };
    check("cores", kernel.memory->cores, 1);
    check("concurrent_groups", kernel.memory->concurrent_groups, 1);
    check("group_shared_bytes", kernel.memory->group_shared_bytes, 0);
}

}  // namespace

std::string_view to_string(Order order) {
    return order == Order::dataflow ? "dataflow" : "in_order";
}

std::string to_string(const Dependence& dependence) {
    if (dependence.iterations_back == 0) {
        return dependence.id;
    }
    return fmt::format("{}@-{}", dependence.id, dependence.iterations_back);
}

bool Repeat::operator==(const Repeat& o) const { return count == o.count && body == o.body; }

std::int64_t instruction_count(const WarpProgram& program) {
    return counted(program.instructions, {});
}

namespace {

void validate_groups(const Kernel& kernel, const std::string& file_name) {
    const GroupKinds& groups = *kernel.groups;
    if (!kernel.launch)
        throw InputError(file_name, {}, "groups", "needs a launch, which gives their size");
    if (groups.kinds.empty() || groups.order.empty())
        throw InputError(file_name, {}, "groups", "needs a kind of groups, and an order of them");
    for (const auto& kind : groups.kinds) {
        if (std::cmp_not_equal(kind.size(), kernel.launch->group_warps))
            throw InputError(file_name, {}, "groups.kinds",
                             fmt::format("a kind has {} warps, a group of the launch {}",
                                         kind.size(), kernel.launch->group_warps));
        for (const std::int32_t program : kind)
            if (program < 0 || std::cmp_greater_equal(program, kernel.warps.size()))
                throw InputError(file_name, {}, "groups.kinds",
                                 fmt::format("'warps' has {} entries, from 0 on, none is {}",
                                             kernel.warps.size(), program));
    }
    std::int64_t all = 0;
    for (const GroupKinds::Run& run : groups.order) {
        if (run.kind < 0 || std::cmp_greater_equal(run.kind, groups.kinds.size()))
            throw InputError(file_name, {}, "groups.order",
                             fmt::format("there are {} kinds, from 0 on, none is {}",
                                         groups.kinds.size(), run.kind));
        if (run.groups < 1 || run.groups > most_groups - all)
            throw InputError(file_name, {}, "groups.order",
                             fmt::format("the groups of all runs must be 1 to {}", most_groups));
        all += run.groups;
    }
}

}  // namespace

ResolvedKernel resolve(const Kernel& kernel, const std::string& file_name) {
    NameResolver resolver(file_name);
    ResolvedKernel resolved{.name = kernel.name,
                            .order = kernel.order,
                            .ops = {},
                            .programs = {},
                            .groups = kernel.groups};
    if (kernel.name.empty()) {
        throw InputError(file_name, {}, "name", "must not be empty");
    }
    if (const auto fault = control_character_fault(kernel.name)) {
        throw InputError(file_name, {}, "name", *fault);
    }
    if (kernel.warps.empty()) {
        throw InputError(file_name, {}, "instructions", "contains no instruction");
    }
    double shares = 0;
    for (const WarpProgram& program : kernel.warps) {
        if (!std::isfinite(program.share) || program.share <= 0) {
            throw InputError(
                file_name, {}, "warps.share",
                fmt::format("must be a positive finite number, not {}", program.share));
        }
        shares += program.share;
        if (program.instructions.empty()) {
            throw InputError(file_name, {}, "instructions", "contains no instruction");
        }
        resolved.programs.push_back(resolver.resolve(program));
        counted(program.instructions, file_name);
    }
    validate_memory(kernel, file_name);
    // Shares are written by hand, thirds as 0.333333.
    if (std::abs(shares - 1) > 1e-5) {
        throw InputError(file_name, {}, "warps.share",
                         fmt::format("the shares sum to {}, not 1", shares));
    }
    if (kernel.launch) {
        validate(*kernel.launch, file_name);
    }
    if (kernel.groups) {
        validate_groups(kernel, file_name);
    }
    resolved.ops = resolver.take_ops();
    return resolved;
}

void validate(const Kernel& kernel, const std::string& file_name) {
    static_cast<void>(resolve(kernel, file_name));
}

}  // namespace occupipe
