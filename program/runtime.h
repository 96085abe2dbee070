// SPDX-License-Identifier: MIT
// The state of the CUDA runtime of one process: what the program has registered, allocated and
// launched. Entry points (cudart/) take its lock and call it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extract/launch_check.h"
#include "extract/shadow_memory.h"
#include "isa/containers/device_images.h"
#include "isa/machine/machine.h"
#include "isa/machine/memory.h"
#include "program/cuda_error.h"
#include "program/device_facts.h"
#include "program/device_history.h"
#include "program/effects.h"
#include "program/fat_binary.h"
#include "program/journal.h"
#include "program/settings.h"

namespace occupipe::program {

struct ManagedVariable {
    void** host = nullptr;
    std::string name;
};

// A fat binary that was registered; its code is read when something of it is asked for.
struct Module {
    const void* wrapper = nullptr;
    std::optional<ChosenCode> code;
    std::optional<isa::LoadedModule> loaded;
    std::vector<ManagedVariable> managed;
    bool managed_placed = false;
    std::string why_not;  // it could not be loaded
};

struct Function {
    Module* module = nullptr;
    std::string name;                           // as linkers call it
    const isa::Kernel* kernel = nullptr;        // once it was asked for
    int most_dynamic_shared_bytes = 48 * 1024;  // as the program has set it
    int carveout = -1;
};

struct Variable {
    Module* module = nullptr;
    std::string name;
    std::size_t size = 0;
};

struct Stream {
    double clock = 0;  // seconds after the start, when all that is in it has ended
    unsigned flags = 0;
    int priority = 0;
    std::uint64_t number = 0;
};

struct Event {
    double clock = 0;
    bool recorded = false;
    unsigned flags = 0;
};

// What <<<…>>> says.
struct CallConfiguration {
    std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
    std::size_t shared_bytes = 0;
    void* stream = nullptr;
};

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered };

// A launch referred to so many bytes of a range.
struct TouchedRange {
    std::uint64_t begin = 0, size = 0, bytes = 0;
    MemoryKind kind = MemoryKind::device;
    std::uint64_t of = 0, of_size = 0;  // the allocation that it is in
};

struct Allocation {
    MemoryKind kind = MemoryKind::device;
    std::uint64_t address = 0, size = 0;
    void* mapping = nullptr;  // on the host, of its own: to be released
    std::size_t mapping_size = 0;
};

class Runtime {
public:
    // Made at the first call, and never destroyed: programs call until their very end.
    static Runtime& get();

    std::recursive_mutex& mutex() { return mutex_; }
    // Why there is no device; empty: there is.
    const std::string& why_no_device() const { return why_no_device_; }
    const DeviceFacts& facts() const { return facts_; }
    const Settings& settings() const { return settings_; }
    Journal& journal();
    CudaError sticky() const { return sticky_; }
    // A line on stderr, once for each text, and in the journal.
    void tell(const std::string& text);
    // A call frees or copies what is not there: told, kept or the end, as OnError says.
    void memory_error(const std::string& text);
    void refuse(const std::string& function);

    // Registration.
    Module* add_module(const void* wrapper);
    void remove_module(Module* module);
    void add_function(Module* module, const void* host, const std::string& name);
    void add_variable(Module* module, const void* host, const std::string& name, std::size_t size);
    void place_managed(Module* module);
    void place_all_managed();

    // Of its handle: what the host's code calls it, or what get() returned. None: nullptr.
    Function* function(const void* handle);
    // Throws CudaFailure.
    const isa::Kernel& kernel_of(Function& function);
    struct PlacedVariable {
        std::uint64_t address = 0;  // as kernels see it
        std::span<std::byte> bytes;
    };
    PlacedVariable variable(const void* handle);  // throws CudaFailure

    // Memory. They throw CudaFailure.
    std::uint64_t allocate(MemoryKind kind, std::size_t size);
    void* register_host(void* begin, std::size_t size);
    void release(std::uint64_t address, std::initializer_list<MemoryKind> kinds);
    const Allocation* allocation(std::uint64_t address) const;  // that holds it
    std::uint64_t free_bytes() const;
    // Of what kernels allocate; false: one that does was launched already.
    bool set_heap_bytes(std::uint64_t size) { return memory_.set_heap_bytes(size); }
    // Where bytes lie on the host that a program names by a device's or a host's address.
    enum class Side : std::uint8_t { host, device, any };
    std::span<std::byte> bytes_at(const void* address, std::size_t size, Side side,
                                  const char* call);
    bool is_device(const void* address) const;

    // Streams and time.
    Stream* stream(void* handle);  // nullptr: there is no such
    Stream* add_stream(unsigned flags, int priority);
    void remove_stream(Stream* stream);
    // Waits, too, where `asynchronous` is false.
    void copied(CopyKind kind, std::size_t bytes, Stream& stream, bool asynchronous);
    // By what is in it next; returns when that begins.
    double advance(Stream& stream, double seconds);
    void wait(const Stream& stream);  // the host does
    void wait(double clock);
    void wait_for_all();
    Event* add_event(unsigned flags);
    bool is_event(const Event* event) const { return events_.contains(event); }
    void remove_event(Event* event);

