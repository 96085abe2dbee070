// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "core/enum_text.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "core/files/yaml_text.h"
#include "core/group_shares.h"

namespace occupipe {
namespace {

constexpr std::string_view kernel_format = "occupipe-kernel/1";
constexpr std::string_view back_mark = "@-";

class KernelReader {
public:
    explicit KernelReader(const Document& document) : document_(document) {}

    Kernel read() const {
        const DocumentNode& root = document_.root();
        if (const DocumentNode* const launches = Document::find(root, "occupipe_launches"))
            document_.fail(*launches, "is a launch file and no kernel: --launch takes it");
        const DocumentNode& format = document_.required(root, "format");
        if (document_.text(format) != kernel_format) {
            document_.fail(format, fmt::format("unknown format '{}'; expected {}", format.text,
                                               kernel_format));
        }
        document_.only_keys(root, {"format", "name", "order", "memory", "code", "instructions",
                                   "warps", "launch", "groups"});
        Kernel kernel;
        kernel.name = document_.text(document_.required(root, "name"));
        if (const DocumentNode* order = Document::find(root, "order")) {
            kernel.order = word_of<Order>(document_, *order);
        }
        if (const DocumentNode* memory = Document::find(root, "memory")) {
            kernel.memory = memory_context(*memory);
        }
        if (const DocumentNode* code = Document::find(root, "code")) {
            kernel.code = reuse_of(*code);
            if (const auto fault = fault_of(kernel.code)) document_.fail(*code, *fault);
        }
        if (const DocumentNode* warps = Document::find(root, "warps")) {
            if (const DocumentNode* instructions = Document::find(root, "instructions")) {
                document_.fail(*instructions, "conflicts with 'warps'; give only one of them");
            }
            for (const DocumentNode& node : filled(*warps)) {
                kernel.warps.push_back(program(node));
            }
        } else {
            kernel.warps.push_back({1, list(document_.required(root, "instructions"))});
        }
        if (const DocumentNode* launch = Document::find(root, "launch")) {
            kernel.launch = launch_of(*launch);
        }
        if (const DocumentNode* groups = Document::find(root, "groups")) {
            kernel.groups = groups_of(*groups, kernel);
            if (const auto fault = share_fault(kernel)) {
                const DocumentNode* const warps = Document::find(root, "warps");
                document_.fail(
                    warps ? *Document::find(warps->children[fault->program], "share") : *groups,
                    fault->reason);
            }
        }
        return kernel;
    }

private:
    const std::vector<DocumentNode>& filled(const DocumentNode& node) const {
        const auto& items = document_.items(node);
        if (items.empty()) {
            document_.fail(node, "must not be empty");
        }
        return items;
    }

    WarpProgram program(const DocumentNode& node) const {
        document_.only_keys(node, {"share", "instructions"});
        const DocumentNode& share = document_.required(node, "share");
        const double value = document_.number(share);
        if (value <= 0) {
            document_.fail(share, fmt::format("must be positive, not {}", share.text));
        }
        return {value, list(document_.required(node, "instructions"))};
    }

    std::vector<KernelItem> list(const DocumentNode& node) const {
        std::vector<KernelItem> items;
        for (const DocumentNode& child : filled(node)) {
            if (Document::find(child, "repeat") != nullptr) {
                items.emplace_back(repeat(child));
            } else {
                items.emplace_back(instruction(child));
            }
        }
        return items;
    }

    Repeat repeat(const DocumentNode& node) const {
        document_.only_keys(node, {"repeat", "body"});
        const DocumentNode& count = document_.required(node, "repeat");
        return {.count = document_.integer(count, 1, std::numeric_limits<std::int64_t>::max()),
                .body = list(document_.required(node, "body")),
                .where = count.where};
    }

    KernelInstruction instruction(const DocumentNode& node) const {
        document_.only_keys(node, {"id", "op", "kind", "after", "at", "stall", "memory"});
        KernelInstruction instruction{.id = document_.text(document_.required(node, "id")),
                                      .op = document_.text(document_.required(node, "op")),
                                      .kind = {},
                                      .after = {},
                                      .at = {},
                                      .stall = {},
                                      .memory = {},
                                      .where = node.where};
        if (const DocumentNode* kind = Document::find(node, "kind")) {
            instruction.kind = word_of<InstructionKind>(document_, *kind);
        }
        if (const DocumentNode* after = Document::find(node, "after")) {
            for (const DocumentNode& name : document_.items(*after)) {
                instruction.after.push_back(dependence(name));
            }
        }
        if (const DocumentNode* at = Document::find(node, "at")) {
            instruction.at = source_line(*at);
        }
        if (const DocumentNode* stall = Document::find(node, "stall")) {
            instruction.stall = static_cast<int>(document_.integer(*stall, 1, most_stall_cycles));
        }
        if (const DocumentNode* memory = Document::find(node, "memory")) {
            instruction.memory = memory_use(*memory);
        }
        return instruction;
    }

