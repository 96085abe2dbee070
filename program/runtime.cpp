// SPDX-License-Identifier: MIT
#include "program/runtime.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "extract/memory_requests.h"
#include "program/host_clock.h"

namespace occupipe::program {
namespace {

// Where nobody reads it any more, the program goes on.
void to_stderr(const std::string& text) {
    std::fputs(fmt::format("occupipe run: {}\n", text).c_str(), stderr);
}

constexpr std::size_t guard_bytes = std::size_t{64} << 10;  // behind memory of the host
constexpr std::size_t most_freed = 65536;                   // that are remembered

const char* call_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
            return "cudaMalloc";
        case MemoryKind::pinned:
            return "cudaMallocHost";
        case MemoryKind::managed:
            return "cudaMallocManaged";
        case MemoryKind::registered:
            return "cudaHostRegister";
    }
    return "";
}

std::string called_program() {
    std::ifstream file("/proc/self/cmdline");
    std::string words{std::istreambuf_iterator<char>(file), {}};
    while (!words.empty() && words.back() == '\0') words.pop_back();
    std::ranges::replace(words, '\0', ' ');
    return words;
}

}  // namespace

Runtime& Runtime::get() {
    static Runtime* const one = [] {
        auto* const made = new Runtime;
        // A child has the parent's memory, and no thread of it that could hold the lock.
        pthread_atfork([] { Runtime::get().mutex_.lock(); }, [] { Runtime::get().mutex_.unlock(); },
                       [] { new (&Runtime::get().mutex_) std::recursive_mutex; });
        std::atexit([] { Runtime::get().at_exit(); });
        return made;
    }();
    return *one;
}

Runtime::Runtime() {
    const char* const folder = std::getenv(folder_variable);
    if (folder == nullptr) {
        why_no_device_ =
            "this CUDA runtime is Occupipe's, which needs no GPU: start the program by "
            "'occupipe run --profile NAME -- PROGRAM'";
        return;
    }
    try {
        folder_ = folder;
        settings_ = read_settings(folder);
        facts_ = device_facts(settings_.profiles.at(0));
        if (settings_.check) shadow_.emplace(memory_);
        if (settings_.predicted_clock && occupipe_clock_stop == nullptr) {
            settings_.predicted_clock = false;
            tell(
                "--clock predicted: the environment has no LD_PRELOAD of it any more, so that "
                "this process's timers show the machine's time");
        }
    } catch (const std::exception& error) {
        why_no_device_ = error.what();
    }
}

Journal& Runtime::journal() {
    if (journal_ && journal_process_ == getpid()) return *journal_;
    std::vector<std::string> names;
    for (const GpuProfile& one : settings_.profiles) names.push_back(one.device.name);
    const bool is_forked = journal_ != nullptr;
    journal_ = std::make_unique<Journal>(folder_, called_program(), names);
    journal_process_ = getpid();
    if (!is_forked) return *journal_;
    // Its lines name launches of its own alone.
    known_.clear();
    copies_.clear();
    return *journal_;
}

void Runtime::tell(const std::string& text) {
    if (told_.insert(text).second) to_stderr(text);
}

void Runtime::memory_error(const std::string& text) {
    if (settings_.on_error == OnError::report) {
        journal().finding({.kind = FindingKind::memory_error,
                           .kernel = "",
                           .place = "",
                           .count = 1,
                           .text = text});
        return;
    }
    tell(text);
    if (settings_.on_error == OnError::stop) stop();
}

// The error's own process alone: others may have to pass on what it has printed.
void Runtime::stop() {
    journal().stopped();
    at_exit();
    std::fflush(stdout);
    _exit(1);
}

void Runtime::refuse(const std::string& function) {
    if (!told_.insert(function).second) return;
    to_stderr(fmt::format("{} is not executed here: it returns cudaErrorNotSupported", function));
    if (why_no_device_.empty()) journal().refused(function);
}

Module* Runtime::add_module(const void* wrapper) {
    auto module = std::make_unique<Module>();
    module->wrapper = wrapper;
    Module* const handle = module.get();
    modules_[handle] = std::move(module);
    return handle;
}

void Runtime::remove_module(Module* module) {
    if (!modules_.contains(module)) return;
    std::erase_if(functions_, [&](const auto& one) {
        if (one.second->module != module) return false;
        handles_.erase(one.second.get());
        return true;
    });
    std::erase_if(variables_, [&](const auto& one) { return one.second.module == module; });
    effects_.forget();
    modules_.erase(module);  // its variables stay in memory, as launches of others may use them
}

