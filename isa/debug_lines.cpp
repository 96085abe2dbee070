// SPDX-License-Identifier: MIT
#include "isa/debug_lines.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace occupipe::isa {
namespace {

// Thrown and caught here: the section ends too early.
struct EndsEarly {};

class Reader {
public:
    Reader(std::string_view bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

    std::uint64_t at() const { return at_; }
    void go_to(std::uint64_t at) { at_ = at; }

    template <typename T>
    T number() {
        if (at_ > bytes_.size() || bytes_.size() - at_ < sizeof(T)) throw EndsEarly();
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    std::uint64_t unsigned_leb128() {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }

    std::int64_t signed_leb128() {
        std::uint64_t value = 0;
        for (int shift = 0;;) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            shift += 7;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }

    std::string text() {
        const std::size_t end = bytes_.find('\0', at_);
        if (end == std::string_view::npos) throw EndsEarly();
        const std::string found(bytes_.substr(at_, end - at_));
        at_ = end + 1;
        return found;
    }

private:
    std::string_view bytes_;
    std::uint64_t at_;
};

using Lines = std::map<std::string, std::vector<SourceLine>>;

// One unit: a header with file names, then the program (DWARF 2, section 6.2).
class Unit {
public:
    Unit(Reader& reader, std::uint64_t end, const std::vector<Relocation>& relocations,
         Lines& lines)
        : reader_(reader), end_(end), relocations_(relocations), lines_(lines) {}

    void read() {
        const auto version = reader_.number<std::uint16_t>();
        if (version < 2 || version > 4) return;
        const auto header_bytes = reader_.number<std::uint32_t>();
        const std::uint64_t program = reader_.at() + header_bytes;
        least_step_ = reader_.number<std::uint8_t>();
        if (version == 4) reader_.number<std::uint8_t>();  // operations per instruction
        reader_.number<std::uint8_t>();                    // is_stmt
        line_base_ = int{reader_.number<std::int8_t>()};
        line_range_ = reader_.number<std::uint8_t>();
        opcode_base_ = reader_.number<std::uint8_t>();
        if (line_range_ == 0) return;
        for (int opcode = 1; opcode < opcode_base_; ++opcode)
            operands_.push_back(reader_.number<std::uint8_t>());
        while (!reader_.text().empty()) {
        }
        for (std::string name = reader_.text(); !name.empty(); name = reader_.text()) {
            add_file(name);
            skip_file_facts();
        }
        reader_.go_to(program);
        while (reader_.at() < end_) step();
    }

private:
    enum Standard : std::uint8_t {
        extended = 0,
        copy = 1,
        advance_address = 2,
        advance_line = 3,
        set_file = 4,
        constant_address = 8,
        fixed_address = 9,
    };
    // The last one is NVIDIA's: number of the row that called what was put in place here (0: the
    // code is the function's own), then the callee's name.
    enum Extended : std::uint8_t {
        end_sequence = 1,
        set_address = 2,
        define_file = 3,
        inlined_call = 0x90,
    };

    struct Place {
        std::uint64_t file = 0;
        std::int64_t line = 0;
        std::uint64_t caller = 0;  // row, from 1; 0: none
    };

    // Paths are a machine's own; the name is what a person looks for.
    void add_file(const std::string& path) {
        files_.push_back(path.substr(path.find_last_of('/') + 1));
    }

    void skip_file_facts() {
        for (int i = 0; i < 3; ++i) reader_.unsigned_leb128();  // folder, time, size
    }

    void step() {
        const auto opcode = reader_.number<std::uint8_t>();
        if (opcode >= opcode_base_) {
            const int adjusted = opcode - opcode_base_;
            address_ += static_cast<std::uint64_t>(adjusted / line_range_) * least_step_;
            line_ += line_base_ + adjusted % line_range_;
            add_row();
            return;
        }
        switch (opcode) {
            case extended:
                extended_step();
                return;
            case copy:
                add_row();
                return;
            case advance_address:
                address_ += reader_.unsigned_leb128() * least_step_;
                return;
            case advance_line:
                line_ += reader_.signed_leb128();
                return;
            case set_file:
                file_ = reader_.unsigned_leb128();
                return;
            case constant_address:
                address_ +=
                    static_cast<std::uint64_t>((255 - opcode_base_) / line_range_) * least_step_;
                return;
            case fixed_address:
                address_ += reader_.number<std::uint16_t>();
                return;
            default:
                for (int i = 0; i < operands_[opcode - 1U]; ++i) reader_.unsigned_leb128();
        }
    }

    void extended_step() {
        const std::uint64_t size = reader_.unsigned_leb128();
        const std::uint64_t begin = reader_.at();
        if (size == 0) return;
        switch (reader_.number<std::uint8_t>()) {
            case end_sequence:
                add_end();
                break;
            case set_address: {
                const std::uint64_t place = reader_.at();
                address_ = reader_.number<std::uint64_t>();
                section_.clear();
                for (const Relocation& one : relocations_) {
                    if (one.offset != place) continue;
                    section_ = one.symbol.section;
                    address_ = one.symbol.value + static_cast<std::uint64_t>(one.addend.value_or(
                                                      static_cast<std::int64_t>(address_)));
                }
                break;
            }
            case define_file:
                add_file(reader_.text());
                break;
            case inlined_call:
                caller_ = reader_.unsigned_leb128();
                break;
            default:
                break;
        }
        if (size > end_ - begin) throw EndsEarly();
        reader_.go_to(begin + size);
    }

    void add_row() {
        rows_.push_back({.file = file_, .line = line_, .caller = caller_});
        if (rows_.size() == 1) main_file_ = file_;
        const Place place = in_main_file(rows_.back());
        const bool known = place.line > 0 && place.line < 1 << 30 && place.file >= 1 &&
                           place.file <= files_.size();
        add({.address = static_cast<std::int64_t>(address_),
             .file = known ? files_[place.file - 1] : "",
             .line = known ? static_cast<int>(place.line) : 0});
    }

    // Code of CUDA's headers belongs to the line that calls it: the nearest caller that stands in
    // the kernel's own file; the place itself where there is none.
    Place in_main_file(const Place& place) const {
        Place outer = place;
        while (outer.file != main_file_ && outer.caller > 0 && outer.caller < rows_.size()) {
            const Place& next = rows_[outer.caller - 1];
            if (next.caller >= outer.caller) break;  // callers come first
            outer = next;
        }
        return outer.file == main_file_ ? outer : place;
    }

    void add_end() {
        add({.address = static_cast<std::int64_t>(address_), .file = {}, .line = 0});
        address_ = 0;
        file_ = 1;
        line_ = 1;
        caller_ = 0;
        rows_.clear();
        section_.clear();
    }

    void add(SourceLine line) {
        if (!section_.empty()) lines_[section_].push_back(std::move(line));
    }

    Reader& reader_;
    std::uint64_t end_;
    const std::vector<Relocation>& relocations_;
    Lines& lines_;

    unsigned least_step_ = 1;
    int line_base_ = 0, line_range_ = 1, opcode_base_ = 1;
    std::vector<std::uint8_t> operands_;
    std::vector<std::string> files_;

    std::uint64_t address_ = 0;
    std::uint64_t file_ = 1;
    std::int64_t line_ = 1;
    std::uint64_t caller_ = 0;
    std::vector<Place> rows_;      // of the sequence
    std::uint64_t main_file_ = 0;  // of its first row
    std::string section_;
};

// By address; of several rows at one address the last counts, of equal neighbours the first.
void tidy(std::vector<SourceLine>& lines) {
    std::ranges::stable_sort(lines, {}, &SourceLine::address);
    std::vector<SourceLine> kept;
    for (SourceLine& line : lines) {
        if (!kept.empty() && kept.back().address == line.address) kept.pop_back();
        if (!kept.empty() && kept.back().line == line.line && kept.back().file == line.file)
            continue;
        kept.push_back(std::move(line));
    }
    lines = std::move(kept);
}

}  // namespace

std::map<std::string, std::vector<SourceLine>> read_debug_lines(
    std::string_view section, const std::vector<Relocation>& relocations) {
    Lines lines;
    try {
        Reader reader(section, 0);
        while (reader.at() + 4 <= section.size()) {
            const auto size = reader.number<std::uint32_t>();
            const std::uint64_t begin = reader.at();
            // All ones would be DWARF of 64 bits.
            if (size == 0xffffffff || size > section.size() - begin) break;
            Unit(reader, begin + size, relocations, lines).read();
            reader.go_to(begin + size);
        }
    } catch (const EndsEarly&) {
    }
    for (auto& [name, of_section] : lines) tidy(of_section);
    return lines;
}

}  // namespace occupipe::isa
