// SPDX-License-Identifier: MIT
#include "isa/machine/print.h"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace occupipe::isa {
namespace {

class Printer {
public:
    Printer(Warp& warp, const Step& step, int lane) : warp_(warp), step_(step), lane_(lane) {}

    // Appends to `text`; the number of arguments.
    std::uint32_t print(std::uint64_t format, std::uint64_t arguments, std::string& text) {
        argument_ = arguments;
        std::uint32_t count = 0;
        const std::string all = characters(format);
        for (std::size_t i = 0; i < all.size();) {
            const std::size_t percent = std::min(all.find('%', i), all.size());
            text += all.substr(i, percent - i);
            if (percent == all.size()) break;
            const std::size_t end = all.find_first_not_of("-+ #0123456789.*hljzt", percent + 1);
            const char kind = end < all.size() ? all[end] : '\0';
            if (kind == '%' && end == percent + 1) {
                text += '%';
            } else if (kind != '\0' && std::strchr("cdiouxXpsfFeEgGaA", kind) != nullptr) {
                try {
                    std::string marks = all.substr(percent, end - percent);
                    for (std::size_t star; (star = marks.find('*')) != std::string::npos; ++count) {
                        fill_in(marks, star);
                    }
                    text += converted(marks, kind);
                } catch (const fmt::format_error& error) {
                    refuse(all, error.what());
                }
                ++count;
            } else {
                refuse(all, "no such conversion");
            }
            i = end + 1;
        }
        return count;
    }

    std::string characters(std::uint64_t address) {
        std::string text;
        while (const char c = read<char>(address + text.size())) text += c;
        return text;
    }

private:
    [[noreturn]] void refuse(const std::string& format, const char* why) const {
        fail(warp_, step_, lane_, fmt::format("printf of '{}': {}", format, why));
    }

    template <typename T>
    T read(std::uint64_t address) {
        const auto window = static_cast<std::uint32_t>(address >> 32);
        const std::uint64_t offset = address & 0xffffffff;
        const Launch& launch = *warp_.launch;
        const std::byte* from = nullptr;
        if (window == local_window) {
            if (offset + sizeof(T) <= launch.local_bytes)
                from = warp_.local +
                       std::uint64_t{launch.local_bytes} * static_cast<std::uint64_t>(lane_) +
                       offset;
        } else if (window == shared_window) {
            if (offset + sizeof(T) <= warp_.group->shared.size())
                from = warp_.group->shared.data() + offset;
        } else if (const auto* buffer = launch.memory->find(address, sizeof(T))) {
            from = buffer->data + (address - buffer->address);
        }
        if (!from)
            fail(warp_, step_, lane_, fmt::format("text is read at {:#x}, outside", address));
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    template <typename T>
    T next() {
        argument_ = (argument_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        const T value = read<T>(argument_);
        argument_ += sizeof(T);
        return value;
    }

    // The next argument in place of a '*'; a negative precision is none (C).
    void fill_in(std::string& marks, std::size_t star) {
        const std::int32_t value = next<std::int32_t>();
        if (value < 0 && marks[star - 1] == '.')
            marks.erase(star - 1, 2);
        else
            marks.replace(star, 1, fmt::format("{}", value));
    }

    // `marks`: "%-08.3l"; only what is not a length is handed on.
    std::string converted(std::string marks, char kind) {
        const bool is_long = marks.find_first_of("ljzt") != std::string::npos;
        const auto halves = std::ranges::count(marks, 'h');
        std::erase_if(marks, [](char c) { return std::strchr("ljzth", c) != nullptr; });
        const auto text = [&](const auto& value) { return fmt::sprintf(marks + kind, value); };
        switch (kind) {
            case 's':
                return text(characters(next<std::uint64_t>()));
            case 'p':
                return text(reinterpret_cast<const void*>(next<std::uint64_t>()));
            case 'c':
                return text(static_cast<char>(next<std::int32_t>()));
            case 'd':
            case 'i': {
                if (is_long) return text(next<std::int64_t>());
                const std::int32_t value = next<std::int32_t>();
                return text(halves == 0   ? value
                            : halves == 1 ? static_cast<std::int16_t>(value)
                                          : static_cast<std::int8_t>(value));
            }
            case 'o':
            case 'u':
            case 'x':
            case 'X': {
                if (is_long) return text(next<std::uint64_t>());
                const std::uint32_t value = next<std::uint32_t>();
                return text(halves == 0 ? value : value & (halves == 1 ? 0xffff : 0xff));
            }
            default:
                return text(next<double>());
        }
    }

    Warp& warp_;
    const Step& step_;
    int lane_;
    std::uint64_t argument_ = 0;
};

}  // namespace

void print(Warp& warp, const Step& step, Mask lanes) {
    Lanes* const registers = warp.registers;
    std::string& text = warp.group->printed;
    each_of(lanes, [&](int lane) {
        const std::uint32_t count =
            Printer(warp, step, lane)
                .print(pair(registers + 4, lane), pair(registers + 6, lane), text);
        registers[4][lane] = count;
    });
    if (text.size() > most_printed_bytes) text.resize(most_printed_bytes);
}

void fail_assertion(Warp& warp, const Step& step, Mask lanes) {
    const Lanes* const registers = warp.registers;
    const auto& group = warp.group->place;
    std::string first, all;
    each_of(lanes, [&](int lane) {
        Printer printer(warp, step, lane);
        const std::string condition = printer.characters(pair(registers + 4, lane));
        const std::string where =
            fmt::format("{}:{}", printer.characters(pair(registers + 6, lane)), registers[8][lane]);
        const std::string thread =
            fmt::format("{},{},{}", warp.thread_x[lane], warp.thread_y[lane], warp.thread_z[lane]);
        if (first.empty())
            first = fmt::format("{}: thread ({}): assertion {} failed", where, thread, condition);
        all += fmt::format("\n{}: {}: block: [{},{},{}], thread: [{}] Assertion `{}` failed.",
                           where, printer.characters(pair(registers + 10, lane)), group[0],
                           group[1], group[2], thread, condition);
    });
    throw ExecutionError(first + all, ExecutionError::Fault::assertion);
}

}  // namespace occupipe::isa
