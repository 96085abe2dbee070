// SPDX-License-Identifier: MIT
#include "program/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "core/error.h"

namespace occupipe::program {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* extension = ".launches";

std::string one_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Shape& shape) {
    Json json;
    json["kernel"] = shape.kernel;
    json["grid"] = shape.grid;
    json["block"] = shape.block;
    json["shared_bytes"] = shape.shared_bytes;
    return json;
}

Shape shape_of(const Json& json) {
    return {.kernel = json.at("kernel").get<std::string>(),
            .grid = json.at("grid").get<std::array<std::uint32_t, 3>>(),
            .block = json.at("block").get<std::array<std::uint32_t, 3>>(),
            .shared_bytes = json.at("shared_bytes").get<std::uint32_t>()};
}

Json to_json(const PredictedLaunch& one) {
    Json json;
    if (one.seconds) {
        json["seconds"] = *one.seconds;
        if (one.spread) json["spread"] = *one.spread;
        json["limited_by"] = one.limited_by;
        if (one.dram_bytes) json["dram_bytes"] = *one.dram_bytes;
    } else {
        json["why_not"] = one.why_not;
    }
    if (!one.notes.empty()) json["notes"] = one.notes;
    return json;
}

PredictedLaunch predicted_of(const Json& json) {
    PredictedLaunch one;
    if (json.contains("seconds")) one.seconds = json["seconds"].get<double>();
    if (json.contains("spread")) one.spread = json["spread"].get<double>();
    if (json.contains("dram_bytes")) one.dram_bytes = json["dram_bytes"].get<double>();
    one.limited_by = json.value("limited_by", "");
    one.why_not = json.value("why_not", "");
    if (json.contains("notes")) one.notes = json["notes"].get<std::vector<std::string>>();
    return one;
}

