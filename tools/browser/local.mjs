// Somebody with a local account: from the operator's link to a search account that was disconnected and connected again.
import { inspect } from './screens.mjs';
import { start } from './service.mjs';
import { walk } from './walk.mjs';

const PASSWORD = 'a harbour full of small boats';

export default async function local(browser, step) {
  const service = await start();
  const page = await browser.person('ada');
  const at = (path) => `${service.url}${path}`;
  const button = (name) => page.getByRole('button', { name, exact: true });
  try {
    const link = await step('the operator adds a person', () => service.command('user', 'add', 'ada@example.test', '--name', 'Ada'));
    await step('she sets a password that is refused, then one that is good', async () => {
      await page.goto(link);
      await inspect(page, 'set-password');
      await fillPasswords(page, 'password1234');
      await page.getByRole('alert').waitFor();
      await inspect(page, 'set-password-refused');
      await fillPasswords(page, PASSWORD);
      await page.getByText('No search account is connected yet.').waitFor();
    });
    await step('she signs out and in', async () => {
      await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await page.goto(at('/'));
      await signIn(page, 'wrong wrong wrong');
      await page.getByRole('alert').waitFor();
      await inspect(page, 'sign-in');
      await signIn(page, PASSWORD);
      await page.getByText('No search account is connected yet.').waitFor();
      await inspect(page, 'sites-without-search-account');
      await page.goto(at('/account'));
      await inspect(page, 'account-without-search-account');
    });
    await walk(page, service, step, 'local', { triesAll: true });
    await step('she changes her password and signs out', async () => {
      await page.goto(at('/account/password'));
      await inspect(page, 'change-password');
      await page.goto(at('/account'));
      await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await inspect(page, 'signed-out');
      await page.goto(at('/account'));
      await page.getByLabel('E-mail address').waitFor();
    });
  } finally {
    await service.stop();
  }
}

async function fillPasswords(page, password) {
  for (const field of await page.locator('input[type=password]').all()) await field.fill(password);
  await page.locator('main button').first().click();
}

async function signIn(page, password) {
  await page.getByLabel('E-mail address').fill('ada@example.test');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
