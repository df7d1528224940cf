// The commands of a person with a local account: they sign in in the browser, and read their numbers in the terminal.
import { inspect } from './screens.mjs';
import { start } from './service.mjs';

const EMAIL = 'eli@example.test';
const PASSWORD = 'a harbour full of small boats';

export default async function commandLine(browser, step) {
  const service = await start();
  const page = await browser.person('eli');
  try {
    const site = await step('a person with a local account tracks a site', () => track(page, service));
    await step('login opens the sign-in page, and prints a token', () => login(page, service));
    await step('sites signs in once, and prints numbers', () => sites(page, service, site));
    await step('report prints numbers by the stored sign-in', () => report(service, site));
    await step('after logout, report says to sign in', () => logout(service, site));
  } finally {
    await service.stop();
  }
}

/** Sets a password, connects a search account, tracks a site, and signs out. Returns the name of the site. */
async function track(page, service) {
  await page.goto(await service.command('user', 'add', EMAIL));
  for (const field of await page.locator('input[type=password]').all()) await field.fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('button', { name: 'Connect your search account' }).click();
  await page.getByRole('button', { name: /^agency/ }).first().click();
  await page.getByRole('heading', { name: 'Properties' }).waitFor();
  await page.getByRole('checkbox').first().click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.sites li dd strong').first().waitFor();
  const site = await page.locator('.sites h2').first().innerText();
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
  return site.trim();
}

/** Signs in by password at the address that the command prints, and allows it access. */
async function login(page, service) {
  const command = service.waiting('login');
  await page.goto(await command.address);
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: /^Allow / }).waitFor();
  await inspect(page, 'command-line-consent');
  await allow(page);
  const token = await command.output;
  const answer = await fetch(`${service.url}/api/properties`, { headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 200) throw new Error(`the token of login is answered ${answer.status}`);
}

/** The browser knows the person now, and asks only what the command may do. */
async function sites(page, service, site) {
  const command = service.waiting('sites');
  await page.goto(await command.address);
  await allow(page);
  const line = (await command.output).split('\n').find((text) => text.startsWith(site)) ?? '';
  if (!/ [1-9][\d,]* /.test(line)) throw new Error(`sites prints no clicks of ${site}: ${line}`);
}

async function report(service, site) {
  const printed = await service.command('report', site);
  if (!printed.startsWith(`${site}, `) || !/^clicks +[1-9][\d,]* /m.test(printed)) throw new Error(printed);
}

async function logout(service, site) {
  const said = await service.command('logout');
  if (!said.includes('was revoked there and removed here')) throw new Error(said);
  const command = service.waiting('report', site);
  const address = await command.address;
  command.stop();
  if (!address.startsWith(`${service.url}/oauth/authorize?`)) throw new Error(`report leads to ${address}`);
}

/** Allows the command access, if the page asks, until the browser is back at the command. */
async function allow(page) {
  await page.getByRole('button', { name: 'Allow', exact: true }).or(page.getByText('The terminal says')).first().waitFor();
  const button = page.getByRole('button', { name: 'Allow', exact: true });
  if (await button.count()) await button.click();
  await page.getByText('The terminal says what came of the sign-in').waitFor();
}
