// SPDX-License-Identifier: MIT
// What was measured so far, one JSON object a line. Whatever ends the process (kill -9 included)
// leaves every finished point; a power cut may take the last second. It also holds which points
// were begun, so that one that ends its process is met twice at most
// (docs/reference/file-formats/).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/finished_point.h"
#include "core/files/files.h"

namespace occupipe::bench {

class Journal {
public:
    // Opens FILE.partial beside `output`, or goes on with the one that is there. `key` says what is
    // being measured (device, program version, plan): a journal with another key is an InputError.
    // `context_json`: the JSON object for the finished file's `context`; the first session's is
    // kept. `planned`: number of points in all.
    Journal(const std::filesystem::path& output, const std::string& key,
            const std::string& context_json, std::size_t planned);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // Names of the points that earlier sessions finished.
    const std::set<std::string>& finished() const;
    // How often earlier sessions began each point without any end to it: the process died there.
    const std::map<std::string, int>& unended() const;
    // Why, of the points in which an earlier session saw the device hang.
    const std::map<std::string, std::string>& hung() const;
    // What the finished file's context says; empty = nothing.
    std::string context(const std::string& key) const;
    // The file had gone (someone removed it or its folder) and was written anew.
    bool restored() const;

    void begin(const std::string& point);
    // The point just begun was given up in good order, and is as if it had not been begun.
    void leave(const std::string& point);
    // The device hung in this point. On the disk when it returns; from any thread, while no other
    // one is in here.
    void hang(const std::string& point, const std::string& reason);
    // Ends a point; here its rows become text.
    void append(const FinishedPoint& point);
    // Adds to the finished file's context.
    void note(const std::string& key, const std::string& value);
    void sync();  // to the disk
    // Writes the whole as one measurement file and removes the journal.
    void finish();
    void discard();  // removes it with what it holds

    static std::filesystem::path path_for(const std::filesystem::path& output);
    // A process died in finish(): `output`, if it is there, is what this journal says.
    static bool finishing(const std::filesystem::path& output);

private:
    struct File;
    // `rows`: where each row stands in it, first character and length.
    void write_line(std::string text, std::vector<std::pair<std::size_t, std::size_t>> rows = {});
    void write_bytes(const std::string& text);
    void keep_in_place();

    std::unique_ptr<File> file_;
};

// A context as Journal takes it.
std::string context_json(const std::map<std::string, std::string>& context);

struct ClosedJournal {
    std::filesystem::path output;
    std::size_t measured = 0;  // points
    std::size_t planned = 0;
};

// Makes an ordinary measurement file of an interrupted measurement's journal; no device is needed.
// Its context says `incomplete`. `file`: the journal (FILE.partial) or the output that it belongs
// to. `output` empty: where the measurement would have put it, and the journal is removed; else
// the journal stays, and the measurement can still go on. Throws InputError.
ClosedJournal close_journal(const std::filesystem::path& file, const std::filesystem::path& output,
                            Overwrite overwrite);

}  // namespace occupipe::bench
