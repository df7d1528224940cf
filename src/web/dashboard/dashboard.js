// Links and forms of a page swap <main> in place, and the chart reads a day. Every link and form works without this file.
const main = () => document.getElementById('main');
let asked;

// The path of a page without the conditions in it.
const page = (url) => new URL(url).pathname.replace(/\/where\/.*\//, '/').replace(/\/overview$|\/$/, '');

async function go(url, isNew = true) {
  asked?.abort();
  asked = new AbortController();
  main().setAttribute('aria-busy', 'true');
  try {
    const answer = await fetch(url, { signal: asked.signal, headers: { Accept: 'text/html' } });
    const found = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const focused = document.activeElement?.textContent;
    if (!found.getElementById('main') || page(answer.url) !== page(url)) return location.assign(url);
    document.title = found.title;
    main().replaceWith(found.getElementById('main'));
    if (isNew) history.pushState({}, '', answer.url);
    const again = [...main().querySelectorAll('a,button')].find((one) => one.textContent === focused);
    (again ?? main()).focus({ preventScroll: true });
  } catch (error) {
    if (error.name !== 'AbortError') location.assign(url);
  }
}

addEventListener('click', (event) => {
  const link = event.target.closest?.('main a[href]');
  if (!link || link.origin !== location.origin || link.hash || page(link.href) !== page(location.href) || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.href);
});
addEventListener('submit', (event) => {
  const form = event.target.closest('main form[method=get]');
  if (!form) return;
  event.preventDefault();
  const url = new URL(location.href);
  url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  go(url.href);
});
addEventListener('popstate', () => go(location.href, false));

// Copies the address beside the button.
addEventListener('click', ({ target }) => {
  if (!target.matches?.('.copy')) return;
  target.previousElementSibling.select();
  if (document.execCommand('copy')) target.textContent = 'Copied';
});

// The day under the pointer, a finger or the arrow keys. Its numbers are those of the chart's table of days.
let day = -1;
const days = (figure, what) => [...figure.parentElement.querySelectorAll(`.days ${what}`)];
function show(figure, index) {
  const rows = days(figure, 'tbody tr');
  if (!rows.length) return;
  day = Math.max(0, Math.min(rows.length - 1, index));
  const part = rows.length < 2 ? 0.5 : day / (rows.length - 1);
  const heads = days(figure, 'thead th').map((head) => head.textContent);
  const cells = [...rows[day].children].map((cell) => cell.textContent);
  const plane = figure.querySelector('.plane'), cross = figure.querySelector('.cross'), tip = figure.querySelector('.tip');
  const points = [...plane.querySelectorAll('.current')].flatMap((line) => line.getAttribute('points').split(' '));
  const point = points.find((pair) => Math.abs(pair.split(',')[0] - part * 1000) < 0.2);
  const x = `${part * 100}%`, line = cross.querySelector('line'), dot = cross.querySelector('circle');
  cross.removeAttribute('hidden');
  line.setAttribute('x1', x);
  line.setAttribute('x2', x);
  dot.setAttribute('r', point ? 4 : 0);
  dot.setAttribute('cx', x);
  if (point) dot.setAttribute('cy', +plane.getAttribute('y') + (plane.getAttribute('height') * point.split(',')[1]) / 1000);
  tip.hidden = false;
  tip.textContent = `${cells[0]}: ${heads.slice(1).map((head, at) => `${head} ${cells[at + 1]}`).join(' · ')}`;
  const width = figure.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(width, part * figure.clientWidth - tip.offsetWidth / 2))}px`;
}
function point(event) {
  const figure = event.target.closest?.('.plot');
  if (!figure) return;
  const box = figure.getBoundingClientRect();
  show(figure, Math.round(((event.clientX - box.left) / box.width) * (days(figure, 'tbody tr').length - 1)));
}
addEventListener('pointermove', point);
addEventListener('pointerdown', point);

// Arrow keys read the chart. `/` finds, `x` compares or not, `[` and `]` lead to an earlier and a later part of a table.
addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const figure = event.target.closest?.('.plot'), step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 }[event.key];
  if (figure && step) {
    event.preventDefault();
    return show(figure, day + step);
  }
  // Return writes a note on the day, where the table has a link for it.
  if (figure && event.key === 'Enter') return days(figure, 'tbody tr')[day]?.querySelector('a')?.click();
  if (event.target.closest?.('input,textarea,select')) return;
  if (event.key === '/' && document.getElementById('find')) {
    event.preventDefault();
    document.getElementById('find').focus();
  }
  const comparisons = '[aria-label=Comparison] a';
  const key = { x: `${comparisons}:not([aria-current]):is(:last-child,:first-child)`, '[': 'a[rel=prev]', ']': 'a[rel=next]' }[event.key];
  if (key) main().querySelector(key)?.click();
});
