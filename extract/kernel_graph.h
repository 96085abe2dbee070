// SPDX-License-Identifier: MIT
// Streams of a launch → the kernel that the simulator and the models take.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "extract/streams.h"
#include "isa/cubin.h"

namespace occupipe::extract {

// What a kernel calls a machine instruction; `before` it in the code, nullptr at its beginning.
// `lanes_part`: where it is executed by lanes that went different ways.
using NameOf = std::function<std::string(const isa::Instruction&, const isa::Instruction* before,
                                         bool lanes_part)>;

// All that an instruction may be called.
std::vector<std::string> possible_names(const isa::Instruction& instruction);

// The first of profile_names() that is in `known`; where none is, the first of all. Branches, and
// multiply-adds whose registers are read at once, have a name of their own, if that is known
// (fma.f32 is measured with two of three registers in one bank).
NameOf names_known_to(std::set<std::string> known);

struct ExtractedClass {
    double share = 0;                // of the launch's warps that are of it
    double stands_for = 0;           // of the launch's warps, in the kernel; 0: not taken
    std::uint64_t instructions = 0;  // that one of its warps executes
    std::uint64_t first_group = 0;
    std::uint32_t first_warp = 0;
    bool taken = false;  // stands in the kernel
    // Barriers more or fewer than the others' (extract_kernel()): those at the end that are added,
    // and the last ones that are issue slots.
    std::int64_t barriers_added = 0;
    std::int64_t barriers_left_out = 0;
};

struct ExtractedKernel {
    Kernel kernel;                        // without a launch
    std::vector<ExtractedClass> classes;  // most frequent first
    // Of the warp-instructions of the launch: by warps of the classes taken, rather than by warps
    // for which another class stands.
    double represented = 1;
    double instructions = 0;         // per warp of the launch
    double kernel_instructions = 0;  // per warp of the kernel, by its shares
    // Barriers that are added or left out, per warp-instruction of the launch.
    double barriers_changed = 0;
    // Of the longest class: one window of instructions in so many is in the kernel (thinned()).
    std::int64_t windows_each = 1;
    // Machine instructions behind each name of the kernel: "FFMA", "LDG.E.128", and how often one
    // warp of the mean executes it.
    std::map<std::string, std::map<std::string, double>> names;
    // By program of the kernel: what the nodes' ids stand for; barriers that are added do not.
    std::vector<std::map<std::string, StreamInstruction>> nodes;
};

// `machine`: where the lines of source code are from, which nodes get as `at`; `code`: its
// instructions, decoded. At most `most_classes` classes are taken. Where there are more, the
// longest and those that execute at least one in `most_classes` of all instructions stand for
// themselves. The others, sorted by how much they execute, are divided into parts in each of which
// one class stands for all, so that the warps' instructions differ as little as can be from what
// they executed.
//
// `runs`: all groups of the launch in order, as GroupSample::runs() has them. With them, the kernel
// tells of each group which program each of its warps runs, unless there is but one program
// (Kernel::groups, and a launch of group size and number of groups to be completed). Without, it
// tells of shares alone.
//
// Warps meet at barriers by count. Where a group's warps have different numbers of them, all
// classes get as many as most of the executed instructions' warps have. Warps with fewer have left,
// and the others do not wait for them: the missing ones stand at their end, as issue slots at which
// they wait for the others. Of warps with more, the last ones are issue slots without waiting.
// Throws InputError where nothing was executed.
ExtractedKernel extract_kernel(const std::string& name, const StreamObserver::Streams& streams,
                               const isa::Kernel& machine,
                               const std::vector<isa::Instruction>& code, const NameOf& name_of,
                               std::size_t most_classes = 8,
                               const std::vector<GroupRun>& runs = {});

}  // namespace occupipe::extract
