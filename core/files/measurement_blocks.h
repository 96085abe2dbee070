// SPDX-License-Identifier: MIT
// Reads a measurement file block by block, where it is written as measurement files are: without
// holding the text, several times as fast as by a document. It says nothing about what is wrong:
// whatever is out of the ordinary is left to the document, which knows positions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files/document.h"
#include "core/measurement.h"

namespace occupipe {

// A document's own readers of what the blocks leave over.
struct MeasurementDocuments {
    // A row of its own document; appends it unless it is an aggregate.
    std::function<void(const Document& row, std::vector<MeasurementRow>& rows)> row;
    // The file without its rows.
    std::function<MeasurementFile(const Document& file)> file;
};

// `append` appends the next block of the text, or returns false at its end. Without a value: read
// the text as a document.
std::optional<MeasurementFile> read_measurement_blocks(
    const std::function<bool(std::string&)>& append, const std::string& file_name,
    const MeasurementDocuments& documents);

// The whole text as one document: what parse_measurements() does with what is out of the ordinary.
MeasurementFile parse_measurements_as_document(const std::string& text,
                                               const std::string& file_name);

}  // namespace occupipe
