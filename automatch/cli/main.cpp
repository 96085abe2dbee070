// SPDX-License-Identifier: MIT
#include <string>

#include "automatch/cli/commands.h"
#include "cli/commands.h"
#include "cli/option.h"

namespace {

constexpr const char* about =
    "AutoMatch says on which device the best parallel version of a sequential program would run\n"
    "fastest, how fast at most, what bounds it there, and how to split the work (Helal et al. "
    "2017).";

constexpr const char* first_steps =
    "'automatch COMMAND --help' describes its inputs, outputs and exit codes, with examples.\n"
    "\n"
    "First steps:\n"
    "  automatch predict jacobi.c --kernel jacobi -o jacobi.workload.yaml -- 1024 10\n"
    "  automatch predict --workload jacobi.workload.yaml --profile i5-2400 --profile tesla-k20x\n"
    "  automatch measure --device cpu -o cpu.json\n"
    "  automatch fit cpu.json -o cpu.yaml\n"
    "\n"
    "Data goes to stdout, messages go to stderr. Exit codes are those of occupipe.\n";

}  // namespace

int main(int argc, char** argv) {
    using namespace occupipe;
    const cli::Program app(about, "automatch", [] { return "automatch " OCCUPIPE_VERSION; });
    app.footer(first_steps);
    automatch::add_predict(app);
    automatch::add_measure(app);
#if OCCUPIPE_FIT
    automatch::add_fit(app);
#endif
    automatch::add_check(app);
    return cli::run(app, {argv + 1, argv + argc});
}