void Runtime::add_function(Module* module, const void* host, const std::string& name) {
    auto function = std::make_unique<Function>();
    function->module = module;
    function->name = name;
    handles_.insert(function.get());
    functions_[host] = std::move(function);
}

void Runtime::add_variable(Module* module, const void* host, const std::string& name,
                           std::size_t size) {
    variables_[host] = {.module = module, .name = name, .size = size};
}

void Runtime::load(Module& module) {
    if (module.loaded) return;
    if (!module.why_not.empty())
        throw CudaFailure(CudaError::no_kernel_image_for_device, module.why_not);
    try {
        const std::string_view bytes = wrapped_bytes(module.wrapper);
        if (bytes.empty()) throw InputError("a fat binary of a kind that is not known");
        module.code = choose_code(isa::device_images(bytes), facts_.architecture, "the program");
        module.loaded.emplace(module.code->file.cubin, memory_);
        if (!module.code->note.empty() && told_.insert(module.code->note).second)
            journal().note(module.code->note);
    } catch (const InputError& error) {
        module.why_not = error.what();
        throw CudaFailure(CudaError::no_kernel_image_for_device, module.why_not);
    }
    place_managed(&module);
}

void Runtime::place_managed(Module* module) {
    if (module->managed_placed || module->managed.empty()) return;
    load(*module);
    if (std::exchange(module->managed_placed, true)) return;
    for (const ManagedVariable& one : module->managed) {
        const isa::Symbol* const symbol = module->loaded->symbol(one.name);
        if (symbol == nullptr) throw CudaFailure(CudaError::invalid_symbol);
        const std::span<std::byte> bytes = module->loaded->bytes(*symbol);
        *one.host = bytes.data();
        // Kernels may get the address that the host sees.
        memory_.add_host(
            fmt::format("{} as the host sees it ({})", one.name, memory_.buffers().size()), bytes);
    }
}

void Runtime::place_all_managed() {
    for (const auto& [handle, module] : modules_) place_managed(module.get());
}

Function* Runtime::function(const void* handle) {
    const auto found = functions_.find(handle);
    if (found != functions_.end()) return found->second.get();
    if (!handles_.contains(handle)) return nullptr;
    return static_cast<Function*>(const_cast<void*>(handle));
}

const isa::Kernel& Runtime::kernel_of(Function& function) {
    if (function.kernel != nullptr) return *function.kernel;
    load(*function.module);
    for (const isa::Kernel& one : function.module->code->file.cubin.kernels)
        if (one.name == function.name && !one.is_function) function.kernel = &one;
    if (function.kernel == nullptr) throw CudaFailure(CudaError::invalid_device_function);
    return *function.kernel;
}

Runtime::PlacedVariable Runtime::variable(const void* handle) {
    const auto found = variables_.find(handle);
    if (found == variables_.end()) throw CudaFailure(CudaError::invalid_symbol);
    Module& module = *found->second.module;
    load(module);
    const isa::Symbol* const symbol = module.loaded->symbol(found->second.name);
    if (symbol == nullptr) throw CudaFailure(CudaError::invalid_symbol);
    const bool constant = symbol->space == isa::Space::constant;
    return {.address = symbol->address + (constant ? module.loaded->bank_3_address() : 0),
            .bytes = module.loaded->bytes(*symbol)};
}

std::uint64_t Runtime::free_bytes() const {
    return facts_.memory_bytes - std::min(device_bytes_, facts_.memory_bytes);
}

