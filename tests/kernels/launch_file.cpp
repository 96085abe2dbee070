// SPDX-License-Identifier: MIT
#include "tests/kernels/launch_file.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/files/document.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "tests/kernels/host/half.h"

namespace occupipe::test {
namespace {

struct TypeRow {
    ElementType type;
    std::string_view name;
    int size;
    bool real;
};
constexpr TypeRow types[] = {
    {ElementType::i8, "i8", 1, false},   {ElementType::u8, "u8", 1, false},
    {ElementType::i16, "i16", 2, false}, {ElementType::u16, "u16", 2, false},
    {ElementType::f16, "f16", 2, true},  {ElementType::bf16, "bf16", 2, true},
    {ElementType::i32, "i32", 4, false}, {ElementType::u32, "u32", 4, false},
    {ElementType::f32, "f32", 4, true},  {ElementType::i64, "i64", 8, false},
    {ElementType::u64, "u64", 8, false}, {ElementType::f64, "f64", 8, true},
};

const TypeRow& row_of(ElementType type) { return types[static_cast<int>(type)]; }

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Random bits as one of 0, …, count - 1.
std::uint64_t scaled(std::uint64_t bits, std::uint64_t count) {
    return static_cast<std::uint64_t>(static_cast<Wide>(bits) * count >> 64);
}

// A number of the type's kind, as bytes of the type.
void store(std::byte* to, ElementType type, double real) {
    const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    if (type == ElementType::f64) put(real);
    if (type == ElementType::f32) put(static_cast<float>(real));
    if (type == ElementType::f16) put(host::round_to_16_bits(real, 10));
    if (type == ElementType::bf16) put(host::round_to_16_bits(real, 7));
}
void store(std::byte* to, ElementType type, std::int64_t integer) {
    if (row_of(type).real) {
        store(to, type, static_cast<double>(integer));
    } else {
        std::memcpy(to, &integer, static_cast<std::size_t>(size_of(type)));  // little endian
    }
}

class Reader {
public:
    explicit Reader(const std::filesystem::path& path)
        : path_(path), document_(parse_yaml(read_text_file(path), path.string())) {}

    LaunchFile read() const {
        const DocumentNode& root = document_.root();
        document_.only_keys(root, {"occupipe_launches", "source", "buffers", "launches", "check"});
        document_.integer(document_.required(root, "occupipe_launches"), 1, 1);
        LaunchFile file;
        file.path = path_;
        file.source = document_.text(document_.required(root, "source"));
        for (const DocumentNode& node : document_.entries(document_.required(root, "buffers")))
            file.buffers.push_back(buffer(node));
        for (const DocumentNode& node : document_.items(document_.required(root, "launches")))
            file.launches.push_back(launch(node));
        if (const DocumentNode* const check = Document::find(root, "check")) {
            for (const DocumentNode& node : document_.items(*check))
                file.check.push_back(document_.text(node));
        }
        return file;
    }

private:
    ElementType type_named(const DocumentNode& node, std::string_view name) const {
        for (const TypeRow& row : types) {
            if (row.name == name) return row.type;
        }
        document_.fail(node, "no type of elements: '" + std::string(name) + "'");
    }

    std::vector<std::byte> scalar(const DocumentNode& node, ElementType type) const {
        std::vector<std::byte> bytes(static_cast<std::size_t>(size_of(type)));
        if (row_of(type).real) {
            store(bytes.data(), type, document_.number(node));
        } else if (node.text.find_first_of("xX") != std::string::npos || type == ElementType::u64) {
            const std::uint64_t value = std::stoull(document_.text(node), nullptr, 0);
            std::memcpy(bytes.data(), &value, bytes.size());
        } else {
            store(bytes.data(), type, document_.integer(node, -most - 1, most));
        }
        return bytes;
    }

    Buffer buffer(const DocumentNode& node) const {
        document_.only_keys(node, {"type", "count", "fill"});
        Buffer made;
        made.name = node.key;
        const DocumentNode& type = document_.required(node, "type");
        made.type = type_named(type, document_.text(type));
        made.count = document_.integer(document_.required(node, "count"), 1, 1 << 28);
        made.bytes.resize(static_cast<std::size_t>(made.count * size_of(made.type)));
        fill(document_.required(node, "fill"), made);
        return made;
    }

    template <typename Value>
    static void each(Buffer& buffer, Value value) {
        for (std::int64_t i = 0; i < buffer.count; ++i)
            store(buffer.bytes.data() + i * size_of(buffer.type), buffer.type, value(i));
    }

