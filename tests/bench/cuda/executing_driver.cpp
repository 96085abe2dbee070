// SPDX-License-Identifier: MIT
// A driver that executes the machine code that it is given on the host (isa/machine), as a GPU of
// compute capability 7.5: what forwarding_libcuda.cpp forwards to. A launch takes a nanosecond per
// warp-instruction and group that a core holds at once; graphs and textures are refused.
#include "tests/bench/cuda/executing_driver.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/occupancy.h"
#include "isa/machine/machine.h"

namespace {

using namespace occupipe;
using Result = int;

constexpr Result ok = 0, invalid_value = 1, out_of_memory = 2, invalid_image = 200, not_found = 500,
                 illegal_address = 700, launch_failed = 719, unsupported = 801;
constexpr int architecture = 75;

struct Function {
    struct Module* module = nullptr;
    const isa::Kernel* kernel = nullptr;
    int most_shared = 48 * 1024;  // dynamic
};
struct Module {
    isa::Cubin cubin;
    std::map<std::string, Function> functions;
};

struct State {
    isa::GlobalMemory memory;
    std::map<unsigned long long, const isa::GlobalMemory::Buffer*> live;
    int buffers = 0;
    double seconds = 0;  // of all launches
    std::map<void*, double> events;
    Result sticky = ok;
};
State& state() {
    static State one;
    return one;
}

// The host's bytes of an address range on the device; nullptr: not all of it is a buffer's.
std::byte* host(unsigned long long address, std::size_t bytes) {
    const isa::GlobalMemory::Buffer* const found = state().memory.find(address, bytes);
    return found && state().live.contains(found->address) ? found->data + (address - found->address)
                                                          : nullptr;
}

// An ELF file's section headers stand at its end.
std::size_t size_of_image(const void* image) {
    std::uint64_t sections = 0;
    std::uint16_t size = 0, count = 0;
    const auto* const bytes = static_cast<const char*>(image);
    std::memcpy(&sections, bytes + 40, sizeof sections);
    std::memcpy(&size, bytes + 58, sizeof size);
    std::memcpy(&count, bytes + 60, sizeof count);
    std::uint64_t end = sections + std::uint64_t{size} * count;
    std::uint64_t programs = 0;
    std::memcpy(&programs, bytes + 32, sizeof programs);
    std::memcpy(&size, bytes + 54, sizeof size);
    std::memcpy(&count, bytes + 56, sizeof count);
    return std::max(end, programs + std::uint64_t{size} * count);
}

}  // namespace

std::optional<std::size_t> occupipe::test::spoilt_byte;

extern "C" {
Result executing_cuInit(unsigned) { return ok; }
Result executing_cuDriverGetVersion(int* version) {
    *version = 13000;
    return ok;
}
Result executing_cuGetErrorName(Result result, const char** name) {
    *name = result == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
    return ok;
}
Result executing_cuDeviceGetCount(int* count) {
    *count = 1;
    return ok;
}
Result executing_cuDeviceGet(int* device, int ordinal) {
    *device = 0;
    return ordinal == 0 ? ok : invalid_value;
}
Result executing_cuDeviceGetName(char* name, int size, int) {
    std::strncpy(name, "Executed Turing", static_cast<std::size_t>(size));
    return ok;
}
Result executing_cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = std::size_t{8} << 30;
    return ok;
}
Result executing_cuDeviceGetAttribute(int* value, int attribute, int) {
    static const std::map<int, int> values = {
        {1, 1024},   {10, 32},      {13, 1620000}, {16, 36}, {32, 0}, {36, 7001000},
        {37, 256},   {38, 4 << 20}, {39, 1024},    {75, 7},  {76, 5}, {81, 65536},
        {82, 65536}, {97, 65536},   {106, 16},     {111, 0}};
    const auto found = values.find(attribute);
    if (found == values.end()) return invalid_value;
    *value = found->second;
    return ok;
}
Result executing_cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &state();
    return ok;
}
Result executing_cuDevicePrimaryCtxRelease_v2(int) { return ok; }
Result executing_cuCtxSetCurrent(void*) { return state().sticky; }

