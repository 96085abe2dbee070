// SPDX-License-Identifier: MIT
// Instructions that are one instruction at several places of an axis: matrix instructions over N,
// accesses over the degree of a bank conflict. Each place has its own fit; together they make a
// table and, where it holds, a line.
//
// Bank conflicts: pipeline-model.md, section 6, has Λ' = Λ + D·λ and λ' = (1+D)·λ for D extra
// passes, so against the ways d = 1 + D of the conflict
//     λ'(d) = λ + a·(d−1),    Λ'(d) = Λ + b·(d−1),    a = b = λ in that model.
// Shapes: λ(N) and Λ(N) as lines with an intercept, bent once if the data ask for it (a unit that
// takes the smallest shapes no faster).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/parameter_table.h"
#include "fit/curves/curve.h"
#include "fit/curves/line_fit.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

struct FamilyMember {
    const Curve* curve = nullptr;
    const TimingFit* fit = nullptr;
};

struct Family {
    std::string over;  // "shape_n" or "conflict_degree"
    std::string name;  // with the axis taken out of the members' names
    // The first is the one with the smallest value, which has the table.
    std::vector<std::pair<double, std::size_t>> members;  // value, index of the member
    ParameterTable table;                                 // per core
    LineFit cpi_line;                                     // over N, or over d − 1
    LineFit latency_line;
    std::vector<std::string> notes;
};

// The family's name for a subject: without the digits of N, without the dotted part that ends in
// the degree (docs/reference/file-formats/).
std::string shape_family(const std::string& subject, double n);
std::string conflict_family(const std::string& subject, double degree);

// Families of two members or more that could be fitted.
std::vector<Family> find_families(std::span<const FamilyMember> members);

}  // namespace occupipe
