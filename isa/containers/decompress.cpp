// SPDX-License-Identifier: MIT
#include "isa/containers/decompress.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "core/error.h"

namespace occupipe::isa {
namespace {

[[noreturn]] void broken() { throw InputError("its compressed code is broken"); }

// Of LZ4 blocks: a number of 15 goes on in bytes, up to the first that is not 255.
class Lz4 {
public:
    Lz4(std::string_view packed, std::size_t size) : packed_(packed), size_(size) {}

    std::string run() {
        while (text_.size() < size_) {
            const unsigned token = byte();
            literals(number(token >> 4));
            if (text_.size() == size_) break;
            const std::size_t low = byte();
            const std::size_t distance = low | static_cast<std::size_t>(byte()) << 8;
            match(distance, number(token & 15) + 4);
        }
        return std::move(text_);
    }

private:
    unsigned byte() {
        if (at_ == packed_.size()) broken();
        return static_cast<unsigned char>(packed_[at_++]);
    }
    std::size_t number(std::size_t value) {
        if (value != 15) return value;
        unsigned more = 255;
        while (more == 255) value += more = byte();
        return value;
    }
    void literals(std::size_t count) {
        if (count > packed_.size() - at_ || count > size_ - text_.size()) broken();
        text_.append(packed_, at_, count);
        at_ += count;
    }
    void match(std::size_t distance, std::size_t count) {
        if (distance == 0 || distance > text_.size() || count > size_ - text_.size()) broken();
        for (; count > 0; --count) text_ += text_[text_.size() - distance];
    }

    std::string_view packed_;
    std::size_t size_;
    std::size_t at_ = 0;
    std::string text_;
};

}  // namespace

std::string unpack_lz4(std::string_view packed, std::size_t size) {
    return Lz4(packed, size).run();
}

// In pieces, so that a size that is a lie costs no memory.
std::string unpack_zstd(std::string_view packed, std::size_t size) {
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> stream(ZSTD_createDCtx(),
                                                                         &ZSTD_freeDCtx);
    constexpr std::size_t piece = std::size_t{1} << 16;
    std::string text;
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    while (text.size() < size) {
        const std::size_t before = text.size();
        text.resize(std::min(size, before + piece));
        ZSTD_outBuffer out{text.data() + before, text.size() - before, 0};
        const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
        text.resize(before + out.pos);
        if (ZSTD_isError(left) != 0) broken();
        if (left == 0 || (out.pos == 0 && in.pos == in.size)) break;
    }
    if (text.size() != size) broken();
    return text;
}

}  // namespace occupipe::isa
