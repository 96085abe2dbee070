// SPDX-License-Identifier: MIT
// Runs what 'occupipe validate --dump DIR' wrote, on a machine that has not got Occupipe, and fills
// in the cycles of DIR/launches.csv. One file, nothing but a C++17 compiler and the GPU's driver:
//   c++ -O2 -std=c++17 time_launches.cpp -o time_launches -ldl
//   ./time_launches DIR cuda:0            (or opencl:PLATFORM.DEVICE)
// Each kernel runs at its small size first, and what it leaves is compared with what its machine
// code leaves on the host. Then each line's launch is timed by the driver's own events, the median
// of --repetitions; CUDA's caches hold nothing of its data, as predictions assume. Lines that have
// cycles are left as they are, so that the same command goes on. CUDA's driver (CUDA Driver API)
// and OpenCL 1.2 are opened at run time; no header of theirs is needed.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;
using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(path + ": cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

Words split(const std::string& line, char between) {
    Words words;
    std::istringstream in(line);
    for (std::string word; std::getline(in, word, between);) words.push_back(word);
    if (!line.empty() && line.back() == between) words.emplace_back();
    return words;
}

// ---- What a plan says ---------------------------------------------------------------------------

struct Argument {
    bool is_buffer = false;
    std::size_t buffer = 0, offset = 0;
    Bytes bytes;
};
struct Launch {
    std::string kernel;
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
    std::vector<Argument> arguments;
};
struct Step {
    std::string what;  // launch, repeat, swap, set, copy
    Launch launch;
    std::uint64_t times = 1;
    std::vector<Step> steps;
    std::size_t first = 0, second = 0;  // buffers
    Words fill;
};
struct Buffer {
    std::string type;
    std::uint64_t count = 0;
    Words fill;
};
struct Check {
    std::size_t buffer = 0;
    std::string file;
};
struct Plan {
    std::string code;
    std::vector<Buffer> buffers;
    std::vector<Step> steps;
    std::vector<Check> checks;
};

std::size_t size_of(const std::string& type) {
    if (type == "bf16") return 2;
    return std::stoul(type.substr(1)) / 8;
}

Words from(const Words& words, std::size_t first) {
    return {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()};
}

Plan read_plan(const std::string& path) {
    std::istringstream in(read_file(path));
    Plan plan;
    std::string line;
    if (!std::getline(in, line) || line != "occupipe-plan 1") fail(path + ": is not a plan");
    std::vector<Step> open(1);  // repeats that have not ended; the first holds the whole plan
    while (std::getline(in, line)) {
        const Words w = split(line, ' ');
        const std::string& what = w.at(0);
        const auto number = [&](std::size_t i) { return std::stoull(w.at(i)); };
        if (what == "code") {
            plan.code = w.at(1);
        } else if (what == "buffer") {
            plan.buffers.push_back({w.at(1), number(2), from(w, 3)});
        } else if (what == "check") {
            plan.checks.push_back({number(1), w.at(2)});
        } else if (what == "argument") {
            Argument argument;
            argument.is_buffer = w.at(1) == "buffer";
            if (argument.is_buffer) {
                argument.buffer = number(2);
                argument.offset = number(3);
            } else {
                for (std::size_t i = 0; i + 1 < w.at(2).size(); i += 2)
                    argument.bytes.push_back(
                        static_cast<unsigned char>(std::stoul(w[2].substr(i, 2), nullptr, 16)));
            }
            open.back().steps.back().launch.arguments.push_back(argument);
        } else if (what == "end") {
            Step done = open.back();
            open.pop_back();
            open.back().steps.push_back(done);
        } else {
            Step step;
            step.what = what;
            if (what == "launch") {
                step.launch.kernel = w.at(1);
                for (std::size_t i = 0; i < 3; ++i) {
                    step.launch.grid[i] = static_cast<unsigned>(number(2 + i));
                    step.launch.block[i] = static_cast<unsigned>(number(5 + i));
                }
                step.launch.shared = static_cast<unsigned>(number(8));
            } else if (what == "repeat") {
                step.times = number(1);
                open.push_back(step);
                continue;
            } else if (what == "swap" || what == "copy") {
                step.first = number(1);
                step.second = number(2);
            } else if (what == "set") {
                step.first = number(1);
                step.fill = from(w, 2);
            } else {
                fail(path + ": unknown line '" + line + "'");
            }
            open.back().steps.push_back(step);
        }
    }
    plan.steps = open.front().steps;
    return plan;
}

// ---- What a buffer holds at first ---------------------------------------------------------------

// Output number `index` of splitmix64 whose state begins as `seed`.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

// The upper 64 bits of a product.
std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = 0xffffffffU;
    const std::uint64_t middle = (a >> 32U) * (b & low) + (((a & low) * (b & low)) >> 32U);
    const std::uint64_t other = (a & low) * (b >> 32U) + (middle & low);
    return (a >> 32U) * (b >> 32U) + (middle >> 32U) + (other >> 32U);
}

