// What a page shows: its tables, its tiles, and the numbers in its sentences.

/** Reads the tables of the main part, each with its heading and its rows. Runs in the page. */
function allTables() {
  const text = (cell) => cell.textContent.replace(/[\s\u00a0]+/g, ' ').replace(/ [↑↓]$/, '').trim();
  const cells = (row) => [...row.children].map(text);
  return [...document.querySelectorAll('#main table')].map((table) => ({
    head: cells(table.querySelector('thead tr')),
    rows: [...table.querySelectorAll('tbody tr')].map(cells),
  }));
}

export const tables = (page) => page.evaluate(allTables);

/** Reads each tile: its number and the change below it. */
export function tiles(page) {
  return page.locator('.tile').evaluateAll((all) => all.map((tile) => {
    const text = (one) => one.textContent.replace(/\s+/g, ' ').trim();
    return [text(tile.querySelector('strong')), text(tile.lastElementChild)];
  }));
}

/** Reads why clicks changed: the title, the parts, and the queries with the most lost and gained. */
export function why(page) {
  return page.locator('.why').evaluateAll((all) => all.flatMap((panel) => (
    [...panel.querySelectorAll('h2, dd, p:not(.quiet-text)')].map((part) => part.textContent.replace(/\s+/g, ' ').trim())
  )));
}

/** The widths of the bars behind the names of rows, in percent, by table. */
export function bars(page) {
  return page.locator('#main table').evaluateAll((all) => all.map((table) => (
    [...table.querySelectorAll('tbody th .bar rect')].map((bar) => parseFloat(bar.getAttribute('width')))
  )).filter((widths) => widths.length));
}

/**
 * Reads the numbers in the sentences of the main part: without tables, charts and tiles, which are compared one by one, without
 * what people choose, and without names. Runs in the page.
 */
function loose() {
  const main = document.getElementById('main').cloneNode(true);
  const apart = 'table, svg, .tile, .why, .tip, nav, form, pre, bdi, .chip, .choices, details.more, .ask, summary, .paper, [hidden], .waiting';
  for (const part of main.querySelectorAll(apart)) part.remove();
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  let words = '';
  while (texts.nextNode()) words += ` ${texts.currentNode.data}`;
  return words.match(/\d[\d,.]*/g)?.map((number) => number.replace(/[.,]$/, '')) ?? [];
}

export const looseNumbers = (page) => page.evaluate(loose);

/** The question of the page in the API, as the page tells it. */
export async function told(page) {
  const command = await page.locator('footer pre code').textContent();
  return new URL(command.match(/"(http[^"]+)"$/)[1]);
}
