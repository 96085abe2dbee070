// SPDX-License-Identifier: MIT
// What nvcc would make of a host program with the kernel `sums`, written by hand: it registers a
// fat binary that is stored, so that no toolkit is needed. Arguments: the file, and what to do.
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
struct Size {
    unsigned x, y, z;
};
void** __cudaRegisterFatBinary(const void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
int cudaLaunchKernel(const void*, Size, Size, void**, std::size_t, void*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync_ptsz(void*, const void*, std::size_t, int, void*);
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaGraphCreate(void**, unsigned);
int cudaGetDeviceCount(int*);
int cudaPointerGetAttributes(void*, const void*);
int cudaRuntimeGetVersion(int*);
#if OCCUPIPE_CUDA_VERSION == 12
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
int cudaMemPrefetchAsync(const void*, std::size_t, int, void*);
int cudaThreadSynchronize();
#endif
int cudaGetDeviceProperties(void*, int);
int cudaEventCreate(void**);
int cudaEventRecord(void*, void*);
int cudaEventElapsedTime(float*, void*, void*);
const char* cudaGetErrorName(int);
}

namespace {

constexpr int to_device = 1, to_host = 2;
void sums() {}  // its address stands for the kernel

void tell(const char* what, int error) { std::printf("%s: %s\n", what, cudaGetErrorName(error)); }

double seconds_of(const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double real_seconds() {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return seconds_of(now);
}
double chrono_seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}
double day_seconds() {
    timeval now{};
    gettimeofday(&now, nullptr);
    return static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_usec);
}

// Whether the host's timers show what events do, rather than what this machine takes for it.
bool clocks_are_predicted() {
    constexpr int n = 64 * 20000;
    void *of_in = nullptr, *of_out = nullptr, *begin = nullptr, *end = nullptr;
    const std::vector<float> in(n);
    cudaMalloc(&of_in, 4 * n);
    cudaMalloc(&of_out, 4 * n / 64);
    cudaMemcpy(of_in, in.data(), 4 * n, to_device);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    int count = n;
    void* arguments[] = {&of_in, &of_out, &count};
    cudaDeviceSynchronize();
    const double real = real_seconds(), steady = chrono_seconds(), day = day_seconds();
    cudaEventRecord(begin, nullptr);
    for (int i = 0; i < 8; ++i)
        cudaLaunchKernel(reinterpret_cast<const void*>(&sums), {n / 64, 1, 1}, {64, 1, 1},
                         arguments, 0, nullptr);
    const double launched = chrono_seconds() - steady;
    cudaEventRecord(end, nullptr);
    cudaDeviceSynchronize();
    const double real_taken = real_seconds() - real, steady_taken = chrono_seconds() - steady,
                 day_taken = day_seconds() - day;
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    const double predicted = 1e-3 * static_cast<double>(milliseconds);
    std::printf("predicted %g s, steady %g s, of day %g s, before waiting %g s, real %g s\n",
                predicted, steady_taken, day_taken, launched, real_taken);
    const double own = real_taken / 4;  // far less is the host's own
    const auto is_predicted = [&](double taken) {
        return taken > predicted - 1e-6 && taken < predicted + own;
    };
    return is_predicted(steady_taken) && is_predicted(day_taken) && launched < own &&
           std::abs(static_cast<double>(std::time(nullptr)) - day_seconds()) < 1.5;
}

// Whether the groups' sums are right.
bool works(int n, bool beyond, bool copies = true) {
    const auto groups = static_cast<unsigned>((n + 63) / 64);
    std::vector<float> in(static_cast<std::size_t>(n)), out(groups);
    for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i % 7);
    void *of_in = nullptr, *of_out = nullptr;
    tell("malloc", cudaMalloc(&of_in, in.size() * 4));
    tell("malloc", cudaMalloc(&of_out, out.size() * 4));
    if (copies) tell("copy", cudaMemcpy(of_in, in.data(), in.size() * 4, to_device));
    int count = beyond ? n + 64 : n;
    void* arguments[] = {&of_in, &of_out, &count};
    tell("launch",
         cudaLaunchKernel(reinterpret_cast<const void*>(&sums),
                          {beyond ? groups + 1 : groups, 1, 1}, {64, 1, 1}, arguments, 0, nullptr));
    tell("synchronize", cudaDeviceSynchronize());
    tell("copy", cudaMemcpyAsync_ptsz(out.data(), of_out, out.size() * 4, to_host, nullptr));
    tell("free", cudaFree(of_in));
    tell("free", cudaFree(of_out));
    bool right = true;
    for (unsigned group = 0; group < groups; ++group) {
        float sum = 0;
        for (int i = static_cast<int>(group) * 64;
             i < std::min(n, static_cast<int>(group + 1) * 64); ++i)
            sum += 2 * in[static_cast<std::size_t>(i)];
        right = right && sum == out[group];
    }
    return right;
}