// From LOW to HIGH, seeded: reals low + u (high - low) in one fused operation, u of 53 bits;
// integers with both ends.
Bytes random_elements(const std::string& type, std::uint64_t count, const Words& fill) {
    const std::size_t size = size_of(type);
    const std::uint64_t seed = std::stoull(fill.at(3));
    Bytes bytes(count * size);
    if (type == "f32" || type == "f64") {
        const double low = std::stod(fill.at(1)), range = std::stod(fill.at(2)) - low;
        for (std::uint64_t i = 0; i < count; ++i) {
            const double share = static_cast<double>(random_bits(seed, i) >> 11U) * 0x1p-53;
            const double value = std::fma(share, range, low);
            const float single = static_cast<float>(value);
            if (type == "f32")
                std::memcpy(&bytes[i * size], &single, size);
            else
                std::memcpy(&bytes[i * size], &value, size);
        }
        return bytes;
    }
    const auto integer = [](const std::string& text) {
        return text.at(0) == '-' ? static_cast<std::uint64_t>(std::stoll(text)) : std::stoull(text);
    };
    const std::uint64_t low = integer(fill.at(1)), span = integer(fill.at(2)) - low + 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random_bits(seed, i);
        const std::uint64_t value = low + (span == 0 ? bits : high_product(bits, span));
        std::memcpy(&bytes[i * size], &value, size);  // little-endian, as GPUs are
    }
    return bytes;
}

Bytes content(const std::string& folder, const Buffer& buffer, const Words& fill) {
    const std::uint64_t size = buffer.count * size_of(buffer.type);
    if (fill.at(0) == "zeros") return Bytes(size);
    if (fill[0] == "random") return random_elements(buffer.type, buffer.count, fill);
    const std::string text = read_file(folder + "/" + fill.at(1));
    if (text.size() != size) fail(fill[1] + ": has another size than its buffer");
    return {text.begin(), text.end()};
}

// ---- Devices ------------------------------------------------------------------------------------

class Library {
public:
    explicit Library(const std::vector<std::string>& names) {
        for (const std::string& name : names)
            if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ == nullptr)
            fail(names.front() + ": cannot be opened; is the driver installed?");
    }
    template <typename Function>
    void load(Function*& function, const char* name) const {
        void* const address = dlsym(handle_, name);
        if (address == nullptr) fail(std::string("the driver has no ") + name);
        std::memcpy(&function, &address, sizeof function);
    }

private:
    void* handle_ = nullptr;
};

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    virtual std::string name() const = 0;
    virtual bool timed() const = 0;  // whether shared memory chooses occupancies there
    // Forgets all buffers and the code before. `code`: the path of the plan's code without its end.
    virtual void begin(const std::string& folder, const std::string& code) = 0;
    virtual void add_buffer(std::size_t bytes) = 0;
    virtual void write(std::size_t buffer, const Bytes& bytes) = 0;
    virtual void read(std::size_t buffer, Bytes& bytes) = 0;
    virtual void swap(std::size_t first, std::size_t second) = 0;
    // Keeps the device busy until the host has enqueued the launch after it, by reading a table: a
    // large one, which leaves the caches full of other data, or again and again a small one.
    virtual void busy(bool empties_caches) { static_cast<void>(empties_caches); }
    virtual double launch(const Launch& launch, unsigned shared) = 0;  // [s]
};

// Every thread reads 16-byte words of a table, all threads together all of it.
constexpr const char* reader_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry read_table(.param .u64 table, .param .u64 words) {
    .reg .pred %p<3>;
    .reg .b32 %r<16>;
    .reg .b64 %d<8>;
    ld.param.u64 %d0, [table];
    ld.param.u64 %d1, [words];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r0, %r1, %r2;
    cvt.u64.u32 %d2, %r4;
    mul.wide.u32 %d3, %r1, %r3;
    mov.u32 %r5, 0;
again:
    setp.ge.u64 %p0, %d2, %d1;
    @%p0 bra done;
    shl.b64 %d4, %d2, 4;
    add.u64 %d5, %d0, %d4;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d5];
    xor.b32 %r5, %r5, %r6;
    xor.b32 %r5, %r5, %r9;
    add.u64 %d2, %d2, %d3;
    bra again;
done:
    setp.ne.u32 %p1, %r5, 0x5bd1e995;
    @%p1 ret;
    st.global.u32 [%d0], %r5;
    ret;
}
)";

