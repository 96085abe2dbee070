// SPDX-License-Identifier: MIT
// Every way in which a file can be wrong that docs/reference/file-formats/ names: the message is
// one line and says file, line and key.
#include <gtest/gtest.h>

#include "core/files/files.h"

namespace occupipe {
namespace {

constexpr std::string_view good_profile =
    R"(format: occupipe-profile/1
device: {name: x, architecture: y}
cores: 10
warp_size: 32
clock_hz: 1506000000
limits: {warps: 64, groups: 32}
issue: {limit: 4, schedulers: 1}
subsystems:
  alu: {scope: core}
  mem: {scope: core}
instructions:
  fma.f32: {subsystem: alu, cpi: 0.25, latency: 6}
  ld.global.f32:
    subsystem: mem
    cpi: {value: 12, std_error: 0.08}
    latency: 378
    source: measured
provenance: {tool: z}
)";

constexpr std::string_view good_kernel =
    R"(format: occupipe-kernel/1
name: example
instructions:
  - {id: i, op: mad.s32}
  - {id: x, op: ld.global.f32, after: [i]}
  - repeat: 64
    body:
      - {id: a, op: fma.f32, after: [x, a@-1]}
  - {id: s, op: st.global.f32, after: [a]}
launch: {group_warps: 8, concurrent_groups: 4, groups: 1300}
)";

constexpr std::string_view good_kernel_with_shares =
    R"(format: occupipe-kernel/1
name: example
warps:
  - share: 0.5
    instructions: [{id: i, op: mad.s32}]
  - share: 0.5
    instructions: [{id: i, op: mad.s32}]
)";

constexpr std::string_view good_measurements =
    R"({
  "context": {"cores": "10"},
  "benchmarks": [
    {"name": "mix(a*8,b)/group_warps:4/concurrent_groups:2/chains:1/depth:9",
     "run_type": "iteration",
     "repetition_index": 0,
     "real_time": 25,
     "time_unit": "us",
     "group_warps": 4,
     "warps": 8,
     "beta": 8,
     "cycles": 6250,
     "clock_hz": 1.5e9},
    {"name": "a", "group_warps": 4, "concurrent_groups": 2, "chains": 1, "depth": 7,
     "real_time": 25, "time_unit": "us"}
  ]
}
)";

enum class Kind { profile, kernel, shares, measurements };

std::string_view good_text(Kind kind) {
    switch (kind) {
        case Kind::profile:
            return good_profile;
        case Kind::kernel:
            return good_kernel;
        case Kind::shares:
            return good_kernel_with_shares;
        case Kind::measurements:
            return good_measurements;
    }
    return {};
}

void read(Kind kind, const std::string& text) {
    switch (kind) {
        case Kind::profile:
            parse_profile(text, "dir/file");
            return;
        case Kind::kernel:
        case Kind::shares:
            parse_kernel(text, "dir/file");
            return;
        case Kind::measurements:
            parse_measurements(text, "dir/file");
            return;
    }
}

// The good file with `from` replaced by `to`; an empty `from` replaces everything.
struct BadFile {
    Kind kind;
    std::string from;
    std::string to;
    int line;  // that the message must name; 0 = none
    std::string key;
    std::string reason;
};

std::string bad_text(const BadFile& bad) {
    if (bad.from.empty()) {
        return bad.to;
    }
    std::string text(good_text(bad.kind));
    const auto at = text.find(bad.from);
    EXPECT_NE(at, std::string::npos) << bad.from;
    return at == std::string::npos ? text : text.replace(at, bad.from.size(), bad.to);
}

void expect_refused(const std::vector<BadFile>& files) {
    for (const BadFile& bad : files) {
        const std::string text = bad_text(bad);
        try {
            read(bad.kind, text);
            ADD_FAILURE() << "accepted: '" << bad.from << "' -> '" << bad.to << "'";
        } catch (const InputError& fault) {
            const std::string message = fault.what();
            EXPECT_EQ(message.find('\n'), std::string::npos) << message;
            const std::string start =
                bad.line > 0 ? "dir/file:" + std::to_string(bad.line) + ":" : "dir/file: ";
            EXPECT_EQ(message.substr(0, start.size()), start) << message;
            EXPECT_NE(message.find(bad.key.empty() ? "" : ": " + bad.key + ": "), std::string::npos)
                << message << "\n  expected key " << bad.key;
            EXPECT_NE(message.find(bad.reason), std::string::npos)
                << message << "\n  expected reason " << bad.reason;
            // The parts by themselves, as programs read them.
            EXPECT_EQ(fault.file(), "dir/file");
            EXPECT_EQ(fault.where().line, bad.line) << message;
            if (!bad.key.empty()) {
                EXPECT_EQ(fault.key(), bad.key) << message;
            }
        }
    }
}