    MemoryContext memory_context(const DocumentNode& node) const {
        document_.only_keys(
            node, {"cores", "concurrent_groups", "group_shared_bytes", "order", "earlier_bytes"});
        constexpr int int_max = std::numeric_limits<int>::max();
        const auto value = [&](const char* key) {
            return static_cast<int>(document_.integer(document_.required(node, key), 1, int_max));
        };
        MemoryContext context{.cores = value("cores"),
                              .concurrent_groups = value("concurrent_groups")};
        if (const DocumentNode* bytes = Document::find(node, "group_shared_bytes")) {
            context.group_shared_bytes =
                document_.integer(*bytes, 0, std::numeric_limits<std::int64_t>::max());
        }
        if (const DocumentNode* order = Document::find(node, "order")) {
            context.order = word_of<MemoryOrder>(document_, *order);
        }
        if (const DocumentNode* bytes = Document::find(node, "earlier_bytes")) {
            context.earlier_bytes =
                document_.integer(*bytes, 0, std::numeric_limits<std::int64_t>::max());
        }
        return context;
    }

    MemoryUse memory_use(const DocumentNode& node) const {
        document_.only_keys(
            node, {"bytes", "sectors", "least_sectors", "lines", "bank_passes", "passes",
                   "least_passes", "core", "device", "written", "core_requests", "device_requests",
                   "merged", "places", "group_places", "same_address", "hottest"});
        const auto amount = [&](const char* key) {
            const DocumentNode* const value = Document::find(node, key);
            return value ? document_.number(*value) : 0;
        };
        const auto told = [&](const char* key) -> std::optional<double> {
            const DocumentNode* const value = Document::find(node, key);
            return value ? std::optional(document_.number(*value)) : std::nullopt;
        };
        const auto reuse = [&](const char* key) -> std::optional<Reuse> {
            const DocumentNode* const points = Document::find(node, key);
            if (!points) return std::nullopt;
            return reuse_of(*points);
        };
        return {.bytes = document_.number(document_.required(node, "bytes")),
                .sectors = amount("sectors"),
                .least_sectors = amount("least_sectors"),
                .lines = told("lines"),
                .bank_passes = told("bank_passes"),
                .passes = amount("passes"),
                .least_passes = amount("least_passes"),
                .core = reuse("core"),
                .device = reuse("device"),
                .written = reuse("written"),
                .merged = told("merged"),
                .places = told("places"),
                .group_places = told("group_places"),
                .same_address = told("same_address"),
                .hottest = told("hottest"),
                .core_requests = reuse("core_requests"),
                .device_requests = reuse("device_requests")};
    }

    Reuse reuse_of(const DocumentNode& node) const {
        Reuse reuse;
        for (const DocumentNode& point : document_.items(node)) {
            const auto& pair = document_.items(point);
            if (pair.size() != 2) document_.fail(point, "is not [BYTES, SHARE]");
            reuse.push_back(
                {.bytes = document_.integer(pair[0], 1, std::numeric_limits<std::int64_t>::max()),
                 .share = document_.number(pair[1])});
        }
        return reuse;
    }

    const std::string& source_line(const DocumentNode& node) const {
        const std::string& text = document_.text(node);
        const std::size_t colon = text.rfind(':');
        std::int64_t line = 0;
        const char* const end = text.data() + text.size();
        if (colon == std::string::npos || colon == 0 ||
            std::from_chars(text.data() + colon + 1, end, line).ptr != end || line < 1) {
            document_.fail(node, fmt::format("'{}' is not FILE:LINE", text));
        }
        return text;
    }

    Dependence dependence(const DocumentNode& node) const {
        const std::string& text = document_.text(node);
        Dependence dependence{.id = text.substr(0, text.find('@'))};
        bool good = !dependence.id.empty();
        if (good && dependence.id.size() < text.size()) {
            const std::string_view rest = std::string_view(text).substr(dependence.id.size());
            const char* const end = text.data() + text.size();
            const char* const digits = end - rest.size() + back_mark.size();
            good = rest.starts_with(back_mark) && rest.size() > back_mark.size() &&
                   std::from_chars(digits, end, dependence.iterations_back).ptr == end &&
                   dependence.iterations_back > 0;
        }
        if (!good) {
            document_.fail(node,
                           fmt::format("'{}' is neither NAME nor NAME@-N with N iterations, N "
                                       "at least 1",
                                       node.text));
        }
        return dependence;
    }

