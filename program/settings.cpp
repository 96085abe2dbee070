// SPDX-License-Identifier: MIT
#include "program/settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "run.json";

}  // namespace

void write_settings(const fs::path& folder, const Settings& settings) {
    nlohmann::ordered_json file;
    for (const GpuProfile& one : settings.profiles) file["profiles"].push_back(format_profile(one));
    file["every_launch"] = settings.every_launch;
    file["launch_instructions"] = settings.launch_instructions;
    file["on_error"] = settings.on_error;
    file["sample"] = settings.sample;
    file["check"] = settings.check;
    file["predicted_clock"] = settings.predicted_clock;
    file["trace"] = settings.trace;
    write_text_file(folder / file_name, file.dump(1) + "\n", Overwrite::yes);
}

Settings read_settings(const fs::path& folder) {
    const fs::path path = folder / file_name;
    try {
        const auto file = nlohmann::json::parse(read_text_file(path));
        Settings settings;
        for (const auto& one : file.at("profiles"))
            settings.profiles.push_back(parse_profile(one.get<std::string>(), path.string()));
        settings.every_launch = file.at("every_launch").get<bool>();
        settings.launch_instructions = file.at("launch_instructions").get<std::uint64_t>();
        settings.on_error = file.at("on_error").get<OnError>();
        settings.sample = file.at("sample").get<bool>();
        settings.check = file.at("check").get<bool>();
        settings.predicted_clock = file.at("predicted_clock").get<bool>();
        settings.trace = file.at("trace").get<bool>();
        return settings;
    } catch (const nlohmann::json::exception& error) {
        throw InputError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace occupipe::program
