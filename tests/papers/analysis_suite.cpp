// SPDX-License-Identifier: MIT
// Lemeire, Cornelis, Konstantinidis: Analysis of the Analytical Performance Models for GPUs; the
// kernels of Rodinia: Tables 9 to 12, Figures 17 and 18. What `occupipe validate` found stands in
// docs/background/reproductions/suite-*.csv, which tools/reproduce.sh makes first.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "tests/papers/experiments.h"
#include "tests/papers/made.h"

namespace occupipe::papers {
namespace {

using Cells = std::vector<std::string>;

struct Device {
    std::string_view architecture;
    std::string_view file;  // docs/background/reproductions/suite-FILE.csv
    std::string_view name;
    std::string_view table;
};
constexpr std::array devices = {Device{"Maxwell", "quadro-k620", "Quadro K620", "10"},
                                Device{"Pascal", "gtx-1060", "GTX 1060", "11"},
                                Device{"Turing", "rtx-2070", "RTX 2070", "12"}};

constexpr std::array<std::string_view, 8> models = {
    "pipeline",          "volkov",        "mwp-cwp",    "wfg",
    "mwp-cwp-corrected", "wfg-corrected", "gpumech-rr", "gpumech-gto"};

struct Accuracy {
    double mape = 0;
    double shape = 0;
};

struct KernelRow {
    std::string name;
    std::string published;  // its name there
    std::string least;      // [warps]
    std::string greatest;
    std::map<std::string, Accuracy> found;
};

// kernel,published,least,greatest,model,mape,mape_shape
std::vector<KernelRow> found(const std::filesystem::path& root, const Device& device) {
    std::vector<KernelRow> kernels;
    for (const Cells& row : csv_rows(root / "docs/background/reproductions" /
                                     fmt::format("suite-{}.csv", device.file))) {
        if (row[0] == "kernel") continue;
        if (kernels.empty() || kernels.back().name != row[0])
            kernels.push_back({row[0], row[1], row[2], row[3], {}});
        kernels.back().found[row[4]] = {std::stod(row[5]), std::stod(row[6])};
    }
    return kernels;
}

// By kernel and model.
std::map<std::pair<std::string, std::string>, Accuracy> published(const std::filesystem::path& root,
                                                                  const Device& device) {
    std::map<std::pair<std::string, std::string>, Accuracy> all;
    for (const Cells& row : csv_rows(root / "kernels/published.csv"))
        if (row[0] == device.architecture)
            all[{row[2], row[3]}] = {std::stod(row[4]), std::stod(row[5])};
    return all;
}

// Throughput over occupancy, 100 being the device's at the least occupancy.
Made curves(const std::filesystem::path& root, const std::string& name, const Device& device,
            const std::vector<std::string>& kernels) {
    const std::vector<Cells> rows = csv_rows(root / "docs/background/reproductions" /
                                             fmt::format("suite-curves-{}.csv", device.file));
    plot::Picture picture{
        .description = fmt::format("Throughput of {} kernels on a simulated {} over occupancy, by "
                                   "model.",
                                   kernels.size(), device.name),
        .columns = 2,
        .width = 1080,
        .height = 460};
    std::vector<Cells> cells;
    for (const std::string& kernel : kernels) {
        plot::Figure panel{
            .title = kernel,
            .x = {"warps per core"},
            .y = {"throughput, 100 = the device at the least", plot::Scale::linear, 0},
            .key = plot::Key::below};
        double base = 0;
        int style = 0;
        for (const char* source :
             {"measured", "pipeline", "volkov", "mwp-cwp-corrected", "wfg-corrected"}) {
            const bool device_itself = std::string_view(source) == "measured";
            plot::Series series{device_itself ? "simulated device" : source,
                                device_itself ? plot::Mark::line_and_points : plot::Mark::line,
                                style++,
                                {}};
            for (const Cells& row : rows) {
                if (row[0] != kernel || row[2] != source) continue;
                const double throughput = std::stod(row[3]);
                if (base == 0) base = throughput;
                series.points.push_back({std::stod(row[1]), 100 * throughput / base});
            }
            if (series.points.empty()) throw InputError(fmt::format("no {} of {}", source, kernel));
            Cells made = {kernel, series.name};
            for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
                const auto at =
                    static_cast<std::size_t>(share * static_cast<double>(series.points.size() - 1));
                made.push_back(
                    fmt::format("{:.1f} ({})", series.points[at].y, series.points[at].x));
            }
            cells.push_back(made);
            panel.series.push_back(std::move(series));
        }
        picture.panels.push_back(std::move(panel));
    }
    return {table({"kernel", "throughput (at warps)", "least", "¼", "½", "¾", "all"}, cells),
            {{name, picture}}};
}

}  // namespace

