// Names of rows are read whole, on screens of every width and on paper.
import { holds } from './same.mjs';

/** Widths between a phone and a desk, where columns stand side by side and have least room. */
const WIDTHS = [769, 820, 900, 1023];

/** The names of rows that are cut, and by how many pixels the page is too wide. Runs in the page. */
function problems() {
  const isCut = (one) => one.clientWidth > 0 && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
  const parts = (cell) => [cell, ...cell.querySelectorAll(':scope > :not(.bar)')];
  const cells = [...document.querySelectorAll('#main .rows tbody th')].filter((cell) => cell.checkVisibility());
  const { scrollWidth, clientWidth } = document.documentElement;
  return {
    names: cells.length,
    cut: cells.filter((cell) => parts(cell).some(isCut)).map((cell) => cell.textContent.trim()),
    wide: scrollWidth - clientWidth,
  };
}

/** Fails if an open page cuts a name, or is too wide. Returns the number of names. */
export async function uncut(page, what) {
  const { names, cut, wide } = await page.evaluate(problems);
  holds(!cut.length, `${what}: ${cut.length} of ${names} names are cut: ${cut.join(' | ')}`);
  holds(wide <= 0, `${what}: ${wide} pixels too wide`);
  return names;
}

/** Looks for cut names at each width. */
export async function everyWidth(page, pages) {
  const size = page.viewportSize();
  let names = 0;
  for (const { name, url } of pages) {
    await page.goto(url);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: size.height });
      names += await uncut(page, `${name} at ${width}`);
    }
  }
  await page.setViewportSize(size);
  holds(names > 0, 'no page has names');
}
