// SPDX-License-Identifier: MIT

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
