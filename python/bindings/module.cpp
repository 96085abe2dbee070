// SPDX-License-Identifier: MIT
// occupipe._core: the part of the Python package that is in C++. Users see it as `occupipe`.
#include <nanobind/stl/filesystem.h>

#include <string>

#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/files.h"
#include "isa/machine/machine.h"
#include "python/bindings/value.h"
#include "sim/engine/run_progress.h"

namespace occupipe::python {
namespace {

// The exception classes are Python's own (occupipe/_errors.py), so that they carry fields.
nb::object error_class(const char* name) {
    return nb::module_::import_("occupipe._errors").attr(name);
}

void raise_input_error(const InputError& error) {
    const nb::object raised = error_class("InputError")(
        error.what(), error.file().empty() ? nb::object(nb::none()) : nb::cast(error.file()),
        error.where().line > 0 ? nb::cast(error.where().line) : nb::object(nb::none()),
        error.where().column > 0 ? nb::cast(error.where().column) : nb::object(nb::none()),
        error.key().empty() ? nb::object(nb::none()) : nb::cast(error.key()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
}

}  // namespace

void bind_errors(nb::module_& module) {
    module.attr("__doc__") = "The part of occupipe that is written in C++; import occupipe.";
    nb::register_exception_translator(
        [](const std::exception_ptr& pointer, void*) {
            try {
                std::rethrow_exception(pointer);
            } catch (const isa::BudgetReached& error) {
                PyErr_SetString(error_class("LimitReached").ptr(), error.what());
            } catch (const LimitReached& error) {
                PyErr_SetString(error_class("LimitReached").ptr(), error.what());
            } catch (const InputError& error) {
                raise_input_error(error);
            } catch (const NothingToRunOn& error) {
                PyErr_SetString(error_class("DeviceError").ptr(), error.what());
            } catch (const DeviceError& error) {
                PyErr_SetString(error_class("DeviceError").ptr(), error.what());
            }
        },
        nullptr);
}

}  // namespace occupipe::python

NB_MODULE(_core, module) {
    namespace python = occupipe::python;
    namespace analysis = occupipe::analysis;
    python::bind_errors(module);
    python::bind_estimates(module);
    python::bind_profiles(module);
    python::bind_kernels(module);
    python::bind_measurements(module);
    python::bind_fits(module);
    python::bind_predictions(module);
    python::bind_machine_code(module);
    python::bind_rooflines(module);
    python::bind_tuning(module);

    module.attr("version") = OCCUPIPE_VERSION;
    module.def("set_data_folder", &analysis::set_data_folder, nb::arg("folder"),
               "Where shipped profiles and kernels are.");
    const auto stems = [](const std::vector<std::filesystem::path>& files) {
        std::vector<std::string> names;
        for (const auto& file : files) names.push_back(file.stem().string());
        return names;
    };
    module.def(
        "shipped_profiles", [stems] { return stems(analysis::shipped_profiles()); },
        "Names of the profiles that come with the package.");
    module.def(
        "shipped_kernels", [stems] { return stems(analysis::shipped_kernels()); },
        "Names of the kernels that come with the package.");
}
