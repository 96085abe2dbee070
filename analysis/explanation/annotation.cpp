// SPDX-License-Identifier: MIT
#include "analysis/explanation/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "isa/decode.h"
#include "sim/machine/machine.h"
#include "sim/observers/stalls.h"

namespace occupipe::analysis {
namespace {

// Calls `visit` with every instruction and how often it is executed.
template <typename Visit>
void count(const std::vector<KernelItem>& items, double times, const Visit& visit) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            count(repeat->body, times * static_cast<double>(repeat->count), visit);
        else
            visit(std::get<KernelInstruction>(item), times);
    }
}

std::pair<std::string, int> file_and_line(const std::string& at) {
    const std::size_t colon = at.rfind(':');
    if (colon == std::string::npos) return {"", 0};
    int line = 0;
    std::from_chars(at.data() + colon + 1, at.data() + at.size(), line);
    return {at.substr(0, colon), line};
}

// Of an instruction whose memory accesses were priced, "ld.global.f32~ldg.0200": what it was.
std::string plain_op(const std::string& op) { return op.substr(0, op.find('~')); }

// Names of the instructions that belong together: those of one place in the machine code; of
// hand-written programs, those with the same id, op and line.
class Instructions {
public:
    explicit Instructions(const Kernel& kernel) : of_program_(kernel.warps.size()) {
        for (std::size_t p = 0; p < kernel.warps.size(); ++p)
            for_each_instruction(kernel.warps[p].instructions,
                                 [&](const KernelInstruction& one) { add(p, one); });
        sort();
    }

    std::size_t index(std::size_t program, const std::string& id) const {
        return of_program_[program].at(id);
    }
    std::vector<AnnotatedInstruction> take() { return std::move(all_); }

private:
    void add(std::size_t program, const KernelInstruction& one) {
        auto [id, address] = machine_instruction(std::string(without_slot(one.id)));
        const std::string op = plain_op(one.op);
        // The same instruction of machine code may be priced in several ways.
        const auto [found, added] =
            known_.try_emplace({id, address ? std::string() : op, one.at}, all_.size());
        if (!added && all_[found->second].op == issue_slot) all_[found->second].op = op;
        if (added)
            all_.push_back({.id = id,
                            .op = op,
                            .at = one.at,
                            .address = address,
                            .text = {},
                            .stall = one.stall,
                            .spent = {},
                            .waits_for = {},
                            .memory = {},
                            .interval = {}});
        of_program_[program][one.id] = found->second;
    }

    // Machine code by address, before what has none in the order of the text.
    void sort() {
        std::vector<std::size_t> order(all_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::size_t i) {
            return std::pair(!all_[i].address, all_[i].address.value_or(0));
        });
        std::vector<std::size_t> place(all_.size());
        std::vector<AnnotatedInstruction> sorted;
        for (std::size_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            sorted.push_back(std::move(all_[order[i]]));
        }
        all_ = std::move(sorted);
        for (auto& program : of_program_)
            for (auto& [id, index] : program) index = place[index];
    }

    std::vector<AnnotatedInstruction> all_;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known_;
    std::vector<std::map<std::string, std::size_t>> of_program_;
};

void sum_memory(Annotation& annotation) {
    for (AnnotatedLine& line : annotation.lines) {
        line.memory.reset();
        for (const std::size_t i : line.instructions) {
            const auto& memory = annotation.instructions[i].memory;
            if (!memory) continue;
            if (!line.memory) line.memory.emplace();
            *line.memory += *memory;
        }
    }
}

void make_lines(Annotation& annotation) {
    std::map<std::pair<std::string, int>, AnnotatedLine> lines;
    for (std::size_t i = 0; i < annotation.instructions.size(); ++i) {
        const AnnotatedInstruction& one = annotation.instructions[i];
        const auto key = file_and_line(one.at);
        AnnotatedLine& line = lines[key];
        line.file = key.first;
        line.number = key.second;
        line.instructions.push_back(i);
        line.spent += one.spent;
    }
    for (auto& [key, line] : lines) annotation.lines.push_back(std::move(line));
    sum_memory(annotation);
}

