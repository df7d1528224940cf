// The way through the pages that everybody goes, however they signed in: from the first search account to a reconnected one.
import { fits, inspect } from './screens.mjs';
import * as swagger from './swagger.mjs';

const MARK = { id: 'setPropertyFavorite', tag: 'Properties', method: 'PUT', path: '/api/properties/{id}/favorite' };
const LIST = { id: 'listProperties', tag: 'Properties', method: 'GET', path: '/api/properties' };

/**
 * Walks from the account page of somebody who has just signed in on `page`. `name` begins the names of the pictures. `asks` is false
 * where somebody else's issuer asks for consent. `triesAll` is true for the journey that tries every operation out which needs no other id than
 * that of a property.
 */
export async function walk(page, service, step, name, { asks = true, triesAll = false } = {}) {
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
    await page.getByRole('heading', { name: 'All sites' }).waitFor();
    await page.locator('.sites li').nth(1).waitFor();
    await look(page, 'sites');
    await page.goBack();
    await page.getByRole('heading', { name: 'Properties' }).waitFor();
    const ticked = await page.getByRole('checkbox', { checked: true }).count();
    if (ticked !== 2) throw new Error(`${ticked} properties are ticked`);
  });
  const docs = await swagger.open(page, service.url);
  const { body: document } = await json(page, at('/openapi.json'));
  await step('Swagger UI shows properties first, finds operations, and fits a phone', async () => {
    const tags = await docs.locator('.opblock-tag').evaluateAll((all) => all.map((one) => one.dataset.tag));
    if (tags.join() !== document.tags.map((tag) => tag.name).join() || tags[0] !== 'Properties') throw new Error(`${tags}`);
    await fits(docs, `${name}-docs`, { picture: true });
    const filter = docs.getByLabel('Filter operations');
    await filter.fill('SPARKlines');
    await docs.locator('.opblock').nth(1).waitFor({ state: 'detached' });
    await docs.locator('[data-path$="/table-sparklines"]').waitFor();
    await filter.fill('');
    await docs.locator('.opblock').nth(1).waitFor();
  });
  const list = await step('Swagger UI is authorized and reads', async () => {
    await swagger.authorize(docs, async (popup) => {
      if (!asks) return;
      await popup.getByRole('heading', { name: /^Allow/ }).waitFor();
      await look(popup, 'consent');
      await popup.getByLabel('Only read', { exact: true }).check();
      // The click closes its own page.
      await popup.getByRole('button', { name: 'Allow' }).click().catch(() => {});
    });
    const list = await swagger.tryOut(docs, LIST);
    const { status, text, request } = await list.execute();
    if (status !== 200) throw new Error(`${status} ${text}`);
    if (!request.headers().authorization?.startsWith('Bearer ')) throw new Error('no token was sent');
    await list.close();
    return JSON.parse(text).data;
  });
  if (asks) await allowMore({ page, docs, property: list[0].id, step, at, look });
  if (triesAll) await tryAll({ page, docs, document, property: list[0].id, step, at, look });
  await step('Swagger UI is revoked, and its next try is 401', async () => {
    await page.goto(at('/account'));
    await look(page, 'account');
    await page.locator('li, article, .card', { hasText: /API documentation|sightline-docs/ }).last().getByRole('button', { name: 'Revoke access' }).click();
    await page.waitForURL(/\/account/);
    const { status } = await (await swagger.tryOut(docs, LIST)).execute();
    if (status !== 401) throw new Error(`status ${status} instead of 401`);
    await docs.close();
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

/** Writes with a token that may only read, until the person allows the application more on the account page. */
async function allowMore({ page, docs, property, step, at, look }) {
  const mark = await swagger.tryOut(docs, MARK);
  const write = async () => {
    const { status, text, request } = await mark.execute();
    return { status, text, token: request.headers().authorization };
  };
  await mark.block.locator('tr[data-param-name="id"] input').fill(property);
  const refused = await step('an application that may only read writes nothing', write);
  if (refused.status !== 403 || !refused.text.includes('insufficient_scope')) throw new Error(`${refused.status} ${refused.text}`);
  await step('the person allows it everything on the account page', async () => {
    await page.goto(at('/account'));
    const card = page.locator('.card', { hasText: 'API documentation' }).last();
    await card.getByText('What it may do').click();
    if (!(await card.getByLabel('Only read', { exact: true }).isChecked())) throw new Error('the choice is not shown');
    await look(page, 'account-only-read');
    await card.getByLabel('Everything it asks for').check();
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText("Your choice was stored. It counts from the application's next request on.").waitFor();
  });
  const written = await step('its next write goes through without a new token', write);
  if (written.status >= 300 || written.token !== refused.token) throw new Error(`${written.status} ${written.text}`);
  await mark.close();
}

/** Tries out what a person with one property can try, and opens what comes of it. */
async function tryAll({ page, docs, document, property, step, at, look }) {
  const simple = swagger.withoutOtherIds(document);
  await step('Swagger UI reads everything with nothing but a property filled in', async () => {
    const reads = simple.filter(({ method }) => method === 'GET');
    if (reads.length < 25) throw new Error(`only ${reads.length} reads`);
    await all(reads, (operation) => swagger.read(docs, operation, property));
  });
  const made = await step('Swagger UI creates every record twice', async () => {
    const made = {};
    await all(simple.filter(({ creates }) => creates), async (operation) => {
      made[operation.id] = await swagger.create(docs, operation, property);
    });
    return made;
  });
  await step('somebody opens a share link, and addresses that are no pages', async () => {
    const { url } = made.createPropertyShareLink;
    for (const [address, screen, words] of [
      [url, 'share', 'Average position'],
      [`${url}?color=red`, 'share-parameter', 'color: not a parameter here'],
      [at('/nothing'), 'not-found', 'There is no page at this address'],
      [at('/mcp'), 'mcp', at('/mcp')],
    ]) {
      await page.goto(address);
      await page.getByText(words).first().waitFor();
      await look(page, screen);
    }
    await page.goto(at('/changelog/'));
    if (page.url() !== at('/changelog')) throw new Error(page.url());
  });
}

/** Acts on each, and fails with the problems of all. */
async function all(items, act) {
  const problems = [];
  for (const item of items) await act(item).catch((problem) => problems.push(problem.message));
  if (problems.length) throw new Error(problems.join('\n'));
}

/** Reads a path with the cookies of the page, whose policy allows no script to do it. */
async function json(page, url) {
  const response = await page.request.get(url);
  return { status: response.status(), body: await response.json() };
}