std::uint64_t Runtime::allocate(MemoryKind kind, std::size_t size) {
    if (size == 0) return 0;
    if (kind != MemoryKind::pinned && size > free_bytes()) {
        tell(fmt::format("{}: {} bytes do not fit: {} of the {} bytes of {} are in use",
                         call_of(kind), size, device_bytes_, facts_.memory_bytes, facts_.name));
        throw CudaFailure(CudaError::memory_allocation);
    }
    const std::string name = fmt::format("{} {}", call_of(kind), ++allocated_);
    Allocation one{.kind = kind, .size = size};
    if (kind == MemoryKind::device) {
        try {
            const isa::GlobalMemory::Buffer& buffer = memory_.add(name, size);
            one.address = buffer.address;
            if (shadow_) shadow_->begins_unwritten(buffer);
        } catch (const InputError& error) {
            tell(error.what());
            throw CudaFailure(CudaError::memory_allocation);
        }
    } else {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        one.mapping_size = (size + page - 1) / page * page + guard_bytes;
        one.mapping = mmap(nullptr, one.mapping_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (one.mapping == MAP_FAILED) throw CudaFailure(CudaError::memory_allocation);
        one.address = reinterpret_cast<std::uint64_t>(one.mapping);
        freed_.erase(one.address);
        memory_.add_host(name, {static_cast<std::byte*>(one.mapping), size});
    }
    if (kind != MemoryKind::pinned) device_bytes_ += size;
    allocations_[one.address] = one;
    return one.address;
}

void* Runtime::register_host(void* begin, std::size_t size) {
    if (begin == nullptr || size == 0) throw CudaFailure(CudaError::invalid_value);
    try {
        memory_.add_host(fmt::format("{} {}", call_of(MemoryKind::registered), ++allocated_),
                         {static_cast<std::byte*>(begin), size});
    } catch (const InputError&) {
        throw CudaFailure(CudaError::host_memory_already_registered);
    }
    const auto address = reinterpret_cast<std::uint64_t>(begin);
    allocations_[address] = {.kind = MemoryKind::registered, .address = address, .size = size};
    return begin;
}

void Runtime::unmap(const Allocation& one) {
    const isa::GlobalMemory::Buffer* const buffer = memory_.find(one.address, one.size);
    if (buffer != nullptr) {
        effects_.changed(buffer->address);
        if (shadow_) shadow_->remove(*buffer);
        memory_.remove(*buffer);
    }
    if (one.mapping != nullptr) munmap(one.mapping, one.mapping_size);
    if (one.kind == MemoryKind::device || one.kind == MemoryKind::managed)
        device_bytes_ -= one.size;
}

void Runtime::release(std::uint64_t address, std::initializer_list<MemoryKind> kinds) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() ||
        std::ranges::find(kinds, found->second.kind) == kinds.end()) {
        if (const std::string freed = freed_before(address); !freed.empty())
            memory_error(fmt::format("{:#x} is freed a second time: {}", address, freed));
        throw CudaFailure(CudaError::invalid_value);
    }
    unmap(found->second);
    history_.forget(address, found->second.size);
    if (freed_.size() < most_freed) freed_[address] = found->second.size;
    allocations_.erase(found);
}

const Allocation* Runtime::allocation(std::uint64_t address) const {
    auto behind = allocations_.upper_bound(address);
    if (behind == allocations_.begin()) return nullptr;
    const Allocation& one = (--behind)->second;
    return address - one.address < one.size ? &one : nullptr;
}

std::string Runtime::freed_before(std::uint64_t address) const {
    auto behind = freed_.upper_bound(address);
    if (behind == freed_.begin()) return {};
    --behind;
    if (address - behind->first >= behind->second) return {};
    return fmt::format("{} bytes from {:#x} on were freed before", behind->second, behind->first);
}

bool Runtime::is_device(const void* address) const {
    const auto number = reinterpret_cast<std::uint64_t>(address);
    if (memory_.find(number, 1) != nullptr || !freed_before(number).empty()) return true;
    return false;
}

std::span<std::byte> Runtime::bytes_at(const void* address, std::size_t size, Side side,
                                       const char* call) {
    const auto number = reinterpret_cast<std::uint64_t>(address);
    if (size == 0) return {};
    if (const isa::GlobalMemory::Buffer* const one = memory_.find(number, size))
        return isa::GlobalMemory::bytes(*one).subspan(number - one->address, size);
    if (const isa::GlobalMemory::Buffer* const one = memory_.find(number, 1)) {
        // Pinned memory may be a part of what the host copies.
        const bool is_host = reinterpret_cast<std::uint64_t>(one->data) == one->address;
        if (!is_host || side == Side::device) {
            memory_error(
                fmt::format("{}: {} bytes at {:#x} end {} bytes past the end of buffer '{}' "
                            "({} bytes from {:#x} on)",
                            call, size, number, number + size - one->address - one->size, one->name,
                            one->size, one->address));
            throw CudaFailure(CudaError::invalid_value);
        }
    }
    if (side == Side::device || !freed_before(number).empty() || address == nullptr) {
        const std::string freed = freed_before(number);
        memory_error(fmt::format("{}: no memory of the device is at {:#x}{}{}", call, number,
                                 freed.empty() ? "" : ": ", freed));
        throw CudaFailure(CudaError::invalid_value);
    }
    return {static_cast<std::byte*>(const_cast<void*>(address)), size};
}

