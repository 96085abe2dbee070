// SPDX-License-Identifier: MIT
// krrishnarraj/clpeak: text as in its results/**/*.log, XML of format_version 2 as in
// results/**/*.xml.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"
#include "core/text.h"

namespace occupipe::analysis {
namespace {

// One throughput of the file, as it is written.
struct Figure {
    std::string test;    // "Single-precision compute", "single_precision_compute"
    std::string metric;  // "float"
    std::string unit;    // "GFLOPS", "gflops"
    std::string value;
    SourcePosition where;
};

struct ClpeakDevice {
    std::string name;
    std::string driver;
    std::optional<int> cores;
    std::vector<Figure> figures;
};

// XML's five named characters.
std::string decoded(std::string text) {
    constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
    for (std::size_t at = 0; (at = text.find('&', at)) != std::string::npos; ++at)
        for (const auto& [entity, character] : entities)
            if (std::string_view(text).substr(at).starts_with(entity)) {
                text.replace(at, entity.size(), 1, character);
                break;
            }
    return text;
}

// "  KEY : VALUE"
class TextReader {
public:
    explicit TextReader(const InputText& file) : file_(file) {}

    std::vector<ClpeakDevice> read() {
        for (const TextLine& line : text_lines(file_)) one(line);
        return std::move(devices_);
    }

private:
    void one(const TextLine& line) {
        const std::size_t colon = line.text.find(':');
        const std::string key(trimmed(line.text.substr(0, colon)));
        if (colon == std::string::npos) return heading(key);
        const std::string value(trimmed(line.text.substr(colon + 1)));
        if (key == "Platform") return;
        if (key == "Device") {
            devices_.push_back({.name = value});
            test_.clear();
            return;
        }
        if (devices_.empty()) return;  // what a driver or the shell says
        ClpeakDevice& device = devices_.back();
        if (key == "Driver version") {
            device.driver = value;
        } else if (key == "Compute units") {
            device.cores = whole(line, value, key);
        } else if (key == "Clock frequency") {
            return;  // the driver's, which need not be the one that ran
        } else if (!test_.empty()) {
            const TextWord number = word(line, value.substr(0, value.find_first_of(" \t")));
            device.figures.push_back({.test = test_,
                                      .metric = key,
                                      .unit = unit_,
                                      .value = number.text,
                                      .where = {line.number, number.column}});
        }
    }

    // "Single-precision compute (GFLOPS)"
    void heading(const std::string& text) {
        const std::size_t bracket = text.rfind('(');
        const bool is_test = bracket != std::string::npos && text.ends_with(')') && bracket > 0;
        test_ = is_test ? trimmed(std::string_view(text).substr(0, bracket)) : std::string_view();
        unit_ = is_test ? text.substr(bracket + 1, text.size() - bracket - 2) : "";
    }

    static TextWord word(const TextLine& line, const std::string& text) {
        const std::size_t at = line.text.rfind(text);
        return {text, at == std::string::npos ? 1 : static_cast<int>(at) + 1};
    }

    int whole(const TextLine& line, const std::string& value, const std::string& key) const {
        const TextWord number = word(line, value);
        const double found = positive_at(file_, line, number, key);
        constexpr double most = 1e5;
        if (found != std::floor(found) || found > most)
            fail_at(file_, line, number, key, "is not a whole number");
        return static_cast<int>(found);
    }

    const InputText& file_;
    std::vector<ClpeakDevice> devices_;
    std::string test_;
    std::string unit_;
};

// An element begins and ends on one line, as clpeak writes them: <metric name="float" …>V</metric>.
class XmlReader {
public:
    explicit XmlReader(const InputText& file) : file_(file) {}

    std::vector<ClpeakDevice> read() {
        for (const TextLine& line : text_lines(file_)) one(line);
        return std::move(devices_);
    }

private:
    std::optional<std::string> attribute(const TextLine& line, const std::string& key) const {
        const std::size_t at = line.text.find(" " + key + "=\"");
        if (at == std::string::npos) return std::nullopt;
        const std::size_t begin = at + key.size() + 3;
        const std::size_t end = line.text.find('"', begin);
        if (end == std::string::npos)
            fail_at(file_, line, line.words.front(), key, "a quotation that does not end");
        return decoded(line.text.substr(begin, end - begin));
    }

    std::string required(const TextLine& line, const std::string& key) const {
        const auto found = attribute(line, key);
        if (!found) fail_at(file_, line, line.words.front(), key, "is missing");
        return *found;
    }

    ClpeakDevice& device(const TextLine& line) {
        if (devices_.empty()) fail_at(file_, line, line.words.front(), "", "is outside of a <run>");
        return devices_.back();
    }

    void one(const TextLine& line) {
        const std::string& tag = line.words.front().text;
        if (tag == "<clpeak") {
            const std::string version = required(line, "format_version");
            if (version != "2")
                fail_at(file_, line, line.words.front(), "format_version",
                        fmt::format("'{}' is not known, only 2", version.substr(0, 20)));
        } else if (tag == "<run") {
            devices_.push_back({.name = required(line, "device"),
                                .driver = attribute(line, "driver").value_or("")});
        } else if (tag == "<prop") {
            property(line, required(line, "name"), required(line, "value"));
        } else if (tag == "<test") {
            test_ = required(line, "name");
            unit_ = required(line, "unit");
        } else if (tag == "<metric") {
            metric(line);
        }
    }

