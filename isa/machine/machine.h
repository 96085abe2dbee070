// SPDX-License-Identifier: MIT
// Executes a kernel's machine code on the host: every group, every warp, every lane, with the
// memory that the kernel leaves behind as the result.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "isa/cubin.h"
#include "isa/instruction.h"
#include "isa/machine/lanes.h"
#include "isa/machine/memory.h"

namespace occupipe::isa {

struct PreparedCode;
struct Step;
struct Warp;

struct LaunchShape {
    std::array<std::uint32_t, 3> grid = {1, 1, 1};   // groups by x, y, z
    std::array<std::uint32_t, 3> block = {1, 1, 1};  // threads of a group
    std::uint32_t dynamic_shared_bytes = 0;
};

class ExecutionError;

struct Progress {
    std::uint64_t groups_done = 0;
    std::uint64_t groups = 0;  // to be executed
    std::uint64_t warp_instructions = 0;
};

struct ExecutionOptions {
    int threads = 1;  // of the host; 0: as many as it has cores
    // Warp-instructions of one launch, all groups together; 0: no limit.
    std::uint64_t step_budget = 0;
    // Called now and then, by one thread at a time; false ends the execution (Stopped).
    std::function<bool(const Progress&)> progress;
    // Kernels with atomic operations on global memory whose order shows (floating-point sums,
    // exchanges, results that are used), and those that may wait in a loop for what another group
    // writes, run their groups in order, on one thread, so that the result does not depend on the
    // number of threads. True: they run in parallel all the same.
    bool any_order = false;
    // Numbers of the groups to execute, ascending; empty: all.
    std::vector<std::uint64_t> groups;
    // Steps of a warp before another one of its group gets its turn, so that one that waits for
    // another in a loop does not wait for ever; at least 1.
    std::uint32_t turn = 1024;
    // Warp-instructions of a group after which it is looked at whether it goes in circles.
    std::uint64_t spin_check_after = std::uint64_t{1} << 22;
    // Told of accesses outside of memory and misaligned ones, which are left out: reads give zero,
    // writes vanish, and the kernel goes on. `threads`: of a warp, by this instruction, at once;
    // `first`: makes the error of the first of them. Called by several threads of the host at once.
    // None: the first one ends the execution.
    using OnFault = std::function<void(std::size_t instruction, std::uint32_t threads,
                                       const std::function<ExecutionError()>& first)>;
    OnFault on_fault;
    // Told in the same way of accesses behind the end of a buffer's bytes in its last unit of 512,
    // which are done, as on a GPU. None: they are at fault.
    OnFault on_behind;
};

struct InstructionCount {
    std::uint64_t warps = 0;  // executions by warps, also where no lane's guard held
    std::uint64_t lanes = 0;  // lanes that were active and whose guard held

    bool operator==(const InstructionCount&) const = default;
};

struct Execution {
    // The kernel's code, decoded, and per static instruction how often it ran.
    std::shared_ptr<const std::vector<Instruction>> code;
    std::vector<InstructionCount> counts;
    std::uint64_t groups = 0;
    std::uint64_t warps = 0;
    std::uint64_t warp_instructions = 0;
    std::uint64_t lane_instructions = 0;
    std::uint64_t branches = 0;            // executed by warps where some lane was active
    std::uint64_t divergent_branches = 0;  // lanes went different ways
    // By printf, in the order of the groups; 1 MiB at most.
    std::string printed;
    bool allocates = false;    // malloc or free was called
    bool reads_clock = false;  // clock() or %globaltimer, which count a group's instructions
    bool sleeps = false;       // __nanosleep(), which takes no time
    bool grid_barriers = false;
    // Groups ran in order: that of atomic operations shows, or a loop may wait for other groups.
    bool in_order = false;
    // Addresses of the buffers of global memory that were read and written, ascending. Atomic
    // operations do both.
    std::vector<std::uint64_t> read, written;
};

// What a kernel did wrong, or what is not executed: one line with kernel, address, instruction,
// group, warp, thread as far as they are known.
class ExecutionError : public InputError {
public:
    enum class Fault : std::uint8_t {
        other,
        outside,       // an address at which the kernel may not access memory
        misaligned,    // an address that is no multiple of what is accessed
        assertion,     // assert() of device code
        not_executed,  // an instruction, or a function of another file
    };
    using InputError::InputError;
    ExecutionError(const std::string& what, Fault of, std::uint64_t at = 0)
        : InputError(what), fault(of), address(at) {}

