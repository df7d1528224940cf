// A page that waits for the search engine says so.
import { json, signIn, site } from './people.mjs';
import { holds } from './same.mjs';
import { link } from './shares.mjs';

/** Opens an address while the search engine is held back. Fails unless the line that says so is seen until `part`, which a locator names, is there. */
async function waits(page, gate, url, what, part = 'main .plot') {
  await page.goto('about:blank');
  const held = gate.hold();
  const whole = page.goto(url);
  try {
    const line = page.locator('main .waiting');
    await line.waitFor();
    const box = await line.boundingBox();
    holds(box?.height > 0 && box.y + box.height <= page.viewportSize().height, `${what}: nobody sees that it waits`);
    holds(!(await page.locator('main h1').count()), `${what}: it did not wait`);
    held.release();
    await whole;
    await page.locator(part).first().waitFor();
    holds(!(await line.isVisible()), `${what}: it still says that it waits`);
  } finally {
    held.release();
    await whole.catch(() => {});
  }
}

/** Opens pages of a site and a share link that have to wait, with and without script. */
export async function says(browser, service, gate) {
  const page = await browser.person('patient');
  const plain = await browser.person('patient plain', { javaScriptEnabled: false });
  for (const one of [page, plain]) await signIn(one, `${service.url}/account`, 'owner');
  const own = await site(page, service, 'northmoor');
  await json(page, `${service.url}/api/properties/${own.id}`);
  const made = await link(page, service, own, {});
  let day = 10;
  for (const path of [`/p/${own.id}`, `/share/${made.token}`]) {
    for (const [one, name] of [[page, 'with script'], [plain, 'without script']]) {
      // Days that nobody has asked about.
      day += 1;
      await waits(one, gate, `${service.url}${path}?startDate=2026-08-${day}&endDate=2026-10-${day}`, `${path}, ${name}`);
    }
  }
  for (const one of [page, plain]) await one.context().close();
  // A person whose sites nobody has read.
  const stranger = await browser.person('patient stranger');
  await signIn(stranger, `${service.url}/account`, 'stranger');
  await waits(stranger, gate, `${service.url}/`, 'All sites', 'main .spark');
  await stranger.context().close();
}