TEST(GoodFiles, AreAccepted) {
    for (const Kind kind : {Kind::profile, Kind::kernel, Kind::shares, Kind::measurements}) {
        EXPECT_NO_THROW(read(kind, std::string(good_text(kind))));
    }
}

TEST(BadProfiles, AreRefusedWithLineAndKey) {
    constexpr Kind p = Kind::profile;
    expect_refused({
        {p, "occupipe-profile/1", "occupipe-profile/3", 1, "format", "unknown format"},
        {p, "occupipe-profile/1", "occupipe-kernel/1", 1, "format", "unknown format"},
        {p, "format: occupipe-profile/1\n", "", 1, "format", "is missing"},
        {p, "device: {name: x, architecture: y}\n", "", 1, "device", "is missing"},
        {p, "name: x, ", "", 2, "device.name", "is missing"},
        {p, "name: x", "name: ''", 2, "device.name", "must not be empty"},
        {p, "name: x", "name: [x]", 2, "device.name", "must be text"},
        {p, "name: x", "name:", 2, "device.name", "must be text"},
        {p, "name: x", "nmae: x", 2, "device.nmae", "unknown key"},
        {p, "device: {name: x, architecture: y}", "device: x", 2, "device", "must be a map"},
        {p, "cores: 10\n", "", 1, "cores", "is missing"},
        {p, "cores: 10", "cores: 0", 3, "cores", "from 1 to"},
        {p, "cores: 10", "cores: -1", 3, "cores", "from 1 to"},
        {p, "cores: 10", "cores: 10.5", 3, "cores", "whole number"},
        {p, "cores: 10", "cores: ten", 3, "cores", "whole number"},
        {p, "cores: 10", "cores: \"10\"", 3, "cores", "whole number"},
        {p, "cores: 10", "cores: 99999999999", 3, "cores", "from 1 to"},
        {p, "cores: 10", "cores: 99999999999999999999", 3, "cores", "from 1 to"},
        {p, "warp_size: 32\n", "", 1, "warp_size", "is missing"},
        {p, "warp_size: 32", "warp_size: {value: 32}", 4, "warp_size", "whole number"},
        {p, "clock_hz: 1506000000\n", "", 1, "clock_hz", "is missing"},
        {p, "clock_hz: 1506000000", "clock_hz: 0", 5, "clock_hz", "positive"},
        {p, "name: x", "name: \"x\\e[2Jy\"", 2, "device.name", "control characters"},
        {p, "architecture: y", "architecture: \"y\\n\"", 2, "device.architecture",
         "control characters"},
        {p, "clock_hz: 1506000000", "clock_hz: 1e-320", 5, "clock_hz", "from 1 to 1e15"},
        {p, "clock_hz: 1506000000", "clock_hz: 1e16", 5, "clock_hz", "from 1 to 1e15"},
        {p, "limits: {", "overheads: {launch_seconds: 1e308}\nlimits: {", 6,
         "overheads.launch_seconds", "at most 1e6"},
        {p, "clock_hz: 1506000000", "clock_hz: -1e9", 5, "clock_hz", "positive"},
        {p, "clock_hz: 1506000000", "clock_hz: 1.5 GHz", 5, "clock_hz", "must be a number"},
        {p, "clock_hz: 1506000000", "clock_hz: .inf", 5, "clock_hz", "finite"},
        {p, "clock_hz: 1506000000", "clock_hz: .nan", 5, "clock_hz", "finite"},
        {p, "clock_hz: 1506000000", "clock_hz: inf", 5, "clock_hz", "finite"},
        {p, "clock_hz: 1506000000", "clock_hz: nan", 5, "clock_hz", "finite"},
        {p, "clock_hz: 1506000000", "clock_hz: 1e999", 5, "clock_hz", "finite"},
        {p, "clock_hz: 1506000000", "clock_hz: 1e9\nclock_hz: 2e9", 6, "clock_hz", "duplicate"},
        {p, "warps: 64", "warps: 0", 6, "limits.warps", "from 1 to"},
        {p, "warps: 64", "warp: 64", 6, "limits.warp", "unknown key"},
        {p, "limits: {warps: 64, groups: 32}", "limits: none", 6, "limits", "must be a map"},
        {p, "limit: 4", "limit: 0", 7, "issue.limit", "positive"},
        {p, "limit: 4", "limit: -4", 7, "issue.limit", "positive"},
        {p, "limit: 4", "limit: {value: 4, note: x}", 7, "issue.limit.note", "unknown key"},
        {p, "limit: 4", "limit: {std_error: 4}", 7, "issue.limit.value", "is missing"},
        {p, "limit: 4", "limit: {value: 4, std_error: -1}", 7, "issue.limit.std_error",
         "at least 0"},
        {p, "schedulers: 1", "schedulers: 2147483647", 7, "issue.schedulers", "from 1 to 1000000"},
        {p, "schedulers: 1", "schedulers: 0", 7, "issue.schedulers", "from 1 to"},
        {p, "schedulers: 1", "schedulers: 1, policy: fifo", 7, "issue.policy",
         "'fifo' is not one of lrr, gto, oldest"},
        {p, "schedulers: 1", "schedulers: 1, select: unit", 7, "issue.select",
         "'unit' is not one of subsystem, warp"},
        {p, "schedulers: 1", "schedulers: -2", 7, "issue.schedulers", "from 1 to"},
        {p, "alu: {scope: core}", "alu: {scope: warp}", 9, "subsystems.alu.scope",
         "core, scheduler"},
        {p, "alu: {scope: core}", "alu: core", 9, "subsystems.alu", "must be a map"},
        {p, "  mem: {scope: core}", "  alu: {scope: core}", 10, "subsystems.alu", "duplicate"},
        {p, "  mem: {scope: core}", "  issue: {scope: core}", 10, "subsystems.issue", "reserved"},
        {p, "  mem: {scope: core}", "  \"a b\": {scope: core}", 10, "subsystems.a b", "blanks"},
        {p, "subsystem: alu, ", "", 12, "instructions.fma.f32.subsystem", "is missing"},
        {p, "subsystem: alu", "subsystem: sfu", 12, "instructions.fma.f32.subsystem",
         "not among the subsystems"},
        {p, "cpi: 0.25, ", "", 12, "instructions.fma.f32.cpi", "is missing"},
        {p, "cpi: 0.25", "cpi: 0", 12, "instructions.fma.f32.cpi", "positive"},
        {p, "cpi: 0.25", "cpi: -0.25", 12, "instructions.fma.f32.cpi", "positive"},
        {p, "cpi: 0.25", "CPI: 0.25", 12, "instructions.fma.f32.CPI", "unknown key"},
        {p, ", latency: 6", "", 12, "instructions.fma.f32.latency", "is missing"},
        {p, "latency: 6", "latency: 6, latency: 7", 12, "instructions.fma.f32.latency",
         "duplicate"},
        {p, "latency: 6", "latency: 6, kind: alu", 12, "instructions.fma.f32.kind",
         "compute, load, store, barrier"},
        {p, "  ld.global.f32:", "  fma.f32:", 13, "instructions.fma.f32", "duplicate"},
        {p, "  ld.global.f32:", "  mix(a*2,b):", 13, "instructions.mix(a*2,b)", "must not contain"},
        {p, "value: 12, ", "", 15, "instructions.ld.global.f32.cpi.value", "is missing"},
        {p, "value: 12", "value: x", 15, "instructions.ld.global.f32.cpi.value", "a number"},
        {p, "std_error: 0.08", "std_error: -0.08", 15, "instructions.ld.global.f32.cpi.std_error",
         "at least 0"},
        {p, "std_error: 0.08", "stderr: 0.08", 15, "instructions.ld.global.f32.cpi.stderr",
         "unknown key"},
        {p, "std_error: 0.08", "identifiable: no", 15,
         "instructions.ld.global.f32.cpi.identifiable", "true or false"},
        {p, "latency: 378", "latency: {value: 1, bound: left}", 16,
         "instructions.ld.global.f32.latency.bound", "'upper' or 'lower'"},
        {p, "latency: 378", "latency: {value: 1, identifiable: true, bound: upper}", 16,
         "instructions.ld.global.f32.latency.bound", "identifiable must be false"},
        {p, "latency: 378", "latency: [378]", 16, "instructions.ld.global.f32.latency", "a number"},
        {p, "source: measured", "source: guessed", 17, "instructions.ld.global.f32.source",
         "measured, literature, vendor, assumed"},
        {p, "provenance: {tool: z}", "provenance: z", 18, "provenance", "must be a map"},
        {p, "provenance: {tool: z}", "colour: z", 18, "colour", "unknown key"},
    });
}