class CudaDevice : public Device {
public:
    CudaDevice(int ordinal, const std::string& driver, const std::string& capability)
        : library_(driver.empty() ? std::vector<std::string>{"libcuda.so.1", "libcuda.so"}
                                  : std::vector<std::string>{driver}) {
        library_.load(init_, "cuInit");
        library_.load(error_name_, "cuGetErrorName");
        library_.load(device_get_, "cuDeviceGet");
        library_.load(device_name_, "cuDeviceGetName");
        library_.load(attribute_, "cuDeviceGetAttribute");
        library_.load(retain_, "cuDevicePrimaryCtxRetain");
        library_.load(set_current_, "cuCtxSetCurrent");
        library_.load(module_load_, "cuModuleLoadData");
        library_.load(module_unload_, "cuModuleUnload");
        library_.load(get_function_, "cuModuleGetFunction");
        library_.load(set_attribute_, "cuFuncSetAttribute");
        library_.load(launch_, "cuLaunchKernel");
        library_.load(alloc_, "cuMemAlloc_v2");
        library_.load(free_, "cuMemFree_v2");
        library_.load(to_device_, "cuMemcpyHtoD_v2");
        library_.load(to_host_, "cuMemcpyDtoH_v2");
        library_.load(event_create_, "cuEventCreate");
        library_.load(event_destroy_, "cuEventDestroy_v2");
        library_.load(event_record_, "cuEventRecord");
        library_.load(event_query_, "cuEventQuery");
        library_.load(elapsed_, "cuEventElapsedTime");
        check(init_(0), "cuInit");
        int device = 0, major = 0, minor = 0;
        check(device_get_(&device, ordinal), "cuDeviceGet");
        char name[256] = {};
        check(device_name_(name, sizeof name, device), "cuDeviceGetName");
        name_ = name;
        check(attribute_(&major, 75, device), "cuDeviceGetAttribute");  // compute capability
        check(attribute_(&minor, 76, device), "cuDeviceGetAttribute");
        const std::string has = std::to_string(major) + "." + std::to_string(minor);
        if (has != capability)
            fail(name_ + " has compute capability " + has + ", the dump is for " + capability +
                 ": dump with a profile of this GPU");
        check(retain_(&context_, device), "cuDevicePrimaryCtxRetain");
        check(set_current_(context_), "cuCtxSetCurrent");
        check(event_create_(&start_, 0), "cuEventCreate");
        check(event_create_(&stop_, 0), "cuEventCreate");
        open_reader(device);
    }
    ~CudaDevice() override {
        for (const auto& [address, bytes] : buffers_) free_(address);
        if (table_ != 0) free_(table_);
        for (void* module : {module_, reader_module_})
            if (module != nullptr) module_unload_(module);
        for (void* event : {start_, stop_})
            if (event != nullptr) event_destroy_(event);
    }

