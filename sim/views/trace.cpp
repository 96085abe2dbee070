// SPDX-License-Identifier: MIT
#include "sim/views/trace.h"

#include <fmt/format.h>

#include <set>

namespace occupipe::sim {
namespace {

constexpr int warp_tracks = 1;  // "process" numbers
constexpr int subsystem_tracks = 2;

std::string quoted(const std::string& text) {
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
        process, track, quoted(name));
}

void name_tracks(std::string& text, const CoreLayout& layout) {
    for (const auto& [process, name] :
         {std::pair(warp_tracks, "warps: issue to result"),
          std::pair(subsystem_tracks, "subsystems: occupied by one instruction")})
        text += fmt::format(
            "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}},\n",
            process, quoted(name));
    for (int warp = 0; warp < layout.warps(); ++warp)
        name_track(
            text, warp_tracks, warp,
            fmt::format("slot {} warp {}", warp / layout.group_warps, warp % layout.group_warps));
    for (std::size_t s = 0; s < layout.machine.subsystems.size(); ++s)
        for (int scheduler = 0; scheduler < layout.machine.schedulers; ++scheduler) {
            const Subsystem& subsystem = layout.machine.subsystems[s];
            if (subsystem.scope == Scope::core && scheduler > 0) break;
            name_track(text, subsystem_tracks, layout.machine.unit(static_cast<int>(s), scheduler),
                       subsystem.scope == Scope::core
                           ? subsystem.name
                           : fmt::format("{} of scheduler {}", subsystem.name, scheduler));
        }
}

}  // namespace

std::string chrome_trace(const TimelineView& view) {
    const CoreLayout& layout = view.layout();
    const TickScale& scale = layout.machine.scale;
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    name_tracks(text, layout);
    for (const auto& entry : view.entries()) {
        const ProgramLayout& program = layout.programs[layout.program_of[entry.warp]];
        const ProgramLayout::Stream& stream = program.streams[entry.stream];
        const auto event = [&](int process, int track, std::int64_t duration) {
            text += fmt::format(
                "{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{"
                "\"op\":{},\"group\":{},\"instance\":{}}}}},\n",
                quoted(program.program.ids[entry.stream]), process, track,
                scale.to_cycles(entry.issued), scale.to_cycles(duration),
                quoted(layout.machine.ops[program.program.streams[entry.stream].op].name),
                entry.group, entry.instance);
        };
        event(warp_tracks, entry.warp, entry.completed - entry.issued);
        event(subsystem_tracks, layout.machine.unit(stream.subsystem, entry.scheduler), stream.cpi);
    }
    text.erase(text.size() - 2);  // the last comma; there is always at least a track's name
    return text + "\n]}\n";
}

}  // namespace occupipe::sim
