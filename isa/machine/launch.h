// SPDX-License-Identifier: MIT
// One launch made ready: steps, constants, layout; and a group of it while it runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/architectures.h"
#include "isa/machine/machine.h"
#include "isa/machine/step.h"
#include "isa/machine/warp.h"

namespace occupipe::isa {

// Constant bank 0: what the driver writes for a launch. Fields that are not known are not there.
class LaunchBank {
public:
    LaunchBank(const Kernel& kernel, int architecture, const LaunchShape& shape,
               std::span<const std::byte> parameters, std::uint32_t local_bytes,
               std::uint64_t bank_3_address,   // 0: there is no such bank
               std::uint64_t grid_workspace);  // of the grid's barrier; 0: none

    // Whether the instruction asks where the grid's barrier lies.
    static bool names_grid_workspace(const Instruction& instruction, int architecture);
    std::span<const std::byte> bytes() const { return bytes_; }
    bool known(std::size_t offset, std::size_t size) const;

private:
    void put_clusters(const ConstantBank& layout, const LaunchShape& shape, bool is_explicit);
    void put(std::size_t offset, std::uint32_t value);
    void put_address(std::size_t offset, std::uint64_t value);

    std::vector<std::byte> bytes_;
    std::vector<std::uint8_t> known_;  // by byte: 1 or 0
};

// What is the same in every launch of a kernel of one module: made once (prepare.cpp).
struct PreparedCode {
    std::shared_ptr<const std::vector<Instruction>> code;
    std::vector<Step> steps;  // one per instruction, and one behind the last that refuses
    // Immediates, splatted, and room for words of constant banks, which each launch reads.
    std::vector<Lanes> constants;
    struct BankWords {
        std::uint32_t at = 0;  // in `constants`: two
        int bank = 0;
        std::uint64_t offset = 0;  // bytes
    };
    std::vector<BankWords> bank_words;
    std::uint32_t banks = 0;  // bits: numbers of those that the code reads
    // Of a warp's registers, in Lanes: general ones from 0 on.
    std::uint32_t zero = 0, sink = 0, uniform = 0, register_count = 0;
    std::uint32_t local_bytes = 0;  // per thread
    std::size_t parameter_bytes = 0;
    // Whether the order shows in which groups do their atomic operations on global memory.
    bool order_shows = false;
    bool may_wait = false;  // in a loop, for what other groups write
    // Its groups run together: there is a barrier of the whole grid.
    bool cooperative = false;
    std::vector<bool> waits;                       // in_waiting_loop(), and one behind the last
    std::vector<std::size_t> clock_reads, sleeps;  // instructions of the code
    // For instructions whose handler refuses: why.
    std::vector<std::string> why_not;
};

struct Launch {
    LoadedModule* module = nullptr;
    GlobalMemory* memory = nullptr;
    const Kernel* kernel = nullptr;
    int architecture = 0;
    LaunchShape shape;
    std::shared_ptr<const PreparedCode> prepared;
    std::span<const Step> steps;   // of `prepared`
    std::vector<Lanes> constants;  // as of `prepared`, with this launch's words
    std::unique_ptr<LaunchBank> bank_0;
    std::array<std::span<const std::byte>, 32> banks;  // that the code reads, by number

    std::uint32_t threads_per_group = 0;
    std::uint32_t warps_per_group = 0;
    std::uint32_t shared_base = 0;     // below it no memory of the kernel lies
    std::uint32_t shared_bytes = 0;    // end of the group's shared memory
    std::uint32_t local_bytes = 0;     // per thread
    std::uint32_t register_count = 0;  // of a warp, in Lanes

    std::span<const std::byte> bank(int number) const;
    std::uint32_t step_at(std::uint64_t address) const;  // steps.size() - 1 where there is none
};

// Throws InputError where the launch is not possible.
Launch prepare(LoadedModule& module, const Kernel& kernel, const LaunchShape& shape,
               std::span<const std::byte> parameters);

struct GroupBarrier {
    std::uint32_t expected = 0;  // threads; 0: all that are alive
    std::uint32_t arrived = 0;   // threads, those included that do not wait
    std::uint32_t voted = 0;     // of BAR.RED: threads
    std::uint32_t truths = 0;    // and those of them whose predicate held
    enum class Reduction : std::uint8_t { count, all, any };
    Reduction reduction = Reduction::count;
    bool reduces = false;
    bool in_use = false;
};

// Steps of one warp that the group's observer has not been told yet: a call for each would cost
// more than many of them do.
struct UntoldSteps {
    std::uint32_t warp = 0, count = 0;
    std::array<Executed, 256> steps;

    void tell(const Group& group);
    void add(const Group& group, const Executed& one) {
        if (count == steps.size()) tell(group);
        steps[count++] = one;
    }
};

struct Group {
    const Launch* launch = nullptr;
    std::uint64_t index = 0;
    std::array<std::uint32_t, 3> place{};
    std::vector<Warp> warps;
    std::vector<Lanes> registers;
    std::vector<std::byte> shared;
    std::vector<std::byte> local;
    std::array<GroupBarrier, 16> barriers{};
    std::uint32_t alive = 0;  // threads
    // That an access of a kind went to last, by AccessKind; and all, for Execution.
    std::array<const GlobalMemory::Buffer*, access_kinds> recent{};
    std::vector<std::uint64_t> read, written;
    GroupObserver* observer = nullptr;
    UntoldSteps untold;
    const ExecutionOptions* options = nullptr;  // null: the defaults
    // Where accesses go that are left out (ExecutionOptions::on_fault): by lane, to global memory
    // and, since a copy has both, to others.
    struct alignas(16) LeftOut {
        std::array<std::byte, 16> bytes{};
    };
    std::array<std::array<LeftOut, lane_count>, 2> left_out;
    bool memory_changed = false;
    bool shares_memory = false;            // with groups that other threads of the host run
    std::vector<InstructionCount> counts;  // by step
    std::uint64_t branches = 0;
    std::uint64_t divergent_branches = 0;
    std::uint64_t clock = 0;  // warp-instructions of this group
    std::string printed;      // by printf

    // For a group with this number: fresh warps, registers, shared memory.
    void begin(const Launch& of, std::uint64_t number);
    // An access goes to another buffer than the one before of its kind.
    void turn_to(const GlobalMemory::Buffer& buffer, AccessKind kind);
};

inline void UntoldSteps::tell(const Group& group) {
    if (count != 0) group.observer->steps(warp, std::span(steps).first(std::exchange(count, 0)));
}

// Divergence, semantics_control.cpp. A warp's lanes that run are `active` at `pc`; others stand in
// `splits`.
// Takes up the split with the lowest pc that waits for nothing; sets `stop` where there is none.
void next_split(Warp& warp);
// Lets those go on whose barrier of convergence or of the warp is complete.
void release_splits(Warp& warp);
// After a whole turn of a warp some lanes of which have yielded of late: lanes that wait at a
// barrier of convergence for such lanes alone go on without them (US patent 10067768, claim 1).
// `taken`: steps of this turn; `turn`: of any.
void release_from_yielding(Warp& warp, std::uint64_t taken, std::uint64_t turn);
// Group barriers that are complete once threads have left.
void release_barriers(Group& group);
bool can_run(const Warp& warp);
// The running lanes go behind the other splits that wait for nothing, if there are any.
void rotate(Warp& warp);

}  // namespace occupipe::isa
