// A reader of the guides, the error codes and the changelog, who begins at the list of the guides and opens every page that links lead to.
import { fits, inspect } from './screens.mjs';
import { start } from './service.mjs';

const START = '/docs/guides';

export default async function documents(browser, step) {
  const service = await start();
  const page = await browser.person('reader');
  try {
    const pending = [START];
    for (const path of pending) {
      await step(path, async () => {
        const answer = await page.goto(service.url + path);
        if (answer.status() !== 200) throw new Error(`${path}: ${answer.status()}`);
        await inspect(page, `documents${path.replaceAll('/', '-')}`);
        const text = await page.locator('.prose').boundingBox();
        if (text.width < 800) throw new Error(`the text is ${text.width} wide`);
        const links = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((one) => one.pathname));
        const isNew = (link) => (link.startsWith('/docs/') || link === '/changelog') && !pending.includes(link);
        pending.push(...new Set(links.filter(isNew)));
      });
    }
    if (pending.length < 13) throw new Error(`only ${pending}`);
    await step('a reader finds a section, and an address that is shared leads to it', () => section(page, service));
    await step('a wide table and a long line scroll by themselves on a phone', () => scrolled(page, service));
    await step('a wrong address names the documents', async () => {
      await page.goto(`${service.url}/docs/gide`);
      await page.getByRole('main').getByRole('link', { name: 'Guide for site owners' }).waitFor();
      await inspect(page, 'documents-not-found');
    });
    await step('Swagger UI leads to the guides', async () => {
      await page.goto(`${service.url}/docs`);
      await page.locator('.opblock').first().waitFor();
      await fits(page, 'documents-swagger-ui', { picture: true });
      await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Guides' }).click();
      await page.waitForURL(service.url + START);
    });
  } finally {
    await service.stop();
  }
}

async function section(page, service) {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${service.url}/docs/operating`);
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Backup' }).click();
  await page.waitForURL(/#backup$/);
  const heading = page.getByRole('heading', { name: 'Backup' });
  const { y } = await heading.boundingBox();
  if (y < 0 || y > 800) throw new Error(`the heading is at ${y}`);
  await heading.getByRole('link').click();
  await page.waitForURL(/#backup$/);
  const list = await page.getByRole('navigation', { name: 'Sections' }).boundingBox();
  if (list.y < 0 || list.y > 100) throw new Error(`the list of sections is at ${list.y}`);
}

async function scrolled(page, service) {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [path, part] of [['/docs/settings', '.scroll'], ['/docs/recipes', 'pre']]) {
    await page.goto(service.url + path);
    const wide = page.locator(part).filter({ hasText: /./ });
    const moved = await wide.evaluateAll((all) => all.filter((one) => {
      one.scrollLeft = 50;
      return one.scrollLeft === 50;
    }).length);
    if (!moved) throw new Error(`${path}: no ${part} scrolls`);
  }
}
