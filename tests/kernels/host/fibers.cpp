// SPDX-License-Identifier: MIT
#include "tests/kernels/host/fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

// Switching without the system call of swapcontext, where it is known how.
#if defined(__x86_64__)
#define OCCUPIPE_OWN_SWITCH 1
// Saves the registers that a function has to keep, and the stack; goes on with another stack.
extern "C" void occupipe_switch_stack(void** from, void* to);
asm(R"(
.text
.globl occupipe_switch_stack
.type occupipe_switch_stack, @function
occupipe_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size occupipe_switch_stack, .-occupipe_switch_stack
)");
#endif

namespace occupipe::test::host {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;
constexpr unsigned warp_lanes = 32, most_threads = 1024, barriers = 16;

class Stack {
public:
    Stack()
        : memory_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~Stack() {
        if (memory_) munmap(memory_, stack_bytes);
    }
    Stack(Stack&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    Stack& operator=(Stack&&) = delete;

    std::byte* begin() const { return static_cast<std::byte*>(memory_); }

private:
    void* memory_;
};

// Who rests runs again after all others had their turn.
enum class State { ready, resting, at_barrier, at_exchange, left };

struct Fiber {
    State state = State::ready;
    uint3 index = {};
    Votes votes;
    Lane lane;
    std::uint32_t mask = 0;  // of the exchange
    Exchange compute = nullptr;
    unsigned barrier = 0;
#if OCCUPIPE_OWN_SWITCH
    void* stack_pointer = nullptr;
#else
    ucontext_t context;
#endif
};

struct Barrier {
    unsigned arrived = 0, expected = 0, votes = 0;
};

// One group at a time.
struct Group {
    std::vector<Stack> stacks;
    std::array<Fiber, most_threads> fibers;
    std::array<Barrier, barriers> barriers_of;
    unsigned threads = 0, live = 0, running = 0;
    void (*thread)(void*) = nullptr;
    void* data = nullptr;
    std::exception_ptr fault;
#if OCCUPIPE_OWN_SWITCH
    void* scheduler = nullptr;
#else
    ucontext_t scheduler;
#endif
    // Of the scheduler, for the address sanitizer.
    const void* scheduler_stack = nullptr;
    std::size_t scheduler_bytes = 0;
};

Group& group() {
    static Group only;
    return only;
}

void to_scheduler() {
    Group& g = group();
    Fiber& fiber = g.fibers[g.running];
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(fiber.state == State::left ? nullptr : &fake, g.scheduler_stack,
                                   g.scheduler_bytes);
#endif
#if OCCUPIPE_OWN_SWITCH
    occupipe_switch_stack(&fiber.stack_pointer, g.scheduler);
#else
    swapcontext(&fiber.context, &g.scheduler);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void release(Barrier& barrier, unsigned id) {
    Group& g = group();
    const Votes votes{.count = barrier.votes, .all = barrier.arrived};
    for (unsigned t = 0; t < g.threads; ++t) {
        Fiber& fiber = g.fibers[t];
        if (fiber.state != State::at_barrier || fiber.barrier != id) continue;
        fiber.votes = votes;
        fiber.state = State::ready;
    }
    barrier = {};
}

std::uint32_t present_lanes(unsigned warp) {
    Group& g = group();
    std::uint32_t present = 0;
    for (unsigned i = 0; i < warp_lanes && warp * warp_lanes + i < g.threads; ++i) {
        if (g.fibers[warp * warp_lanes + i].state != State::left) present |= 1u << i;
    }
    return present;
}

// Completes the exchange over `mask` when nobody is missing.
void try_exchange(unsigned warp, std::uint32_t mask, Exchange compute) {
    Group& g = group();
    Fiber* const fibers = &g.fibers[warp * warp_lanes];
    const std::uint32_t present = mask & present_lanes(warp);
    std::array<Lane, warp_lanes> lanes;
    for (unsigned i = 0; i < warp_lanes; ++i) {
        if (!(present >> i & 1)) continue;
        if (fibers[i].state != State::at_exchange || fibers[i].mask != mask) return;
        if (fibers[i].compute != compute)
            throw KernelFault("lanes of one warp wait for each other at different exchanges");
        lanes[i] = fibers[i].lane;
    }
    compute(lanes.data(), mask, present);
    for (unsigned i = 0; i < warp_lanes; ++i) {
        if (!(present >> i & 1)) continue;
        fibers[i].lane = lanes[i];
        fibers[i].state = State::ready;
    }
}

// A thread that leaves may be the one that others wait for.
void leave() {
    Group& g = group();
    g.fibers[g.running].state = State::left;
    --g.live;
    for (unsigned id = 0; id < barriers; ++id) {
        Barrier& barrier = g.barriers_of[id];
        if (barrier.arrived > 0 && barrier.expected == 0 && barrier.arrived == g.live)
            release(barrier, id);
    }
    const unsigned warp = g.running / warp_lanes;
    for (unsigned t = warp * warp_lanes; t < std::min((warp + 1) * warp_lanes, g.threads); ++t) {
        const Fiber& fiber = g.fibers[t];
        if (fiber.state == State::at_exchange) try_exchange(warp, fiber.mask, fiber.compute);
    }
}

[[noreturn]] void enter() {
    Group& g = group();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &g.scheduler_stack, &g.scheduler_bytes);
#endif
    try {
        g.thread(g.data);
        leave();
    } catch (...) {
        g.fault = std::current_exception();
        g.fibers[g.running].state = State::left;
    }
    for (;;) to_scheduler();
}

void prepare(Fiber& fiber, const Stack& stack) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stack.begin(), stack_bytes);  // what left frames there
#endif
#if OCCUPIPE_OWN_SWITCH
    // As if it had called occupipe_switch_stack from the first instruction of enter().
    auto* top = reinterpret_cast<void**>(stack.begin() + stack_bytes);
    *--top = nullptr;  // enter() never returns
    *--top = reinterpret_cast<void*>(&enter);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    fiber.stack_pointer = top;
#else
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack.begin();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &enter, 0);
#endif
}