void add_new(std::vector<std::string>& all, std::string one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

template <typename Kinds>
auto kind_of(const Kinds& kinds, const Json& name) {
    for (const auto kind : kinds)
        if (name.get<std::string>() == to_text(kind)) return kind;
    throw std::runtime_error(fmt::format("no kind is called {}", name.dump()));
}

// Adds one process's lines to what others told.
class Reader {
public:
    explicit Reader(Journals& all) : all_(all) {}

    void read(const Json& line) {
        if (line.contains("profiles")) {
            all_.profiles = line["profiles"].get<std::vector<std::string>>();
            ++all_.processes;
        }
        if (line.contains("begin")) at_work_ = shape_of(line["begin"]);
        if (line.contains("launch")) {
            numbered_.push_back(read_predicted(line));
            add(numbered_.back(), line);
        }
        if (line.contains("again")) add(numbered_.at(line["again"].get<std::size_t>()), line);
        if (line.contains("error")) {
            at_work_.reset();
            add_new(all_.errors, fmt::format("{}: {}", line["error"].get<std::string>(),
                                             line.at("text").get<std::string>()));
        }
        if (line.contains("refused")) add_new(all_.refused, line["refused"].get<std::string>());
        if (line.contains("note")) add_new(all_.notes, line["note"].get<std::string>());
        if (line.contains("copies")) add_copies(line["copies"]);
        if (line.contains("finding")) add_finding(line["finding"]);
        if (line.contains("stopped")) all_.stopped = true;
        if (line.contains("span")) all_.spans.push_back(span_of(line["span"]));
    }

    void end() {
        if (at_work_) all_.at_work.push_back(*at_work_);
    }

private:
    std::size_t place_of(const Shape& shape) {
        const auto found = std::ranges::find(all_.shapes, shape, &ShapeTotal::shape);
        if (found != all_.shapes.end())
            return static_cast<std::size_t>(found - all_.shapes.begin());
        ShapeTotal total;
        total.shape = shape;
        all_.shapes.push_back(std::move(total));
        return all_.shapes.size() - 1;
    }

    struct Numbered {
        std::size_t place;  // in all_.shapes
        std::uint64_t warp_instructions;
        std::vector<PredictedLaunch> predictions;
    };

    Numbered read_predicted(const Json& line) {
        Numbered one{.place = place_of(shape_of(line["launch"])),
                     .warp_instructions = line.at("warp_instructions").get<std::uint64_t>(),
                     .predictions = {}};
        for (const Json& made : line.at("predicted")) one.predictions.push_back(predicted_of(made));
        ShapeTotal& total = all_.shapes[one.place];
        ++total.predicted;
        total.last = one.predictions;
        return one;
    }

    // A launch that takes the time of a predicted one, or is that one.
    void add(const Numbered& like, const Json& line) {
        at_work_.reset();
        ShapeTotal& total = all_.shapes[like.place];
        const auto instructions = line.at("warp_instructions").get<std::uint64_t>();
        if (total.launches == 0) total.seconds.assign(like.predictions.size(), 0.0);
        for (std::size_t i = 0; i < total.seconds.size() && i < like.predictions.size(); ++i) {
            const std::optional<double> more = like.predictions[i].seconds;
            if (total.seconds[i] && more)
                *total.seconds[i] += *more;
            else
                total.seconds[i].reset();
        }
        constexpr double alike = 0.05;
        const auto expected = static_cast<double>(like.warp_instructions);
        if (std::abs(static_cast<double>(instructions) - expected) > alike * expected)
            ++total.unlike;
        ++total.launches;
        total.warp_instructions += instructions;
        total.host_seconds += line.at("host_seconds").get<double>();
    }

    void add_copies(const Json& line) {
        for (const CopyKind kind : copy_kinds) {
            const auto found = line.find(to_text(kind));
            if (found == line.end()) continue;
            all_.copies[kind].count += found->at(0).get<std::uint64_t>();
            all_.copies[kind].bytes += found->at(1).get<std::uint64_t>();
        }
    }

    void add_finding(const Json& json) {
        Finding one{.kind = kind_of(finding_kinds, json.at("kind")),
                    .kernel = json.at("kernel").get<std::string>(),
                    .place = json.at("place").get<std::string>(),
                    .count = json.at("count").get<std::uint64_t>(),
                    .text = json.at("text").get<std::string>()};
        const auto same = std::ranges::find_if(all_.findings, [&](const Finding& other) {
            return other.kind == one.kind && other.kernel == one.kernel &&
                   other.place == one.place && (!one.kernel.empty() || other.text == one.text);
        });
        if (same == all_.findings.end())
            all_.findings.push_back(std::move(one));
        else
            same->count += one.count;
    }

    Span span_of(const Json& json) const {
        Span one{.process = all_.processes - 1,
                 .stream = json.at("stream").get<std::uint64_t>(),
                 .kernel = json.value("kernel", ""),
                 .copy = {},
                 .bytes = json.value("bytes", std::uint64_t{0}),
                 .start = json.at("start").get<double>(),
                 .seconds = json.at("seconds").get<double>(),
                 .predicted = json.at("predicted").get<bool>()};
        if (json.contains("copy")) one.copy = kind_of(copy_kinds, json["copy"]);
        return one;
    }

    Journals& all_;
    std::vector<Numbered> numbered_;
    std::optional<Shape> at_work_;
};

}  // namespace

const char* to_text(CopyKind kind) {
    switch (kind) {
        case CopyKind::host_to_device:
            return "host to device";
        case CopyKind::device_to_host:
            return "device to host";
        case CopyKind::device_to_device:
            return "device to device";
        case CopyKind::memset:
            return "memset";
    }
    return "";
}

const char* to_text(FindingKind kind) {
    switch (kind) {
        case FindingKind::memory_error:
            return "memory error";
        case FindingKind::unwritten:
            return "unwritten memory";
        case FindingKind::race:
            return "race";
    }
    return "";
}

Journal::Journal(const fs::path& folder, const std::string& program,
                 const std::vector<std::string>& profiles) {
    // A process that was forked and used CUDA may be followed by another one of its number.
    int file = -1;
    for (int number = 1; file < 0 && number < 1000; ++number) {
        path_ = folder / fmt::format("{}-{}{}", getpid(), number, extension);
        file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    }
    if (file >= 0) close(file);
    if (file < 0)
        throw InputError(fmt::format("{}: launches cannot be written here", folder.string()));
    Json line;
    line["program"] = program;
    line["profiles"] = profiles;
    write(one_line(line));
}