// What the runtime of CUDA 12 lays out otherwise, as programs compiled with it read it: places and
// sizes are those of its driver_types.h.
#if OCCUPIPE_CUDA_VERSION == 12
bool has_layout() {
    constexpr std::size_t properties_size = 1032, attributes_size = 24, guard = 64;
    constexpr std::byte untouched{0x5a};
    std::vector<std::byte> bytes(properties_size + guard, untouched);
    tell("properties", cudaGetDeviceProperties(bytes.data(), 0));
    const auto field = [&](std::size_t at) {
        int value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    std::printf("%s\n", reinterpret_cast<const char*>(bytes.data()));
    for (const auto& [name, at] : {std::pair{"maxGridSize[2]", 344},
                                   {"clockRate", 348},
                                   {"totalConstMem", 352},
                                   {"minor", 364},
                                   {"deviceOverlap", 384},
                                   {"multiProcessorCount", 388},
                                   {"canMapHostMemory", 400},
                                   {"surfaceAlignment", 568},
                                   {"memoryClockRate", 608},
                                   {"l2CacheSize", 616},
                                   {"sharedMemPerMultiprocessor", 640},
                                   {"managedMemory", 652},
                                   {"cooperativeLaunch", 688},
                                   {"sharedMemPerBlockOptin", 696},
                                   {"maxBlocksPerMultiProcessor", 712},
                                   {"memoryPoolsSupported", 744}})
        std::printf("%s %d\n", name, field(static_cast<std::size_t>(at)));
    bool right = bytes[properties_size] == untouched;
    void* memory = nullptr;
    tell("malloc", cudaMalloc(&memory, 64));
    std::vector<std::byte> attributes(attributes_size + guard, untouched);
    tell("attributes", cudaPointerGetAttributes(attributes.data(), memory));
    right = right && attributes[attributes_size] == untouched && attributes[0] == std::byte{2};
    tell("prefetch", cudaMemPrefetchAsync(memory, 64, 0, nullptr));
    tell("synchronize", cudaThreadSynchronize());
    int version = 0;
    tell("version", cudaRuntimeGetVersion(&version));
    std::printf("%d\n", version);
    return right;
}
#else
bool has_layout() { return false; }
#endif

// Launched again on what has changed, and on what has not.
bool repeats() {
    void *of_in = nullptr, *of_out = nullptr;
    cudaMalloc(&of_in, 256);
    cudaMalloc(&of_out, 4);
    int count = 64;
    void* arguments[] = {&of_in, &of_out, &count};
    bool right = true;
    for (const float value : {1.0F, 3.0F, 3.0F, 5.0F}) {
        const std::vector<float> in(64, value);
        const float none = 0;
        float sum = 0;
        cudaMemcpy(of_in, in.data(), 256, to_device);
        for (int i = 0; i < 8; ++i) {
            if (i == 6) cudaMemcpy(of_out, &none, 4, to_device);
            cudaLaunchKernel(reinterpret_cast<const void*>(&sums), {1, 1, 1}, {64, 1, 1}, arguments,
                             0, nullptr);
        }
        cudaMemcpy(&sum, of_out, 4, to_host);
        right = right && sum == 128 * value;
    }
    return right;
}

struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 1;
    const char* data = nullptr;
    void* rest = nullptr;
};

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 64;
    std::ifstream file(words[1], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string what = words[2];
    Wrapper wrapper;
    wrapper.data = bytes.data();
    void** const handle = __cudaRegisterFatBinary(&wrapper);
    char name[] = "sums";
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&sums), name, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
    bool right = true;
    int code = 0;
    if (what == "right" || what == "code") right = works(1000, false);
    if (what == "code") code = std::atoi(words[3]);
    if (what == "outside") works(8168, true);
    if (what == "unwritten") works(1000, false, false);
    if (what == "large") right = works(64 * 200'000, false);
    if (what == "repeats") right = repeats();
    if (what == "clock") right = clocks_are_predicted();
    if (what == "closes") {  // and opens a file of its own, which gets a number that is free
        right = works(1000, false);
        for (int file = 3; file < 1024; ++file) close(file);
        std::FILE* const own = std::fopen(words[3], "w");
        right = right && works(2000, false);
        std::fputs("its own\n", own);
        std::fclose(own);
    }
    if (what == "devices") {
        int devices = -1;
        tell("count", cudaGetDeviceCount(&devices));
        std::printf("%d devices\n", devices);
    }
    if (what == "layout") right = has_layout();
    if (what == "refused") {
        void* graph = nullptr;
        tell("graph", cudaGraphCreate(&graph, 0));
        tell("last", cudaGetLastError());
        tell("last", cudaGetLastError());
    }
    if (what == "threads") {
        std::vector<std::thread> threads;
        std::vector<char> all(8);
        for (std::size_t i = 0; i < all.size(); ++i)
            threads.emplace_back(
                [&all, i] { all[i] = works(100 * static_cast<int>(i + 1), false) ? 1 : 0; });
        for (std::thread& one : threads) one.join();
        for (const char one : all) right = right && one == 1;
    }
    if (what == "times") {
        void *begin = nullptr, *end = nullptr;
        float milliseconds = 0;
        tell("event", cudaEventCreate(&begin));
        tell("event", cudaEventCreate(&end));
        tell("record", cudaEventRecord(begin, nullptr));
        right = works(64 * 1000, false);
        tell("record", cudaEventRecord(end, nullptr));
        tell("elapsed", cudaEventElapsedTime(&milliseconds, begin, end));
        right = right && milliseconds > 0.001F && milliseconds < 5;
    }
    if (what == "fork") {
        std::fflush(stdout);
        if (fork() == 0) _exit(works(500, false) ? 5 : 6);
        int status = 0;
        wait(&status);
        std::printf("child: %d\n", WEXITSTATUS(status));
        right = works(1000, false);
    }
    if (what == "abort") {
        works(1000, false);
        std::fflush(stdout);
        std::abort();
    }
    if (what == "often") {
        for (int i = 0; i < 100000; ++i) works(1000, false);
    }
    std::printf("%s\n", right ? "PASS" : "FAIL");
    __cudaUnregisterFatBinary(handle);
    return right ? code : 1;
}
