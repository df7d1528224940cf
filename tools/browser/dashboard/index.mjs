// The dashboard, as its owner, members and readers of share links see it.
import { start } from '../service.mjs';
import { headFirst, small } from './budget.mjs';
import { engine } from './engine.mjs';
import { sites } from './expected.mjs';
import { harms } from './hostile.mjs';
import { arrows, keys } from './keyboard.mjs';
import { everyWidth } from './names.mjs';
import { everyNote, everyNumber } from './numbers.mjs';
import { everyKey, everyPage } from './pages.mjs';
import { json, signIn, site } from './people.mjs';
import { onPaper } from './print.mjs';
import { QUESTIONS } from './questions.mjs';
import { holds, same } from './same.mjs';
import { link, makes, readersSee } from './shares.mjs';
import * as states from './states.mjs';
import { says } from './waiting.mjs';
import { four } from './words.mjs';

/** The pages of a site without numbers of the search engine. */
const OTHERS = [['notes', '/notes'], ['notes-updates', '/notes?updates=true&day=2026-11-02'], ['settings', '/settings?suggest=true']];
/** One page of each kind. */
const KINDS = ['', '/queries', '/pages', '/countries', '/growth', '/cannibalization', '/insights', '/notes', '/settings'];

export default async function dashboard(browser, step) {
  const service = await start({ RATE_LIMIT__ENABLED: 'false' });
  const at = (path) => `${service.url}${path}`;
  try {
    const page = await browser.person('owner', { reducedMotion: 'reduce' });
    const plain = await browser.person('plain', { javaScriptEnabled: false });
    await step('the owner signs in and sees all sites', async () => {
      for (const one of [page, plain]) await signIn(one, at('/'), 'owner');
      await page.getByRole('heading', { name: 'All sites' }).waitFor();
    });
    const own = await site(page, service, 'northmoor');
    const root = at(`/p/${own.id}`);
    await step('the cards and sums are those of the API', () => cards(page, service));
    await step('every number is the one that the API answers', async () => {
      await everyNumber(page, service, own, QUESTIONS);
      await everyNote(page, service, own);
    });
    const looked = [
      { name: 'sites', url: at('/') },
      ...QUESTIONS.map(({ name, path }) => ({ name, url: root + path })),
      ...OTHERS.map(([name, path]) => ({ name, url: root + path })),
    ];
    await step('every page fits and is accessible, with and without script', () => everyPage({ page, plain }, looked));
    const kinds = [at('/'), ...KINDS.map((path) => root + path)].map((url) => ({ name: url.replace(service.url, ''), url }));
    await step('the keyboard reaches everything, and paper has what is read', () => everyKey(page, kinds));
    await step('names are whole on every width', () => everyWidth(page, kinds));
    await step('paper of both sizes has the question, the address and every name', () => onPaper(page, [
      { name: 'overview', url: root },
      { name: 'queries', url: `${root}/queries` },
      { name: 'pages-brand', url: `${root}/pages?classification=branded&sort=-impressions` },
    ]));
    await step('keys find, compare and turn pages, and read days', async () => {
      await keys(page, root);
      await arrows(page, root);
    });
    await step('links change the question in place, and the back button leads back', () => inPlace(page, root));
    await step('without script the same links lead to the same numbers', () => withoutScript(page, plain, at('/'), own));
    await step('a form of the settings comes back to its section, and a share link is copied and opened', () => makes(page, `${root}/settings`));
    await step('readers of a share link see the same numbers', async () => {
      const [reader, still] = [await browser.person('reader'), await browser.person('still', { javaScriptEnabled: false })];
      const shared = await readersSee(reader, service, await link(page, service, own, { name: 'Board' }));
      await everyPage({ page: reader, plain: still }, shared);
      await everyKey(reader, shared);
      await everyWidth(reader, shared);
      await onPaper(reader, shared, { isSecret: true });
      kinds.push(...shared);
    });
    await step('a page takes few requests and bytes', () => small(browser, service, 'owner', kinds.map(({ url }) => url)));
    await step('a member sees numbers after signing in', async () => {
      const member = await browser.person('viewer');
      await signIn(member, at('/'), 'viewer');
      await member.locator('.sites dd strong').first().waitFor();
    });
    await step('states: nothing connected, nothing tracked', () => states.ofNewcomers(browser, service));
    await step('states: no data, not final, refused, not of this kind of search', () => states.ofQuestions({ page, plain }, service));
    await step('states: the session ended while a note was written', () => states.ofEndedSessions(browser, service));
    await step('states: locked, no right to write', () => states.ofRights(browser, service));
    await step('states: link ended', () => states.ofLinks({ page, plain }, service));
    await step('states: disconnected, for the owner and for a member', () => states.disconnected(browser, service, { page, plain }));
  } finally {
    await service.stop();
  }
  await step('states: too many requests', () => states.tooMany(browser));
  await step('states: the search engine is away', () => states.away(browser));
  await step('the head of a page comes before the search engine answers, also packed, and says that it waits', () => early(browser));
  await step('hostile texts are shown as text', () => harms(browser));
}

/** Fails unless the page of all sites shows what the list and the portfolio answer. */
async function cards(page, service) {
  await page.goto(service.url);
  const list = await json(page, `${service.url}/api/properties?series=true`);
  const { data } = await json(page, `${service.url}/api/portfolio?series=false`);
  const shown = await page.locator('.sites > li').evaluateAll((all) => all.map((card) => (
    [...card.querySelectorAll('dd')].map((cell) => [cell.querySelector('strong').textContent.trim(), [...cell.children].slice(1).map((one) => one.textContent.replace(/\s+/g, ' ').trim()).join(' ')])
  )));
  const expected = sites(list);
  holds(shown.length === expected.length, `${shown.length} cards instead of ${expected.length}`);
  expected.forEach((card, index) => card.forEach((metric, which) => same(shown[index][which], metric, `card ${index}`)));
  same(await page.locator('.tile strong').allTextContents(), four(data.totals), 'the sums');
}

/** Follows a link of the question and goes back, on one page. */
async function inPlace(page, root) {
  await page.goto(root);
  await page.evaluate(() => { window.stays = true; });
  await page.getByRole('link', { name: /^Impressions/ }).click();
  await page.waitForURL(/metric=impressions/);
  await page.locator('.tile[aria-current]', { hasText: 'Impressions' }).waitFor();
  await page.goBack();
  await page.locator('.tile[aria-current]', { hasText: 'Clicks' }).waitFor();
  holds(await page.evaluate(() => window.stays), 'the page was loaded anew');
}

async function withoutScript(page, plain, start, own) {
  await plain.goto(start);
  await plain.getByRole('link', { name: own.name }).click();
  await plain.getByRole('link', { name: /^Impressions/ }).click();
  await plain.waitForURL(/metric=impressions/);
  await page.goto(plain.url());
  const tiles = (one) => one.locator('.tile strong').allTextContents();
  same(await tiles(plain), await tiles(page), 'the tiles without script');
}

/** Opens each page with search data while the search engine is held back. */
async function early(browser) {
  const gate = await engine();
  const service = await start(gate.settings);
  try {
    const paths = KINDS.slice(0, -2).map((path, index) => `${path}?startDate=2026-0${index + 1}-01&endDate=2026-0${index + 1}-20`);
    await headFirst(browser, service, gate, 'owner', paths);
    await says(browser, service, gate);
  } finally {
    await service.stop();
    await gate.stop();
  }
}
