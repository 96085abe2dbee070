// SPDX-License-Identifier: MIT
#include "sim/observers/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/instruction.h"
#include "sim/observers/lanes.h"

namespace occupipe::sim {
namespace {

constexpr int warp_tracks = 1;  // "process" numbers
constexpr int subsystem_tracks = 2;

double thousandths(const TickScale& scale, std::int64_t ticks) {
    return std::round(scale.to_cycles(ticks) * 1000);
}

std::string json_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

void name_track(std::string& text, int process, int track, const std::string& name) {
    text += fmt::format(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},"
        "\n",
        process, track, json_text(name));
}

void name_tracks(std::string& text, const CoreLayout& layout) {
    for (const auto& [process, name] :
         {std::pair(warp_tracks, "warps: issue to result"),
          std::pair(subsystem_tracks, "subsystems: occupied by one instruction")})
        text += fmt::format(
            "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},\n",
            process, json_text(name));
    for (std::size_t s = 0; s < layout.machine.subsystems.size(); ++s)
        for (int scheduler = 0; scheduler < layout.machine.schedulers; ++scheduler) {
            const Subsystem& subsystem = layout.machine.subsystems[s];
            if (!subsystem.per_scheduler() && scheduler > 0) break;
            name_track(text, subsystem_tracks, layout.machine.unit(static_cast<int>(s), scheduler),
                       subsystem.per_scheduler()
                           ? fmt::format("{} of scheduler {}", subsystem.name, scheduler)
                           : subsystem.name);
        }
}

// Names each warp's lanes and returns the number of its first one.
std::vector<int> name_warps(std::string& text, const CoreLayout& layout, const Lanes& lanes) {
    std::vector<int> first;
    int track = 0;
    for (int warp = 0; warp < layout.warps(); ++warp) {
        first.push_back(track);
        const auto count = static_cast<int>(std::max<std::size_t>(1, lanes.count(warp)));
        for (int lane = 0; lane < count; ++lane)
            name_track(text, warp_tracks, track++,
                       fmt::format("slot {} warp {}{}", warp / layout.group_warps,
                                   warp % layout.group_warps,
                                   lane == 0 ? "" : fmt::format(", {} in flight", lane + 1)));
    }
    return first;
}

// By program and id.
std::vector<std::map<std::string, std::string>> source_lines(const Kernel& kernel) {
    std::vector<std::map<std::string, std::string>> lines(kernel.warps.size());
    for (std::size_t p = 0; p < lines.size(); ++p)
        for_each_instruction(kernel.warps[p].instructions, [&](const KernelInstruction& one) {
            if (!one.at.empty()) lines[p][one.id] = one.at;
        });
    return lines;
}

}  // namespace

std::string chrome_trace(const TimelineView& view, const Kernel& kernel) {
    const CoreLayout& layout = view.layout();
    const TickScale& scale = layout.machine.scale;
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    name_tracks(text, layout);
    const std::vector<std::string> names = view.instance_names();
    const auto lines = source_lines(kernel);
    // Events of one track may only nest. A warp has several results under way, so its track is as
    // many lanes as that takes; the subsystems' own events never overlap.
    Lanes lanes(static_cast<std::size_t>(layout.warps()));
    std::vector<std::size_t> lane_of;
    for (const auto& entry : view.entries())
        lane_of.push_back(lanes.take(entry.warp, entry.issued, entry.completed));
    const auto first_track = name_warps(text, layout, lanes);
    for (std::size_t i = 0; i < view.entries().size(); ++i) {
        const auto& entry = view.entries()[i];
        const std::int32_t number = layout.program(entry.warp, entry.group);
        const ProgramLayout& program = layout.programs[number];
        const ProgramLayout::Stream& stream = program.streams[entry.stream];
        std::string name = names[i], source;
        if (static_cast<std::size_t>(number) < lines.size()) {
            const auto found = lines[number].find(program.program.ids[entry.stream]);
            if (found != lines[number].end()) {
                name += " " + found->second;
                source = ",\"source\":" + json_text(found->second);
            }
        }
        const auto event = [&](int process, int track, std::int64_t duration) {
            // Readers keep nanoseconds, here thousandths of a cycle: both ends are rounded to them,
            // not start and duration, so that events that meet still meet.
            const double begin = thousandths(scale, entry.issued);
            const double end = thousandths(scale, entry.issued + duration);
            text += fmt::format(
                "{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{"
                "\"op\":{},\"group\":{},\"instance\":{}{}}}}},\n",
                json_text(name), process, track, begin / 1000, (end - begin) / 1000,
                json_text(std::string(without_part(
                    layout.machine.ops[program.program.streams[entry.stream].op].name))),
                entry.group, entry.instance, source);
        };
        event(warp_tracks, first_track[entry.warp] + static_cast<int>(lane_of[i]),
              entry.completed - entry.issued);
        event(subsystem_tracks, layout.machine.unit(stream.subsystem, entry.scheduler), stream.cpi);
    }
    text.erase(text.size() - 2);  // the last comma; there is always at least a track's name
    return text + "\n]}\n";
}

}  // namespace occupipe::sim