    void fill(const DocumentNode& node, Buffer& buffer) const {
        if (node.kind == DocumentNode::Kind::scalar) {
            if (node.text == "zeros") return;
            if (node.text == "ones")
                return each(buffer, [](std::int64_t) { return std::int64_t{1}; });
            if (node.text == "iota") return each(buffer, [](std::int64_t i) { return i; });
            document_.fail(node, "no fill: '" + node.text + "'");
        }
        document_.only_keys(
            node, {"random", "integers", "seed", "permutation", "file", "value", "values", "iota"});
        if (Document::find(node, "random")) return random(node, buffer);
        if (Document::find(node, "permutation")) return permutation(node, buffer);
        if (const auto* const file = Document::find(node, "file")) return content(*file, buffer);
        if (const auto* const value = Document::find(node, "value")) {
            const std::vector<std::byte> bytes = scalar(*value, buffer.type);
            for (std::size_t i = 0; i < buffer.bytes.size(); ++i)
                buffer.bytes[i] = bytes[i % bytes.size()];
        } else if (const auto* const values = Document::find(node, "values")) {
            std::vector<std::byte> bytes;
            for (const DocumentNode& item : document_.items(*values)) {
                const std::vector<std::byte> one = scalar(item, buffer.type);
                bytes.insert(bytes.end(), one.begin(), one.end());
            }
            if (bytes.size() != buffer.bytes.size()) document_.fail(*values, "not `count` values");
            buffer.bytes = bytes;
        } else if (const auto* const iota = Document::find(node, "iota")) {
            document_.only_keys(*iota, {"start", "step"});
            const std::int64_t start =
                document_.integer(document_.required(*iota, "start"), -most, most);
            const std::int64_t step =
                document_.integer(document_.required(*iota, "step"), -most, most);
            each(buffer, [&](std::int64_t i) { return start + step * i; });
        } else {
            document_.fail(node, "nothing to fill with");
        }
    }

    std::uint64_t seed(const DocumentNode& node) const {
        return static_cast<std::uint64_t>(
            document_.integer(document_.required(node, "seed"), 0, most));
    }

    void random(const DocumentNode& node, Buffer& buffer) const {
        const std::vector<DocumentNode>& range =
            document_.items(document_.required(node, "random"));
        if (range.size() != 2) document_.fail(node, "random needs [LOW, HIGH]");
        const DocumentNode* const integers = Document::find(node, "integers");
        const std::uint64_t from = seed(node);
        if (!row_of(buffer.type).real || (integers && document_.boolean(*integers))) {
            const std::int64_t low = document_.integer(range[0], -most - 1, most);
            const std::int64_t high = document_.integer(range[1], low, most);
            const std::uint64_t values =
                static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
            each(buffer, [&](std::int64_t i) {
                const std::uint64_t bits = random_bits(from, static_cast<std::uint64_t>(i));
                return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                                 (values ? scaled(bits, values) : bits));
            });
        } else {
            const double low = document_.number(range[0]), width = document_.number(range[1]) - low;
            each(buffer, [&](std::int64_t i) {
                const std::uint64_t bits = random_bits(from, static_cast<std::uint64_t>(i));
                return std::fma(static_cast<double>(bits >> 11) * 0x1p-53, width, low);
            });
        }
    }

    void permutation(const DocumentNode& node, Buffer& buffer) const {
        const std::uint64_t from = seed(node);
        std::vector<std::int64_t> order(static_cast<std::size_t>(buffer.count));
        std::iota(order.begin(), order.end(), std::int64_t{0});
        for (std::uint64_t i = order.size() - 1; i > 0; --i)
            std::swap(order[i], order[scaled(random_bits(from, i), i + 1)]);
        each(buffer, [&](std::int64_t i) { return order[static_cast<std::size_t>(i)]; });
    }

    void content(const DocumentNode& node, Buffer& buffer) const {
        const std::string bytes = read_text_file(path_.parent_path() / document_.text(node));
        if (bytes.size() != buffer.bytes.size())
            document_.fail(node, "the file has not the buffer's size");
        std::memcpy(buffer.bytes.data(), bytes.data(), bytes.size());
    }

    std::array<unsigned, 3> three(const DocumentNode& node) const {
        std::array<unsigned, 3> made = {1, 1, 1};
        const std::vector<DocumentNode>& items = document_.items(node);
        if (items.empty() || items.size() > 3) document_.fail(node, "one to three numbers");
        for (std::size_t i = 0; i < items.size(); ++i)
            made[i] = static_cast<unsigned>(document_.integer(items[i], 1, 1 << 30));
        return made;
    }

    Launch launch(const DocumentNode& node) const {
        document_.only_keys(node, {"kernel", "grid", "block", "shared_bytes", "arguments"});
        Launch made;
        made.kernel = document_.text(document_.required(node, "kernel"));
        made.grid = three(document_.required(node, "grid"));
        made.block = three(document_.required(node, "block"));
        if (const auto* const bytes = Document::find(node, "shared_bytes"))
            made.shared_bytes = static_cast<unsigned>(document_.integer(*bytes, 0, 1 << 20));
        for (const DocumentNode& item : document_.items(document_.required(node, "arguments"))) {
            const std::vector<DocumentNode>& entry = document_.entries(item);
            if (entry.size() != 1) document_.fail(item, "one buffer, or one scalar by its type");
            Argument argument;
            if (entry[0].key == "buffer") {
                argument.buffer = document_.text(entry[0]);
            } else {
                argument.bytes = scalar(entry[0], type_named(entry[0], entry[0].key));
            }
            made.arguments.push_back(argument);
        }
        return made;
    }

    std::filesystem::path path_;
    Document document_;
};

}  // namespace

std::string_view name_of(ElementType type) { return row_of(type).name; }
int size_of(ElementType type) { return row_of(type).size; }

LaunchFile read_launch_file(const std::filesystem::path& path) { return Reader(path).read(); }

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace occupipe::test