void Journal::write(const std::string& line) const {
    const std::string text = line + "\n";
    // Not one of the standard streams, which the program may have closed and still writes to.
    const int opened = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (opened < 0) return;  // the folder is gone: the program goes on
    constexpr int first_free = 64;
    const int high = fcntl(opened, F_DUPFD_CLOEXEC, first_free);
    if (high >= 0) close(opened);
    const int file = high >= 0 ? high : opened;
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t now = ::write(file, text.data() + done, text.size() - done);
        if (now <= 0) break;  // the disk is full: likewise
        done += static_cast<std::size_t>(now);
    }
    close(file);
}

void Journal::begin(const Shape& shape) {
    Json line;
    line["begin"] = to_json(shape);
    write(one_line(line));
}

std::size_t Journal::predicted(const Shape& shape, std::uint64_t warp_instructions,
                               double host_seconds,
                               const std::vector<PredictedLaunch>& predictions) {
    Json line;
    line["launch"] = to_json(shape);
    line["warp_instructions"] = warp_instructions;
    line["host_seconds"] = host_seconds;
    line["predicted"] = Json::array();
    for (const PredictedLaunch& one : predictions) line["predicted"].push_back(to_json(one));
    write(one_line(line));
    return predicted_++;
}

void Journal::repeated(std::size_t predicted, std::uint64_t warp_instructions,
                       double host_seconds) {
    write(fmt::format(R"({{"again":{},"warp_instructions":{},"host_seconds":{:.6g}}})", predicted,
                      warp_instructions, host_seconds));
}

void Journal::error(const std::string& name, const std::string& text) {
    Json line;
    line["error"] = name;
    line["text"] = text;
    write(one_line(line));
}

void Journal::refused(const std::string& function) {
    Json line;
    line["refused"] = function;
    write(one_line(line));
}

void Journal::note(const std::string& text) {
    Json line;
    line["note"] = text;
    write(one_line(line));
}

void Journal::finding(const Finding& one) {
    Json line;
    line["finding"] = {{"kind", to_text(one.kind)},
                       {"kernel", one.kernel},
                       {"place", one.place},
                       {"count", one.count},
                       {"text", one.text}};
    write(one_line(line));
}

void Journal::stopped() { write(R"({"stopped":true})"); }

void Journal::span(const Span& one) {
    Json json;
    json["stream"] = one.stream;
    if (one.copy) {
        json["copy"] = to_text(*one.copy);
        json["bytes"] = one.bytes;
    } else {
        json["kernel"] = one.kernel;
    }
    json["start"] = one.start;
    json["seconds"] = one.seconds;
    json["predicted"] = one.predicted;
    Json line;
    line["span"] = std::move(json);
    write(one_line(line));
}

void Journal::copies(const std::map<CopyKind, Copies>& all) {
    Json line;
    for (const auto& [kind, one] : all)
        line["copies"][to_text(kind)] = Json::array({one.count, one.bytes});
    if (!all.empty()) write(one_line(line));
}

std::uint64_t Journals::launches() const {
    std::uint64_t sum = 0;
    for (const ShapeTotal& one : shapes) sum += one.launches;
    return sum;
}

Journals read_journals(const fs::path& folder) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::ranges::sort(paths);
    Journals all;
    for (const fs::path& path : paths) {
        Reader reader(all);
        std::ifstream file(path);
        std::size_t number = 0;
        for (std::string text; std::getline(file, text);) {
            ++number;
            if (file.eof()) break;  // without the end of its line
            try {
                reader.read(Json::parse(text));
            } catch (const std::exception& error) {
                throw InputError(fmt::format("{}:{}: no line of a journal of launches: {}",
                                             path.string(), number, error.what()));
            }
        }
        reader.end();
    }
    return all;
}

}  // namespace occupipe::program
