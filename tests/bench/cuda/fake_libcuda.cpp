// SPDX-License-Identifier: MIT
// A CUDA driver without a GPU: the entry points that bench/cuda uses, with host memory for the
// GPU's, checks of what a real driver would refuse, and kernels that only leave plausible stamps.
// Steered by fake_fault() or, in a process of its own, by the variable OCCUPIPE_FAKE_CUDA: faults
// separated by commas, each NAME, or NAME@N for the N-th kernel of the process (those that start
// there stay); "tell" has a hang say so on the error output. fake_live() tells whether everything
// was given back.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/stamps.h"

// The names and addresses are the driver's.
// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr)

namespace cu = occupipe::bench::cu;
using occupipe::bench::StampHeader;
using occupipe::bench::WarpStamp;
using occupipe::bench::WitnessStamp;

namespace {

using Result = int;
constexpr Result ok = 0, invalid_value = 1, out_of_memory = 2, not_initialised = 3, no_device = 100,
                 invalid_image = 200, invalid_context = 201, not_found = 500, not_ready = 600,
                 launch_failed = 719;

constexpr int cores = 4, sm_shared = 233472, optin_shared = 232448, reserved_shared = 1024;
constexpr int static_shared = 16;

struct Function {
    std::string entry;
    int dynamic_limit = 49152;
    int carveout = -1;
};
struct Module {
    std::map<std::string, Function> functions;
};

std::atomic<bool> hanging = false;  // a kernel does; seen by the tests' other threads

struct State {
    std::string fault = std::getenv("OCCUPIPE_FAKE_CUDA") ? std::getenv("OCCUPIPE_FAKE_CUDA") : "";
    int kernels = 0;  // launched, without witnesses and readers
    int witnesses = 0;
    Result sticky = ok;  // what every call answers from now on
    bool initialised = false;
    int context_users = 0;
    bool current = false;
    std::map<unsigned long long, std::size_t> memory;
    std::set<Module*> modules;
    std::set<void*> events;
    std::set<void*> streams;
    std::set<void*> graphs;  // and executable ones
    std::set<unsigned long long> textures;
    void* capturing = nullptr;
    int captured = 0;
    int graph_launches = 0;
    std::vector<std::uint64_t> last_launch;  // grid, block, shared bytes, in, iterations, start
    int copies_to_device = 0;
    // The table reader's last arguments: first byte, bytes, whether each core reads all of them.
    std::vector<std::uint64_t> last_read;
};
State& state() {
    static State one;
    return one;
}
bool fault(std::string_view name) {
    std::string_view rest = state().fault;
    while (!rest.empty()) {
        std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        const auto at = one.find('@');
        if (one.substr(0, at) != name) continue;
        if (at == std::string_view::npos) return true;
        if (std::atoi(std::string(one.substr(at + 1)).c_str()) == state().kernels) return true;
    }
    return false;
}
bool usable() { return state().initialised && state().current && state().sticky == ok; }
Result unusable() { return state().sticky != ok ? state().sticky : invalid_context; }

// What waits for the GPU waits for ever once a kernel hangs.
void wait_for_kernels() {
    while (hanging) usleep(1000);
}

void hang() {
    hanging = true;
    if (fault("tell")) std::fputs("fake driver: hangs\n", stderr);
}

bool inside(unsigned long long address, std::size_t bytes) {
    auto block = state().memory.upper_bound(address);
    if (block == state().memory.begin()) return false;
    --block;
    return address + bytes <= block->first + block->second;
}

Result make(void** handle, std::set<void*>& live) {
    *handle = new char;
    live.insert(*handle);
    return ok;
}
Result give_back(void* handle, std::set<void*>& live) {
    if (live.erase(handle) == 0) return invalid_value;
    delete static_cast<char*>(handle);
    return ok;
}

int resident_groups(int threads, std::size_t shared) {
    const auto share = static_cast<int>((shared + reserved_shared + 127) / 128 * 128);
    return std::min({32, 2048 / threads, sm_shared / share});
}

double clock_ghz() { return fault("low clock") ? 0.345 : fault("throttled") ? 1.6 : 2; }

// 2 GHz unless the clock is told otherwise.
std::uint64_t witnessed_clocks(std::uint64_t nanoseconds) {
    const double turns = ++state().witnesses;
    if (fault("clock moves")) return nanoseconds + 10'000 * (state().witnesses % 7);
    if (fault("clock rises")) {
        return static_cast<std::uint64_t>(static_cast<double>(nanoseconds) *
                                          std::min(2.0, 0.3 + turns * 1e-3));
    }
    return static_cast<std::uint64_t>(clock_ghz() * static_cast<double>(nanoseconds));
}

void run_kernel(unsigned grid, unsigned block, void** arguments) {
    unsigned long long in = 0, out = 0, stamps = 0;
    int iterations = 0;
    std::uint32_t start = 0;
    std::memcpy(&in, arguments[0], 8);
    std::memcpy(&out, arguments[1], 8);
    std::memcpy(&stamps, arguments[2], 8);
    std::memcpy(&iterations, arguments[3], 4);
    std::memcpy(&start, arguments[4], 4);
    state().last_launch = {
        grid, block, state().last_launch[2], in, static_cast<std::uint64_t>(iterations), start};
    const std::size_t threads = std::size_t{grid} * block;
    // 0x3f in every byte is a finite float and a finite double.
    const std::size_t room = state().memory[out];
    std::memset(reinterpret_cast<void*>(out), 0x3f, std::min(room, threads * 8));
    if (fault("infinite")) {
        const float infinite = 1e30f * 1e30f;
        std::memcpy(reinterpret_cast<void*>(out + 4), &infinite, 4);
    }
    if (fault("unwritten")) std::memset(reinterpret_cast<void*>(out + 12), 0xa5, 8);
    auto* header = reinterpret_cast<StampHeader*>(stamps);
    header->missed = fault("missed") ? 3 : 0;
    auto* warps = reinterpret_cast<WarpStamp*>(stamps + sizeof(StampHeader));
    const unsigned group_warps = block / 32;
    for (unsigned group = 0; group < grid; ++group) {
        for (unsigned w = 0; w < group_warps; ++w) {
            WarpStamp& stamp = warps[group * group_warps + w];
            stamp.core = 7 + group % cores;
            if (fault("placement") && group == 0) stamp.core = 8;
            stamp.slot = group / cores * group_warps + w;
            stamp.start = 1000 * stamp.core + w % 2;
            stamp.stop = stamp.start + 100 * static_cast<std::uint64_t>(iterations);
            // Plain kernels leave none, but nobody looks then.
            for (std::size_t i = 0; i < stamp.checkpoints.size(); ++i)
                stamp.checkpoints[i] = static_cast<std::uint32_t>(
                    stamp.start + 25 * (i + 1) * static_cast<std::uint64_t>(iterations));
            stamp.wall_before = 5000;
            stamp.clock_before = static_cast<std::uint32_t>(stamp.start);
            stamp.wall_stop = 5000 + static_cast<std::uint64_t>(100 / clock_ghz() * iterations);
            if (fault("no stamp") && group == grid - 1) stamp.stop = 0;
        }
    }
}

}  // namespace

