// SPDX-License-Identifier: MIT
#include "tests/ptx/state.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

namespace occupipe::ptx {
namespace {

// No variable lies at address 0.
constexpr std::uint64_t shared_base = 0x400;
constexpr std::uint64_t constant_base = 0x1000;
constexpr std::uint64_t local_base = 0x2000;
constexpr int cluster_shift = 24;
constexpr std::byte unwritten{0xcd};

}  // namespace

State::State(const Program& program, const Launch& launch, std::vector<Buffer>& buffers)
    : program_(program), launch_(launch), buffers_(buffers) {
    threads_ = launch.threads;
    if (launch.block[0] != 0) {
        threads_ = launch.block[0] * launch.block[1] * launch.block[2];
    } else if (launch.threads == 0 || launch.threads % warp_size != 0) {
        throw Fault("a partial warp");
    }
    const bool bytes = !launch.argument_bytes.empty();
    if ((bytes ? launch.argument_bytes.size() : launch.arguments.size()) !=
        program.parameters.size()) {
        throw Fault("the kernel has " + std::to_string(program.parameters.size()) + " parameters");
    }
    if (launch.groups % program.cluster != 0) throw Fault("a partial cluster");
    place_variables();
}

void State::place_variables() {
    std::uint64_t constant = constant_base;
    std::uint64_t shared = shared_base;
    std::uint64_t local = local_base;
    std::string unsized;
    for (const auto& [name, variable] : program_.variables) {
        const bool is_shared = variable.space == "shared";
        if (is_shared && variable.bytes == 0) {
            unsized = name;
            continue;
        }
        // Those that other launches see, too, have buffers of their own.
        const auto own = std::ranges::find(buffers_, "variable:" + name, &Buffer::name);
        if (own != buffers_.end()) {
            addresses_[name] = own->address;
            continue;
        }
        if (variable.space == "global") throw NotUnderstood("a variable without memory: " + name);
        auto& next = is_shared ? shared : variable.space == "const" ? constant : local;
        addresses_[name] = next;
        if (variable.space == "const") {
            constants_.resize(next - constant_base + variable.bytes);
            std::ranges::copy(variable.content, constants_.begin() + static_cast<std::ptrdiff_t>(
                                                                         next - constant_base));
        }
        next += (variable.bytes + 15) / 16 * 16;
    }
    if (!unsized.empty()) addresses_[unsized] = shared;
    shared_bytes_ = shared - shared_base + launch_.shared_bytes;
    local_bytes_ = local - local_base;
}

void State::fail(const std::string& what) const {
    std::ostringstream text;
    text << "group " << group->index << " thread " << thread->index << ": " << instruction->text
         << ": " << what;
    throw Fault(text.str());
}

std::uint64_t State::read(int reg) const {
    const auto index = static_cast<std::size_t>(reg);
    if (!thread->written[index] && !launch_.reads_unwritten)
        fail("reads a register that nothing was written to");
    if (tracer && tracer->of == thread) tracer->read(reg);
    return thread->registers[index];
}

void State::write(const Operand& to, std::uint64_t value) {
    if (to.kind == Operand::Kind::sink) return;
    if (to.kind != Operand::Kind::reg) throw NotUnderstood(instruction->text);
    thread->registers[static_cast<std::size_t>(to.reg)] = value;
    thread->written[static_cast<std::size_t>(to.reg)] = true;
    if (tracer && tracer->of == thread) tracer->written(to.reg);
}

std::uint64_t State::value(const Operand& from) const {
    switch (from.kind) {
        case Operand::Kind::reg:
            return from.inverted ? read(from.reg) ^ 1 : read(from.reg);
        case Operand::Kind::immediate:
            return from.value;
        case Operand::Kind::address:
            return value(from.parts.front()) + from.value;
        case Operand::Kind::symbol:
            if (const auto at = addresses_.find(from.name); at != addresses_.end())
                return at->second;
            if (from.name == "WARP_SZ") return warp_size;
            break;
        case Operand::Kind::special:
            if (const auto known = special(from.name)) return *known;
            break;
        default:
            break;
    }
    throw NotUnderstood(instruction->text);
}

std::optional<std::uint64_t> State::special(const std::string& name) const {
    const auto& block = launch_.block;
    const auto& grid = launch_.grid;
    if (block[0] != 0) {
        if (name == "%tid.x") return thread->index % block[0];
        if (name == "%tid.y") return thread->index / block[0] % block[1];
        if (name == "%tid.z") return thread->index / block[0] / block[1];
        if (name == "%ntid.x") return block[0];
        if (name == "%ntid.y") return block[1];
        if (name == "%ntid.z") return block[2];
        if (name == "%ctaid.x") return group->index % grid[0];
        if (name == "%ctaid.y") return group->index / grid[0] % grid[1];
        if (name == "%ctaid.z") return group->index / grid[0] / grid[1];
        if (name == "%nctaid.x") return grid[0];
        if (name == "%nctaid.y") return grid[1];
        if (name == "%nctaid.z") return grid[2];
    }
    if (name == "%tid.x") return thread->index;
    if (name == "%ntid.x") return launch_.threads;
    if (name == "%ctaid.x") return group->index;
    if (name == "%nctaid.x") return launch_.groups;
    const std::uint64_t own = std::uint64_t{1} << thread->index % warp_size;
    if (name == "%lanemask_eq") return own;
    if (name == "%lanemask_lt") return own - 1;
    if (name == "%lanemask_le") return 2 * own - 1;
    if (name == "%lanemask_gt") return ~(2 * own - 1) & 0xffffffff;
    if (name == "%lanemask_ge") return ~(own - 1) & 0xffffffff;
    if (name == "%nwarpid") return (threads_ + warp_size - 1) / warp_size;
    if (name == "%dynamic_smem_size") return launch_.shared_bytes;
    if (name == "%cluster_ctarank") return group->index % program_.cluster;
    if (name == "%laneid") return thread->index % warp_size;
    if (name == "%smid") return group->index;  // a core of its own for each group
    if (name == "%warpid") return thread->index / warp_size;
    if (name == "%clock" || name == "%clock64" || name == "%globaltimer") {
        if (counts_as_reading(name)) ++thread->clock_readings;
        return static_cast<std::uint64_t>(now);
    }
    return std::nullopt;
}

std::byte* State::shared_memory(const std::string& space, std::uint64_t address,
                                std::size_t bytes) {
    Group* of = group;
    if (const std::uint64_t number = address >> cluster_shift; number > 0 && space != "shared") {
        if (number > program_.cluster) return nullptr;
        of = &groups->at(group->index / program_.cluster * program_.cluster + number - 1);
        // A group's shared memory is gone with it.
        for (const Warp& warp : of->warps) {
            for (const Thread& lane : warp.lanes) {
                if (lane.done) fail("the group that has this memory may have left");
            }
        }
        address &= (std::uint64_t{1} << cluster_shift) - 1;
    }
    const bool inside =
        address >= shared_base && address - shared_base + bytes <= of->shared.size();
    return inside ? &of->shared[address - shared_base] : nullptr;
}

std::byte* State::memory(const std::string& space, std::uint64_t address, std::size_t bytes) {
    if (address % bytes != 0) fail("address is not a multiple of " + std::to_string(bytes));
    const auto within = [&](std::vector<std::byte>& block, std::uint64_t base) -> std::byte* {
        const bool inside = address >= base && address - base + bytes <= block.size();
        return inside ? &block[address - base] : nullptr;
    };
    const bool generic_shared = space.empty() && address >> 32 == 0;
    std::byte* found = nullptr;
    const bool generic = space.empty();
    if (generic && (address & local_window) != 0) {
        found = within(thread->local, local_base + local_window);
    } else if (generic && (address & constant_window) != 0) {
        found = within(constants_, constant_base + constant_window);
    } else if (space == "const" && address >> 32 != 0) {
        return memory("global", address, bytes);  // it has a buffer
    } else if (space.starts_with("shared") || generic_shared) {
        found = shared_memory(space, address, bytes);
    } else if (space == "const") {
        found = within(constants_, constant_base);
    } else if (space == "local") {
        found = within(thread->local, local_base);
    } else {
        for (Buffer& buffer : buffers_) {
            found = within(buffer.bytes, buffer.address);
            if (found) break;
        }
    }
    if (!found) {
        std::ostringstream text;
        text << "address 0x" << std::hex << address << " is outside of everything";
        fail(text.str());
    }
    const bool global = space != "shared" && space != "const" && space != "local";
    if (global && launch_.observe) {
        launch_.observe({group->index, thread->index, thread->clock_readings, instruction->opcode,
                         address, bytes});
    }
    return found;
}

bool State::read_predicate(const Guard& guard) const {
    return (read(guard.reg) != 0) != guard.negated;
}

std::uint64_t State::parameter(const std::string& name, std::uint64_t offset,
                               std::size_t width) const {
    const auto found = std::ranges::find(program_.parameters, name);
    if (found == program_.parameters.end()) throw NotUnderstood(instruction->text);
    const auto at = static_cast<std::size_t>(found - program_.parameters.begin());
    if (launch_.argument_bytes.empty()) return launch_.arguments[at];
    const std::vector<std::byte>& bytes = launch_.argument_bytes[at];
    if (offset + width > bytes.size()) fail("beyond a parameter's end");
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, width);
    return value;
}

Group State::make_group(unsigned index) const {
    Group made{.index = index, .warps = {}, .shared = std::vector(shared_bytes_, unwritten)};
    for (unsigned first = 0; first < threads_; first += warp_size) {
        Warp warp;
        warp.counted = index == 0 && first == 0;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            Thread one;
            one.index = first + lane;
            one.done = one.index >= threads_;
            one.registers.resize(static_cast<std::size_t>(program_.registers));
            one.written.resize(one.registers.size());
            one.local.assign(local_bytes_, unwritten);
            warp.lanes.push_back(std::move(one));
        }
        made.warps.push_back(std::move(warp));
    }
    return made;
}

}  // namespace occupipe::ptx