Made analysis_table_9(const std::filesystem::path& root) {
    std::map<std::string, std::vector<KernelRow>> by_device;
    for (const Device& device : devices) by_device[std::string(device.file)] = found(root, device);
    std::vector<Cells> rows;
    for (const Cells& row : csv_rows(root / "tests/data/lemeire-analysis/table-9.csv")) {
        if (row[0] == "kernel") continue;
        Cells cells = {row[0], row[1], fmt::format("{} – {}", row[2], row[3])};
        for (const Device& device : devices) {
            const auto& kernels = by_device[std::string(device.file)];
            const auto ours = std::ranges::find(kernels, row[0], &KernelRow::published);
            if (ours == kernels.end()) throw InputError(row[0] + " is not in the suite's results");
            if (cells.size() == 3) cells.push_back(fmt::format("`{}`", ours->name));
            cells.push_back(fmt::format("{} – {}", ours->least, ours->greatest));
        }
        rows.push_back(cells);
    }
    return {table(
        {"kernel", "benchmark", "published, K620 [warps]", "here", "K620", "GTX 1060", "RTX 2070"},
        rows)};
}

Made analysis_tables_10_to_12(const std::filesystem::path& root) {
    std::string text;
    for (const Device& device : devices) {
        const auto theirs = published(root, device);
        std::vector<Cells> rows;
        std::map<std::string_view, Accuracy> our_sum;
        std::map<std::string_view, Accuracy> their_sum;
        const auto kernels = found(root, device);
        for (const KernelRow& kernel : kernels) {
            Cells cells = {kernel.published};
            for (const std::string_view model : models) {
                const Accuracy& p = theirs.at({kernel.published, std::string(model)});
                const Accuracy& o = kernel.found.at(std::string(model));
                cells.push_back(
                    fmt::format("{:g} / {:g}; {:.1f} / {:.1f}", p.mape, p.shape, o.mape, o.shape));
                our_sum[model].mape += o.mape;
                our_sum[model].shape += o.shape;
                their_sum[model].mape += p.mape;
                their_sum[model].shape += p.shape;
            }
            rows.push_back(cells);
        }
        Cells mean = {"mean"};
        const auto count = static_cast<double>(kernels.size());
        for (const std::string_view model : models)
            mean.push_back(fmt::format("{:.1f} / {:.1f}; {:.1f} / {:.1f}",
                                       their_sum[model].mape / count,
                                       their_sum[model].shape / count, our_sum[model].mape / count,
                                       our_sum[model].shape / count));
        rows.push_back(mean);
        Cells header = {"published; here, simulated device"};
        for (const std::string_view model : models) header.emplace_back(model);
        text +=
            fmt::format("Table {}, {}:\n\n{}\n", device.table, device.name, table(header, rows));
    }
    text.pop_back();
    return {text};
}

Made analysis_figure_17(const std::filesystem::path& root) {
    return curves(root, "analysis-figure-17", devices[0], {"srad1", "nw_kernel1"});
}

Made analysis_figure_18(const std::filesystem::path& root) {
    return curves(root, "analysis-figure-18", devices[1], {"lud_perimeter", "nw_kernel1"});
}

}  // namespace occupipe::papers
