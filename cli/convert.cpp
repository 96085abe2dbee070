// SPDX-License-Identifier: MIT
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"

namespace occupipe::cli {

void add_convert(const Command& app) {
    const auto files = std::make_shared<std::vector<std::string>>();
    const Command command = app.subcommand(
        "convert",
        "Read another tool's file as a profile or measurements, or write a profile for it");
    command.add_option("files", *files, "What to convert").type_name("FILE");
    add_help_end(
        command,
        {.text = "docs/how-to/convert-profiles.md says how each number is converted and why.",
         .exit_codes = {},
         .examples = "occupipe convert --from clpeak results.json -o clpeak.json\n"
                     "occupipe convert --to accelsim rtx-2070 -o rtx2070.config"});
    command.callback([files] {
        throw InputError(
            "convert needs --from FORMAT, which reads another tool's file, or --to FORMAT, which "
            "writes a profile for one; 'occupipe convert --from --help' lists formats");
    });
}

}  // namespace occupipe::cli
