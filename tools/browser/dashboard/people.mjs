// People who are signed in, and what they ask the API.
import { setTimeout } from 'node:timers/promises';

/** Signs a demo person in on the way to a page. */
export async function signIn(page, url, name) {
  await page.goto(url);
  await page.getByRole('button', { name: new RegExp(`^Demo ${name}`, 'i') }).first().click();
}

/** Reads a path with the cookies of the page. On a busy machine the simulated search engine may be too slow: then it asks again, when it is told to. */
export async function json(page, url) {
  let response = await page.request.get(url);
  for (let again = 0; again < 10 && response.status() === 503; again += 1) {
    await setTimeout(Number(response.headers()['retry-after']) * 1000);
    response = await page.request.get(url);
  }
  if (!response.ok()) throw new Error(`${url}: ${response.status()} ${await response.text()}`);
  return response.json();
}

/** Writes with the cookies of the page, as a form of the service would. */
export async function write(page, service, method, path, body) {
  const headers = { origin: service.url, 'idempotency-key': String(Math.random()) };
  const response = await page.request.fetch(`${service.url}${path}`, { method, headers, data: body });
  if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${await response.text()}`);
  return response.status() === 204 ? null : response.json();
}

/** The site of the page's person whose name holds a text. */
export async function site(page, service, name) {
  const { data } = await json(page, `${service.url}/api/properties?headline=false`);
  const found = data.find((one) => one.name.includes(name));
  if (!found) throw new Error(`${name} is not among ${data.map((one) => one.name)}`);
  return found;
}

/** Adds a person with a local account, and lets them in by the operator's link. */
export async function newcomer(browser, service, name, options) {
  const page = await browser.person(name, options);
  await page.goto(await service.command('user', 'add', `${name}@example.test`));
  for (const field of await page.locator('input[type=password]').all()) await field.fill('a harbour full of small boats');
  await page.getByRole('button', { name: 'Set the password' }).click();
  return page;
}
