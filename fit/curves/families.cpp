// SPDX-License-Identifier: MIT
#include "fit/curves/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "fit/curves/counters.h"

namespace occupipe {
namespace {

constexpr double passes_tolerance =
    0.05;  // of λ: below this the passes are what pipeline-model.md has

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Where a run of digits that is exactly `number` begins: after an n ("m64n16k16") if there is such
// a one, else the last; npos when there is none.
std::size_t find_number(const std::string& text, const std::string& number) {
    std::size_t last = std::string::npos;
    for (std::size_t at = text.find(number); at != std::string::npos;
         at = text.find(number, at + 1)) {
        const std::size_t end = at + number.size();
        if ((at > 0 && digit(text[at - 1])) || (end < text.size() && digit(text[end]))) continue;
        if (at > 0 && (text[at - 1] == 'n' || text[at - 1] == 'N')) return at;
        last = at;
    }
    return last;
}

// Only values that the data determine; errors that are not known weigh as a percent.
std::vector<LinePoint> line_points(const Family& family, std::span<const FamilyMember> members,
                                   double from, Estimate TimingFit::*which) {
    std::vector<LinePoint> out;
    for (const auto& [at, index] : family.members) {
        const Estimate& e = members[index].fit->*which;
        if (!e.identifiable()) continue;
        const double error = std::max(e.std_error.value_or(0), 1e-3 * e.value);
        out.push_back({at - from, e.value, error});
    }
    return out;
}

void add_lines(std::span<const FamilyMember> members, Family& family) {
    const bool conflicts = family.over == conflict_degree_counter;
    LineOptions options;
    options.allow_bend = !conflicts;
    const double from = conflicts ? 1 : 0;
    family.cpi_line = fit_line(line_points(family, members, from, &TimingFit::cpi), options);
    family.latency_line =
        fit_line(line_points(family, members, from, &TimingFit::latency), options);
}

// Whether a pass costs one λ, as pipeline-model.md has it.
void compare_with_model(Family& family) {
    const auto judge = [&](const char* symbol, const LineFit& line) {
        if (!line.ok() || !family.cpi_line.ok()) return;
        const double cpi = family.cpi_line.intercept.value;
        if (!(cpi > 0)) return;
        const double error =
            std::hypot(*line.slope.std_error, *family.cpi_line.intercept.std_error);
        const double away = std::abs(line.slope.value - cpi);
        family.notes.push_back(fmt::format(
            "{} grows by {:.4g} ± {:.2g} cycles per additional way of the conflict, {:.3g} of λ{}",
            symbol, line.slope.value, *line.slope.std_error, line.slope.value / cpi,
            away <= std::max(3 * error, passes_tolerance * cpi) ? ": one λ per pass"
                                                                : ", not one λ per pass"));
    };
    judge("λ", family.cpi_line);
    judge("Λ", family.latency_line);
}

void fill_table(std::span<const FamilyMember> members, Family& family) {
    family.table.over = family.over;
    for (const auto& [at, index] : family.members)
        family.table.rows.push_back({at, members[index].fit->cpi, members[index].fit->latency});
}

// One value, one member: a second one is named and left out.
void join(Family& family, double at, std::span<const FamilyMember> members, std::size_t index) {
    for (const auto& [taken, other] : family.members)
        if (taken == at) {
            family.notes.push_back(fmt::format("{} is at {:g} too and is left out",
                                               members[index].curve->label(), at));
            return;
        }
    family.members.emplace_back(at, index);
}

}  // namespace

std::string shape_family(const std::string& subject, double n) {
    const std::string number = fmt::format("{:.0f}", n);
    const std::size_t at = find_number(subject, number);
    return at == std::string::npos
               ? subject
               : subject.substr(0, at) + "N" + subject.substr(at + number.size());
}

std::string conflict_family(const std::string& subject, double degree) {
    const std::string number = fmt::format("{:.0f}", degree);
    const std::size_t dot = subject.rfind('.');
    if (dot == std::string::npos) return subject;
    const std::string part = subject.substr(dot + 1);
    const bool ends = part.size() > number.size() && part.ends_with(number) &&
                      !digit(part[part.size() - number.size() - 1]);
    return ends ? subject.substr(0, dot) : subject;
}

std::vector<Family> find_families(std::span<const FamilyMember> members) {
    std::vector<Family> all;
    const auto family_of = [&](const char* over, const std::string& name) -> Family& {
        for (Family& f : all)
            if (f.over == over && f.name == name) return f;
        all.push_back({over, name, {}, {}, {}, {}, {}});
        return all.back();
    };
    // A subject that varies its counter itself is a family under its own name.
    std::map<std::string, int> curves_of_subject;
    for (const FamilyMember& m : members) ++curves_of_subject[m.curve->subject];
    for (std::size_t i = 0; i < members.size(); ++i) {
        const FamilyMember& m = members[i];
        if (!m.fit->ok) continue;
        const CurveCounters& c = m.curve->counters;
        const std::string& subject = m.curve->subject;
        const bool own = curves_of_subject.at(subject) > 1;
        // N and degree together would be a table over two axes: degree decides.
        if (c.conflict_degree) {
            const std::string name = own ? subject : conflict_family(subject, *c.conflict_degree);
            join(family_of(conflict_degree_counter, name), *c.conflict_degree, members, i);
        } else if (c.shape_n) {
            const std::string name = own ? subject : shape_family(subject, *c.shape_n);
            join(family_of(shape_n_counter, name), *c.shape_n, members, i);
        }
    }
    // The conflict-free access may be a subject like any other.
    for (std::size_t i = 0; i < members.size(); ++i)
        if (members[i].fit->ok && !members[i].curve->counters.conflict_degree)
            for (Family& f : all)
                if (f.over == conflict_degree_counter && f.name == members[i].curve->subject)
                    join(f, 1, members, i);
    std::erase_if(all, [](const Family& f) { return f.members.size() < 2; });
    for (Family& f : all) {
        std::ranges::sort(f.members, {}, [](const auto& m) { return m.first; });
        fill_table(members, f);
        add_lines(members, f);
        if (f.over == conflict_degree_counter) compare_with_model(f);
    }
    return all;
}

}  // namespace occupipe
