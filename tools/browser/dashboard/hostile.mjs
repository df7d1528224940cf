// Texts that would break a page or act on it, wherever people and search engines can put them. They are shown as text.
import { engine } from './engine.mjs';
import { json, signIn, site, write } from './people.mjs';
import { link } from './shares.mjs';
import { holds } from './same.mjs';
import { fits } from '../screens.mjs';
import { start } from '../service.mjs';

const SCRIPT = '<script>window.acted = 1</script><img src=x onerror="window.acted = 1">';
/** A mark that turns the direction of what follows, and is never closed. */
const TURNED = '\u202egnp.exe\u2067';

/** Cuts or fills a text to a length, hostile from the first character on. */
const long = (length) => `${SCRIPT}${TURNED}${'W'.repeat(length)}`.slice(0, length);
/** The same as people may write it: they write no marks of direction. */
const written = (length) => long(length + TURNED.length).replace(TURNED, '').slice(0, length);

/** Fails if a text of the page acted, made an element, or turned the words around it. */
async function harmless(page, name, { shown = SCRIPT, within = '#main' } = {}) {
  const found = await page.evaluate((root) => ({
    acted: window.acted,
    made: document.querySelectorAll('img, iframe, object, script:not([src^="/assets/"])').length,
    text: document.querySelector(root).textContent,
    // Each is alone in an element that keeps its direction to itself.
    loose: [...document.querySelectorAll('body *')].filter((one) => (
      [...one.childNodes].some((node) => node.nodeType === 3 && /[\u202a-\u202e\u2066-\u2069]/.test(node.data))
      && !one.closest('bdi, textarea, option, pre, input, button.danger')
    )).map((one) => one.outerHTML.slice(0, 200)),
  }), within);
  holds(found.acted === undefined, `${name}: a text acted`);
  holds(found.made === 0, `${name}: a text became ${found.made} elements`);
  holds(found.text.includes(shown), `${name}: ${shown} is not shown`);
  holds(!found.loose.length, `${name}: a text turns the words around it: ${found.loose}`);
  await fits(page, `hostile-${name}`, { picture: true });
}

/** Plants texts in the answers of the search engine and in everything that people name, and opens every page. */
export async function harms(browser) {
  const gate = await engine();
  const service = await start(gate.settings);
  try {
    const page = await browser.person('target');
    await signIn(page, `${service.url}/`, 'owner');
    const own = await site(page, service, 'northmoor');
    const root = `${service.url}/p/${own.id}`;
    const api = `/api/properties/${own.id}`;
    const { data } = await json(page, `${service.url}${api}/performance?scope=tables`);
    const [one, two] = data.tables.queries.map((row) => row.key);
    const address = data.tables.pages[1].key;
    gate.plant(one, `${SCRIPT} asked`);
    gate.plant(two, long(2000));
    gate.plant(address, `https://www.northmoor.example/${long(2000)}`);
    const days = 'startDate=2026-08-01&endDate=2026-08-28';
    await people(page, service, own, api);
    const made = await link(page, service, own, { name: written(100) });
    for (const [name, path] of [
      ['overview', `?${days}`],
      ['overview-pages', `?${days}&tab=pages`],
      ['queries', `/queries?${days}`],
      ['pages', `/pages?${days}`],
      ['insights', `/insights?${days}`],
      ['filtered', `?${days}&filters=${encodeURIComponent(JSON.stringify([{ dimension: 'query', operator: 'not_contains', value: long(500) }]))}`],
      ['found', `/queries?${days}&find=${encodeURIComponent(long(200))}`],
      ['notes', '/notes'],
      ['settings', '/settings'],
      ['settings-edit', `/settings?suggest=true`],
    ]) {
      await page.goto(root + path);
      await harmless(page, name);
    }
    await page.goto(`${service.url}/`);
    await harmless(page, 'sites', { shown: SCRIPT.slice(0, 50) });
    for (const [name, path] of [['shared', `?${days}`], ['shared-pages', `?${days}&tab=pages`]]) {
      await page.goto(`${service.url}/share/${made.token}${path}`);
      await harmless(page, name);
    }
    await page.goto(`${root}?metric=${encodeURIComponent(SCRIPT)}`);
    await harmless(page, 'parameter', { shown: 'metric: ' });
  } finally {
    await service.stop();
    await gate.stop();
  }
}

/** Gives hostile names to everything that people name. Marks of direction are refused. */
async function people(page, service, own, api) {
  const post = async (path, body) => {
    const turned = JSON.parse(JSON.stringify(body).replace('<img', `${TURNED}<img`));
    const refused = await page.request.post(`${service.url}${path}`, { headers: { origin: service.url }, data: turned });
    holds(refused.status() === 400, `${path} takes marks that turn the direction: ${refused.status()}`);
    return write(page, service, 'POST', path, body);
  };
  await post(`${api}/annotations`, { date: '2026-08-12', text: written(1900), category: '<b>release' });
  await post(`${api}/segments`, { name: written(90), conditions: [{ operator: 'contains', value: 'W'.repeat(200) }] });
  await post(`${api}/topic-clusters`, { name: written(90), conditions: [{ operator: 'contains', value: long(200) }] });
  const filters = [{ dimension: 'query', operator: 'contains', value: long(200) }];
  await post('/api/filter-presets', { name: written(90), filters });
  await post(`${api}/branded-keywords`, { keywords: [written(100)] });
  const tag = (await post('/api/tags', { name: written(90) })).data;
  await write(page, service, 'POST', `${api}/tags`, { tagIds: [tag.id] });
}