    std::string name() const override { return name_; }
    bool timed() const override { return true; }
    void begin(const std::string& folder, const std::string& code) override {
        for (const auto& [address, bytes] : buffers_) check(free_(address), "cuMemFree");
        buffers_.clear();
        if (module_ != nullptr) check(module_unload_(module_), "cuModuleUnload");
        module_ = nullptr;
        image_ = read_file(folder + "/" + code + ".cubin");
        check(module_load_(&module_, image_.data()), "cuModuleLoadData");
    }
    void add_buffer(std::size_t bytes) override {
        unsigned long long address = 0;
        check(alloc_(&address, std::max<std::size_t>(bytes, 1)), "cuMemAlloc");
        buffers_.emplace_back(address, bytes);
    }
    void write(std::size_t buffer, const Bytes& bytes) override {
        if (!bytes.empty())
            check(to_device_(buffers_.at(buffer).first, bytes.data(), bytes.size()),
                  "cuMemcpyHtoD");
    }
    void read(std::size_t buffer, Bytes& bytes) override {
        if (!bytes.empty())
            check(to_host_(bytes.data(), buffers_.at(buffer).first, bytes.size()), "cuMemcpyDtoH");
    }
    void swap(std::size_t first, std::size_t second) override {
        std::swap(buffers_.at(first), buffers_.at(second));
    }
    void busy(bool empties_caches) override {
        if (reader_ == nullptr) return;
        const std::size_t small = std::size_t{1} << 20;
        unsigned long long words = (empties_caches ? table_bytes_ : small) / 16;
        void* arguments[] = {&table_, &words};
        const unsigned groups = empties_caches ? static_cast<unsigned>(cores_) * 2 : 1;
        const unsigned threads = empties_caches ? 1024 : 32;
        check(launch_(reader_, groups, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
              "cuLaunchKernel of the table's reader");
    }
    double launch(const Launch& launch, unsigned shared) override {
        void* function = nullptr;
        check(get_function_(&function, module_, launch.kernel.c_str()), "cuModuleGetFunction");
        const int most_dynamic_shared = 8;
        if (shared > 0)
            check(set_attribute_(function, most_dynamic_shared, static_cast<int>(shared)),
                  "cuFuncSetAttribute");
        std::vector<Bytes> values;
        for (const Argument& one : launch.arguments) {
            if (!one.is_buffer) {
                values.push_back(one.bytes);
                continue;
            }
            const unsigned long long address = buffers_.at(one.buffer).first + one.offset;
            values.emplace_back(sizeof address);
            std::memcpy(values.back().data(), &address, sizeof address);
        }
        std::vector<void*> arguments;
        for (Bytes& one : values) arguments.push_back(one.data());
        check(event_record_(start_, nullptr), "cuEventRecord");
        check(launch_(function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                      launch.block[1], launch.block[2], shared, nullptr, arguments.data(), nullptr),
              "cuLaunchKernel");
        const double seconds = since_start(launch.kernel.c_str());
        return seconds > events_seconds_ ? seconds - events_seconds_ : seconds;
    }

private:
    double since_start(const char* what) {
        check(event_record_(stop_, nullptr), "cuEventRecord");
        const int not_ready = 600;
        int result = not_ready;
        while (result == not_ready) result = event_query_(stop_);
        check(result, what);
        float milliseconds = 0;
        check(elapsed_(&milliseconds, start_, stop_), "cuEventElapsedTime");
        return static_cast<double>(milliseconds) * 1e-3;
    }
    // Between two events with nothing between them, behind other work: no part of a launch.
    void time_events() {
        std::vector<double> seconds;
        for (int i = 0; i < 9; ++i) {
            busy(false);
            check(event_record_(start_, nullptr), "cuEventRecord");
            seconds.push_back(since_start("two events"));
        }
        std::sort(seconds.begin(), seconds.end());
        events_seconds_ = seconds[seconds.size() / 2];
        std::fprintf(stderr, "two events take %.2f us, which is taken off\n",
                     events_seconds_ * 1e6);
    }
    void check(int result, const char* call) const {
        if (result != 0) fail(std::string(call) + ": " + name_of(result));
    }
    std::string name_of(int result) const {
        const char* text = nullptr;
        error_name_(result, &text);
        return text != nullptr ? text : std::to_string(result);
    }
    // Times without it are of caches as they are, and contain what an idle GPU waits for the host.
    void open_reader(int device) {
        int l2_bytes = 0;
        check(attribute_(&cores_, 16, device), "cuDeviceGetAttribute");
        check(attribute_(&l2_bytes, 38, device), "cuDeviceGetAttribute");
        table_bytes_ = 4 * static_cast<std::size_t>(std::max(l2_bytes, 1 << 20));
        void* reader = nullptr;
        int result = module_load_(&reader_module_, reader_ptx);
        if (result == 0) result = get_function_(&reader, reader_module_, "read_table");
        if (result == 0) result = alloc_(&table_, table_bytes_);
        if (result == 0) {
            reader_ = reader;
            time_events();
        } else {
            std::fprintf(stderr,
                         "no table to read before launches (%s): caches are not emptied, and short "
                         "launches look longer\n",
                         name_of(result).c_str());
        }
    }

    Library library_;
    std::string name_, image_;
    void *context_ = nullptr, *module_ = nullptr, *start_ = nullptr, *stop_ = nullptr;
    void *reader_module_ = nullptr, *reader_ = nullptr;
    unsigned long long table_ = 0;
    std::size_t table_bytes_ = 0;
    int cores_ = 0;
    double events_seconds_ = 0;
    std::vector<std::pair<unsigned long long, std::size_t>> buffers_;
    int (*init_)(unsigned) = nullptr;
    int (*error_name_)(int, const char**) = nullptr;
    int (*device_get_)(int*, int) = nullptr;
    int (*device_name_)(char*, int, int) = nullptr;
    int (*attribute_)(int*, int, int) = nullptr;
    int (*retain_)(void**, int) = nullptr;
    int (*set_current_)(void*) = nullptr;
    int (*module_load_)(void**, const void*) = nullptr;
    int (*module_unload_)(void*) = nullptr;
    int (*get_function_)(void**, void*, const char*) = nullptr;
    int (*set_attribute_)(void*, int, int) = nullptr;
    int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**) = nullptr;
    int (*alloc_)(unsigned long long*, std::size_t) = nullptr;
    int (*free_)(unsigned long long) = nullptr;
    int (*to_device_)(unsigned long long, const void*, std::size_t) = nullptr;
    int (*to_host_)(void*, unsigned long long, std::size_t) = nullptr;
    int (*event_create_)(void**, unsigned) = nullptr;
    int (*event_destroy_)(void*) = nullptr;
    int (*event_record_)(void*, void*) = nullptr;
    int (*event_query_)(void*) = nullptr;
    int (*elapsed_)(float*, void*, void*) = nullptr;
};