TEST(BadKernels, AreRefusedWithLineAndKey) {
    constexpr Kind k = Kind::kernel;
    constexpr Kind w = Kind::shares;
    expect_refused({
        {k, "occupipe-kernel/1", "occupipe-kernel/0", 1, "format", "unknown format"},
        {k, "name: example\n", "", 1, "name", "is missing"},
        {k, "name: example\n", "name: ''\n", 0, "name", "must not be empty"},
        {k, "name: example\n", "name: example\nnote: x\n", 3, "note", "unknown key"},
        {k, "id: i, ", "", 4, "instructions[0].id", "is missing"},
        {k, ", op: mad.s32", "", 4, "instructions[0].op", "is missing"},
        {k, "id: i", "id: 'a b'", 4, "id", "blanks"},
        {k, "id: i", "id: i@2", 4, "id", "must not contain '@'"},
        {k, "id: i", "id: ''", 4, "id", "must not be empty"},
        {k, "op: mad.s32", "op: ''", 4, "i.op", "must not be empty"},
        {k, "op: mad.s32", "op: mad.s32, kind: x", 4, "instructions[0].kind", "not one of"},
        {k, "op: mad.s32", "op: mad.s32, at: a.cu", 4, "instructions[0].at", "FILE:LINE"},
        {k, "op: mad.s32", "op: mad.s32, at: ':4'", 4, "instructions[0].at", "FILE:LINE"},
        {k, "op: mad.s32", "op: mad.s32, at: 'a.cu:0'", 4, "instructions[0].at", "FILE:LINE"},
        {k, "op: mad.s32", "op: mad.s32, at: 'a.cu:4x'", 4, "instructions[0].at", "FILE:LINE"},
        {k, "op: mad.s32", "op: mad.s32, stall: 0", 4, "instructions[0].stall", "from 1 to 15"},
        {k, "op: mad.s32", "op: mad.s32, stall: 16", 4, "instructions[0].stall", "from 1 to 15"},
        {k, "op: mad.s32", "op: mad.s32, memory: 4", 4, "instructions[0].memory", "must be a map"},
        {k, "op: mad.s32", "op: mad.s32, memory: {sectors: 4}", 4, "instructions[0].memory.bytes",
         "is missing"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, hits: 1}", 4,
         "instructions[0].memory.hits", "unknown key"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: -4}", 4, "i.memory.bytes", "at least 0"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, sectors: 1, least_sectors: 2}", 4,
         "i.memory.sectors", "least possible"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, passes: 1, least_passes: 2}", 4,
         "i.memory.passes", "least possible"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 0, sectors: 4, device: []}", 4,
         "i.memory.bytes", "must be above 0, as 'sectors' is"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 0, passes: 4, least_passes: 1}", 4,
         "i.memory.bytes", "must be above 0, as 'passes' is"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 128, passes: 4}", 4,
         "i.memory.least_passes", "must be above 0, as 'passes' is"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, core: [1]}", 4,
         "instructions[0].memory.core[0]", "must be a list"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, core: [[1]]}", 4,
         "instructions[0].memory.core[0]", "[BYTES, SHARE]"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, core: [[0, 1]]}", 4,
         "instructions[0].memory.core[0][0]", "from 1 to"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, core: [[1, 1.5]]}", 4, "i.memory.core",
         "at most 1"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, device: [[2, 0.5], [1, 0.6]]}", 4,
         "i.memory.device", "the entry before"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, written: [[1, 0.5], [2, 0.5]]}", 4,
         "i.memory.written", "the entry before"},
        {k, "op: mad.s32", "op: mad.s32, memory: {bytes: 4, device: []}", 4, "i.memory",
         "how many cores and groups"},
        {k, "name: example\n", "name: example\nmemory: {cores: 1}\n", 3, "memory.concurrent_groups",
         "is missing"},
        {k, "name: example\n", "name: example\nmemory: {cores: 0, concurrent_groups: 1}\n", 3,
         "memory.cores", "from 1"},
        {k, "name: example\n",
         "name: example\nmemory: {cores: 1, concurrent_groups: 1, order: random}\n", 3,
         "memory.order", "not one of"},
        {k, "op: mad.s32", "opcode: mad.s32", 4, "instructions[0].opcode", "unknown key"},
        {k, "op: mad.s32", "op: mad.s32, latency: 3", 4, "instructions[0].latency", "unknown key"},
        {k, "id: x", "id: i", 5, "id", "duplicate 'i'"},
        {k, "after: [i]", "after: i", 5, "instructions[1].after", "must be a list"},
        {k, "after: [i]", "after: [j]", 5, "x.after", "j: no instruction has this id"},
        {k, "after: [i]", "after: [x]", 5, "x.after", "used before it is defined"},
        {k, "after: [i]", "after: [s]", 5, "x.after", "used before it is defined"},
        {k, "after: [i]", "after: [a]", 5, "x.after", "used before it is defined"},
        {k, "after: [i]", "after: [x@-1]", 5, "x.after", "x@-1: no repeat contains both"},
        {k, "after: [i]", "after: [a@-1]", 5, "x.after", "a@-1: no repeat contains both"},
        {k, "after: [i]", "after: [a@-2]", 5, "x.after", "a@-2: no repeat contains both"},
        {k, "after: [i]", "after: [i@-0]", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i@2]", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i@-]", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i@-1x]", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i@--1]", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i@-99999999999999999999]", 5, "instructions[1].after[0]",
         "NAME@-N"},
        {k, "after: [i]", "after: ['@-1']", 5, "instructions[1].after[0]", "NAME@-N"},
        {k, "after: [i]", "after: [i, i]", 5, "x.after", "duplicate"},
        {k, "after: [i]", "after: [[i]]", 5, "instructions[1].after[0]", "must be text"},
        {k, "repeat: 64", "repeat: 0", 6, "instructions[2].repeat", "from 1 to"},
        {k, "repeat: 64", "repeat: -3", 6, "instructions[2].repeat", "from 1 to"},
        {k, "repeat: 64", "repeat: many", 6, "instructions[2].repeat", "whole number"},
        {k, "repeat: 64", "repeat: 9223372036854775807", 6, "repeat", "2^62"},
        {k, "repeat: 64", "repeat: 9223372036854775808", 6, "instructions[2].repeat", "from 1 to"},
        {k, "repeat: 64", "repeat: 64\n    times: 2", 7, "instructions[2].times", "unknown key"},
        {k, "    body:\n      - {id: a, op: fma.f32, after: [x, a@-1]}\n", "", 6,
         "instructions[2].body", "is missing"},
        {k, "    body:\n      - {id: a, op: fma.f32, after: [x, a@-1]}\n", "    body: []\n", 7,
         "instructions[2].body", "must not be empty"},
        {k, "after: [x, a@-1]", "after: [s@-1]", 8, "a.after", "no repeat contains both"},
        {k, "name: example\n", "name: \"a\\tb\"\n", 0, "name", "control characters"},
        {k, "groups: 1300", "groups: 9223372036854775807", 10, "launch.groups",
         "from 1 to 1000000000000"},
        {k, "group_warps: 8, concurrent_groups: 4, groups: 1300",
         "group_warps: 2000000000, concurrent_groups: 1, groups: 999999999999", 0, "launch",
         "too many warps"},
        {k, "groups: 1300", "groups: 0", 10, "launch.groups", "from 1 to"},
        {k, "group_warps: 8", "group_warps: 1.5", 10, "launch.group_warps", "whole number"},
        {k, "group_warps: 8, ", "", 10, "launch.group_warps", "is missing"},
        {k, "group_warps: 8", "group_warps: 2000000000", 0, "launch", "too many warps"},
        {k, "groups: 1300", "groups: 1300, cores: 3", 10, "launch.cores", "unknown key"},
        {k, "groups: 1300}", "groups: 1300}\ngroups: {kinds: [[0]], order: [[0, 1]]}", 11,
         "groups.kinds[0]", "a kind has 1 warps, a group of the launch 8"},
        {k, "groups: 1300}",
         "groups: 1300}\ngroups: {kinds: [[0, 0, 0, 0, 0, 0, 0, 1]], order: [[0, 1]]}", 11,
         "groups.kinds[0][7]", "none is 1"},
        {k, "groups: 1300}",
         "groups: 1300}\ngroups: {kinds: [[0, 0, 0, 0, 0, 0, 0, 0]], order: [[1, 1]]}", 11,
         "groups.order[0][0]", "none is 1"},
        {k, "groups: 1300}",
         "groups: 1300}\ngroups: {kinds: [[0, 0, 0, 0, 0, 0, 0, 0]], order: [[0]]}", 11,
         "groups.order[0]", "is not [KIND, GROUPS]"},
        {k, "groups: 1300}", "groups: 1300}\ngroups: {kinds: [], order: [[0, 1]]}", 11,
         "groups.kinds", "must not be empty"},
        {k, "launch:", "warps: []\nlaunch:", 4, "instructions", "only one of them"},
        {w, "share: 0.5", "share: 0.25", 0, "warps.share", "sum to 0.75"},
        {w, "share: 0.5", "share: 0", 4, "warps[0].share", "positive"},
        {w, "share: 0.5", "share: -0.5", 4, "warps[0].share", "positive"},
        {w, "share: 0.5", "share: half", 4, "warps[0].share", "a number"},
        {w, "share: 0.5\n    ", "", 4, "warps[0].share", "is missing"},
        {w, "instructions: [{id: i, op: mad.s32}]", "instructions: []", 5, "warps[0].instructions",
         "must not be empty"},
    });
}

