// SPDX-License-Identifier: MIT
#include "extract/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace occupipe::extract {
namespace {

using Kind = ParameterType::Kind;

std::string type_text(const ParameterType& type) {
    switch (type.kind) {
        case Kind::pointer:
            return type.space == ParameterType::Space::shared ? ", local memory of the group"
                                                              : ", a pointer";
        case Kind::scalar:
            return fmt::format(", {}", to_string(type.type));
        case Kind::integer:
            return ", a pointer or an integer";
        case Kind::record:
            return ", a struct";
        case Kind::unknown:
            return "";
    }
    return "";
}

void append(std::vector<std::byte>& bytes, std::uint64_t value, std::size_t size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + size);
    std::memcpy(bytes.data() + at, &value, size);
}

// No access of a thread is wider.
std::uint64_t aligned(std::uint64_t address) { return (address + 15) / 16 * 16; }

class Packer {
public:
    Packer(const LaunchPlan& plan, const KernelLaunch& launch, const isa::Kernel& kernel,
           const std::vector<ParameterType>& signature, const AddressOf& address_of,
           std::uint64_t shared_begin)
        : plan_(plan),
          launch_(launch),
          kernel_(kernel),
          signature_(signature),
          address_of_(address_of),
          shared_end_(shared_begin + launch.shared_bytes) {}

    std::vector<std::byte> pack() {
        const std::size_t wanted = kernel_.parameters.size();
        const std::size_t given = launch_.arguments.size();
        if (given < wanted) refuse(launch_.where, count_text() + "; missing is " + text(given));
        if (given > wanted) refuse(launch_.where, count_text());
        std::int64_t end = 0;
        for (const isa::Parameter& one : kernel_.parameters)
            end = std::max(end, one.offset + one.size);
        std::vector<std::byte> bytes(static_cast<std::size_t>(end));
        for (std::size_t i = 0; i < wanted; ++i) {
            index_ = i;
            const isa::Parameter& parameter = kernel_.parameters[i];
            const std::vector<std::byte> value =
                bytes_of_argument(launch_.arguments[i], signature_[i], parameter.size);
            if (static_cast<std::int64_t>(value.size()) != parameter.size)
                refuse_argument(fmt::format("{} does not fit {}",
                                            sized(launch_.arguments[i], value.size()), text(i)));
            std::ranges::copy(value, bytes.begin() + parameter.offset);
        }
        return bytes;
    }

private:
    [[noreturn]] void refuse(SourcePosition where, const std::string& why) const {
        throw InputError(plan_.file, where, fmt::format("kernel '{}'", kernel_.name), why);
    }

    [[noreturn]] void refuse_argument(const std::string& why) const {
        refuse(launch_.arguments[index_].where, fmt::format("argument {}: {}", index_, why));
    }

    std::string text(std::size_t i) const { return parameter_text(kernel_, signature_, i); }

    std::string count_text() const {
        const auto counted = [](std::size_t n, const char* what) {
            return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
        };
        return fmt::format("it takes {}, and {} given",
                           counted(kernel_.parameters.size(), "parameter"),
                           counted(launch_.arguments.size(), "argument") +
                               (launch_.arguments.size() == 1 ? " is" : " are"));
    }

    static std::string sized(const ArgumentPlan& argument, std::size_t size) {
        const std::string what =
            argument.kind == ArgumentPlan::Kind::buffer   ? "the address of a buffer"
            : argument.kind == ArgumentPlan::Kind::scalar ? std::string(to_string(argument.type))
            : argument.kind == ArgumentPlan::Kind::record ? "a struct"
            : argument.kind == ArgumentPlan::Kind::local  ? "local memory"
                                                          : "bytes";
        return fmt::format("{} ({} byte{})", what, size, size == 1 ? "" : "s");
    }

    std::vector<std::byte> bytes_of_argument(const ArgumentPlan& argument,
                                             const ParameterType& type, std::int64_t size) {
        if (argument.kind == ArgumentPlan::Kind::number) return number(argument, type, size);
        require_type(argument, type);
        return plain_bytes(argument);
    }

    // Where the type is known, an integer is not taken for a fraction or the other way round.
    void require_type(const ArgumentPlan& argument, const ParameterType& type) const {
        const bool scalar = argument.kind == ArgumentPlan::Kind::scalar;
        const bool buffer = argument.kind == ArgumentPlan::Kind::buffer;
        const bool wrong =
            (type.kind == Kind::scalar &&
             (buffer || (scalar && is_floating(argument.type) != is_floating(type.type)))) ||
            (type.kind == Kind::scalar && scalar && is_floating(type.type) &&
             argument.type != type.type) ||
            ((type.kind == Kind::pointer || type.kind == Kind::integer) && scalar &&
             is_floating(argument.type));
        const bool local = argument.kind == ArgumentPlan::Kind::local;
        const bool shared = type.space == ParameterType::Space::shared;
        if ((local && (type.kind == Kind::scalar || type.space == ParameterType::Space::global)) ||
            (shared && buffer))
            refuse_argument(fmt::format("{} does not fit {}", local ? "local memory" : "a buffer",
                                        text(index_)));
        if (wrong)
            refuse_argument(fmt::format("{} does not fit {}",
                                        sized(argument, buffer ? 8 : bytes_of(argument.type)),
                                        text(index_)));
    }