class OpenClDevice : public Device {
public:
    OpenClDevice(unsigned platform, unsigned number, const std::string& library)
        : library_(library.empty() ? std::vector<std::string>{"libOpenCL.so.1", "libOpenCL.so"}
                                   : std::vector<std::string>{library}) {
        load();
        void* platforms[16] = {};
        unsigned found = 0;
        check(get_platforms_(16, platforms, &found), "clGetPlatformIDs");
        if (platform >= std::min(found, 16U)) fail("there is no such OpenCL platform");
        void* devices[64] = {};
        check(get_devices_(platforms[platform], 0xffffffffU, 64, devices, &found),
              "clGetDeviceIDs");
        if (number >= std::min(found, 64U)) fail("there is no such OpenCL device");
        device_ = devices[number];
        char name[256] = {};
        check(device_info_(device_, 0x102b, sizeof name - 1, name, nullptr), "clGetDeviceInfo");
        name_ = name;
        std::uint64_t type = 0;
        check(device_info_(device_, 0x1000, sizeof type, &type, nullptr), "clGetDeviceInfo");
        cpu_ = (type & 2U) != 0;
        int error = 0;
        context_ = create_context_(nullptr, 1, &device_, nullptr, nullptr, &error);
        check(error, "clCreateContext");
        const std::uint64_t profiling = 2;
        queue_ = create_queue_(context_, device_, profiling, &error);
        check(error, "clCreateCommandQueue");
    }
    ~OpenClDevice() override {
        forget();
        if (queue_ != nullptr) release_queue_(queue_);
        if (context_ != nullptr) release_context_(context_);
    }

    std::string name() const override { return name_; }
    bool timed() const override { return !cpu_; }
    void begin(const std::string& folder, const std::string& code) override {
        forget();
        const std::string text = read_file(folder + "/" + code + ".cu");
        const char* begin = text.c_str();
        const std::size_t length = text.size();
        int error = 0;
        program_ = create_program_(context_, 1, &begin, &length, &error);
        check(error, "clCreateProgramWithSource");
        const std::string options = "-cl-std=CL1.2 -I " + folder;
        if (build_(program_, 1, &device_, options.c_str(), nullptr, nullptr) == 0) return;
        std::vector<char> log(1U << 16U);
        build_info_(program_, device_, 0x1183, log.size() - 1, log.data(), nullptr);
        fail(code + ".cu does not compile as OpenCL C: " + log.data());
    }
    void add_buffer(std::size_t bytes) override {
        int error = 0;
        const std::uint64_t read_write = 1;
        buffers_.push_back(
            create_buffer_(context_, read_write, std::max<std::size_t>(bytes, 1), nullptr, &error));
        check(error, "clCreateBuffer");
    }
    void write(std::size_t buffer, const Bytes& bytes) override {
        if (!bytes.empty())
            check(write_(queue_, buffers_.at(buffer), 1, 0, bytes.size(), bytes.data(), 0, nullptr,
                         nullptr),
                  "clEnqueueWriteBuffer");
    }
    void read(std::size_t buffer, Bytes& bytes) override {
        if (!bytes.empty())
            check(read_(queue_, buffers_.at(buffer), 1, 0, bytes.size(), bytes.data(), 0, nullptr,
                        nullptr),
                  "clEnqueueReadBuffer");
    }
    void swap(std::size_t first, std::size_t second) override {
        std::swap(buffers_.at(first), buffers_.at(second));
    }
    double launch(const Launch& launch, unsigned shared) override {
        int error = 0;
        void* const kernel = create_kernel_(program_, launch.kernel.c_str(), &error);
        check(error, "clCreateKernel");
        unsigned parameters = 0, index = 0;
        check(kernel_info_(kernel, 0x1191, sizeof parameters, &parameters, nullptr),
              "clGetKernelInfo");
        for (const Argument& one : launch.arguments) {
            if (one.offset != 0) fail("OpenCL takes buffers from their begin");
            if (one.is_buffer)
                error = set_argument_(kernel, index, sizeof(void*), &buffers_.at(one.buffer));
            else
                error = set_argument_(kernel, index, one.bytes.size(), one.bytes.data());
            check(error, "clSetKernelArg");
            ++index;
        }
        // The parameter by which a group is given shared memory (portable.h).
        if (parameters == index + 1)
            check(set_argument_(kernel, index, std::max(shared, 1U), nullptr), "clSetKernelArg");
        std::size_t all[3], group[3];
        for (int i = 0; i < 3; ++i) {
            group[i] = launch.block[i];
            all[i] = static_cast<std::size_t>(launch.grid[i]) * launch.block[i];
        }
        void* event = nullptr;
        check(enqueue_(queue_, kernel, 3, nullptr, all, group, 0, nullptr, &event),
              "clEnqueueNDRangeKernel");
        check(wait_(1, &event), "clWaitForEvents");
        std::uint64_t begin = 0, end = 0;
        check(event_info_(event, 0x1282, sizeof begin, &begin, nullptr), "clGetEventProfilingInfo");
        check(event_info_(event, 0x1283, sizeof end, &end, nullptr), "clGetEventProfilingInfo");
        release_event_(event);
        release_kernel_(kernel);
        return static_cast<double>(end - begin) * 1e-9;
    }

private:
    void load() {
        library_.load(get_platforms_, "clGetPlatformIDs");
        library_.load(get_devices_, "clGetDeviceIDs");
        library_.load(device_info_, "clGetDeviceInfo");
        library_.load(create_context_, "clCreateContext");
        library_.load(create_queue_, "clCreateCommandQueue");
        library_.load(release_context_, "clReleaseContext");
        library_.load(release_queue_, "clReleaseCommandQueue");
        library_.load(create_program_, "clCreateProgramWithSource");
        library_.load(build_, "clBuildProgram");
        library_.load(build_info_, "clGetProgramBuildInfo");
        library_.load(release_program_, "clReleaseProgram");
        library_.load(create_buffer_, "clCreateBuffer");
        library_.load(release_buffer_, "clReleaseMemObject");
        library_.load(write_, "clEnqueueWriteBuffer");
        library_.load(read_, "clEnqueueReadBuffer");
        library_.load(create_kernel_, "clCreateKernel");
        library_.load(kernel_info_, "clGetKernelInfo");
        library_.load(set_argument_, "clSetKernelArg");
        library_.load(release_kernel_, "clReleaseKernel");
        library_.load(enqueue_, "clEnqueueNDRangeKernel");
        library_.load(wait_, "clWaitForEvents");
        library_.load(event_info_, "clGetEventProfilingInfo");
        library_.load(release_event_, "clReleaseEvent");
    }
    void forget() {
        for (void* buffer : buffers_) release_buffer_(buffer);
        buffers_.clear();
        if (program_ != nullptr) release_program_(program_);
        program_ = nullptr;
    }
    static void check(int error, const char* call) {
        if (error != 0) fail(std::string(call) + ": error " + std::to_string(error));
    }

