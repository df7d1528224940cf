// A browser whose every screen is looked at: width at two sizes, accessibility, and errors of the page.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SIZES = [{ width: 390, height: 844 }, { width: 1280, height: 800 }];

/** Opens a browser with one context for each person. */
export async function browser() {
  const launched = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  return {
    /** Returns the page of somebody with a browser of their own. */
    async person(name, options = {}) {
      const context = await launched.newContext({ viewport: SIZES[1], ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => { throw new Error(`${name}: ${error}`); });
      return page;
    },
    /** Keeps a picture of every open page. */
    async keep(name) {
      const pages = launched.contexts().flatMap((context) => context.pages());
      await Promise.all(pages.map((page, number) => page.screenshot({ path: join(process.env.SCREENS, `${name}-${number}.png`) })));
    },
    close: () => launched.close(),
  };
}

/** Fails if a page is wider than the screen at either size, or if a number in a table or a tile stands on two lines. */
export async function fits(page, name, { picture = false } = {}) {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) throw new Error(`${name}: ${wide} pixels too wide at ${size.width}`);
    const broken = await page.evaluate(brokenNumbers);
    if (broken.length) throw new Error(`${name}: on two lines at ${size.width}: ${broken.join(', ')}`);
    if (picture) await page.screenshot({ path: join(process.env.SCREENS, `${name}-${size.width}.png`), fullPage: true });
  }
}

/** Returns the numbers and dates in tables and tiles that stand on more than one line. Names and quoted JSON may break anywhere. Runs in the page. */
function brokenNumbers() {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  const broken = [];
  for (const cell of document.querySelectorAll('th, td, .tile, dd')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest('pre, bdi')) continue;
      for (const { 0: number, index } of text.data.matchAll(/[-+\d][\d.,:\u00a0]*(?: %| [A-Z][a-z]{2} \d{4})?/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + number.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(number);
      }
    }
  }
  return broken;
}

/** Fails if a page does not fit, or if axe finds a problem in a light or a dark scheme at either size. Keeps a picture, unless told not to. */
export async function inspect(page, name, { within, finds = isSerious, picture = true } = {}) {
  await fits(page, name, { picture });
  // Scripts of the page itself are forbidden by its policy, evaluation by the browser's own tools is not.
  await page.evaluate(axe);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate(violated, within);
      const told = violations.filter(finds).map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      if (told.length) throw new Error(`${name} (${size.width}, ${colorScheme}): ${told.join('\n')}`);
    }
  }
  await page.emulateMedia({ colorScheme: null });
}

/** Runs axe on a part of the page, or on all of it. Runs in the page. */
async function violated(within) {
  const isWithoutScript = matchMedia('(scripting: none)').matches;
  // No timer fires without script. Axe has none that really waits, apart from those that give up, and reads style sheets anew in vain.
  if (isWithoutScript) window.setTimeout = (act, delay = 0) => (delay > 1 ? 0 : Promise.resolve().then(act) && 0);
  const { violations } = await window.axe.run(within ?? document, { resultTypes: ['violations'], preload: !isWithoutScript });
  return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) }));
}

const isSerious = ({ impact }) => impact === 'serious' || impact === 'critical';
