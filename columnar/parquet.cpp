// SPDX-License-Identifier: MIT
#include "columnar/parquet.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/error.h"

namespace occupipe::columnar {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "occupipe-parquet.so";
constexpr const char* how_to_get =
    "Parquet is written where this program was built with Apache Arrow: install Arrow's "
    "development packages (libarrow-dev and libparquet-dev, arrow.apache.org/install) or pyarrow "
    "(tools/python.sh, or 'pip install pyarrow' and cmake -D OCCUPIPE_PYARROW=PYTHON), and build "
    "again; CSV needs neither";

std::string where_it_is() {
    const char* const said = std::getenv("OCCUPIPE_PARQUET");
    if (said != nullptr && *said != '\0') {
        if (std::string_view(said) == "none")
            throw InputError(
                fmt::format("OCCUPIPE_PARQUET=none hides what writes Parquet. {}", how_to_get));
        return said;
    }
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
    for (const fs::path& folder :
         {program / ".." / "columnar", program / ".." / "lib" / "occupipe", program / "columnar"})
        if (fs::exists(folder / module_name, none)) return (folder / module_name).string();
    throw InputError(how_to_get);
}

}  // namespace

const Parquet& parquet() {
    // Never closed: Arrow's own threads and pools live as long as the program.
    static const Parquet* const opened = [] {
        const std::string path = where_it_is();
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw InputError(fmt::format("{}. {}", dlerror(), how_to_get));
        using Make = const Parquet* (*)();
        const auto make = reinterpret_cast<Make>(dlsym(library, "occupipe_parquet_1"));
        if (make == nullptr)
            throw InputError(fmt::format("{}: is not of this version of occupipe", path));
        return make();
    }();
    return *opened;
}

}  // namespace occupipe::columnar