TEST(BadMeasurements, AreRefusedWithLineAndKey) {
    constexpr Kind m = Kind::measurements;
    expect_refused({
        {m, "\"context\": {\"cores\": \"10\"},\n", "", 1, "context", "is missing"},
        {m, "\"context\": {\"cores\": \"10\"}", "\"context\": []", 2, "context", "must be a map"},
        {m, "\"benchmarks\"", "\"benchmark\"", 3, "benchmark", "unknown key"},
        {m, "", "{\"context\": {}}", 1, "benchmarks", "is missing"},
        {m, "", "{\"context\": {}, \"benchmarks\": {}}", 1, "benchmarks", "must be a list"},
        {m, "", "{\"context\": {}, \"benchmarks\": [3]}", 1, "benchmarks[0]", "must be a map"},
        {m, "", "[]", 1, "", "must be a map"},
        {m, "\"name\": \"mix(a*8,b)/group_warps:4/concurrent_groups:2/chains:1/depth:9\"",
         "\"nam\": \"x\"", 4, "benchmarks[0].name", "is missing"},
        {m, "\"mix(a*8,b)/group_warps:4/concurrent_groups:2/chains:1/depth:9\"", "7", 4,
         "benchmarks[0].name", "must be text"},
        {m, "mix(a*8,b)/", "/", 4, "benchmarks[0].name", "names no instruction"},
        {m, "mix(a*8,b)/", "mix(a,b)/", 4, "benchmarks[0].name", "is not mix"},
        {m, "mix(a*8,b)/", "a/", 11, "benchmarks[0].beta", "is not a mix"},
        {m, "mix(a*8,b)/", "mix(a*9,b)/", 11, "benchmarks[0].beta", "is 8 here, but 9"},
        {m, "/chains:1", "", 4, "benchmarks[0].chains", "is missing"},
        {m, "/chains:1", "/chains:0", 4, "benchmarks[0].name", "chains: '0'"},
        {m, "/chains:1", "/chains:x", 4, "benchmarks[0].name", "chains: 'x'"},
        {m, "/chains:1", "/chains:1/chains:2", 4, "benchmarks[0].name", "duplicate"},
        {m, "\"repetition_index\": 0", "\"repetition_index\": -1", 6,
         "benchmarks[0].repetition_index", "from 0 to"},
        {m, "\"real_time\": 25,\n     \"time", "\"time", 4, "benchmarks[0].real_time",
         "is missing"},
        {m, "\"real_time\": 25", "\"real_time\": -25", 7, "benchmarks[0].real_time", "negative"},
        {m, "\"real_time\": 25", "\"real_time\": \"25\"", 7, "benchmarks[0].real_time", "a number"},
        {m, "\"real_time\": 25", "\"real_time\": 1e999", 7, "benchmarks[0].real_time", "1e999"},
        {m, "\"time_unit\": \"us\"", "\"time_unit\": \"min\"", 8, "benchmarks[0].time_unit",
         "not one of ns, us, ms, s"},
        {m, "\"time_unit\": \"us\",\n", "", 4, "benchmarks[0].time_unit", "is missing"},
        {m, "\"group_warps\": 4", "\"group_warps\": 5", 9, "benchmarks[0].group_warps",
         "is 5 here, but 4 in the name"},
        {m, "\"group_warps\": 4", "\"group_warps\": 4.5", 9, "benchmarks[0].group_warps",
         "whole number"},
        {m, "\"group_warps\": 4", "\"group_warps\": null", 9, "benchmarks[0].group_warps",
         "a number"},
        {m, "\"warps\": 8", "\"warps\": 9", 10, "benchmarks[0].warps", "is 9 here, but 8"},
        {m, "\"cycles\": 6250", "\"cycles\": 0", 12, "benchmarks[0].cycles", "positive"},
        {m, "\"cycles\": 6250", "\"cycles\": -6250", 12, "benchmarks[0].cycles", "positive"},
        {m, "\"cycles\": 6250", "\"cycles\": NaN", 12, "benchmarks[0].cycles", "not valid JSON"},
        {m, "\"cycles\": 6250", "\"cycles\": 1, \"cycles\": 2", 12, "benchmarks[0].cycles",
         "duplicate"},
        {m, "\"clock_hz\": 1.5e9", "\"clock_hz\": 0", 13, "benchmarks[0].clock_hz", "positive"},
        {m, "\"clock_hz\": 1.5e9", "\"error_occurred\": 1", 13, "benchmarks[0].error_occurred",
         "true or false"},
        {m, "\"depth\": 7", "\"depth\": 1e17", 14, "benchmarks[1].depth", "whole number"},
        {m, "\"depth\": 7", "\"width\": 7", 14, "benchmarks[1].depth", "is missing"},
        {m, "\"time_unit\": \"us\"}\n", "\"time_unit\": \"us\"\n", 16, "benchmarks[1]",
         "not valid JSON"},
    });
}