    // Throws CudaFailure.
    void launch(Function& function, const CallConfiguration& configuration, void** arguments,
                bool cooperative);
    // What a copy of the program's writes, or is of.
    void written(const void* to, std::size_t size);
    void copied_bytes(const void* to, const void* from, std::size_t size);

    // While the runtime is at work, the host's own clock stands (Settings::predicted_clock). With
    // the lock; may be nested.
    void enter();
    void leave();

    void reset();    // what the program has on the device is released
    void at_exit();  // the journal gets what only the end tells

private:
    Runtime();
    void load(Module& module);
    void check(const Function& function, const isa::Kernel& kernel,
               const CallConfiguration& configuration, bool cooperative) const;
    void execute(const Function& function, const isa::Kernel& kernel, const Shape& shape,
                 std::span<const std::byte> parameters, Stream& stream);
    void follow(const isa::Execution& execution, const std::vector<TouchedRange>& touched);
    std::string text_of(const isa::ExecutionError& error, const isa::Kernel& kernel) const;
    void fail(CudaError error, const std::string& text);
    [[noreturn]] void stop();
    // What --check leaves out of a kernel, once.
    void note_unchecked(const extract::LaunchCheck& check, const isa::Kernel& kernel);
    std::string freed_before(std::uint64_t address) const;
    void unmap(const Allocation& allocation);
    void touched_by_copy(const void* to, std::size_t size);
    void changed_at(std::uint64_t address);
    // Once.
    void note(const std::string& text);
    // What of a launch's memory takes longer on a GPU than predictions say.
    void note_unpriced(const std::vector<TouchedRange>& ranges);
    void price_bus(std::vector<PredictedLaunch>& predictions,
                   const std::vector<TouchedRange>& ranges);
    // What a launch with these parameters refers to, of whose lines, ascending, one in so many is
    // known: by the parameters that point there.
    std::vector<TouchedRange> ranges_of(const std::vector<std::uint64_t>& lines, double lines_each,
                                        std::span<const std::byte> parameters) const;
    struct KnownShape;
    std::vector<double> cached_shares(const std::vector<TouchedRange>& ranges) const;
    // What a launch of the shape refers to that has these parameters, if it does as the one that
    // was predicted last with what its own point to.
    std::vector<TouchedRange> ranges_with(const KnownShape& known,
                                          std::span<const std::byte> parameters) const;
    // With zeros for addresses of allocations.
    std::string without_addresses(std::span<const std::byte> parameters) const;

    std::recursive_mutex mutex_;
    Settings settings_;
    std::string folder_;
    std::string why_no_device_;
    DeviceFacts facts_;
    std::unique_ptr<Journal> journal_;
    int journal_process_ = 0;
    CudaError sticky_ = CudaError::success;
    std::set<std::string> told_;
    std::set<std::pair<std::string, std::string>> told_behind_;  // kernel and place

    isa::GlobalMemory memory_;
    std::optional<extract::ShadowMemory> shadow_;  // where Settings::check asks for it
    DeviceHistory history_;
    Effects effects_;
    std::map<const void*, std::unique_ptr<Module>> modules_;
    std::map<const void*, std::unique_ptr<Function>> functions_;  // by host address
    std::set<const void*> handles_;                               // Function*
    std::map<const void*, Variable> variables_;
    std::map<std::uint64_t, Allocation> allocations_;  // by address
    std::map<std::uint64_t, std::uint64_t> freed_;     // address → size
    std::uint64_t device_bytes_ = 0;
    std::uint64_t allocated_ = 0;  // how often

    std::map<const void*, std::unique_ptr<Stream>> streams_;
    std::map<const void*, std::unique_ptr<Event>> events_;
    Stream default_stream_;
    std::uint64_t stream_numbers_ = 0;  // given so far
    // What the host has waited for; where its own clock is predicted, with the time of its own.
    double host_clock_ = 0;
    int entered_ = 0;                           // calls, one in the other
    double entered_at_ = 0;                     // on host_clock_
    std::optional<std::int64_t> clock_origin_;  // ns, where host_clock_ was 0
    // What is known of a shape: launches that were predicted, with unlike amounts of work.
    struct KnownLaunch {
        std::size_t number = 0;  // in the journal
        std::uint64_t warp_instructions = 0;
        std::optional<double> seconds;  // on the first profile; absent: there is no prediction
        // Shares of what it refers to that L2 may have held when it began, by range.
        std::vector<double> cached;
        std::string arguments;  // without addresses
    };
    struct KnownShape {
        std::vector<KnownLaunch> launches;
        bool next_is_predicted = true;
        // Of the launch that was predicted last.
        std::vector<TouchedRange> touched;
        std::vector<std::byte> parameters;
        // The launch whose work is the nearest; of those alike, whose arguments and caches were.
        const KnownLaunch& nearest(std::uint64_t warp_instructions,
                                   const std::vector<double>& cached,
                                   const std::string& arguments) const;
        bool knows(const std::vector<double>& cached, const std::string& arguments) const;
        // One that was predicted with these, else the last of many; none: it is to be predicted.
        const KnownLaunch* of_arguments(const std::vector<double>& cached,
                                        const std::string& arguments) const;
    };
    std::map<Shape, KnownShape> known_;
    std::map<CopyKind, Copies> copies_;
};

}  // namespace occupipe::program
