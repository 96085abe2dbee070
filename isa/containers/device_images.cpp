// SPDX-License-Identifier: MIT
#include "isa/containers/device_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "isa/containers/decompress.h"

namespace occupipe::isa {
namespace {

template <typename T>
T at(std::string_view bytes, std::size_t offset) {
    T value{};
    if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// A container: magic number, version, bytes of this header, bytes behind it.
namespace container {
constexpr std::string_view magic = "\x50\xed\x55\xba";
constexpr std::uint16_t version = 1;
constexpr std::size_t header = 16;
}  // namespace container

// Of an image in it; the offsets of what is used.
namespace entry {
constexpr std::size_t kind = 0, header = 4, size = 8, packed_size = 16, architecture = 28,
                      flags = 40, unpacked_size = 56, shortest = 64;
constexpr std::uint16_t ptx = 1, machine_code = 2;
constexpr std::uint64_t lz4 = 0x1000 | 0x2000, zstd = 0x8000;
constexpr std::uint64_t largest = std::uint64_t{1} << 31;
}  // namespace entry

constexpr std::uint16_t cuda_machine = 190;
constexpr std::uint16_t relocatable_file = 1;

std::uint16_t machine_of(std::string_view bytes) {
    return bytes.starts_with("\177ELF") ? at<std::uint16_t>(bytes, 18) : 0;
}

std::optional<DeviceImage> read_entry(std::string_view one, std::string_view content) {
    const auto kind = at<std::uint16_t>(one, entry::kind);
    if (kind != entry::ptx && kind != entry::machine_code) return std::nullopt;
    DeviceImage image;
    image.kind = kind == entry::ptx ? DeviceImage::Kind::ptx : DeviceImage::Kind::machine_code;
    const auto architecture = at<std::uint32_t>(one, entry::architecture);
    if (architecture > 1000) throw InputError("a fat binary with a broken entry");
    image.architecture = static_cast<int>(architecture);
    const auto flags = at<std::uint64_t>(one, entry::flags);
    if ((flags & (entry::lz4 | entry::zstd)) == 0) {
        image.bytes = content;
    } else {
        const auto packed = at<std::uint32_t>(one, entry::packed_size);
        const auto size = at<std::uint64_t>(one, entry::unpacked_size);
        if (packed > content.size() || size > entry::largest)
            throw InputError("a fat binary with a broken entry");
        content = content.substr(0, packed);
        image.bytes =
            (flags & entry::zstd) != 0 ? unpack_zstd(content, size) : unpack_lz4(content, size);
    }
    // Text is filled up with zeros.
    if (image.kind == DeviceImage::Kind::ptx)
        image.bytes.resize(std::min(image.bytes.size(), image.bytes.find('\0')));
    image.relocatable = machine_of(image.bytes) == cuda_machine &&
                        at<std::uint16_t>(image.bytes, 16) == relocatable_file;
    return image;
}

// The images of one container, without its header.
void read_entries(std::string_view rest, std::size_t number, std::vector<DeviceImage>& images) {
    while (rest.size() >= entry::shortest) {
        const auto header = at<std::uint32_t>(rest, entry::header);
        const auto size = at<std::uint64_t>(rest, entry::size);
        if (header < entry::shortest || header > rest.size() || size > rest.size() - header)
            throw InputError("a fat binary whose entries reach beyond its end");
        if (std::optional<DeviceImage> image =
                read_entry(rest.substr(0, header), rest.substr(header, size))) {
            image->container = number;
            images.push_back(std::move(*image));
        }
        rest.remove_prefix(header + size);
    }
}

bool begins_line(std::string_view text, std::size_t position) {
    const std::size_t line = text.rfind('\n', position);
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    return text.substr(begin, position - begin).find_first_not_of(" \t\r") ==
           std::string_view::npos;
}

// The next directive at the begin of a line.
std::size_t find_directive(std::string_view text, std::string_view word, std::size_t from) {
    while (true) {
        const std::size_t found = text.find(word, from);
        if (found == std::string_view::npos) return found;
        const std::size_t end = found + word.size();
        const bool whole = end < text.size() && (text[end] == ' ' || text[end] == '\t');
        if (whole && begins_line(text, found)) return found;
        from = end;
    }
}

}  // namespace

std::string DeviceImage::name() const {
    return fmt::format("{}{}", kind == Kind::ptx ? "PTX of compute_" : "sm_", architecture);
}

bool is_cubin(std::string_view bytes) { return machine_of(bytes) == cuda_machine; }

bool is_host_object(std::string_view bytes) {
    return bytes.starts_with("\177ELF") && !is_cubin(bytes);
}

std::vector<DeviceImage> device_images(std::string_view bytes) {
    std::vector<DeviceImage> images;
    std::size_t containers = 0;
    for (std::size_t begin = bytes.find(container::magic); begin != std::string_view::npos;) {
        std::string_view rest = bytes.substr(begin);
        std::size_t next = begin + container::magic.size();
        if (rest.size() >= container::header && at<std::uint16_t>(rest, 4) == container::version &&
            at<std::uint16_t>(rest, 6) == container::header) {
            const auto size = at<std::uint64_t>(rest, 8);
            rest.remove_prefix(container::header);
            if (size > rest.size())
                throw InputError("a fat binary that reaches beyond the end of the file");
            read_entries(rest.substr(0, size), containers++, images);
            next = begin + container::header + size;
        }
        begin = bytes.find(container::magic, next);
    }
    return images;
}

std::vector<std::string> ptx_texts(std::string_view text) {
    constexpr std::string_view version = ".version";
    // What cuobjdump writes before each image.
    constexpr std::string_view heading = "\nFatbin ";
    std::vector<std::string> texts;
    for (std::size_t begin = find_directive(text, version, 0); begin != std::string_view::npos;) {
        const std::size_t next = find_directive(text, version, begin + version.size());
        const std::size_t end = std::min(next, text.find(heading, begin));
        texts.emplace_back(text.substr(begin, end - begin));
        begin = next;
    }
    if (texts.empty()) texts.emplace_back(text);
    return texts;
}

std::string ptx_target(std::string_view ptx) {
    constexpr std::string_view word = ".target";
    const std::size_t found = find_directive(ptx, word, 0);
    if (found == std::string_view::npos) return {};
    const std::size_t begin = ptx.find_first_not_of(" \t", found + word.size());
    if (begin == std::string_view::npos) return {};
    return std::string(ptx.substr(begin, ptx.find_first_of(", \t\r\n", begin) - begin));
}

}  // namespace occupipe::isa
