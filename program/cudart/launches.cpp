// SPDX-License-Identifier: MIT
// Launches, and what programs ask of kernels.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/launch_plan.h"
#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

std::vector<CallConfiguration>& configurations() {
    thread_local std::vector<CallConfiguration> all;
    return all;
}

CallConfiguration configuration(Dim3 grid, Dim3 block, std::size_t shared_bytes, void* stream) {
    return {.grid = {grid.x, grid.y, grid.z},
            .block = {block.x, block.y, block.z},
            .shared_bytes = shared_bytes,
            .stream = stream};
}

Function& function_of(Runtime& runtime, const void* handle) {
    Function* const found = runtime.function(handle);
    require(found != nullptr, CudaError::invalid_device_function);
    return *found;
}

// Of cudaLaunchKernelExC.
struct LaunchAttribute {
    int id;
    alignas(8) unsigned char value[64];
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfiguration {
    Dim3 grid, block;
    std::size_t shared_bytes;
    void* stream;
    const LaunchAttribute* attributes;
    unsigned attribute_count;
};
static_assert(sizeof(LaunchConfiguration) == 56);
constexpr int cooperative_attribute = 2, cluster_attribute = 4;

struct FunctionAttributes {
    std::size_t shared_bytes, constant_bytes, local_bytes;
    int most_threads, registers, ptx_version, binary_version, cache_mode, most_dynamic_shared_bytes,
        preferred_carveout;
    int rest[23];
};
static_assert(sizeof(FunctionAttributes) == 144);
constexpr int set_dynamic_shared = 8, set_carveout = 9;

GroupNeeds needs_of(const Function& function, const isa::Kernel& kernel, int threads,
                    std::size_t shared_bytes) {
    const int architecture = *function.module->code->file.cubin.architecture;
    return {.group_threads = threads,
            .registers = kernel.registers.value_or(0),
            .shared_bytes = isa::own_shared_bytes(kernel, architecture) +
                            static_cast<std::int64_t>(shared_bytes),
            .barriers = kernel.barriers.value_or(0)};
}

int resident_groups(const Runtime& runtime, const GroupNeeds& needs) {
    try {
        return occupancy(runtime.facts().limits, needs).groups;
    } catch (const InputError&) {
        return 0;  // not one fits
    }
}

void launch(Runtime& runtime, const void* handle, const CallConfiguration& configuration,
            void** arguments, bool cooperative = false) {
    runtime.launch(function_of(runtime, handle), configuration, arguments, cooperative);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes,
                                     void* stream) {
    configurations().push_back(configuration(grid, block, shared_bytes, stream));
    return 0;
}

CudaError __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes,
                                     void* stream) {
    return call<Needs::nothing>("__cudaPopCallConfiguration", [&](Runtime&) {
        require(!configurations().empty(), CudaError::missing_configuration);
        const CallConfiguration one = configurations().back();
        configurations().pop_back();
        *grid = {one.grid[0], one.grid[1], one.grid[2]};
        *block = {one.block[0], one.block[1], one.block[2]};
        *shared_bytes = one.shared_bytes;
        std::memcpy(stream, &one.stream, sizeof one.stream);
    });
}

CudaError cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments,
                           std::size_t shared_bytes, void* stream) {
    return call("cudaLaunchKernel", [&](Runtime& runtime) {
        launch(runtime, function, configuration(grid, block, shared_bytes, stream), arguments);
    });
}

CudaError __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                             std::size_t shared_bytes, void* stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

CudaError cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** arguments,
                                      std::size_t shared_bytes, void* stream) {
    return call("cudaLaunchCooperativeKernel", [&](Runtime& runtime) {
        launch(runtime, function, configuration(grid, block, shared_bytes, stream), arguments,
               true);
    });
}

CudaError cudaLaunchKernelExC(const LaunchConfiguration* config, const void* function,
                              void** arguments) {
    return call("cudaLaunchKernelExC", [&](Runtime& runtime) {
        require(config != nullptr);
        bool cooperative = false;
        for (unsigned i = 0; i < config->attribute_count; ++i) {
            const LaunchAttribute& one = config->attributes[i];
            unsigned words[3];
            std::memcpy(words, one.value, sizeof words);
            if (one.id == cooperative_attribute) cooperative = words[0] != 0;
            if (one.id != cluster_attribute) continue;
            if (words[0] * words[1] * words[2] > 1) {
                runtime.refuse("cudaLaunchKernelExC with clusters of groups");
                throw CudaFailure(CudaError::not_supported);
            }
        }
        launch(runtime, function,
               configuration(config->grid, config->block, config->shared_bytes, config->stream),
               arguments, cooperative);
    });
}

