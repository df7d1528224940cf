// The way from an invitation to the first number: in few clicks, and without typing an address.
import { inspect } from './screens.mjs';
import { start } from './service.mjs';

const PASSWORD = 'a harbour full of small boats';
const MOST_CLICKS = 8;

export default async function firstNumber(browser, step) {
  const service = await start();
  try {
    await step('a new person sees a number of a site of their own', () => newPerson(browser, service));
    await step('a member sees a number of a site that is shared with them', () => member(browser, service));
    await step('a demo person sees a number after choosing who they are', () => demoPerson(browser, service));
  } finally {
    await service.stop();
  }
}

/** From the operator's link by way of the search account. */
async function newPerson(browser, service) {
  const page = await browser.person('new');
  const clicks = counted();
  await setPassword(page, clicks, await service.command('user', 'add', 'new@example.test'));
  await page.getByText('No search account is connected yet.').waitFor();
  await inspect(page, 'first-number-nothing-connected');
  await clicks.on(page.getByRole('button', { name: 'Connect your search account' }));
  await clicks.on(page.getByRole('button', { name: /^agency/ }).first());
  await page.getByRole('heading', { name: 'Properties' }).waitFor();
  await clicks.on(page.getByRole('checkbox').first());
  await clicks.on(page.getByRole('button', { name: 'Save' }));
  await seesNumber(page, clicks, 'first-number-new-person');
}

/** From the operator's link to the sites of somebody who shares them. */
async function member(browser, service) {
  const token = await service.command('login', '--as', 'owner');
  const invited = await fetch(`${service.url}/api/team`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'member@example.test', role: 'viewer', allProperties: true }),
  });
  if (invited.status !== 201) throw new Error(`${invited.status} ${await invited.text()}`);
  const page = await browser.person('member');
  const clicks = counted();
  await setPassword(page, clicks, await service.command('user', 'add', 'member@example.test'));
  await page.getByText('You are a viewer').first().waitFor();
  await seesNumber(page, clicks, 'first-number-member');
}

/** From the start page. */
async function demoPerson(browser, service) {
  const page = await browser.person('demo');
  const clicks = counted();
  await page.goto(service.url);
  await inspect(page, 'first-number-sign-in');
  await clicks.on(page.getByRole('button', { name: /^Demo Viewer/ }));
  await seesNumber(page, clicks, 'first-number-demo-person');
}

async function setPassword(page, clicks, link) {
  await page.goto(link);
  for (const field of await page.locator('input[type=password]').all()) await field.fill(PASSWORD);
  await clicks.on(page.getByRole('button', { name: 'Set the password' }));
}

/** Fails unless the page shows clicks of a site, and leads to its overview. */
async function seesNumber(page, clicks, screen) {
  const number = await page.locator('.sites li dd strong').first().innerText();
  if (!/^[1-9][\d,]*$/.test(number)) throw new Error(`${number} is no number`);
  if (clicks.count > MOST_CLICKS) throw new Error(`${clicks.count} clicks`);
  await inspect(page, screen);
  const site = await page.locator('.sites h2').first().innerText();
  await page.locator('.sites h2 a').first().click();
  await page.getByRole('heading', { level: 1, name: site.trim() }).waitFor();
  const title = await page.title();
  if (title !== `Overview · ${site.trim()} · Sightline`) throw new Error(title);
}

/** Clicks, and counts. */
function counted() {
  return {
    count: 0,
    async on(locator) {
      this.count += 1;
      await locator.click();
    },
  };
}
