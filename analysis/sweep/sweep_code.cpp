// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <variant>

#include "ask/launch_text.h"
#include "ask/source.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/naming.h"
#include "extract/signature.h"
#include "isa/decode.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

// "${n}" → the value of n.
class Filler {
public:
    explicit Filler(const std::map<std::string, std::string>& values) : values_(values) {}

    std::string operator()(const std::string& text, const std::string& where) {
        std::string out;
        std::size_t at = 0;
        for (;;) {
            const std::size_t begin = text.find("${", at);
            out += text.substr(at, begin - at);
            if (begin == std::string::npos) return out;
            const std::size_t end = text.find('}', begin);
            const std::string name =
                end == std::string::npos ? "" : text.substr(begin + 2, end - begin - 2);
            const auto found = values_.find(name);
            if (found == values_.end())
                throw InputError(fmt::format("{}: '${{{}}}' is not a parameter of 'with'{}", where,
                                             name, others()));
            if (found->second.empty())
                throw InputError(
                    fmt::format("{}: '${{{}}}': the profile's architecture is not known, or "
                                "is not one that is executed",
                                where, name));
            used_.insert(name);
            out += found->second;
            at = end + 1;
        }
    }

    // Empty: all of them were used.
    std::string unused() const {
        for (const auto& [name, value] : values_)
            if (name != "architecture" && !used_.contains(name)) return name;
        return {};
    }

private:
    std::string others() const {
        std::vector<std::string> names;
        for (const auto& [name, value] : values_) names.push_back(name);
        return fmt::format(": {}", fmt::join(names, ", "));
    }

    const std::map<std::string, std::string>& values_;
    std::set<std::string> used_;
};

std::string below(const fs::path& folder, const std::string& path) {
    return (folder / path).string();
}

// Paths of what buffers begin with.
void fill_files(const std::vector<PlanStep>& steps, std::set<std::string>& paths) {
    for (const PlanStep& step : steps) {
        if (const auto* const repeat = std::get_if<RepeatSteps>(&step))
            fill_files(repeat->steps, paths);
        if (const auto* const set = std::get_if<SetBuffer>(&step))
            if (set->fill.kind == BufferFill::Kind::file) paths.insert(set->fill.path);
    }
}

std::set<std::string> fill_files(const LaunchPlan& plan) {
    std::set<std::string> paths;
    for (const auto* const buffers : {&plan.buffers, &plan.symbols})
        for (const BufferPlan& one : *buffers)
            if (one.fill.kind == BufferFill::Kind::file) paths.insert(one.fill.path);
    fill_files(plan.steps, paths);
    return paths;
}

std::uint32_t shared_bytes(const std::string& text) {
    if (text.empty()) return 0;
    std::uint32_t bytes = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (fault != std::errc() || end != text.data() + text.size() || bytes > most_shared_bytes)
        throw InputError(fmt::format("--shared-bytes {}: expected a whole number from 0 to {}",
                                     text, most_shared_bytes));
    return bytes;
}

}  // namespace

const std::string& CodeReader::text_of(const fs::path& path, const std::string& name) {
    const auto [at, fresh] = texts_.try_emplace(path.string());
    if (fresh) {
        try {
            at->second = read_text_file(path);
        } catch (...) {
            texts_.erase(at);
            throw;
        }
        inputs_.emplace_back(name, content_hash(at->second));
    }
    return at->second;
}

std::shared_ptr<const KernelFile> CodeReader::file_of(const std::string& path,
                                                      const std::string& name,
                                                      const CompileRequest& request) {
    std::vector<std::string> key =
        request.options.empty() ? request.usual_options : request.options;
    // What is wanted of source changes nothing but instances of templates.
    for (const std::string& one : request.kernels)
        if (!is_source(path) || one.find('<') != std::string::npos) key.push_back(one);
    std::shared_ptr<const KernelFile>& file =
        files_[{path, request.architecture + "/" + request.preferred_architecture, key}];
    if (!file) {
        text_of(path, name);
        file = std::make_shared<const KernelFile>(read_kernel_file(path, request));
    }
    return file;
}