    Fault fault = Fault::other;
    std::uint64_t address = 0;  // in global memory, where it is at fault
};

// ExecutionOptions::step_budget was not enough.
class BudgetReached : public ExecutionError {
public:
    using ExecutionError::ExecutionError;
};

// ExecutionOptions::progress asked for the end.
class Stopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Of ascending numbers, those of both.
std::vector<std::uint64_t> united(const std::vector<std::uint64_t>& one,
                                  const std::vector<std::uint64_t>& other);

enum class AccessKind : std::uint8_t { load, store, atomic, copy };
inline constexpr std::size_t access_kinds = 4;

struct MemoryAccess {
    Space space = Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;  // per lane
    Mask active = 0;
    // By lane; those that are not active are undefined. Global: addresses as the kernel sees them;
    // shared and local: offsets.
    const std::uint64_t* addresses = nullptr;
};

// An instruction that a warp executes.
struct Executed {
    std::uint32_t instruction = 0;  // index in the code
    Mask active = 0;                // lanes that run and whose guard holds
};

// Watches one group. Calls come from one thread, in the order of execution.
class GroupObserver {
public:
    virtual ~GroupObserver() = default;
    // What one warp executed, one after the other, at the latest before an access of the last of
    // them is told. `warp`: its number in the group.
    virtual void steps(std::uint32_t warp, std::span<const Executed> executed) = 0;
    // Of the last step told, once per memory space that it touches.
    virtual void access(std::uint32_t warp, std::size_t instruction,
                        const MemoryAccess& access) = 0;
    // A barrier of the group lets warps go. `all`: every thread that is left came to it.
    virtual void barrier(bool all) { (void)all; }
};

// begin and end may be called from several threads at once, for different groups.
class Observer {
public:
    virtual ~Observer() = default;
    // None: this group is not watched.
    virtual std::unique_ptr<GroupObserver> begin(std::uint64_t group) = 0;
    virtual void end(std::uint64_t group, std::unique_ptr<GroupObserver> observer) = 0;
};

// A variable of the module, in global memory or in constant bank 3.
struct Symbol {
    std::string name;
    Space space = Space::global;
    std::uint64_t address = 0;  // in global memory, or offset in the bank
    std::uint64_t size = 0;     // bytes
};

// A cubin whose global variables have got their places in a memory and whose constants hold the
// addresses of these. Variables live as long as the memory: launches share them.
class LoadedModule {
public:
    // Adds a buffer per section of variables. Throws InputError where the cubin asks for what is
    // not known (a relocation of another kind, an architecture that is not read).
    LoadedModule(const Cubin& cubin, GlobalMemory& memory);
    ~LoadedModule();
    LoadedModule(LoadedModule&&) noexcept;
    LoadedModule& operator=(LoadedModule&&) noexcept;

    const Cubin& cubin() const;
    GlobalMemory& memory() const;
    const std::vector<Symbol>& symbols() const;
    const Symbol* symbol(std::string_view name) const;

    // A variable's bytes, to read or set between launches (cudaMemcpyToSymbol).
    std::span<std::byte> bytes(const Symbol& symbol);

    // Constant banks 2 (the kernel's own), 3 and 4 as a kernel sees them; empty where none.
    std::span<const std::byte> bank(int number, std::string_view kernel) const;
    // The kernel's instructions; decoded once. Not for several threads at once.
    std::shared_ptr<const std::vector<Instruction>> decoded(const Kernel& kernel);
    // What the kernel's launches share, once the first of them has made it; nullptr before.
    std::shared_ptr<const PreparedCode>& prepared(const Kernel& kernel);
    // Where bank 3 lies in global memory, for generic loads; 0 where the cubin has none.
    std::uint64_t bank_3_address() const;
    // The function of another file (vprintf) that the kernels take to be at this address, where
    // nothing is; none: nullptr.
    const std::string* foreign_function(std::uint64_t address) const;
    // Whether some kernel that was decoded calls malloc or free, which give addresses in the order
    // of the groups.
    bool allocates() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// What stands in the way of executing this kernel to the last instruction: one line per static
// instruction that is not understood or not executed ("HGMMA at 0x1230"). An empty list does not
// promise that it runs without error.
std::vector<std::string> not_executed(LoadedModule& module, const Kernel& kernel);

// The first instruction of the kernel that stands for something that is not executed at all, in
// words of CUDA: "TEX, a texture fetch, is not executed (look.cu:2)"; empty: there is none.
std::string without_counterpart(LoadedModule& module, const Kernel& kernel);

// "kernel 'scale', 0x0010 LDG.E R2, [R4.64] (scale.cu:7), group (1,0,0)"
std::string place_text(const Kernel& kernel, int architecture, const Instruction& instruction,
                       const std::array<std::uint32_t, 3>& group);

// Runs all groups of one launch. `parameters`: as they lie in constant bank 0 from the base of the
// parameters on. The memory is the module's. Throws ExecutionError, Stopped, and InputError where
// the launch itself is not possible. After an error, memory holds what was done until then.
Execution execute(LoadedModule& module, const Kernel& kernel, const LaunchShape& shape,
                  std::span<const std::byte> parameters, const ExecutionOptions& options = {},
                  Observer* observer = nullptr);

}  // namespace occupipe::isa