TEST(BadSyntax, IsRefusedInEveryKindOfFile) {
    const std::string deep_yaml = std::string(600, '[') + std::string(600, ']');
    expect_refused({
        {Kind::profile, "", "\n \n", 0, "", "is empty"},
        {Kind::profile, "", "# nothing\n", 0, "", "no YAML document"},
        {Kind::profile, "", "\xff\xfe", 1, "", "not UTF-8"},
        {Kind::profile, "name: x", "name: \xc3(", 2, "", "not UTF-8"},
        {Kind::profile, "name: x", "name: \xed\xa0\x80", 2, "", "not UTF-8"},
        {Kind::profile, "name: x", std::string("name: \0", 7), 2, "", "control character U+0000"},
        {Kind::profile, "name: x", "name: *x", 2, "", "anchor is not defined"},
        {Kind::profile, "name: x", "name: &a x", 2, "device.name", "anchors are not supported"},
        {Kind::profile, "cores: 10", "cores: &a 10\nwarps: *a", 3, "cores", "anchors"},
        {Kind::profile, "cores: 10", "cores: !!int 10", 3, "cores", "tags are not supported"},
        {Kind::profile, "cores: 10", "[1, 2]: 10", 3, "", "a key must be text"},
        {Kind::profile, "cores: 10", "~: 10", 3, "", "a key must be text"},
        {Kind::profile, "cores: 10", "cores: 10\n  warps: 11", 4, "", "not valid YAML"},
        {Kind::profile, "cores: 10", "cores: \"10", 3, "cores", "whole number"},
        {Kind::profile, "cores: 10", "cores: [10", 4, "", "not valid YAML"},
        {Kind::profile, "provenance: {tool: z}", "---\na: b", 19, "",
         "more than one YAML document"},
        {Kind::profile, "", "just words", 1, "", "must be a map"},
        {Kind::profile, "", "- a\n- b\n", 1, "", "must be a map"},
        {Kind::profile, "", "a: " + deep_yaml, 1, "", "not valid YAML"},
        {Kind::kernel, "", "", 0, "", "is empty"},
        {Kind::measurements, "", "", 0, "", "is empty"},
        {Kind::measurements, "", "{", 1, "", "not valid JSON"},
        {Kind::measurements, "", "{} {}", 1, "", "not valid JSON"},
        {Kind::measurements, "", "{\"context\": " + std::string(100000, '['), 1, "", "nested"},
        {Kind::measurements, "", "format: occupipe-profile/1", 1, "", "not valid JSON"},
        {Kind::measurements, "", "{\"context\": \"\x01\"}", 1, "", "control character"},
    });
}

}  // namespace
}  // namespace occupipe