    Library library_;
    std::string name_;
    bool cpu_ = false;
    void *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr, *program_ = nullptr;
    std::vector<void*> buffers_;
    int (*get_platforms_)(unsigned, void**, unsigned*) = nullptr;
    int (*get_devices_)(void*, std::uint64_t, unsigned, void**, unsigned*) = nullptr;
    int (*device_info_)(void*, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    void* (*create_context_)(const void*, unsigned, void* const*, void*, void*, int*) = nullptr;
    void* (*create_queue_)(void*, void*, std::uint64_t, int*) = nullptr;
    void* (*create_program_)(void*, unsigned, const char**, const std::size_t*, int*) = nullptr;
    int (*release_context_)(void*) = nullptr;
    int (*release_queue_)(void*) = nullptr;
    int (*build_)(void*, unsigned, void* const*, const char*, void*, void*) = nullptr;
    int (*build_info_)(void*, void*, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    int (*release_program_)(void*) = nullptr;
    void* (*create_buffer_)(void*, std::uint64_t, std::size_t, void*, int*) = nullptr;
    int (*release_buffer_)(void*) = nullptr;
    int (*write_)(void*, void*, unsigned, std::size_t, std::size_t, const void*, unsigned, void*,
                  void*) = nullptr;
    int (*read_)(void*, void*, unsigned, std::size_t, std::size_t, void*, unsigned, void*,
                 void*) = nullptr;
    void* (*create_kernel_)(void*, const char*, int*) = nullptr;
    int (*kernel_info_)(void*, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    int (*set_argument_)(void*, unsigned, std::size_t, const void*) = nullptr;
    int (*release_kernel_)(void*) = nullptr;
    int (*enqueue_)(void*, void*, unsigned, const std::size_t*, const std::size_t*,
                    const std::size_t*, unsigned, void*, void**) = nullptr;
    int (*wait_)(unsigned, void* const*) = nullptr;
    int (*event_info_)(void*, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    int (*release_event_)(void*) = nullptr;
};

// ---- Running ------------------------------------------------------------------------------------

struct Limit {
    std::string
        kernel;  // whose first launch is timed, with `shared` bytes; empty: all launches run
    unsigned shared = 0;
    bool warm = false;  // caches stay as the launches and copies before left them
};

class Run {
public:
    Run(Device& device, const std::string& folder, const Plan& plan)
        : device_(device), folder_(folder), plan_(plan) {
        device_.begin(folder, plan.code);
        for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
            device_.add_buffer(bytes_of(i));
            contents_.push_back(content(folder, plan.buffers[i], plan.buffers[i].fill));
        }
    }

    // Seconds of the first launch of limit.kernel, with which it ends. May be repeated.
    double run(const Limit& limit) {
        for (std::size_t i = 0; i < contents_.size(); ++i) device_.write(i, contents_[i]);
        done_ = false;
        run(plan_.steps, limit);
        if (!limit.kernel.empty() && !done_) fail("nothing launches " + limit.kernel);
        return seconds_;
    }

    // How the buffer differs from what it should be; empty: not at all. Integers and halves bit for
    // bit, other reals by 1e-3 absolute and relative, since compilers contract sums in different
    // ways.
    std::string difference(const Check& check) {
        const Buffer& buffer = plan_.buffers.at(check.buffer);
        Bytes found(bytes_of(check.buffer));
        device_.read(check.buffer, found);
        const std::string expected = read_file(folder_ + "/" + check.file);
        if (expected.size() != found.size()) return check.file + " has another size";
        const std::size_t size = size_of(buffer.type);
        for (std::size_t i = 0; i < buffer.count; ++i) {
            const void *a = &found[i * size], *b = &expected[i * size];
            if (std::memcmp(a, b, size) == 0) continue;
            if (buffer.type == "f32" && near<float>(a, b)) continue;
            if (buffer.type == "f64" && near<double>(a, b)) continue;
            return check.file + ": element " + std::to_string(i) + " is wrong";
        }
        return {};
    }

private:
    template <typename Real>
    static bool near(const void* a, const void* b) {
        Real found = 0, expected = 0;
        std::memcpy(&found, a, sizeof found);
        std::memcpy(&expected, b, sizeof expected);
        if (std::isnan(found) && std::isnan(expected)) return true;
        const double allowed = 1e-3 + 1e-3 * std::fabs(static_cast<double>(expected));
        return std::fabs(static_cast<double>(found) - static_cast<double>(expected)) <= allowed;
    }

    std::size_t bytes_of(std::size_t buffer) const {
        return plan_.buffers.at(buffer).count * size_of(plan_.buffers.at(buffer).type);
    }

    void run(const std::vector<Step>& steps, const Limit& limit) {
        for (const Step& step : steps) {
            if (done_) return;
            if (step.what == "repeat") {
                for (std::uint64_t i = 0; i < step.times && !done_; ++i) run(step.steps, limit);
            } else if (step.what == "swap") {
                device_.swap(step.first, step.second);
            } else if (step.what == "set") {
                device_.write(step.first,
                              content(folder_, plan_.buffers.at(step.first), step.fill));
            } else if (step.what == "copy") {
                Bytes bytes(bytes_of(step.first));
                device_.read(step.first, bytes);
                device_.write(step.second, bytes);
            } else {
                const bool limited = step.launch.kernel == limit.kernel;
                if (limited) device_.busy(!limit.warm);
                seconds_ = device_.launch(step.launch, limited ? limit.shared : step.launch.shared);
                done_ = limited;
            }
        }
    }

    Device& device_;
    std::string folder_;
    const Plan& plan_;
    std::vector<Bytes> contents_;
    double seconds_ = 0;
    bool done_ = false;
};

struct Dump {
    double clock_hz = 0;
    std::string capability;
    std::map<std::string, std::pair<std::string, std::string>> plans;  // by kernel: timed, checked
};

Dump read_dump(const std::string& folder) {
    std::istringstream in(read_file(folder + "/runner.txt"));
    Dump dump;
    std::string line;
    if (!std::getline(in, line) || line != "occupipe-runner 1")
        fail(folder + "/runner.txt: is not what 'validate --dump' writes");
    while (std::getline(in, line)) {
        const Words w = split(line, ' ');
        if (w.at(0) == "clock_hz") dump.clock_hz = std::stod(w.at(1));
        if (w[0] == "compute_capability") dump.capability = w.at(1);
        if (w[0] == "kernel") dump.plans[w.at(1)] = {w.at(2), w.at(3)};
    }
    return dump;
}

// As a whole or not at all.
void write_table(const std::string& path, const std::vector<Words>& rows) {
    {
        std::ofstream out(path + ".new", std::ios::binary);
        for (const Words& row : rows)
            for (std::size_t i = 0; i < row.size(); ++i)
                out << row[i] << (i + 1 < row.size() ? "," : "\n");
        if (!out.flush()) fail(path + ".new: cannot be written");
    }
    if (std::rename((path + ".new").c_str(), path.c_str()) != 0)
        fail(path + ": cannot be replaced");
}

struct Options {
    std::string folder, device, library;
    int repetitions = 5;
    double clock_hz = 0;
    bool warm = false;
};

std::unique_ptr<Device> open_device(const Options& options, const Dump& dump) {
    int first = 0, second = 0, end = 0;
    const auto whole = [&] { return static_cast<std::size_t>(end) == options.device.size(); };
    if (std::sscanf(options.device.c_str(), "cuda:%d%n", &first, &end) == 1 && whole())
        return std::make_unique<CudaDevice>(first, options.library, dump.capability);
    end = 0;
    if (std::sscanf(options.device.c_str(), "opencl:%d.%d%n", &first, &second, &end) == 2 &&
        whole())
        return std::make_unique<OpenClDevice>(static_cast<unsigned>(first),
                                              static_cast<unsigned>(second), options.library);
    fail("'" + options.device + "' is neither cuda:N nor opencl:PLATFORM.DEVICE");
}

// What is wrong with what the plan leaves; empty: nothing.
std::string wrong_result(Device& device, const std::string& folder, const std::string& path) {
    const Plan plan = read_plan(folder + "/" + path);
    Run run(device, folder, plan);
    run.run(Limit());
    for (const Check& check : plan.checks) {
        const std::string wrong = run.difference(check);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

double median_seconds(Run& run, int repetitions, const Limit& limit) {
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) seconds.push_back(run.run(limit));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

// A plan that stays on the device while its lines follow each other.
struct OpenPlan {
    std::string path;
    Plan plan;
    std::unique_ptr<Run> run;
};

// Whether all results are right.
bool time_launches(const Options& options) {
    const Dump dump = read_dump(options.folder);
    const std::unique_ptr<Device> device = open_device(options, dump);
    const double clock_hz = options.clock_hz > 0 ? options.clock_hz : dump.clock_hz;
    const std::string table = options.folder + "/launches.csv";
    std::vector<Words> rows;
    std::istringstream lines(read_file(table));
    for (std::string line; std::getline(lines, line);) rows.push_back(split(line, ','));
    std::map<std::string, std::string> checked;  // what is wrong, by plan
    OpenPlan open;
    std::size_t filled = 0, wrong_plans = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        Words& row = rows[i];
        if (row.size() != 6)
            fail(table + ": line " + std::to_string(i + 1) + " has not six fields");
        if (!row[5].empty()) continue;
        const auto plans = dump.plans.find(row[0]);
        if (plans == dump.plans.end()) {
            std::fprintf(stderr, "%s: the dump has no plan of it; its line is left\n",
                         row[0].c_str());
            continue;
        }
        const auto& [timed, small] = plans->second;
        if (checked.find(small) == checked.end()) {
            open = OpenPlan();
            const std::string wrong = wrong_result(*device, options.folder, small);
            checked[small] = wrong;
            if (!wrong.empty()) {
                std::fprintf(stderr, "%s: its lines are left\n", wrong.c_str());
                ++wrong_plans;
            }
        }
        if (!checked[small].empty() || !device->timed()) continue;
        if (open.path != timed) {
            open = OpenPlan();
            open.plan = read_plan(options.folder + "/" + timed);
            open.run = std::make_unique<Run>(*device, options.folder, open.plan);
            open.path = timed;
        }
        const Limit limit{row[0], static_cast<unsigned>(std::stoul(row[4])), options.warm};
        char cycles[64];
        std::snprintf(cycles, sizeof cycles, "%.9g",
                      median_seconds(*open.run, options.repetitions, limit) * clock_hz);
        row[5] = cycles;
        ++filled;
        write_table(table, rows);
        std::fprintf(stderr, "%s, %s groups at once: %s cycles\n", row[0].c_str(), row[2].c_str(),
                     cycles);
    }
    std::fprintf(stderr, "%s: the results of %zu plans are right, %zu lines were filled in%s\n",
                 device->name().c_str(), checked.size() - wrong_plans, filled,
                 device->timed() ? ""
                                 : "; it is a CPU, where shared memory chooses no occupancy, and "
                                   "nothing is timed");
    if (device->timed())
        std::fprintf(stderr, "cycles are times at a clock of %g Hz: keep the GPU at it\n",
                     clock_hz);
    return wrong_plans == 0;
}

constexpr const char* usage =
    "time_launches DIR DEVICE [--repetitions N] [--clock-hz HZ] [--warm] [--library FILE]\n"
    "  DIR      what 'occupipe validate --dump DIR' wrote; launches.csv in it gets its cycles\n"
    "  DEVICE   cuda:N or opencl:PLATFORM.DEVICE\n"
    "  --repetitions N   runs of each launch, of which the median counts (5)\n"
    "  --clock-hz HZ     clock of the GPU's cores (that of the profile)\n"
    "  --warm            leave CUDA's caches as copies and launches before left them\n"
    "  --library FILE    CUDA's driver or OpenCL, where it is not found\n"
    "Exit code: 0 done, 1 an error, 2 a wrong command line\n";

bool parse(int count, char** words, Options& options) {
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const bool has_value = i + 1 < count;
        if (word == "--repetitions" && has_value)
            options.repetitions = std::atoi(words[++i]);
        else if (word == "--clock-hz" && has_value)
            options.clock_hz = std::atof(words[++i]);
        else if (word == "--library" && has_value)
            options.library = words[++i];
        else if (word == "--warm")
            options.warm = true;
        else if (word.compare(0, 1, "-") == 0)
            return false;
        else if (options.folder.empty())
            options.folder = word;
        else if (options.device.empty())
            options.device = word;
        else
            return false;
    }
    return !options.device.empty() && options.repetitions > 0 && options.clock_hz >= 0;
}

}  // namespace

int main(int count, char** words) {
    Options options;
    if (!parse(count, words, options)) {
        std::fputs(usage, stderr);
        return 2;
    }
    try {
        return time_launches(options) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "time_launches: %s\n", error.what());
        return 1;
    }
}
