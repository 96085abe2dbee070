// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace occupipe {

enum class FileKind { profile, kernel, measurements, launches, kernel_parameters, workload };

// The kind of a file, by its content. Throws InputError if it is none of these.
FileKind file_kind(const std::string& text, const std::string& file_name);

// Where a reader wants a file of one kind and was given one of another, says which it is and what
// to do with it (InputError); returns for everything that only the reader itself can judge.
void refuse_other_kinds(FileKind wanted, const std::string& text, const std::string& file_name);

// An interrupted measurement's journal is an InputError that says what closes it.
void refuse_journal(const std::string& text, const std::string& file_name);

}  // namespace occupipe