    Launch launch_of(const DocumentNode& node) const {
        document_.only_keys(node, {"group_warps", "concurrent_groups", "groups"});
        const auto value = [&](const char* key, std::int64_t at_most) {
            return document_.integer(document_.required(node, key), 1, at_most);
        };
        constexpr int int_max = std::numeric_limits<int>::max();
        return {.group_warps = static_cast<int>(value("group_warps", int_max)),
                .concurrent_groups = static_cast<int>(value("concurrent_groups", int_max)),
                .groups = value("groups", most_groups)};
    }

    // Checked here, where lines are known; validate() checks other kernels.
    GroupKinds groups_of(const DocumentNode& node, const Kernel& kernel) const {
        document_.only_keys(node, {"kinds", "order"});
        if (!kernel.launch) document_.fail(node, "needs a launch, which gives their size");
        GroupKinds groups;
        for (const DocumentNode& kind : filled(document_.required(node, "kinds"))) {
            groups.kinds.emplace_back();
            for (const DocumentNode& program : filled(kind))
                groups.kinds.back().push_back(static_cast<std::int32_t>(
                    number_of(program, kernel.warps.size(), "'warps' has {} entries")));
            if (std::cmp_not_equal(groups.kinds.back().size(), kernel.launch->group_warps))
                document_.fail(kind,
                               fmt::format("a kind has {} warps, a group of the launch {}",
                                           groups.kinds.back().size(), kernel.launch->group_warps));
        }
        std::int64_t all = 0;
        for (const DocumentNode& run : filled(document_.required(node, "order"))) {
            const auto& pair = document_.items(run);
            if (pair.size() != 2) document_.fail(run, "is not [KIND, GROUPS]");
            groups.order.push_back({.kind = static_cast<std::int32_t>(number_of(
                                        pair[0], groups.kinds.size(), "'kinds' has {} entries")),
                                    .groups = document_.integer(pair[1], 1, most_groups)});
            if (groups.order.back().groups > most_groups - all)
                document_.fail(pair[1], fmt::format("more than {} groups in all", most_groups));
            all += groups.order.back().groups;
        }
        return groups;
    }

    // Of an entry of a list, from 0 on.
    std::int64_t number_of(const DocumentNode& node, std::size_t entries, const char* of) const {
        const std::int64_t number =
            document_.integer(node, 0, std::numeric_limits<std::int32_t>::max());
        if (std::cmp_greater_equal(number, entries))
            document_.fail(node, fmt::format("{}, from 0 on, none is {}",
                                             fmt::format(fmt::runtime(of), entries), number));
        return number;
    }