CudaError __cudaGetKernel(const void** kernel, const void* function) {
    return call<Needs::nothing>(
        "__cudaGetKernel", [&](Runtime& runtime) { *kernel = &function_of(runtime, function); });
}

CudaError cudaGetKernel(const void** kernel, const void* function) {
    return __cudaGetKernel(kernel, function);
}

CudaError cudaGetFuncBySymbol(const void** handle, const void* function) {
    return __cudaGetKernel(handle, function);
}

CudaError cudaFuncGetName(const char** name, const void* function) {
    return call("cudaFuncGetName", [&](Runtime& runtime) {
        require(name != nullptr);
        *name = function_of(runtime, function).name.c_str();
    });
}

CudaError cudaFuncGetAttributes(FunctionAttributes* out, const void* handle) {
    return call("cudaFuncGetAttributes", [&](Runtime& runtime) {
        require(out != nullptr);
        Function& function = function_of(runtime, handle);
        const isa::Kernel& kernel = runtime.kernel_of(function);
        const int architecture = *function.module->code->file.cubin.architecture;
        *out = {};
        out->shared_bytes = static_cast<std::size_t>(isa::own_shared_bytes(kernel, architecture));
        const auto constants = function.module->loaded->bank(3, kernel.name);
        out->constant_bytes = constants.size();
        out->local_bytes = static_cast<std::size_t>(kernel.stack_bytes.value_or(0));
        out->registers = kernel.registers.value_or(0);
        // As many whole warps as the registers of a core are enough for.
        int threads = static_cast<int>(
            std::min<std::uint64_t>(most_group_threads, kernel.most_threads.value_or(~0ULL)));
        while (threads > 0 && resident_groups(runtime, needs_of(function, kernel, threads, 0)) == 0)
            threads -= OccupancyLimits::warp_threads;
        out->most_threads = threads;
        out->ptx_version = out->binary_version = architecture;
        out->most_dynamic_shared_bytes = function.most_dynamic_shared_bytes;
        out->preferred_carveout = function.carveout;
    });
}

CudaError cudaFuncSetAttribute(const void* handle, int attribute, int value) {
    return call("cudaFuncSetAttribute", [&](Runtime& runtime) {
        Function& function = function_of(runtime, handle);
        if (attribute == set_dynamic_shared) {
            const isa::Kernel& kernel = runtime.kernel_of(function);
            const GroupNeeds needs =
                needs_of(function, kernel, 1, static_cast<std::size_t>(std::max(value, 0)));
            require(value >= 0 && needs.shared_bytes <= runtime.facts().limits.group_shared_bytes);
            function.most_dynamic_shared_bytes = value;
        } else if (attribute == set_carveout) {
            require(value >= -1 && value <= 100);
            function.carveout = value;
        } else {
            require(attribute >= 10 && attribute <= 15);
        }
    });
}

// Hints, which change no result and which no prediction looks at.
CudaError cudaFuncSetCacheConfig(const void* handle, int) {
    return call("cudaFuncSetCacheConfig", [&](Runtime& runtime) { function_of(runtime, handle); });
}
CudaError cudaFuncSetSharedMemConfig(const void* handle, int) {
    return call("cudaFuncSetSharedMemConfig",
                [&](Runtime& runtime) { function_of(runtime, handle); });
}

CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* handle,
                                                                 int threads,
                                                                 std::size_t shared_bytes,
                                                                 unsigned) {
    return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
        require(blocks != nullptr && threads > 0);
        Function& function = function_of(runtime, handle);
        const isa::Kernel& kernel = runtime.kernel_of(function);
        *blocks = resident_groups(runtime, needs_of(function, kernel, threads, shared_bytes));
    });
}

CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* handle,
                                                        int threads, std::size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads,
                                                                  shared_bytes, 0);
}

CudaError cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* handle,
                                                    int blocks, int threads) {
    return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Runtime& runtime) {
        require(bytes != nullptr && blocks > 0 && threads > 0);
        Function& function = function_of(runtime, handle);
        const isa::Kernel& kernel = runtime.kernel_of(function);
        const auto fits = [&](std::size_t shared) {
            return resident_groups(runtime, needs_of(function, kernel, threads, shared)) >= blocks;
        };
        require(fits(0));
        std::size_t enough = 0,
                    most = static_cast<std::size_t>(runtime.facts().limits.shared_bytes);
        while (enough < most) {
            const std::size_t middle = (enough + most + 1) / 2;
            if (fits(middle))
                enough = middle;
            else
                most = middle - 1;
        }
        *bytes = enough;
    });
}

}  // extern "C"

}  // namespace occupipe::program
