// Printed pages keep what is read, and leave out what is clicked.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { uncut } from './names.mjs';
import { holds, same } from './same.mjs';

/** The tables, charts and tiles that can be seen. Runs in the page. */
function parts() {
  const seen = (kind) => [...document.querySelectorAll(`#main ${kind}`)].filter((one) => one.checkVisibility()).length;
  return { tables: seen('table'), charts: seen('.plot svg.chart'), tiles: seen('.tile'), controls: seen('.controls') + seen('form') };
}

/** The colours of everything in the main part. Runs in the page. */
function colors() {
  return [...document.querySelectorAll('html, body, #main, #main *')].map((one) => {
    const { color, fill, stroke, borderTopColor } = getComputedStyle(one);
    return `${one.tagName}.${one.className?.baseVal ?? one.className} ${color} ${fill} ${stroke} ${borderTopColor}`;
  });
}

/** A4 in pixels, with the margins of a browser and without. Letter is in between. */
const WIDTHS = [718, 794];

/** Fails unless an open page is printed with its tables, charts and whole names, in the same colours from every scheme. */
export async function prints(page, what) {
  const onScreen = await page.evaluate(parts);
  const size = page.viewportSize();
  await page.emulateMedia({ media: 'print', colorScheme: 'light' });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 1020 });
    const onPaper = await page.evaluate(parts);
    for (const part of ['tables', 'charts', 'tiles']) {
      holds(onPaper[part] >= onScreen[part], `${what}: ${onPaper[part]} ${part} are printed, ${onScreen[part]} are seen`);
    }
    holds(!onPaper.controls, `${what}: controls are printed`);
    await uncut(page, `${what} on paper of ${width}`);
  }
  const light = await page.evaluate(colors);
  await page.emulateMedia({ colorScheme: 'dark' });
  same(await page.evaluate(colors), light, `${what} on paper, colours from the dark scheme`);
  await page.setViewportSize(size);
  await page.emulateMedia({ media: null, colorScheme: null });
}

/** The words that a printed page has to have: its heading, its question, its tiles and the names of its rows. Runs in the page. */
function words() {
  const all = [...document.querySelectorAll('#main h1, #main .question, #main .chips bdi, #main .tile, #main .rows tbody th bdi')];
  return all.filter((one) => one.checkVisibility()).map((one) => one.textContent);
}

/** Words of what is clicked. */
const CONTROLS = ['Sign out', 'Skip to content', 'Period before', 'Own dates', 'Not brand', 'For your assistant', 'CSV', 'All countries'];

const bare = (text) => text.normalize('NFKC').replace(/\s/g, '');

/** Prints pages on both sizes of paper from both schemes, and reads the files. `isSecret` is true for addresses that paper does not hold. */
export async function onPaper(page, pages, { isSecret = false } = {}) {
  for (const { name, url } of pages) {
    await page.goto(url);
    const needed = await page.evaluate(words);
    for (const format of ['A4', 'Letter']) {
      for (const colorScheme of ['light', 'dark']) {
        const what = `${name} on ${format} from the ${colorScheme} scheme`;
        await page.emulateMedia({ colorScheme });
        const path = join(process.env.SCREENS, `print-${name}-${format}-${colorScheme}.pdf`);
        await page.pdf({ path, format, margin: { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' } });
        // In the order in which they are drawn, so that the lines of a name follow one another.
        const { stdout } = await promisify(execFile)('pdftotext', ['-raw', path, '-']);
        const printed = bare(stdout);
        const lost = needed.filter((text) => !printed.includes(bare(text)));
        holds(needed.length > 10 && !lost.length, `${what}: of ${needed.length} texts these are not whole: ${lost.join(' | ')}`);
        const clicked = CONTROLS.filter((text) => printed.includes(bare(text)));
        holds(!clicked.length, `${what}: controls are printed: ${clicked.join(', ')}`);
        holds(printed.includes(bare(page.url())) !== isSecret, `${what}: the address ${isSecret ? 'is' : 'is not'} there`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: null });
}