// A group has whole warps, and is simulated with as many of each class as comes near their shares.
void note_shares(Annotation& annotation, const std::vector<double>& shares,
                 const sim::CoreLayout& layout) {
    constexpr double noticed = 0.02;
    std::vector<double> simulated(shares.size());
    for (std::int64_t group = 0; group < layout.groups; ++group) {
        // Alike: one is as all.
        if (layout.kind_of.empty() && group > 0) break;
        for (int warp = 0; warp < layout.group_warps; ++warp)
            simulated[static_cast<std::size_t>(layout.program(warp, group))] +=
                1.0 / layout.group_warps /
                static_cast<double>(layout.kind_of.empty() ? 1 : layout.groups);
    }
    std::string in_group, in_launch;
    bool differs = false;
    for (std::size_t p = 0; p < simulated.size(); ++p) {
        const double share = shares[p];
        differs = differs || std::abs(simulated[p] - share) > noticed;
        in_group += fmt::format("{}{:.3g} %", p == 0 ? "" : ", ", 100 * simulated[p]);
        in_launch += fmt::format("{}{:.3g} %", p == 0 ? "" : ", ", 100 * share);
    }
    if (differs)
        annotation.notes.push_back(fmt::format(
            "executions are of the whole launch, times of {}; shares of the classes of warps: "
            "{} in the launch, {} in the times",
            layout.kind_of.empty() ? "one group" : "the core that ends last", in_launch, in_group));
}

std::vector<double> shares_of(const Kernel& kernel) {
    std::vector<double> shares;
    for (const WarpProgram& program : kernel.warps) shares.push_back(program.share);
    return shares;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
        begin = end + 1;
    }
    return lines;
}

}  // namespace

double Spent::cycles() const {
    double sum = 0;
    for (const auto& [reason, cycles] : waits) sum += cycles;
    return sum;
}

std::optional<sim::WaitReason> Spent::main_reason() const {
    std::optional<sim::WaitReason> main;
    double most = 0;
    for (const auto& [reason, cycles] : waits) {
        if (cycles <= most) continue;
        most = cycles;
        main = reason;
    }
    return main;
}

Spent& Spent::operator+=(const Spent& other) {
    executions_per_warp += other.executions_per_warp;
    executions += other.executions;
    awaited += other.awaited;
    for (const auto& [reason, cycles] : other.waits) waits[reason] += cycles;
    return *this;
}

MemorySums& MemorySums::operator+=(const MemorySums& other) {
    global += other.global;
    shared += other.shared;
    sectors += other.sectors;
    passes += other.passes;
    read += other.read;
    found.resize(std::max(found.size(), other.found.size()));
    for (std::size_t level = 0; level < other.found.size(); ++level)
        found[level] += other.found[level];
    return *this;
}

double Annotation::place_cycles_per_warp() const {
    return cycles * static_cast<double>(places) / static_cast<double>(core_warps);
}

bool Annotation::has_lines() const {
    return std::ranges::any_of(lines, [](const AnnotatedLine& line) { return line.number > 0; });
}

std::pair<std::string, std::optional<std::int64_t>> machine_instruction(const std::string& id) {
    const std::size_t dot = id.find('.');
    if (dot == std::string::npos || dot == 0) return {id, std::nullopt};
    const char* const end = id.data() + id.size();
    std::int64_t address = 0;
    const auto [digits, fault] = std::from_chars(id.data() + dot + 1, end, address, 16);
    const bool good = fault == std::errc() && digits - (id.data() + dot + 1) >= 4;
    if (!good) return {id, std::nullopt};
    if (digits == end) return {id, address};
    int copy = 0;
    if (*digits != '.' || std::from_chars(digits + 1, end, copy).ptr != end || copy < 2)
        return {id, std::nullopt};
    return {id.substr(0, static_cast<std::size_t>(digits - id.data())), address};
}

Annotation annotate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                    const SimulationOptions& options) {
    sim::StallView view;
    simulate(profile, kernel, launch, options, view);
    return annotate(kernel, launch, view);
}