Result executing_cuModuleLoadData(Module** module, const void* image) {
    if (std::memcmp(image, "\177ELF", 4) != 0) return invalid_image;
    auto made = std::make_unique<Module>();
    try {
        made->cubin = isa::read_cubin({static_cast<const char*>(image), size_of_image(image)});
    } catch (const InputError&) {
        return invalid_image;
    }
    if (made->cubin.architecture != architecture) return invalid_image;
    for (const isa::Kernel& one : made->cubin.kernels)
        made->functions[one.name] = {.module = made.get(), .kernel = &one};
    *module = made.release();
    return ok;
}
Result executing_cuModuleUnload(Module* module) {
    delete module;
    return ok;
}
Result executing_cuModuleGetFunction(Function** function, Module* module, const char* name) {
    const auto found = module->functions.find(name);
    if (found == module->functions.end()) return not_found;
    *function = &found->second;
    return ok;
}
Result executing_cuFuncGetAttribute(int*, int, Function*) { return unsupported; }
Result executing_cuFuncSetAttribute(Function* function, int attribute, int value) {
    const auto own = isa::own_shared_bytes(*function->kernel, architecture);
    if (attribute != 8 || value < 0 || value + own > 65536) return invalid_value;
    function->most_shared = value;
    return ok;
}
Result executing_cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, Function*, int, std::size_t) {
    return unsupported;
}
Result executing_cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz,
                                unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                void* stream, void** arguments, void** extra) {
    if (state().sticky != ok) return state().sticky;
    if (stream || extra || static_cast<int>(shared) > function->most_shared) return invalid_value;
    const isa::Kernel& kernel = *function->kernel;
    std::vector<std::byte> parameters(static_cast<std::size_t>(kernel.bank_0_bytes.value_or(0)));
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const isa::Parameter& one = kernel.parameters[i];
        std::memcpy(parameters.data() + one.offset, arguments[i],
                    static_cast<std::size_t>(one.size));
    }
    try {
        isa::LoadedModule module(function->module->cubin, state().memory);
        const isa::Execution ran = isa::execute(
            module, kernel,
            {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared_bytes = shared},
            parameters);
        // Few groups at once hide less of what they wait for.
        const int groups =
            occupancy(occupancy_limits(architecture),
                      {.group_threads = static_cast<int>(bx * by * bz),
                       .registers = static_cast<int>(kernel.registers.value_or(0)),
                       .shared_bytes = isa::own_shared_bytes(kernel, architecture) + shared})
                .groups;
        if (groups == 0) return launch_failed;
        state().seconds += 1e-9 * static_cast<double>(ran.warp_instructions) / groups;
    } catch (const InputError&) {
        return state().sticky = illegal_address;
    }
    return ok;
}

Result executing_cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
    if (bytes == 0 || bytes > std::size_t{8} << 30) return out_of_memory;
    const auto& buffer = state().memory.add(std::to_string(++state().buffers), bytes);
    *address = buffer.address;
    state().live[buffer.address] = &buffer;
    return ok;
}
Result executing_cuMemFree_v2(unsigned long long address) {
    return state().live.erase(address) == 1 ? ok : invalid_value;
}
Result executing_cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
    std::byte* const at = host(to, bytes);
    if (!at) return invalid_value;
    std::memcpy(at, from, bytes);
    return state().sticky;
}
Result executing_cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
    const std::byte* const at = host(from, bytes);
    if (!at) return invalid_value;
    std::memcpy(to, at, bytes);
    if (occupipe::test::spoilt_byte && *occupipe::test::spoilt_byte < bytes)
        static_cast<unsigned char*>(to)[*occupipe::test::spoilt_byte] ^= 0x40;
    return state().sticky;
}
Result executing_cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
    std::byte* const at = host(to, bytes);
    if (!at) return invalid_value;
    std::memset(at, value, bytes);
    return ok;
}

Result executing_cuEventCreate(void** event, unsigned) {
    *event = new char;
    return ok;
}
Result executing_cuEventDestroy_v2(void* event) {
    state().events.erase(event);
    delete static_cast<char*>(event);
    return ok;
}
Result executing_cuEventRecord(void* event, void*) {
    state().events[event] = state().seconds;
    return state().sticky;
}
Result executing_cuEventQuery(void*) { return state().sticky; }
Result executing_cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = static_cast<float>((state().events.at(end) - state().events.at(begin)) * 1e3);
    return ok;
}

Result executing_cuStreamCreate(void**, unsigned) { return unsupported; }
Result executing_cuStreamDestroy_v2(void*) { return unsupported; }
Result executing_cuStreamBeginCapture_v2(void*, int) { return unsupported; }
Result executing_cuStreamEndCapture(void*, void**) { return unsupported; }
Result executing_cuGraphInstantiateWithFlags(void**, void*, unsigned long long) {
    return unsupported;
}
Result executing_cuGraphLaunch(void*, void*) { return unsupported; }
Result executing_cuGraphExecDestroy(void*) { return unsupported; }
Result executing_cuGraphDestroy(void*) { return unsupported; }
Result executing_cuTexObjectCreate(unsigned long long*, const void*, const void*, const void*) {
    return unsupported;
}
Result executing_cuTexObjectDestroy(unsigned long long) { return unsupported; }
}