std::shared_ptr<const CodeLaunch> CodeReader::launch(
    const SweepCode& code, const std::map<std::string, std::string>& parameters,
    const GpuProfile& profile) {
    std::map<std::string, std::string> values = parameters;
    values["architecture"] = architecture_of(profile);
    Filler fill(values);
    CodeLaunch one;
    std::string launch_text;
    one.options.kernel = fill(code.kernel, "kernel");
    if (code.launch.empty()) {
        const LaunchText text{
            .kernel = one.options.kernel,
            .grid = fill(code.grid, "grid"),
            .block = fill(code.block, "block"),
            .arguments = fill(code.arguments, "args"),
            .shared_bytes = shared_bytes(fill(code.shared_bytes, "shared_bytes"))};
        one.plan = described_launch(text);
        for (BufferPlan& buffer : one.plan.buffers)
            if (buffer.fill.kind == BufferFill::Kind::file)
                buffer.fill.path = below(folder_, buffer.fill.path);
        launch_text = fmt::format("{}\n{}\n{}\n{}\n{}", text.kernel, text.grid, text.block,
                                  text.arguments, text.shared_bytes);
    } else {
        const std::string name = fill(code.launch, "launch");
        const std::string path = below(folder_, name);
        launch_text = fill(text_of(path, name), path);
        one.plan = parse_launches(launch_text, path, fs::path(path).parent_path());
    }
    const std::string name = code.file.empty() ? one.plan.source : fill(code.file, "code");
    if (name.empty())
        throw InputError(
            "which kernels? name a .cu, .cl, .ptx or .cubin file with 'code', or a "
            "launch file with 'source'");
    const std::string path = code.file.empty() ? name : below(folder_, name);
    const std::string architecture =
        architecture_for(fill(code.architecture, "architecture"), one.plan, path, &profile);
    std::vector<std::string> options;
    for (const std::string& option : code.compiler_options)
        options.push_back(fill(option, "compiler_options"));
    if (const std::string unused = fill.unused(); !unused.empty())
        throw InputError(fmt::format(
            "the parameter '{0}' is used nowhere: '${{{0}}}' is replaced by its value", unused));

    CompileRequest request = compile_request(one.plan, &profile);
    request.architecture = architecture;
    request.options = options;
    request.kernels.push_back(one.options.kernel);
    one.file =
        file_of(path, code.file.empty() ? fs::path(path).filename().string() : name, request);
    one.options.step = code.step;
    set_sample(code.sample, one.options);
    one.options.classes = code.classes;
    const KernelLaunch& launch = chosen_launch(one.plan, one.file->cubin, one.options);
    const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    one.group_warps = static_cast<int>((threads + 31) / 32);
    std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", content_hash(one.file->bytes),
                                  code.kernel, code.step, code.sample, code.classes, launch_text);
    for (const std::string& file : fill_files(one.plan))
        all += "\n" + content_hash(text_of(file, fs::path(file).filename().string()));
    one.hash = content_hash(all);
    // What is executed is the same; the files' paths are not, which only messages name.
    std::shared_ptr<const CodeLaunch>& known = launches_[one.hash + path];
    if (!known) known = std::make_shared<const CodeLaunch>(std::move(one));
    return known;
}

std::set<std::string> possible_ops(const CodeLaunch& launch) {
    const isa::Cubin& cubin = launch.file->cubin;
    const KernelLaunch& chosen = chosen_launch(launch.plan, cubin, launch.options);
    const isa::Kernel& kernel = extract::find_kernel(cubin, chosen.kernel);
    std::set<std::string> ops;
    const extract::NameOf name_of = names_of({});
    for (const isa::Instruction& one : isa::decode(kernel.code, *cubin.architecture)) {
        for (const std::string& name : extract::possible_names(one)) ops.insert(name);
        ops.insert(name_of(one, nullptr, false));
    }
    return ops;
}

std::shared_ptr<const KernelIn> CodeKernels::kernel_in(
    const std::shared_ptr<const CodeLaunch>& launch, const GpuProfile& profile, bool memory,
    const CodeExecution& execution) {
    KernelsInOptions options = launch->options;
    options.known = known_names(profile);
    if (memory) options.memory_cores = profile.cores;
    return kernels_.get({launch.get(), &profile}, [&] {
        const auto executed = executed_.get(launch.get(), [&] {
            using Clock = std::chrono::steady_clock;
            const Clock::time_point begin = Clock::now();
            options.execute = [&](extract::PlanRun& run, extract::PlanOptions plan_options) {
                plan_options.threads = static_cast<int>(execution.threads);
                plan_options.step_budget = execution.step_budget;
                plan_options.progress = [&](const extract::PlanProgress&) {
                    const std::chrono::duration<double> elapsed = Clock::now() - begin;
                    return !execution.stopped() &&
                           (execution.seconds <= 0 || elapsed.count() <= execution.seconds);
                };
                try {
                    return run.execute(plan_options);
                } catch (const isa::Stopped&) {
                    if (execution.stopped()) throw Interrupted("interrupted");
                    throw LimitReached("too long");
                } catch (const isa::BudgetReached&) {
                    throw LimitReached("too long");
                }
            };
            return Executed(launch, executed_launch(launch->plan, *launch->file, options));
        });
        return kernel_of(executed->second, options);
    });
}

}  // namespace occupipe::analysis