    std::vector<std::byte> plain_bytes(const ArgumentPlan& argument) {
        std::vector<std::byte> bytes;
        switch (argument.kind) {
            case ArgumentPlan::Kind::buffer:
                append(bytes, address_of_(argument.buffer) + argument.offset, 8);
                break;
            case ArgumentPlan::Kind::scalar:
                append(bytes, bits(argument.type, argument.text), bytes_of(argument.type));
                break;
            case ArgumentPlan::Kind::bytes:
                for (const std::uint8_t byte : argument.content) append(bytes, byte, 1);
                break;
            case ArgumentPlan::Kind::record:
                return record(argument);
            case ArgumentPlan::Kind::local:
                shared_end_ = aligned(shared_end_);
                append(bytes, shared_end_, 8);
                shared_end_ += argument.size;
                break;
            case ArgumentPlan::Kind::number:
                break;  // has a parameter's type, and is never part of a struct
        }
        return bytes;
    }

    static std::size_t alignment(const ArgumentPlan& argument) {
        if (argument.kind == ArgumentPlan::Kind::buffer) return 8;
        if (argument.kind == ArgumentPlan::Kind::scalar) return bytes_of(argument.type);
        std::size_t most = 1;
        for (const ArgumentPlan& field : argument.fields) most = std::max(most, alignment(field));
        return most;
    }

    std::vector<std::byte> record(const ArgumentPlan& argument) {
        std::vector<std::byte> bytes;
        const auto align = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
        for (const ArgumentPlan& field : argument.fields) {
            if (field.kind == ArgumentPlan::Kind::local)
                refuse_argument("local memory is an argument of its own, not part of a struct");
            align(alignment(field));
            const std::vector<std::byte> value = plain_bytes(field);
            bytes.insert(bytes.end(), value.begin(), value.end());
        }
        align(alignment(argument));
        return bytes;
    }

    std::uint64_t bits(ElementType type, const std::string& text) const {
        std::string why;
        const auto value = parse_element(type, text, why);
        if (!value) refuse_argument(why);
        return *value;
    }

    // A number without a type: that of its parameter.
    std::vector<std::byte> number(const ArgumentPlan& argument, const ParameterType& type,
                                  std::int64_t size) const {
        const bool whole = argument.text.find_first_of(".eE") == std::string::npos ||
                           argument.text.starts_with("0x");
        ElementType chosen = type.type;
        if (type.kind == Kind::unknown) {
            if (whole || (size != 4 && size != 8))
                refuse_argument(
                    fmt::format("of {} only the size is known; write the type, such as i32:{}",
                                text(index_), argument.text));
            chosen = size == 4 ? ElementType::f32 : ElementType::f64;
        } else if (type.kind == Kind::scalar) {
            // PTX does not tell signed from unsigned.
            if (argument.text.starts_with('-') && !is_floating(chosen)) chosen = as_signed(chosen);
        } else if (type.kind != Kind::integer) {
            refuse_argument(fmt::format("a number does not fit {}{}", text(index_),
                                        size == 8 ? "; u64:N is taken as it is" : ""));
        } else if (!argument.text.starts_with('-')) {
            chosen = ElementType::u64;
        }
        std::vector<std::byte> bytes;
        append(bytes, bits(chosen, argument.text), bytes_of(chosen));
        return bytes;
    }

    static ElementType as_signed(ElementType type) {
        switch (type) {
            case ElementType::u8:
                return ElementType::i8;
            case ElementType::u16:
                return ElementType::i16;
            case ElementType::u32:
                return ElementType::i32;
            case ElementType::u64:
                return ElementType::i64;
            default:
                return type;
        }
    }

    const LaunchPlan& plan_;
    const KernelLaunch& launch_;
    const isa::Kernel& kernel_;
    const std::vector<ParameterType>& signature_;
    const AddressOf& address_of_;
    std::uint64_t shared_end_;  // of what is dealt out
    std::size_t index_ = 0;
};

}  // namespace

std::string parameter_text(const isa::Kernel& kernel, const std::vector<ParameterType>& signature,
                           std::size_t index) {
    const std::int64_t size = kernel.parameters[index].size;
    return fmt::format("parameter {} ({} byte{}{})", index, size, size == 1 ? "" : "s",
                       type_text(signature[index]));
}

std::vector<std::byte> pack_parameters(const LaunchPlan& plan, const KernelLaunch& launch,
                                       const isa::Kernel& kernel,
                                       const std::vector<ParameterType>& signature,
                                       const AddressOf& address_of, std::uint64_t shared_begin) {
    return Packer(plan, launch, kernel, signature, address_of, shared_begin).pack();
}

std::uint64_t dynamic_shared_bytes(const KernelLaunch& launch, std::uint64_t begin) {
    std::uint64_t end = begin + launch.shared_bytes;
    for (const ArgumentPlan& argument : launch.arguments)
        if (argument.kind == ArgumentPlan::Kind::local) end = aligned(end) + argument.size;
    return end - begin;
}

}  // namespace occupipe::extract