void resume(unsigned thread) {
    Group& g = group();
    g.running = thread;
    Fiber& fiber = g.fibers[thread];
    threadIdx = fiber.index;
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, g.stacks[thread].begin(), stack_bytes);
#endif
#if OCCUPIPE_OWN_SWITCH
    occupipe_switch_stack(&g.scheduler, fiber.stack_pointer);
#else
    swapcontext(&g.scheduler, &fiber.context);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    if (g.fault) std::rethrow_exception(std::exchange(g.fault, nullptr));
}

// All ready lanes of a warp until none is; whether there was one.
bool run_warp(unsigned warp, Order order) {
    Group& g = group();
    const unsigned first = warp * warp_lanes, end = std::min(first + warp_lanes, g.threads);
    bool progress = false;
    for (unsigned i = first; i < end; ++i) {
        const unsigned t = order == Order::forward ? i : first + end - 1 - i;
        if (g.fibers[t].state != State::ready) continue;
        resume(t);
        progress = true;
    }
    return progress;
}

void run_group(dim3 block, Order order) {
    Group& g = group();
    g.threads = g.live = block.x * block.y * block.z;
    g.barriers_of = {};
    while (g.stacks.size() < g.threads) g.stacks.emplace_back();
    for (unsigned t = 0; t < g.threads; ++t) {
        Fiber& fiber = g.fibers[t];
        fiber.state = State::ready;
        fiber.index = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        prepare(fiber, g.stacks[t]);
    }
    const unsigned warps = (g.threads + warp_lanes - 1) / warp_lanes;
    while (g.live > 0) {
        bool progress = false;
        for (unsigned t = 0; t < g.threads; ++t) {
            if (g.fibers[t].state == State::resting) g.fibers[t].state = State::ready;
        }
        for (unsigned i = 0; i < warps; ++i) {
            const unsigned warp = order == Order::forward ? i : warps - 1 - i;
            while (run_warp(warp, order)) progress = true;
        }
        if (!progress && g.live > 0)
            throw KernelFault("all threads of a group wait: a barrier that not all reach");
    }
}

Barrier& come_to(unsigned id, unsigned threads) {
    if (id >= barriers) throw KernelFault("there are 16 barriers");
    Barrier& barrier = group().barriers_of[id];
    if (barrier.arrived > 0 && barrier.expected != threads)
        throw KernelFault("threads disagree about how many a barrier is for");
    barrier.expected = threads;
    ++barrier.arrived;
    return barrier;
}

}  // namespace

void run_grid(dim3 grid, dim3 block, void (*thread)(void*), void* data, Order order) {
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > most_threads)
        throw KernelFault("a group has 1 to 1024 threads, not " + std::to_string(threads));
    group().thread = thread;
    group().data = data;
    blockDim = block;
    gridDim = grid;
    const std::uint64_t groups = std::uint64_t{grid.x} * grid.y * grid.z;
    for (std::uint64_t i = 0; i < groups; ++i) {
        const std::uint64_t at = order == Order::forward ? i : groups - 1 - i;
        blockIdx = {static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
                    static_cast<unsigned>(at / grid.x / grid.y)};
        run_group(block, order);
    }
}

Votes barrier(unsigned id, unsigned threads, bool predicate) {
    Group& g = group();
    Barrier& barrier = come_to(id, threads);
    barrier.votes += predicate;
    Fiber& fiber = g.fibers[g.running];
    fiber.state = State::at_barrier;
    fiber.barrier = id;
    if (barrier.arrived == (threads ? threads : g.live)) release(barrier, id);
    if (fiber.state != State::ready) to_scheduler();
    return fiber.votes;
}

void barrier_arrive(unsigned id, unsigned threads) {
    if (threads == 0) throw KernelFault("who arrives without waiting has to say for how many");
    Barrier& barrier = come_to(id, threads);
    if (barrier.arrived == threads) release(barrier, id);
}

Lane exchange(std::uint32_t mask, Exchange compute, std::uint64_t value, std::uint32_t parameter) {
    Group& g = group();
    if (!(mask >> lane_index() & 1)) throw KernelFault("a lane is not in its own mask");
    Fiber& fiber = g.fibers[g.running];
    fiber.lane = {.value = value, .parameter = parameter};
    fiber.mask = mask;
    fiber.compute = compute;
    fiber.state = State::at_exchange;
    try_exchange(g.running / warp_lanes, mask, compute);
    if (fiber.state != State::ready) to_scheduler();
    return fiber.lane;
}

unsigned lane_index() { return group().running % warp_lanes; }

void let_others_run() {
    group().fibers[group().running].state = State::resting;
    to_scheduler();
}

}  // namespace occupipe::test::host
