// SPDX-License-Identifier: MIT
#include "plot/page.h"

#include <fmt/format.h>

#include "plot/draw.h"
#include "plot/palette.h"
#include "plot/svg.h"

namespace occupipe::plot {
namespace {

constexpr std::string_view layout = R"css(
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.5rem 4rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .6rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--grid); }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { max-width: 48rem; margin: .4rem 0; }
a { color: var(--blue); }
code { font: .92em ui-monospace, monospace; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .8rem 0; }
.warning { border-left: .3rem solid var(--vermillion); padding: .4rem .8rem; background: var(--tint);
  font-weight: 600; }
.absent, .quiet { color: var(--muted); }
.absent::before { content: "— "; }
.grid { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: .4rem 0; max-width: 100%; break-inside: avoid; }
figcaption { color: var(--muted); font-size: .87rem; max-width: 34rem; }
svg.figure { display: block; max-width: 100%; height: auto; }
svg.definitions { position: absolute; }
.scroll { overflow: auto; max-height: 34rem; }
.scroll thead th { position: sticky; top: 0; background: var(--paper); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .4rem 0; }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--guide); white-space: nowrap; }
tbody tr { border-bottom: 1px solid var(--grid); }
td.number, th.number { text-align: right; white-space: nowrap; }
table.sortable thead th { cursor: pointer; }
table.sortable thead th[aria-sort=ascending]::after { content: " \25B2"; }
table.sortable thead th[aria-sort=descending]::after { content: " \25BC"; }
details { margin: .2rem 0; }
summary { cursor: pointer; }
details > :not(summary) { margin-left: 1rem; }
input.filter { font: inherit; padding: .2rem .5rem; border: 1px solid var(--guide);
  background: var(--paper); color: var(--ink); }
[hidden] { display: none; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, input.filter { display: none; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; max-height: none; }
  .scroll thead th { position: static; }
}
)css";

constexpr std::string_view behaviour = R"js(
'use strict';
for (const head of document.querySelectorAll('table.sortable thead th')) {
  head.tabIndex = 0;
  const sort = () => {
    const table = head.closest('table');
    const column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of head.parentNode.children) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const value = row => {
      const cell = row.children[column];
      return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent;
    };
    const compare = (a, b) => {
      const x = value(a), y = value(b);
      if (x === y) return 0;
      // What was not measured comes last, whichever way.
      if (x === '' || y === '') return x === '' ? 1 : -1;
      return (x < y ? -1 : 1) * (up ? 1 : -1);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  };
  head.addEventListener('click', sort);
  head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
}
for (const input of document.querySelectorAll('input.filter')) {
  input.addEventListener('input', () => {
    const wanted = input.value.trim().toLowerCase();
    for (const item of document.querySelectorAll(input.dataset.target + ' [data-name]'))
      item.hidden = !item.dataset.name.toLowerCase().includes(wanted);
  });
}
// A link to something inside closed <details> opens them.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener('hashchange', reveal);
reveal();
const figures = [...document.querySelectorAll('svg.figure')];
document.documentElement.dataset.figures = figures.length;
document.documentElement.dataset.emptyFigures =
  figures.filter(figure => !figure.querySelector('.marks path, .marks use')).length;
)js";

std::string colours(bool dark) {
    std::string text =
        dark ? "--paper: #14171a; --ink: #e6e8ea; --muted: #a3abb3; --tint: #2b2119; "
             : "--paper: #ffffff; --ink: #1b1f23; --muted: #5b646d; --tint: #fdf1e7; ";
    for (const Colour& c : series_colours)
        text += fmt::format("{}: {}; ", c.variable, dark ? c.dark : c.light);
    for (const Colour& c : {grid_colour, guide_colour})
        text += fmt::format("{}: {}; ", c.variable, dark ? c.dark : c.light);
    return text;
}

}  // namespace

DrawnFigures draw_inline(std::span<const Picture> pictures) {
    DrawnFigures drawn;
    if (pictures.empty()) return drawn;
    const std::vector<std::string> images = draw(pictures, ImageFormat::svg);
    drawn.marks = shared_marks(images.front());
    for (std::size_t i = 0; i < images.size(); ++i)
        drawn.figures.push_back(fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                                            inline_svg(images[i], pictures[i].description),
                                            html_escaped(pictures[i].description)));
    return drawn;
}

std::string page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n:root {{ {}}}\n"
        "@media screen and (prefers-color-scheme: dark) {{ :root {{ {}}} }}\n{}</style>\n</head>\n"
        "<body>\n{}\n<script>{}</script>\n</body>\n</html>\n",
        html_escaped(title), colours(false), colours(true), layout, body, behaviour);
}

}  // namespace occupipe::plot
