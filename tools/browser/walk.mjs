// The way through the pages that everybody goes, however they signed in: from the first search account to a reconnected one.
import { inspect } from './screens.mjs';

/**
 * Walks from the account page of somebody who has just signed in on `page`. `name` begins the names of the pictures. `asks` is false
 * where somebody else's issuer asks for consent.
 */
export async function walk(page, service, step, name, { asks = true } = {}) {
  const at = (path) => `${service.url}${path}`;
  const button = (name) => page.getByRole('button', { name, exact: true });
  const look = (on, screen) => inspect(on, `${name}-${screen}`);
  await step('a search account is connected', async () => {
    await button('Connect a search account').click();
    await button('agency@search.test').or(page.getByRole('button', { name: /^agency/ })).first().click();
    await page.getByRole('heading', { name: 'Properties' }).waitFor();
    await look(page, 'properties');
  });
  await step('properties are chosen', async () => {
    for (const box of (await page.getByRole('checkbox').all()).slice(0, 2)) await box.check();
    await button('Save').click();
    await page.getByRole('heading', { name: 'Properties' }).waitFor();
    const ticked = await page.getByRole('checkbox', { checked: true }).count();
    if (ticked !== 2) throw new Error(`${ticked} properties are ticked`);
  });
  const tryOut = await step('Swagger UI is authorized and reads', async () => {
    const docs = await page.context().newPage();
    docs.setDefaultTimeout(20_000);
    await docs.goto(at('/docs'));
    await docs.locator('.auth-wrapper .authorize').first().click();
    const form = docs.locator('.auth-container', { has: docs.locator('.flow') }).first();
    const [popup] = await Promise.all([
      docs.waitForEvent('popup'),
      form.locator('button.authorize').click(),
    ]);
    const closed = popup.isClosed() ? undefined : popup.waitForEvent('close');
    if (asks) {
      await popup.getByRole('heading', { name: /^Allow/ }).waitFor();
      await look(popup, 'consent');
      // The click closes its own page.
      await popup.getByRole('button', { name: 'Allow' }).click().catch(() => {});
    }
    await closed;
    await form.getByText('Logout').waitFor();
    await docs.locator('.btn-done').first().click();
    const operation = docs.locator('.opblock-get', { has: docs.locator('[data-path="/api/properties"]') }).first();
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
    const read = async () => {
      const [answer] = await Promise.all([
        docs.waitForResponse((response) => response.url().startsWith(at('/api'))),
        operation.locator('.execute').click(),
      ]);
      return answer.status();
    };
    await expectStatus(200, read);
    return read;
  });
  await step('Swagger UI is revoked, and its next try is 401', async () => {
    await page.goto(at('/account'));
    await look(page, 'account');
    await page.locator('li, article, .card', { hasText: /API documentation|sightline-docs/ }).last().getByRole('button', { name: 'Revoke access' }).click();
    await page.waitForURL(/\/account/);
    await expectStatus(401, tryOut);
  });
  const [property] = await step('the session reads a property', async () => {
    const listed = await json(page, at('/api/properties'));
    if (!listed.body.data?.length) throw new Error(`no properties: ${JSON.stringify(listed)}`);
    return listed.body.data;
  });
  const performance = at(`/api/properties/${property.id}/performance`);
  await step('after disconnecting, a read is 409 with the link that helps', async () => {
    if ((await json(page, performance)).status !== 200) throw new Error('no performance');
    await page.getByRole('link', { name: /^Disconnect/ }).first().click();
    await look(page, 'disconnect');
    await button('Disconnect').click();
    await page.goto(at('/account'));
    await look(page, 'account-disconnected');
    const { status, body } = await json(page, performance);
    if (status !== 409 || !body.hint.includes(at('/account'))) throw new Error(`${status} ${JSON.stringify(body)}`);
  });
  await step('after reconnecting, the read is answered', async () => {
    await page.getByRole('button', { name: /^Reconnect/ }).first().click();
    await page.getByRole('button', { name: /^agency/ }).first().click();
    await page.getByRole('heading', { name: 'Properties' }).waitFor();
    const { status } = await json(page, performance);
    if (status !== 200) throw new Error(`${status}`);
  });
}

/** Reads a path with the cookies of the page, whose policy allows no script to do it. */
async function json(page, url) {
  const response = await page.request.get(url);
  return { status: response.status(), body: await response.json() };
}

async function expectStatus(expected, act) {
  const status = await act();
  if (status !== expected) throw new Error(`status ${status} instead of ${expected}`);
}