Annotation annotate(const Kernel& kernel, const Launch& launch, const sim::StallView& view) {
    const sim::CoreLayout& layout = view.layout();
    const sim::TickScale& scale = layout.machine.scale;

    Annotation annotation;
    annotation.kernel = kernel.name;
    annotation.launch = launch;
    annotation.cycles = scale.to_cycles(view.end());
    annotation.core_warps = layout.groups * layout.group_warps;
    annotation.places = layout.warps();

    Instructions instructions(kernel);
    annotation.instructions = instructions.take();
    const double warps =
        static_cast<double>(launch.groups) * static_cast<double>(launch.group_warps);
    // Where groups differ, those that this launch has, which may be others than the file's.
    const std::vector<double> shares =
        kernel.groups ? sim::LaunchGroups(kernel, launch).program_shares() : shares_of(kernel);
    for (std::size_t p = 0; p < kernel.warps.size(); ++p) {
        if (shares[p] == 0) continue;  // no warp of this launch
        count(kernel.warps[p].instructions, shares[p],
              [&](const KernelInstruction& node, double times) {
                  // Nothing that the GPU executes.
                  if (node.id == group_start_id || is_further_slot(node.id)) return;
                  AnnotatedInstruction& one =
                      annotation.instructions[instructions.index(p, node.id)];
                  one.spent.executions_per_warp += times;
                  one.spent.executions += times * warps;
                  if (!node.memory || (node.memory->sectors == 0 && node.memory->passes == 0))
                      return;
                  if (!one.memory) one.memory.emplace();
                  const double all = times * warps;
                  *one.memory += {.global = node.memory->sectors > 0 ? all : 0,
                                  .sectors = all * node.memory->sectors,
                                  .shared = node.memory->passes > 0 ? all : 0,
                                  .passes = all * node.memory->passes};
              });
    }
    for (const sim::InstructionWait& wait : view.waits()) {
        const double cycles =
            scale.to_cycles(wait.ticks) / static_cast<double>(annotation.core_warps);
        if (wait.waiting.empty()) {
            annotation.rest[wait.reason] += cycles;
            continue;
        }
        const auto program = static_cast<std::size_t>(wait.program);
        AnnotatedInstruction& one =
            annotation.instructions[instructions.index(program, wait.waiting)];
        one.spent.waits[wait.reason] += cycles;
        if (wait.on.empty()) continue;
        AnnotatedInstruction& awaited =
            annotation.instructions[instructions.index(program, wait.on)];
        one.waits_for[awaited.id] += cycles;
        awaited.spent.awaited += cycles;
    }
    make_lines(annotation);
    note_shares(annotation, shares, layout);
    return annotation;
}

void add_machine_code(Annotation& annotation, const std::vector<isa::Instruction>& code,
                      int architecture) {
    std::map<std::int64_t, const isa::Instruction*> by_address;
    for (const isa::Instruction& one : code) by_address[one.address] = &one;
    for (AnnotatedInstruction& one : annotation.instructions) {
        if (!one.address) continue;
        const auto found = by_address.find(*one.address);
        if (found != by_address.end()) one.text = isa::to_text(*found->second, architecture);
    }
}

void add_hits(Annotation& annotation, const std::vector<MemoryRow>& rows) {
    std::map<std::string, AnnotatedInstruction*> by_id;
    for (AnnotatedInstruction& one : annotation.instructions) by_id[one.id] = &one;
    for (const MemoryRow& row : rows) {
        const auto found = by_id.find(machine_instruction(row.id).first);
        if (!row.read || found == by_id.end() || !found->second->memory) continue;
        const double sectors = row.executions * row.use.sectors;
        MemorySums sums{.read = sectors};
        for (const double share : *row.read) sums.found.push_back(sectors * share);
        *found->second->memory += sums;
    }
    sum_memory(annotation);
}

void add_source(Annotation& annotation, const std::map<std::string, std::string>& texts) {
    constexpr int around = 2;  // lines that are shown before the first and behind the last one
    std::map<std::pair<std::string, int>, AnnotatedLine> lines;
    for (AnnotatedLine& line : annotation.lines) {
        const auto key = std::pair(line.file, line.number);
        lines[key] = std::move(line);
    }
    for (const auto& [file, text] : texts) {
        const std::vector<std::string> source = split(text);
        int first = 0, last = 0;
        for (const auto& [key, line] : lines) {
            if (key.first != file || key.second == 0) continue;
            if (first == 0) first = key.second;
            last = key.second;
        }
        if (last == 0) continue;
        if (last > static_cast<int>(source.size())) {
            annotation.notes.push_back(fmt::format(
                "{} has {} lines, but the kernel was made from its line {}: another version of it; "
                "its text is left out",
                file, source.size(), last));
            continue;
        }
        const int end = std::min(last + around, static_cast<int>(source.size()));
        for (int number = std::max(1, first - around); number <= end; ++number) {
            AnnotatedLine& line = lines[{file, number}];
            line.file = file;
            line.number = number;
            line.text = source[static_cast<std::size_t>(number) - 1];
        }
    }
    annotation.lines.clear();
    for (auto& [key, line] : lines) annotation.lines.push_back(std::move(line));
}

std::vector<std::string> source_files(const Kernel& kernel) {
    std::set<std::string> files;
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (!one.at.empty()) files.insert(file_and_line(one.at).first);
    });
    return {files.begin(), files.end()};
}

}  // namespace occupipe::analysis
