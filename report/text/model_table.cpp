// SPDX-License-Identifier: MIT
#include "report/text/model_table.h"

#include "report/text/text_table.h"
#include "sim/models/registry.h"

namespace occupipe::report {

std::string model_aspect_table() {
    TextTable table{{"model"}, {Align::left}, {}};
    for (const ModelAspect& aspect : model_aspects()) {
        table.header.emplace_back(aspect.meaning);
        table.align.push_back(Align::left);
    }
    for (const Model& model : models()) {
        std::vector<std::string> row = {"`" + std::string(model.name) + "`"};
        for (const ModelAspect& aspect : model_aspects())
            row.emplace_back(model.aspects.*aspect.member ? "yes" : "–");
        table.rows.push_back(std::move(row));
    }
    return markdown(table);
}

}  // namespace occupipe::report