void Runtime::touched_by_copy(const void* to, std::size_t size) {
    const auto address = reinterpret_cast<std::uint64_t>(to);
    const Allocation* const of = allocation(address);
    if (of != nullptr ? of->kind == MemoryKind::device : is_device(to))
        history_.touched(address, size, size);
}

namespace {

std::uint64_t word(std::span<const std::byte> from, std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, &from[at], sizeof(value));
    return value;
}

// Where the parameters have a pointer into the range's allocation: the nearest in front of it.
std::optional<std::size_t> pointer_to(const TouchedRange& range,
                                      std::span<const std::byte> parameters) {
    std::optional<std::size_t> found;
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= parameters.size();
         at += sizeof(std::uint64_t)) {
        const std::uint64_t pointer = word(parameters, at);
        if (pointer - range.of >= range.of_size || pointer > range.begin) continue;
        if (!found || pointer > word(parameters, *found)) found = at;
    }
    return found;
}

}  // namespace

std::vector<TouchedRange> Runtime::ranges_of(const std::vector<std::uint64_t>& lines,
                                             double lines_each,
                                             std::span<const std::byte> parameters) const {
    constexpr double most_lines_apart = 64;  // of one range, where each line was looked at
    constexpr std::size_t most_ranges = 4096;
    const auto gap = static_cast<std::uint64_t>(most_lines_apart * lines_each);
    const auto each = static_cast<std::uint64_t>(lines_each * extract::line_bytes);
    std::vector<TouchedRange> ranges;
    const Allocation* of = nullptr;
    double count = 0;
    std::uint64_t last = 0;
    for (const std::uint64_t line : lines) {
        const std::uint64_t address = line * extract::line_bytes;
        const bool within = of != nullptr && address < of->address + of->size;
        if (!within) of = allocation(address);
        if (of == nullptr) continue;
        if (!within || (line - last > gap && ranges.size() < most_ranges)) {
            ranges.push_back({.begin = std::max(address, of->address),
                              .kind = of->kind,
                              .of = of->address,
                              .of_size = of->size});
            count = 0;
        }
        last = line;
        TouchedRange& range = ranges.back();
        range.size = std::min(address + each, of->address + of->size) - range.begin;
        count += static_cast<double>(each);
        range.bytes = static_cast<std::uint64_t>(std::min(count, static_cast<double>(range.size)));
    }
    // As launches are compared range by range, whatever addresses their buffers have.
    std::ranges::stable_sort(ranges, {},
                             [&](const TouchedRange& one) { return pointer_to(one, parameters); });
    return ranges;
}

std::vector<double> Runtime::cached_shares(const std::vector<TouchedRange>& ranges) const {
    double all = 0;
    std::vector<double> cached;
    for (const TouchedRange& one : ranges) {
        const auto bytes = static_cast<double>(one.bytes);
        const std::optional<std::uint64_t> since = history_.since(one.begin);
        const bool held = since && static_cast<double>(*since) <= facts_.l2_bytes.value_or(0);
        cached.push_back(held ? bytes : 0);
        all += bytes;
    }
    for (double& one : cached) one = all == 0 ? 0 : one / all;
    return cached;
}

std::vector<TouchedRange> Runtime::ranges_with(const KnownShape& known,
                                               std::span<const std::byte> parameters) const {
    std::vector<TouchedRange> ranges;
    for (TouchedRange one : known.touched) {
        if (const auto at = pointer_to(one, known.parameters))
            one.begin += word(parameters, *at) - word(known.parameters, *at);
        const Allocation* const in = allocation(one.begin);
        if (in == nullptr) continue;
        one.kind = in->kind;
        one.size = std::min(one.size, in->address + in->size - one.begin);
        one.bytes = std::min(one.bytes, one.size);
        ranges.push_back(one);
    }
    return ranges;
}

std::string Runtime::without_addresses(std::span<const std::byte> parameters) const {
    std::string text(parameters.size(), '\0');
    if (!parameters.empty()) std::memcpy(text.data(), parameters.data(), parameters.size());
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= text.size();
         at += sizeof(std::uint64_t)) {
        std::uint64_t value = 0;
        std::memcpy(&value, text.data() + at, sizeof(value));
        if (allocation(value) != nullptr) std::fill_n(text.begin() + at, sizeof(value), '\0');
    }
    return text;
}

void Runtime::changed_at(std::uint64_t address) {
    const isa::GlobalMemory::Buffer* const buffer = memory_.find(address, 1);
    if (buffer != nullptr) effects_.changed(buffer->address);
}

