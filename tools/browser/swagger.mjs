// Swagger UI as people use it: they authorize it, and try operations out with what it has filled in.
import { fits } from './screens.mjs';

/** Opens Swagger UI in a page of its own beside `page`. */
export async function open(page, url) {
  const docs = await page.context().newPage();
  docs.setDefaultTimeout(60_000);
  await docs.goto(`${url}/docs`);
  await docs.locator('.opblock').first().waitFor();
  return docs;
}

/** Authorizes it by OAuth. `consent` acts on the window that opens. */
export async function authorize(docs, consent) {
  await docs.locator('.auth-wrapper .authorize').first().click();
  const dialog = docs.locator('.modal-ux-content');
  const offered = await dialog.locator('h4').allInnerTexts();
  if (!offered[0].startsWith('oauth2') || offered.some((name) => name.startsWith('session'))) throw new Error(`offered: ${offered}`);
  if (await dialog.evaluate((shown) => shown.scrollTop)) throw new Error('the dialog does not start at OAuth');
  const form = docs.locator('.auth-container', { has: docs.locator('.flow') }).first();
  // Swagger UI names its buttons otherwise than they read.
  const [popup] = await Promise.all([docs.waitForEvent('popup'), form.locator('button.authorize').click()]);
  const closed = popup.isClosed() ? undefined : popup.waitForEvent('close');
  await consent(popup);
  await closed;
  await form.getByText('Logout').waitFor();
  await docs.locator('.btn-done').first().click();
}

/** Finds an operation by the filter and opens it. Returns what tries it out and what closes it. */
export async function tryOut(docs, { id, tag, method, path }) {
  await docs.getByLabel('Filter operations').fill(id);
  const block = docs.locator(`[id="operations-${tag}-${id}"]`);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').waitFor();
  // An operation that was closed still takes input.
  if (!(await block.locator('.execute').count())) await block.locator('.try-out__btn').click();
  await block.locator('.execute').waitFor();
  const pattern = new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);
  const isIts = (response) => response.request().method() === method && pattern.test(new URL(response.url()).pathname);
  return {
    block,
    /** Executes it, and returns the status and what the answer says. */
    async execute() {
      const [answer] = await Promise.all([docs.waitForResponse(isIts), block.locator('.execute').click()]);
      // What Swagger UI shows is what was answered.
      await block.locator('.live-responses-table').getByText(String(answer.status()), { exact: true }).first().waitFor();
      return { status: answer.status(), request: answer.request(), text: await answer.text().catch(() => '') };
    },
    close: () => block.locator('.opblock-summary-control').click(),
  };
}

/** The operations of the published document that need no other id than that of a property, with their parameters. */
export function withoutOtherIds(document) {
  const resolved = (parameter) => (parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1)] : parameter);
  const isOfProperty = (path) => !path.replace('/api/properties/{id}', '').includes('{');
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, says]) => ({
      id: says.operationId,
      tag: says.tags[0],
      method: method.toUpperCase(),
      path,
      creates: '201' in says.responses,
      parameters: says.parameters.map(resolved),
    })));
  return all.filter(({ path }) => isOfProperty(path));
}

/** Fails if a field is filled in that a request does not need, unless it is filled with what happens without it. */
async function filledIn(block, { id, parameters }) {
  for (const { name, required, schema } of parameters) {
    const value = await block.locator(`tr[data-param-name="${name}"]`).locator('input, select, textarea').first().inputValue();
    if (!required && value !== String(schema.default ?? '')) throw new Error(`${id}: ${name} is filled in: ${value}`);
  }
}

/** Executes a read with nothing but the property filled in. */
export async function read(docs, operation, property) {
  const { block, execute, close } = await tryOut(docs, operation);
  await filledIn(block, operation);
  if (operation.path.includes('{id}')) await block.locator('tr[data-param-name="id"] input').fill(property);
  const { status, text } = await execute();
  if (status !== 200 && !text.includes('"provider_not_connected"')) throw new Error(`${operation.id}: ${status} ${text}`);
  await fits(docs, operation.id);
  await close();
}

/** Executes a create with the body that is filled in, and again with another value in its unique field, if it has one. Returns the record. */
export async function create(docs, operation, property) {
  const { block, execute, close } = await tryOut(docs, operation);
  await filledIn(block, operation);
  if (operation.path.includes('{id}')) await block.locator('tr[data-param-name="id"] input').fill(property);
  const field = block.locator('textarea.body-param__text');
  const body = JSON.parse(await field.inputValue());
  let record;
  for (const next of [body, another(body)]) {
    await field.fill(JSON.stringify(next));
    const { status, text } = await execute();
    if (status !== 201) throw new Error(`${operation.id}: ${status} ${text}`);
    record = JSON.parse(text).data;
  }
  await close();
  return record;
}

/** The same record with another name, address or keyword. Records without one may be equal. */
function another(body) {
  if (body.keywords) return { ...body, keywords: ['another'] };
  const unique = ['name', 'email'].find((field) => field in body);
  return unique ? { ...body, [unique]: `another-${body[unique]}` } : body;
}
