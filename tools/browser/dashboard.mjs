// The dashboard, as its owner, a member and the reader of a share link see it. Every number that is read out is held against the API.
import { inspect } from './screens.mjs';
import { start } from './service.mjs';

/** The most requests of a page, and the most bytes that all of them take on the wire. */
const MOST_REQUESTS = 4;
const MOST_BYTES = 60_000;

const PAGES = [
  ['overview', ''],
  ['overview-position', '?metric=position&period=last_91_days&dataState=all'],
  ['overview-filtered', `?filters=${encodeURIComponent('[{"dimension":"country","operator":"equals","value":"usa"}]')}&tab=pages`],
  ['overview-alone', '?compare=none&period=last_480_days'],
  ['queries', '/queries?rows=shrinking'],
  ['pages', '/pages?sort=-impressions&least=100'],
  ['countries', '/countries?sort=-impressions'],
  ['growth', '/growth'],
  ['cannibalization', '/cannibalization'],
  ['settings', '/settings?suggest=true'],
  ['refused', '?period=ever'],
];

export default async function dashboard(browser, step) {
  const service = await start();
  const at = (path) => `${service.url}${path}`;
  try {
    const page = await browser.person('owner', { reducedMotion: 'reduce' });
    await step('the owner signs in and sees all sites', async () => {
      await signIn(page, at('/'), 'owner');
      await page.getByRole('heading', { name: 'All sites' }).waitFor();
      await inspect(page, 'sites');
    });
    const site = (await json(page, at('/api/properties'))).data.find(({ name }) => name.includes('northmoor'));
    await step('the cards show the numbers of the list', async () => {
      const shown = await page.locator('.sites li', { hasText: site.name }).locator('dd strong').allTextContents();
      same(shown.slice(0, 2), [site.headline.current.clicks, site.headline.current.impressions].map(grouped));
    });
    await step('every page fits, is accessible, and has its numbers on one line', async () => {
      for (const [name, path] of PAGES) {
        await page.goto(at(`/p/${site.id}${path}`));
        await inspect(page, `dashboard-${name}`);
      }
    });
    await step('the overview shows what the API answers', () => agrees(page, service, site.id));
    await step('links change the question in place, and the back button leads back', async () => {
      await page.goto(at(`/p/${site.id}`));
      await page.evaluate(() => { window.stays = true; });
      await page.getByRole('link', { name: /^Impressions/ }).click();
      await page.waitForURL(/metric=impressions/);
      await page.locator('.tile[aria-current]', { hasText: 'Impressions' }).waitFor();
      await page.goBack();
      await page.locator('.tile[aria-current]', { hasText: 'Clicks' }).waitFor();
      if (!(await page.evaluate(() => window.stays))) throw new Error('the page was loaded anew');
    });
    await step('the arrow keys read a day', async () => {
      await page.locator('.plot').focus();
      await page.keyboard.press('End');
      const tip = await page.locator('.plot .tip').textContent();
      const cells = await page.locator('.days tbody tr').last().locator('th, td').allTextContents();
      if (!cells.every((cell) => tip.includes(cell))) throw new Error(`${tip} does not say ${cells}`);
    });
    await step('a form of the settings comes back to its section, and a share link is copied and opened', () => shares(page, at(`/p/${site.id}/settings`)));
    await step('a page takes few requests and bytes', () => small(browser, service, site.id));
    await step('without script the same links lead to the same numbers', async () => {
      const plain = await browser.person('plain', { javaScriptEnabled: false });
      await signIn(plain, at('/'), 'owner');
      await plain.getByRole('link', { name: site.name }).click();
      await plain.getByRole('link', { name: /^Impressions/ }).click();
      await plain.waitForURL(/metric=impressions/);
      same(await tiles(plain), await tiles(page));
    });
    await step('a member sees numbers after signing in', async () => {
      const member = await browser.person('viewer');
      await signIn(member, at('/'), 'viewer');
      await member.locator('.sites dd strong').first().waitFor();
    });
    await step('printing keeps the chart and the tables', async () => {
      await page.emulateMedia({ media: 'print' });
      for (const part of ['.plot svg', '.rows']) {
        if (!(await page.locator(part).first().isVisible())) throw new Error(`${part} is not printed`);
      }
      if (await page.locator('.controls').first().isVisible()) throw new Error('controls are printed');
      await page.emulateMedia({ media: null });
    });
  } finally {
    await service.stop();
  }
}

async function signIn(page, url, name) {
  await page.goto(url);
  await page.getByRole('button', { name: new RegExp(name, 'i') }).first().click();
}

