// SPDX-License-Identifier: Apache-2.0
'use strict';
// The page is complete without this script, which adds the filter and opens what a link points to.
const byId = id => document.getElementById(id);
const groups = [...document.querySelectorAll('.group')].map(
    box => ({box, findings: [...box.querySelectorAll('.f')]}));
const findings = groups.flatMap(group => group.findings).map(
    box => ({box, grade: box.dataset.g, text: (box.querySelector('summary') || box).textContent.toLowerCase()}));

function show() {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(word => word);
  const grades = new Set([...document.querySelectorAll('.tools input[type=checkbox]')]
      .filter(box => box.checked).map(box => box.value));
  let shown = 0;
  for (const finding of findings) {
    const hidden = !grades.has(finding.grade) || !words.every(word => finding.text.includes(word));
    if (finding.box.hidden !== hidden) finding.box.hidden = hidden;
    if (!hidden) shown++;
  }
  for (const group of groups) group.box.hidden = group.findings.every(finding => finding.hidden);
  const number = n => n.toLocaleString('en');
  byId('shown').textContent = `${number(shown)} of ${number(findings.length)} shown`;
}

function openTarget() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch (ignored) {}
  const target = id && byId(id);
  if (!target || target.tagName !== 'DETAILS') return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}

if (findings.length) {
  const tools = document.querySelector('.tools');
  tools.hidden = false;
  tools.addEventListener('input', show);
  tools.addEventListener('submit', event => event.preventDefault());
  byId('filter').addEventListener('keydown', event => {
    if (event.key === 'Escape') { byId('filter').value = ''; show(); }
  });
  show();
}
addEventListener('hashchange', openTarget);
openTarget();