    void property(const TextLine& line, const std::string& name, const std::string& value) {
        const TextWord word{value, static_cast<int>(line.text.find(value)) + 1};
        if (name == "SMs" || name == "Compute units" || name == "CUs") {
            const double cores = positive_at(file_, line, word, name);
            constexpr double most = 1e5;
            if (cores != std::floor(cores) || cores > most)
                fail_at(file_, line, word, name, "is not a whole number");
            device(line).cores = static_cast<int>(cores);
        }
    }

    void metric(const TextLine& line) {
        const std::string name = required(line, "name");
        if (attribute(line, "status")) return;  // unsupported
        const std::size_t begin = line.text.find('>');
        const std::size_t end = line.text.find("</metric>");
        if (begin == std::string::npos || end == std::string::npos || end < begin)
            fail_at(file_, line, line.words.front(), name,
                    "an element that does not end on its line");
        device(line).figures.push_back({.test = test_,
                                        .metric = name,
                                        .unit = unit_,
                                        .value = line.text.substr(begin + 1, end - begin - 1),
                                        .where = {line.number, static_cast<int>(begin) + 2}});
    }

    const InputText& file_;
    std::vector<ClpeakDevice> devices_;
    std::string test_;
    std::string unit_;
};

// The instruction that a metric is the throughput of.
struct Meaning {
    const char* text_test;
    const char* xml_test;
    const char* metric;
    const char* instruction;
};

constexpr std::array meanings = {
    Meaning{"single-precision compute", "single_precision_compute", "float", "fma.f32"},
    Meaning{"double-precision compute", "double_precision_compute", "double", "fma.f64"},
    Meaning{"half-precision compute", "half_precision_compute", "half2", "fma.f16x2"},
    Meaning{"integer compute", "integer_compute", "int", "mad.s32"},
    Meaning{"global memory bandwidth", "global_memory_bandwidth", "float", "ld.global.f32"},
    Meaning{"global memory bandwidth", "global_memory_bandwidth", "float4", "ld.global.v4.f32"},
};

// What one of the unit is per second.
double unit_of(const InputText& file, const Figure& figure, const Meaning& meaning) {
    const std::string unit = lower_case(figure.unit);
    const bool bytes = std::string_view(meaning.instruction).starts_with("ld.");
    if (bytes ? unit == "gbps" : unit == "gflops" || unit == "giops" || unit == "gops") return 1e9;
    if (!bytes && unit == "tflops") return 1e12;
    throw InputError(file.name, figure.where, figure.metric,
                     fmt::format("unit '{}' is not known", figure.unit.substr(0, 20)));
}

}  // namespace

ImportedProfile import_clpeak(const InputText& file, const DeviceHints& hints) {
    const bool xml = file.text.find("<clpeak") != std::string::npos;
    const std::vector<ClpeakDevice> devices =
        xml ? XmlReader(file).read() : TextReader(file).read();
    if (devices.empty())
        throw InputError(file.name, {1, 1}, "", "names no device; this is not clpeak's output");
    ImportedProfile out;
    std::vector<std::string> names;
    names.reserve(devices.size());
    for (const ClpeakDevice& one : devices) names.push_back(one.name);
    const ClpeakDevice& found = devices[chosen_device(file, names, hints.device, true, out.notes)];
    GpuProfile& profile = out.profile;
    profile.device.name = hints.name.empty() ? found.name : hints.name;
    set_rate_facts(profile, file, hints, found.cores);
    std::vector<Throughput> throughputs;
    LeftOut left_out(file.name);
    for (const Figure& figure : found.figures) {
        const std::string test = lower_case(figure.test);
        const auto of_test = [&](const Meaning& one) {
            return test == (xml ? one.xml_test : one.text_test);
        };
        // What becomes no instruction, such as transfers, is not judged.
        if (std::ranges::none_of(meanings, of_test)) continue;
        const auto value = left_out.figure(figure.value, figure.where, figure.metric);
        if (!value) continue;
        for (const Meaning& meaning : meanings)
            if (of_test(meaning) && figure.metric == meaning.metric)
                throughputs.push_back(
                    {.instruction = meaning.instruction,
                     .per_second = *value * unit_of(file, figure, meaning),
                     .reference = fmt::format("clpeak, {}: {} {} {}", figure.test, figure.metric,
                                              *value, figure.unit)});
    }
    if (throughputs.empty())
        left_out.refuse(InputError(
            file.name, {1, 1}, "",
            "has no throughput that is one of a known instruction (float, double, half2, "
            "int, global memory)"));
    add_bounds(out, throughputs);
    add_origin(profile, file, "clpeak: peak throughput, no latency");
    if (!found.driver.empty()) {
        Annotation driver;
        driver.text = found.driver;
        profile.provenance.entries.emplace_back("driver", driver);
    }
    left_out.tell(out.notes);
    out.notes.push_back(fmt::format(
        "{} of {} figures became an instruction; left out: vector types that are several "
        "instructions, matrices, transfers, launch latency",
        profile.instructions.size(), found.figures.size()));
    validate_imported(profile, file.name);
    return out;
}

}  // namespace occupipe::analysis
