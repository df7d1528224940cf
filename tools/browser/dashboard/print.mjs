// Printed pages keep what is read, and leave out what is clicked.
import { holds } from './same.mjs';

/** The tables, charts and tiles that can be seen. Runs in the page. */
function parts() {
  const seen = (kind) => [...document.querySelectorAll(`#main ${kind}`)].filter((one) => one.checkVisibility()).length;
  return { tables: seen('table'), charts: seen('.plot svg.chart'), tiles: seen('.tile'), controls: seen('.controls') + seen('form') };
}

/** Fails unless an open page is printed with its tables and charts, on paper as wide as a page of A4. */
export async function prints(page, what) {
  const onScreen = await page.evaluate(parts);
  const size = page.viewportSize();
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 720, height: 1020 });
  const onPaper = await page.evaluate(parts);
  for (const part of ['tables', 'charts', 'tiles']) {
    holds(onPaper[part] >= onScreen[part], `${what}: ${onPaper[part]} ${part} are printed, ${onScreen[part]} are seen`);
  }
  holds(!onPaper.controls, `${what}: controls are printed`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  holds(wide <= 0, `${what}: ${wide} pixels too wide on paper`);
  await page.setViewportSize(size);
  await page.emulateMedia({ media: null });
}
