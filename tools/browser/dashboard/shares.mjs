// Share links: made after it was said what they open, copied, opened, and as their readers see them.
import { look } from './pages.mjs';
import { json, write } from './people.mjs';
import { shows } from './numbers.mjs';
import { overview } from './expected.mjs';
import { holds, same } from './same.mjs';

/** Makes a share link by the form of the settings, copies its address, and opens it. */
export async function makes(page, settings) {
  await page.goto(settings);
  const links = page.locator('#links');
  await links.getByText('Make a share link').click();
  await links.getByLabel('Name, which readers see').fill('Board');
  await links.getByRole('button', { name: 'What would it open?' }).click();
  await links.getByText('It would open:').waitFor();
  await look(page, 'settings-link');
  await links.getByRole('button', { name: 'Make the link' }).click();
  await page.waitForURL(/done=links.made#links$/);
  const top = await links.evaluate((section) => section.getBoundingClientRect().top);
  holds(Math.abs(top) <= 400, `the section is ${top} pixels away`);
  await links.getByRole('button', { name: 'Copy' }).click();
  await links.getByRole('button', { name: 'Copied' }).waitFor();
  const address = await links.getByLabel('Address of Board').inputValue();
  await links.getByLabel('Name, which readers see').evaluate((field) => { field.closest('details').open = true; field.focus(); });
  await page.keyboard.press('Control+V');
  same([await links.getByLabel('Name, which readers see').inputValue()], [address.slice(0, 100)], 'what was copied');
  await links.getByRole('link', { name: 'Open Board' }).click();
  await page.locator('.plot').waitFor();
}

/** Makes a share link by the API. */
export async function link(page, service, site, body) {
  return (await write(page, service, 'POST', `/api/properties/${site.id}/share-links`, body)).data;
}

/** Fails unless readers of a link see the API's numbers. Returns the addresses of what they opened. */
export async function readersSee(reader, service, made) {
  const root = `${service.url}/share/${made.token}`;
  for (const [shown, asked, first] of [
    ['', 'compare=previous_period', 'queries'],
    ['?compare=none&tab=pages&period=last_7_days', null, 'pages'],
  ]) {
    await reader.goto(root + shown);
    const said = new URL((await reader.locator('footer pre code').textContent()).match(/"(http[^"]+)"$/)[1]);
    const question = asked ?? said.search.slice(1);
    const url = `${service.url}/api/share/${made.token}/performance?${question}&queryLimit=10&pageLimit=10&usual=true${asked ? '&scope=all&explain=true' : ''}&includeSystem=true`;
    const answer = await json(reader, url);
    await shows(reader, overview(answer, null, { metric: 'clicks', first }), [answer], `a share link ${shown}`);
  }
  return [{ name: 'share', url: root }, { name: 'share-pages', url: `${root}?tab=pages&metric=position` }];
}