    const Document& document_;
};

std::string reuse_text(const Reuse& reuse) {
    std::vector<std::string> points;
    for (const ReusePoint& point : reuse)
        points.push_back(fmt::format("[{}, {}]", point.bytes, yaml_number(point.share)));
    return fmt::format("[{}]", fmt::join(points, ", "));
}

void add_reuse(std::string& text, const char* key, const std::optional<Reuse>& reuse) {
    if (reuse) text += fmt::format(", {}: {}", key, reuse_text(*reuse));
}

std::string memory_text(const MemoryUse& use) {
    std::string text = fmt::format("{{bytes: {}", yaml_number(use.bytes));
    const auto amount = [&](const char* key, double value) {
        if (value > 0) text += fmt::format(", {}: {}", key, yaml_number(value));
    };
    amount("sectors", use.sectors);
    amount("least_sectors", use.least_sectors);
    if (use.lines) text += fmt::format(", lines: {}", yaml_number(*use.lines));
    if (use.bank_passes) text += fmt::format(", bank_passes: {}", yaml_number(*use.bank_passes));
    amount("passes", use.passes);
    amount("least_passes", use.least_passes);
    add_reuse(text, "core", use.core);
    add_reuse(text, "device", use.device);
    add_reuse(text, "written", use.written);
    if (use.merged) text += fmt::format(", merged: {}", yaml_number(*use.merged));
    if (use.places) text += fmt::format(", places: {}", yaml_number(*use.places));
    if (use.group_places) text += fmt::format(", group_places: {}", yaml_number(*use.group_places));
    if (use.same_address) text += fmt::format(", same_address: {}", yaml_number(*use.same_address));
    if (use.hottest) text += fmt::format(", hottest: {}", yaml_number(*use.hottest));
    add_reuse(text, "core_requests", use.core_requests);
    add_reuse(text, "device_requests", use.device_requests);
    return text + "}";
}

std::string memory_text(const MemoryContext& context) {
    return fmt::format(
        "{{cores: {}, concurrent_groups: {}, group_shared_bytes: {}, order: {}{}}}", context.cores,
        context.concurrent_groups, context.group_shared_bytes, to_string(context.order),
        context.earlier_bytes > 0 ? fmt::format(", earlier_bytes: {}", context.earlier_bytes) : "");
}

std::string instruction_line(const KernelInstruction& instruction) {
    std::string line =
        fmt::format("- {{id: {}, op: {}", yaml_scalar(instruction.id), yaml_scalar(instruction.op));
    if (instruction.kind) {
        line += fmt::format(", kind: {}", to_string(*instruction.kind));
    }
    if (!instruction.after.empty()) {
        std::vector<std::string> names;
        for (const Dependence& dependence : instruction.after) {
            names.push_back(yaml_scalar(to_string(dependence)));
        }
        line += fmt::format(", after: [{}]", fmt::join(names, ", "));
    }
    if (!instruction.at.empty()) {
        line += fmt::format(", at: {}", yaml_scalar(instruction.at));
    }
    if (instruction.stall) {
        line += fmt::format(", stall: {}", *instruction.stall);
    }
    if (instruction.memory) {
        line += fmt::format(", memory: {}", memory_text(*instruction.memory));
    }
    return line + "}\n";
}

std::string list_lines(const std::vector<KernelItem>& items, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string lines;
    for (const KernelItem& item : items) {
        if (const auto* instruction = std::get_if<KernelInstruction>(&item)) {
            lines += margin + instruction_line(*instruction);
            continue;
        }
        const auto& repeat = std::get<Repeat>(item);
        lines += fmt::format("{}- repeat: {}\n{}  body:\n", margin, repeat.count, margin);
        lines += list_lines(repeat.body, indent + 4);
    }
    return lines;
}

std::string groups_text(const GroupKinds& groups) {
    std::string text = "groups:\n  kinds:\n";
    for (const auto& kind : groups.kinds)
        text += fmt::format("    - [{}]\n", fmt::join(kind, ", "));
    std::vector<std::string> runs;
    for (const GroupKinds::Run& run : groups.order)
        runs.push_back(fmt::format("[{}, {}]", run.kind, run.groups));
    return text + fmt::format("  order: [{}]\n", fmt::join(runs, ", "));
}

// Reuse means nothing without those who share the caches.
void require_memory_context(const Kernel& kernel, const std::string& file_name) {
    if (kernel.memory) return;
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (!one.memory || !(one.memory->core || one.memory->device || one.memory->written)) return;
        throw InputError(file_name, one.where, fmt::format("{}.memory", one.id),
                         "has reuse, but the kernel has no 'memory' that says how many cores "
                         "and groups share the caches");
    });
}

}  // namespace

Kernel parse_kernel(const std::string& text, const std::string& file_name) {
    refuse_other_kinds(FileKind::kernel, text, file_name);
    const Document document = parse_yaml(text, file_name);
    Kernel kernel = KernelReader(document).read();
    validate(kernel, file_name);
    require_memory_context(kernel, file_name);
    return kernel;
}

Kernel read_kernel(const std::filesystem::path& path) {
    return parse_kernel(read_text_file(path), path.string());
}

std::string format_kernel(const Kernel& kernel) {
    std::string text =
        fmt::format("format: {}\nname: {}\n", kernel_format, yaml_scalar(kernel.name));
    if (kernel.order) {
        text += fmt::format("order: {}\n", to_string(*kernel.order));
    }
    if (kernel.memory) {
        text += fmt::format("memory: {}\n", memory_text(*kernel.memory));
    }
    if (!kernel.code.empty()) {
        text += fmt::format("code: {}\n", reuse_text(kernel.code));
    }
    if (kernel.warps.size() == 1 && kernel.warps.front().share == 1) {
        text += "instructions:\n" + list_lines(kernel.warps.front().instructions, 2);
    } else {
        text += "warps:\n";
        for (const WarpProgram& program : kernel.warps) {
            text += fmt::format("  - share: {}\n    instructions:\n{}", yaml_number(program.share),
                                list_lines(program.instructions, 6));
        }
    }
    if (kernel.launch) {
        text += fmt::format("launch: {{group_warps: {}, concurrent_groups: {}, groups: {}}}\n",
                            kernel.launch->group_warps, kernel.launch->concurrent_groups,
                            kernel.launch->groups);
    }
    if (kernel.groups) {
        text += groups_text(*kernel.groups);
    }
    return text;
}

}  // namespace occupipe
