// SPDX-License-Identifier: MIT
// What became of a program's launches: a line of JSON each, written when the launch has ended, so
// that whatever ends the program leaves those before it. One file for each process.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace occupipe::program {

// A kernel and how it is launched; launches that share it are taken to take the same time.
struct Shape {
    std::string kernel;  // as linkers call it
    std::array<std::uint32_t, 3> grid = {1, 1, 1};
    std::array<std::uint32_t, 3> block = {1, 1, 1};
    std::uint32_t shared_bytes = 0;  // dynamic

    std::uint64_t groups() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
    auto operator<=>(const Shape&) const = default;
};

// Of one launch on one profile.
struct PredictedLaunch {
    std::optional<double> seconds;  // absent: there is none, as `why_not` says
    // 95 % of measured times are expected between seconds / spread and seconds × spread; absent:
    // not known.
    std::optional<double> spread;
    std::string limited_by;
    std::optional<double> dram_bytes;  // from and to it; absent: not known
    std::string why_not;
    std::vector<std::string> notes;
};

enum class CopyKind : std::uint8_t { host_to_device, device_to_host, device_to_device, memset };
inline constexpr std::array copy_kinds = {CopyKind::host_to_device, CopyKind::device_to_host,
                                          CopyKind::device_to_device, CopyKind::memset};
// "host to device", …
const char* to_text(CopyKind kind);

struct Copies {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

// Something wrong with the program that its run did not end at.
enum class FindingKind : std::uint8_t { memory_error, unwritten, race };
inline constexpr std::array finding_kinds = {FindingKind::memory_error, FindingKind::unwritten,
                                             FindingKind::race};
// "memory error", "unwritten memory", "race"
const char* to_text(FindingKind kind);

// At one line of the source, or, where the code has none, one instruction.
struct Finding {
    FindingKind kind = FindingKind::memory_error;
    std::string kernel;       // as linkers call it; empty: a call of the host
    std::string place;        // "heat.cu:27", else "0x01b0"; of a race in shared memory both
    std::uint64_t count = 0;  // accesses of threads
    std::string text;         // of the first: where, which thread, what it does
};

// An operation on the first profile's clock, for a trace.
struct Span {
    std::size_t process = 0;  // index: which of those that used CUDA
    std::uint64_t stream = 0;
    std::string kernel;             // as linkers call it; empty: a copy
    std::optional<CopyKind> copy;   // absent: a kernel
    std::uint64_t bytes = 0;        // of a copy
    double start = 0, seconds = 0;  // after the process's start
    bool predicted = true;  // false: there is no prediction, it takes what its execution took
};

// Writes; every call is one line.
class Journal {
public:
    // `program`: as it was called.
    Journal(const std::filesystem::path& folder, const std::string& program,
            const std::vector<std::string>& profiles);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // Before a launch is executed that may take long.
    void begin(const Shape& shape);
    // A launch that was predicted, one for each profile. Returns its number, by which others that
    // take its time name it.
    std::size_t predicted(const Shape& shape, std::uint64_t warp_instructions, double host_seconds,
                          const std::vector<PredictedLaunch>& predictions);
    void repeated(std::size_t predicted, std::uint64_t warp_instructions, double host_seconds);
    void error(const std::string& name, const std::string& text);
    // A call that is not there, the first time.
    void refused(const std::string& function);
    void note(const std::string& text);
    void finding(const Finding& one);
    // The program is ended at an error.
    void stopped();
    void span(const Span& one);
    // Before the process ends.
    void copies(const std::map<CopyKind, Copies>& all);

private:
    void write(const std::string& line) const;

    // Opened for each line: the program may close, and use, any descriptor that it has not opened.
    std::filesystem::path path_;
    std::size_t predicted_ = 0;  // launches
};

// What launches of one shape add up to.
struct ShapeTotal {
    Shape shape;
    std::uint64_t launches = 0;
    std::uint64_t predicted = 0;
    std::uint64_t warp_instructions = 0;
    // Whose instructions differ by more than 5 % from those of the launch whose time they take.
    std::uint64_t unlike = 0;
    double host_seconds = 0;                     // what execution and prediction took here
    std::vector<PredictedLaunch> last;           // by profile
    std::vector<std::optional<double>> seconds;  // in all, by profile; absent: some are not known
};

struct Journals {
    std::vector<std::string> profiles;
    std::vector<ShapeTotal> shapes;    // in the order of their first launches
    std::vector<Shape> at_work;        // that had begun when their process ended
    std::vector<std::string> errors;   // "cudaErrorIllegalAddress: kernel …"
    std::vector<std::string> refused;  // functions
    std::vector<std::string> notes;
    std::map<CopyKind, Copies> copies;
    std::size_t processes = 0;      // that used CUDA
    std::vector<Finding> findings;  // each place once, in the order of their first
    bool stopped = false;           // at an error (OnError::stop)
    std::vector<Span> spans;

    std::uint64_t launches() const;
};

// All of a folder; lines that were not written to their end are passed over. Throws InputError
// where a line is none of a journal.
Journals read_journals(const std::filesystem::path& folder);

}  // namespace occupipe::program