void Runtime::written(const void* to, std::size_t size) {
    touched_by_copy(to, size);
    changed_at(reinterpret_cast<std::uint64_t>(to));
    if (shadow_) shadow_->set_written(reinterpret_cast<std::uint64_t>(to), size);
}

void Runtime::copied_bytes(const void* to, const void* from, std::size_t size) {
    touched_by_copy(from, size);
    touched_by_copy(to, size);
    changed_at(reinterpret_cast<std::uint64_t>(to));
    if (!shadow_) return;
    shadow_->copied(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from),
                    size);
}

void Runtime::enter() {
    if (!settings_.predicted_clock || entered_++ > 0) return;
    const std::int64_t now = occupipe_clock_stop();
    if (!clock_origin_) clock_origin_ = now;
    host_clock_ = std::max(host_clock_, 1e-9 * static_cast<double>(now - *clock_origin_));
    entered_at_ = host_clock_;
}

void Runtime::leave() {
    if (!settings_.predicted_clock || --entered_ > 0) return;
    occupipe_clock_go_on(std::llround(1e9 * (host_clock_ - entered_at_)));
}

Stream* Runtime::stream(void* handle) {
    // The default stream: of the process, or of a thread.
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return &default_stream_;
    const auto found = streams_.find(handle);
    return found == streams_.end() ? nullptr : found->second.get();
}

Stream* Runtime::add_stream(unsigned flags, int priority) {
    auto one = std::make_unique<Stream>();
    one->clock = host_clock_;
    one->flags = flags;
    one->priority = priority;
    one->number = ++stream_numbers_;
    Stream* const handle = one.get();
    streams_[handle] = std::move(one);
    return handle;
}

void Runtime::remove_stream(Stream* stream) { streams_.erase(stream); }

double Runtime::advance(Stream& stream, double seconds) {
    constexpr unsigned non_blocking = 1;
    double begin = std::max(stream.clock, host_clock_);
    if (&stream == &default_stream_) {
        for (const auto& [handle, other] : streams_)
            if ((other->flags & non_blocking) == 0) begin = std::max(begin, other->clock);
    } else if ((stream.flags & non_blocking) == 0) {
        begin = std::max(begin, default_stream_.clock);
    }
    stream.clock = begin + seconds;
    return begin;
}

void Runtime::wait(double clock) { host_clock_ = std::max(host_clock_, clock); }
void Runtime::wait(const Stream& stream) { wait(stream.clock); }

void Runtime::wait_for_all() {
    wait(default_stream_);
    for (const auto& [handle, one] : streams_) wait(*one);
}

void Runtime::copied(CopyKind kind, std::size_t bytes, Stream& stream, bool asynchronous) {
    Copies& sum = copies_[kind];
    ++sum.count;
    sum.bytes += bytes;
    const bool crosses = kind == CopyKind::host_to_device || kind == CopyKind::device_to_host;
    double seconds = 0;
    if (crosses) {
        seconds = static_cast<double>(bytes) / facts_.link_bytes_per_second;
    } else if (facts_.dram_bytes_per_second) {
        const double moved = kind == CopyKind::device_to_device ? 2.0 : 1.0;
        seconds = moved * static_cast<double>(bytes) / *facts_.dram_bytes_per_second;
    }
    const double start = advance(stream, seconds);
    if (settings_.trace)
        journal().span({.stream = stream.number,
                        .kernel = "",
                        .copy = kind,
                        .bytes = bytes,
                        .start = start,
                        .seconds = seconds,
                        .predicted = crosses || facts_.dram_bytes_per_second.has_value()});
    if (!asynchronous) wait(stream);
}

Event* Runtime::add_event(unsigned flags) {
    auto one = std::make_unique<Event>();
    one->flags = flags;
    Event* const handle = one.get();
    events_[handle] = std::move(one);
    return handle;
}

void Runtime::remove_event(Event* event) { events_.erase(event); }

void Runtime::reset() {
    for (const auto& [address, one] : allocations_) unmap(one);
    allocations_.clear();
    memory_.remove_heap();
    history_ = {};
    effects_.forget();
    for (auto& [shape, known] : known_) known.touched.clear();
    streams_.clear();
    events_.clear();
    sticky_ = CudaError::success;
    for (const auto& [host, function] : functions_) function->kernel = nullptr;
    for (const auto& [handle, module] : modules_) {
        module->loaded.reset();
        module->managed_placed = false;
    }
}

void Runtime::at_exit() {
    const std::scoped_lock lock(mutex_);
    if (journal_ && journal_process_ == getpid()) journal_->copies(copies_);
}

}  // namespace occupipe::program
