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

// What a kernel calls a machine instruction.
using NameOf = std::function<std::string(const isa::Instruction&)>;

// The first of profile_names() that is in `known`; where none is, the first of all.
NameOf names_known_to(std::set<std::string> known);

struct ExtractedClass {
    double share = 0;                // of the launch's warps that it was seen to stand for
    std::uint64_t instructions = 0;  // that one of its warps executes
    std::uint64_t first_group = 0;
    std::uint32_t first_warp = 0;
    bool taken = false;  // stands in the kernel
};

struct ExtractedKernel {
    Kernel kernel;                        // without a launch; shares of the classes taken sum to 1
    std::vector<ExtractedClass> classes;  // most frequent first
    double represented = 1;  // of the warp-instructions of the launch, by the classes taken
    // Machine instructions behind each name of the kernel: "FFMA", "LDG.E.128", and how often one
    // warp of the mean executes it.
    std::map<std::string, std::map<std::string, double>> names;
    // By program of the kernel: what the nodes' ids stand for.
    std::vector<std::map<std::string, StreamInstruction>> nodes;
};

// `machine`: where the lines of source code are from, which nodes get as `at`; `code`: its
// instructions, decoded. At most `most_classes` classes are taken, the most frequent ones; only
// those with as many barriers as the most frequent one, since a graph cannot say that groups
// differ. Throws InputError where nothing was executed.
ExtractedKernel extract_kernel(const std::string& name, const StreamObserver::Streams& streams,
                               const isa::Kernel& machine,
                               const std::vector<isa::Instruction>& code, const NameOf& name_of,
                               std::size_t most_classes = 8);

}  // namespace occupipe::extract
