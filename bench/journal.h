// SPDX-License-Identifier: MIT
// What was measured so far, one JSON object a line. Whatever ends the process (kill -9 included)
// leaves every finished point; a power cut may take the last second.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace occupipe::bench {

class Journal {
public:
    // Opens FILE.partial beside `output`, or goes on with the one that is there. `key` says what is
    // being measured (device, program version, plan): a journal with another key is an InputError.
    // `context_json`: the JSON object for the finished file's `context`; the first session's is
    // kept.
    Journal(const std::filesystem::path& output, const std::string& key,
            const std::string& context_json);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // Names of the rows that earlier sessions finished.
    const std::set<std::string>& finished() const { return finished_; }
    // Appends rows (a JSON array of objects, as text).
    void append(const std::string& rows_json);
    // Writes the whole as one measurement file and removes the journal.
    void finish();

    static std::filesystem::path path_for(const std::filesystem::path& output);

private:
    struct File;
    void write_line(const std::string& line);

    std::filesystem::path output_;
    std::set<std::string> finished_;
    std::unique_ptr<File> file_;
};

}  // namespace occupipe::bench