/** Makes a share link after it was said what it opens, copies its address, and opens it. */
async function shares(page, settings) {
  await page.goto(settings);
  const links = page.locator('#links');
  await links.getByText('Make a share link').click();
  await links.getByLabel('Name, which readers see').fill('Board');
  await links.getByRole('button', { name: 'What would it open?' }).click();
  await links.getByText('It would open:').waitFor();
  await inspect(page, 'dashboard-settings-link');
  await links.getByRole('button', { name: 'Make the link' }).click();
  await page.waitForURL(/done=links.made#links$/);
  const top = await links.evaluate((section) => section.getBoundingClientRect().top);
  if (Math.abs(top) > 400) throw new Error(`the section is ${top} pixels away`);
  await links.getByRole('button', { name: 'Copy' }).click();
  await links.getByRole('button', { name: 'Copied' }).waitFor();
  const address = await links.getByLabel('Address of Board').inputValue();
  await links.getByLabel('Name, which readers see').evaluate((field) => { field.closest('details').open = true; field.focus(); });
  await page.keyboard.press('Control+V');
  same([await links.getByLabel('Name, which readers see').inputValue()], [address.slice(0, 100)]);
  await links.getByRole('link', { name: 'Open Board' }).click();
  await page.locator('.plot').waitFor();
}

/** Reads the numbers of an overview out of the page, and compares them with the answer to the same question. */
async function agrees(page, service, id) {
  for (const [shown, asked] of [
    ['', 'compare=previous_period'],
    ['?compare=none&classification=nonBranded', 'classification=nonBranded'],
    ['?startDate=2026-09-01&endDate=2026-09-30&searchType=image', 'startDate=2026-09-01&endDate=2026-09-30&searchType=image&compare=previous_period'],
  ]) {
    await page.goto(`${service.url}/p/${id}${shown}`);
    const { data } = await json(page, `${service.url}/api/properties/${id}/performance?scope=all&queryLimit=10&pageLimit=10&${asked}`);
    const { clicks, impressions, ctr, position } = data.totals;
    same(await tiles(page), [grouped(clicks), grouped(impressions), percent(ctr), decimal(position)]);
    const days = page.locator('.days tbody tr');
    same(await column(days, 0), data.series.map((day) => grouped(day.clicks)));
    same(await column(days, 1), data.series.map((day) => grouped(day.impressions)));
    same(await column(days, 2), data.series.map((day) => percent(day.ctr)));
    same(await column(days, 3), data.series.map((day) => decimal(day.position)));
    const rows = page.locator('section[aria-label=Queries] tbody tr');
    same(await column(rows, 0), data.tables.queries.map((row) => grouped(row.clicks)));
    for (const [number, table] of [data.tables.countries, data.tables.devices].entries()) {
      const rows = page.locator('section[aria-label^=Countries] table').nth(number).locator('tbody tr');
      same(await column(rows, 0), table.slice(0, 6).map((row) => grouped(row.clicks)));
    }
  }
}

/** Opens the overview with empty caches, and adds up what it takes. */
async function small(browser, service, id) {
  const page = await browser.person('fresh');
  await signIn(page, `${service.url}/account`, 'owner');
  await page.waitForURL(`${service.url}/account`);
  await page.waitForLoadState('networkidle');
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Network.setCacheDisabled', { cacheDisabled: true });
  const sizes = [];
  page.on('requestfinished', (request) => sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)));
  await page.goto(`${service.url}/p/${id}`, { waitUntil: 'networkidle' });
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  if (sizes.length > MOST_REQUESTS || bytes > MOST_BYTES) throw new Error(`${sizes.length} requests, ${bytes} bytes`);
}

const tiles = (page) => page.locator('.tile strong').allTextContents();

/** The texts of a column of cells after the row's name. */
const column = (rows, index) => rows.evaluateAll((all, at) => all.map((row) => row.querySelectorAll('td')[at].textContent), index);

const grouped = (number) => (number ?? null) === null ? '–' : Math.round(number).toLocaleString('en-US');
const decimal = (number) => (number ?? null) === null ? '–' : number.toFixed(1);
const percent = (share) => (share ?? null) === null ? '–' : `${(share * 100).toFixed(1)} %`;

/** Fails unless both lists hold the same texts. */
function same(shown, expected) {
  if (shown.join('|') !== expected.join('|')) throw new Error(`shown ${shown.join(', ')}\nexpected ${expected.join(', ')}`);
}

/** Reads a path with the cookies of the page. */
async function json(page, url) {
  const response = await page.request.get(url);
  if (!response.ok()) throw new Error(`${url}: ${response.status()}`);
  return response.json();
}