extern "C" {

void fake_fault(const char* name) {
    state().fault = name;
    state().kernels = 0;
}
// As if a new process had loaded the driver: what the old one left is gone.
void fake_new_process() {
    for (const auto& [address, bytes] : state().memory) std::free(reinterpret_cast<void*>(address));
    for (Module* module : state().modules) delete module;
    for (const auto* handles : {&state().events, &state().streams, &state().graphs}) {
        for (void* handle : *handles) delete static_cast<char*>(handle);
    }
    state() = State();
    hanging = false;
}
int fake_live() {
    return static_cast<int>(state().memory.size() + state().modules.size() + state().events.size() +
                            state().streams.size() + state().graphs.size() +
                            state().textures.size()) +
           state().context_users;
}
std::uint64_t fake_last_launch(int field) {
    return state().last_launch.at(static_cast<std::size_t>(field));
}

std::uint64_t fake_last_read(int field) {
    return state().last_read.at(static_cast<std::size_t>(field));
}
int fake_resident(int group_warps) {
    return resident_groups(32 * group_warps, state().last_launch.at(2) + static_shared);
}
int fake_hanging() { return hanging ? 1 : 0; }
int fake_kernels() { return state().kernels; }
int fake_copies_to_device() { return state().copies_to_device; }

// NVRTC asks the driver for this one when it finds a driver.
Result cuGetExportTable(const void**, const void*) { return not_found; }
Result cuInit(unsigned flags) {
    if (flags != 0) return invalid_value;
    if (fault("no gpu")) return no_device;
    if (fault("init")) return 803;
    state().initialised = true;
    return ok;
}
Result cuDriverGetVersion(int* version) {
    *version = fault("old") ? 12040 : 13000;
    return ok;
}
Result cuGetErrorName(Result result, const char** name) {
    static const std::map<Result, const char*> names = {
        {invalid_value, "CUDA_ERROR_INVALID_VALUE"}, {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
        {launch_failed, "CUDA_ERROR_LAUNCH_FAILED"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},         {999, "CUDA_ERROR_UNKNOWN"},
        {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
    const auto found = names.find(result);
    if (found == names.end()) return invalid_value;
    *name = found->second;
    return ok;
}
Result cuDeviceGetCount(int* count) {
    *count = 1;
    return state().initialised ? ok : not_initialised;
}
Result cuDeviceGet(int* device, int ordinal) {
    *device = 42;
    return ordinal == 0 ? ok : invalid_value;
}
Result cuDeviceGetName(char* name, int length, int) {
    std::strncpy(name, "Fake H0", static_cast<std::size_t>(length));
    return ok;
}
Result cuDeviceGetPCIBusId(char* id, int length, int) {
    std::strncpy(id, "0000:01:00.0", static_cast<std::size_t>(length));
    return ok;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = 64u << 20;
    return ok;
}
Result cuDeviceGetAttribute(int* value, int attribute, int device) {
    static const std::map<int, int> values = {{1, 1024},     {10, 32},
                                              {13, 1980000}, {16, cores},
                                              {32, 1},       {36, 3201000},
                                              {37, 6144},    {38, 1 << 20},
                                              {39, 2048},    {75, 9},
                                              {76, 0},       {81, sm_shared},
                                              {82, 65536},   {97, optin_shared},
                                              {106, 32},     {111, reserved_shared}};
    const auto found = values.find(attribute);
    if (device != 42 || found == values.end()) return invalid_value;
    *value = attribute == 75 && fault("pascal") ? 6 : found->second;
    return ok;
}
Result cuDevicePrimaryCtxRetain(void** context, int device) {
    if (device != 42) return invalid_value;
    ++state().context_users;
    *context = &state();
    return ok;
}
Result cuDevicePrimaryCtxRelease_v2(int) {
    --state().context_users;
    state().current = false;
    return ok;
}
Result cuCtxSetCurrent(void* context) {
    if (context != &state()) return invalid_context;
    state().current = true;
    return state().sticky;
}
Result cuModuleLoadData(Module** module, const void* image) {
    if (!usable()) return unusable();
    if (std::memcmp(image, "\177ELF", 4) != 0 || fault("old")) return invalid_image;
    *module = new Module;
    for (const char* entry : {"occupipe_kernel", "occupipe_witness", "occupipe_table_reader"}) {
        (*module)->functions[entry].entry = entry;
    }
    state().modules.insert(*module);
    return ok;
}
Result cuModuleUnload(Module* module) {
    wait_for_kernels();
    if (state().modules.erase(module) == 0) return invalid_value;
    delete module;
    return state().sticky;
}
Result cuModuleGetFunction(Function** function, Module* module, const char* name) {
    const auto found = module->functions.find(name);
    if (found == module->functions.end()) return not_found;
    *function = &found->second;
    return ok;
}
Result cuFuncGetAttribute(int* value, int attribute, Function*) {
    if (!usable()) return unusable();
    const bool counts_reserved = fault("static shared memory holds the reserved");
    const std::map<int, int> values = {
        {0, 1024}, {1, static_shared + (counts_reserved ? reserved_shared : 0)}, {3, 0}, {4, 24}};
    const auto found = values.find(attribute);
    if (found == values.end()) return invalid_value;
    *value = found->second;
    return ok;
}
Result cuFuncSetAttribute(Function* function, int attribute, int value) {
    if (!usable()) return unusable();
    if (attribute == 8 && value + static_shared <= optin_shared && value >= 0) {
        function->dynamic_limit = value;
        return ok;
    }
    if (attribute != 9 || value < -1 || value > 100) return invalid_value;
    function->carveout = value;
    return ok;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, Function*, int threads,
                                                   std::size_t shared) {
    if (!usable()) return unusable();
    *groups = fault("registers") ? 0 : resident_groups(threads, shared + static_shared);
    return ok;
}
Result cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void* stream, void** arguments,
                      void** extra) {
    if (!usable()) return unusable();
    if (gy * gz * by * bz != 1 || gx == 0 || bx == 0 || bx > 1024 || stream != state().capturing ||
        extra || static_cast<int>(shared) > function->dynamic_limit) {
        return invalid_value;
    }
    if (stream) {
        ++state().captured;
        return ok;
    }
    if (function->entry == "occupipe_witness") {
        unsigned long long out = 0, nanoseconds = 0;
        std::memcpy(&out, arguments[0], 8);
        std::memcpy(&nanoseconds, arguments[1], 8);
        const WitnessStamp stamp{witnessed_clocks(nanoseconds), nanoseconds, 32};
        std::memcpy(reinterpret_cast<void*>(out), &stamp, sizeof stamp);
        return ok;
    }
    if (function->entry == "occupipe_table_reader") {
        std::uint64_t first = 0, sectors = 0;
        int each_core = 0;
        std::memcpy(&first, arguments[0], 8);
        std::memcpy(&sectors, arguments[1], 8);
        std::memcpy(&each_core, arguments[2], 4);
        if (!inside(first, sectors * 32)) return launch_failed;
        state().last_read = {first, sectors * 32, static_cast<std::uint64_t>(each_core)};
        return ok;
    }
    ++state().kernels;
    if (fault("slow")) usleep(2000);
    if (fault("launch")) return 701;
    if (fault("sticky")) state().sticky = launch_failed;
    if (fault("illegal address")) state().sticky = 700;
    if (fault("hang")) hang();
    if (state().sticky != ok || hanging) return ok;  // seen by what waits for it
    // Every group must be resident at once: the start line waits for all.
    if (resident_groups(static_cast<int>(bx), shared + static_shared) * cores <
        static_cast<int>(gx)) {
        return launch_failed;
    }
    state().last_launch = {gx, bx, shared, 0, 0, 0};
    run_kernel(gx, bx, arguments);
    return ok;
}
Result cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
    if (!usable()) return unusable();
    if (bytes == 0) return invalid_value;
    if (fault("memory")) return out_of_memory;
    void* block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    *address = reinterpret_cast<unsigned long long>(block);
    state().memory[*address] = bytes;
    return ok;
}
Result cuMemFree_v2(unsigned long long address) {
    wait_for_kernels();
    if (state().memory.erase(address) == 0) return invalid_value;
    std::free(reinterpret_cast<void*>(address));
    return ok;
}
Result cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
    if (!usable()) return unusable();
    if (!inside(to, bytes)) return invalid_value;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    ++state().copies_to_device;
    return ok;
}
Result cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
    if (!usable()) return unusable();
    if (!inside(from, bytes)) return invalid_value;
    wait_for_kernels();
    if (fault("copy blocks")) hang();
    wait_for_kernels();
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return ok;
}
Result cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
    if (!usable()) return unusable();
    if (!inside(to, bytes)) return invalid_value;
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return ok;
}
Result cuEventCreate(void** event, unsigned flags) {
    if (flags != 0) return invalid_value;
    return make(event, state().events);
}
Result cuEventDestroy_v2(void* event) { return give_back(event, state().events); }
Result cuEventRecord(void* event, void* stream) {
    if (!usable()) return unusable();
    return state().events.contains(event) && !stream ? ok : invalid_value;
}
Result cuEventSynchronize(void* event) {
    if (fault("execution")) return launch_failed;
    wait_for_kernels();
    if (!usable()) return unusable();
    return state().events.contains(event) ? ok : invalid_value;
}
Result cuEventQuery(void* event) {
    if (fault("execution")) return launch_failed;
    if (!usable()) return unusable();
    if (hanging) return not_ready;
    return state().events.contains(event) ? ok : invalid_value;
}
Result cuStreamCreate(void** stream, unsigned flags) {
    if (!usable()) return unusable();
    if (flags != 0) return invalid_value;
    return make(stream, state().streams);
}
Result cuStreamDestroy_v2(void* stream) {
    if (state().capturing == stream) state().capturing = nullptr;
    return give_back(stream, state().streams);
}
Result cuStreamBeginCapture_v2(void* stream, int mode) {
    if (!state().streams.contains(stream) || mode < 0 || mode > 2) return invalid_value;
    state().capturing = stream;
    state().captured = 0;
    return ok;
}
Result cuStreamEndCapture(void* stream, void** graph) {
    if (state().capturing != stream) return invalid_value;
    state().capturing = nullptr;
    return make(graph, state().graphs);
}
Result cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
    if (fault("graph")) return out_of_memory;
    if (!state().graphs.contains(graph) || flags != 0) return invalid_value;
    return make(executable, state().graphs);
}
Result cuGraphLaunch(void* executable, void* stream) {
    if (!state().graphs.contains(executable) || stream) return invalid_value;
    ++state().graph_launches;
    return ok;
}
Result cuGraphExecDestroy(void* executable) { return give_back(executable, state().graphs); }
Result cuGraphDestroy(void* graph) { return give_back(graph, state().graphs); }
int fake_graph(int field) { return field == 0 ? state().captured : state().graph_launches; }
// A texture's handle is its memory's address.
Result cuTexObjectCreate(unsigned long long* texture, const cu::LinearResource* resource,
                         const cu::TextureDescription* description, const void* view) {
    if (!usable()) return unusable();
    if (resource->type != 2 || resource->format != 3 || resource->channels != 1 ||
        resource->flags != 0 || description->flags != 1 || view || resource->address % 512 != 0 ||
        !inside(resource->address, resource->bytes)) {
        return invalid_value;
    }
    *texture = resource->address;
    state().textures.insert(*texture);
    return ok;
}
Result cuTexObjectDestroy(unsigned long long texture) {
    return state().textures.erase(texture) == 1 ? ok : invalid_value;
}
Result cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    if (from == to) return invalid_value;
    *milliseconds = 0.25f;
    return ok;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)
