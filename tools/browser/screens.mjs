// A browser whose every screen is looked at: width at two sizes, accessibility, and errors of the page.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules whose findings depend on the colours. */
const OF_COLOUR = ['color-contrast', 'link-in-text-block'];
const SIZES = [{ width: 390, height: 844 }, { width: 1280, height: 800 }];

/** Opens a browser with one context for each person. */
export async function browser() {
  const launched = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  return {
    /** Returns the page of somebody with a browser of their own. */
    async person(name, options = {}) {
      const context = await launched.newContext({ viewport: SIZES[1], ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
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

/** Returns the numbers and dates in tables and tiles that stand on more than one line. Quoted JSON may break anywhere. Runs in the page. */
function brokenNumbers() {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  const broken = [];
  for (const cell of document.querySelectorAll('th, td, .tile, dd')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest('pre')) continue;
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

/** Fails if a page does not fit, or if axe finds a problem in a light or a dark scheme at either size. Keeps a picture. */
export async function inspect(page, name, { within, finds = isSerious } = {}) {
  await fits(page, name, { picture: true });
  // Scripts of the page itself are forbidden by its policy, evaluation by the browser's own tools is not.
  await page.evaluate(axe);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      const rules = colorScheme === 'dark' ? { runOnly: OF_COLOUR } : {};
      const { violations } = await page.evaluate(([root, options]) => window.axe.run(root ?? document, options), [within, { resultTypes: ['violations'], ...rules }]);
      const told = violations.filter(finds).map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      if (told.length) throw new Error(`${name} (${size.width}, ${colorScheme}): ${told.join('\n')}`);
    }
  }
  await page.emulateMedia({ colorScheme: null });
}

const isSerious = ({ impact }) => impact === 'serious' || impact === 'critical';
