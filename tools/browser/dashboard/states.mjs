// Every page instead of numbers, or with few of them, as people meet it.
import { engine } from './engine.mjs';
import { lookAtBoth } from './pages.mjs';
import { json, newcomer, signIn, site, write } from './people.mjs';
import { filters } from './questions.mjs';
import { holds } from './same.mjs';
import { grouped } from './words.mjs';
import { start } from '../service.mjs';

/** Opens a page with and without script, and fails unless it has the status, or one of several, and says the words. */
async function state(people, name, url, status, words) {
  for (const one of [people.page, people.plain]) {
    const answer = await one.goto(url);
    holds([status].flat().includes(answer.status()), `${name}: ${answer.status()} instead of ${status}`);
    await one.getByText(words).first().waitFor();
  }
  await lookAtBoth(people, `state-${name}`);
}

/** A person in a browser with script and in one without, who are signed in on the way to a page. */
async function both(browser, service, person, path = '/') {
  const [page, plain] = [await browser.person(person), await browser.person(`${person} plain`, { javaScriptEnabled: false })];
  for (const one of [page, plain]) await signIn(one, `${service.url}${path}`, person);
  return { page, plain };
}

/** The states of somebody new: nothing connected, then nothing tracked. One comes with script, and another without. */
export async function ofNewcomers(browser, service) {
  const [page, plain] = [await newcomer(browser, service, 'nobody'), await newcomer(browser, service, 'nobody-plain', { javaScriptEnabled: false })];
  for (const one of [page, plain]) await one.getByText('No search account is connected yet.').waitFor();
  await lookAtBoth({ page, plain }, 'state-nothing-connected');
  // Each connects an account of their own: the search engine asks somebody else who connects the same one again.
  for (const [one, account] of [[page, /^agency/], [plain, /^editor/]]) {
    await one.getByRole('button', { name: 'Connect your search account' }).click();
    await one.getByRole('button', { name: account }).first().click();
    await one.getByRole('heading', { name: 'Properties' }).waitFor();
    await one.goto(`${service.url}/`);
    await one.getByText('no site of it is tracked yet').first().waitFor();
  }
  await lookAtBoth({ page, plain }, 'state-nothing-tracked');
  for (const one of [page, plain]) await one.context().close();
}

/** The states of questions: no data, not final yet, refused. */
export async function ofQuestions(people, service) {
  const { id } = await site(people.page, service, 'northmoor');
  const { meta } = await json(people.page, `${service.url}/api/properties/${id}`);
  const today = new Date().toLocaleDateString('en-CA', { timeZone: 'America/Los_Angeles' });
  holds(meta.freshness.lastFinalDate < today, 'today is final');
  const root = `${service.url}/p/${id}`;
  const nothing = filters(['query', 'equals', 'nobody asks this']);
  await state(people, 'no-data', `${root}?filters=${nothing}`, 200, 'The search engine has no data for this question.');
  await state(people, 'no-rows', `${root}/queries?filters=${nothing}`, 200, 'No row is left by these conditions.');
  await state(people, 'no-rows-so-far', `${root}/queries?offset=100000`, 200, 'There are no rows this far.');
  await state(people, 'no-data-of-a-kind', `${root}/pages?searchType=googleNews`, 200, 'The search engine has no data for these days.');
  await state(people, 'kind-without-queries', `${root}/growth?searchType=discover`, 200, 'Growth is not available for Discover.');
  await state(people, 'kind-without-condition', `${root}?searchType=discover&filters=${nothing}`, 200, 'a condition of this question is on them');
  await state(people, 'not-final', `${root}?startDate=${today}&endDate=${today}`, 200, 'The search engine is still counting these days.');
  await state(people, 'not-final-counted', `${root}?dataState=all&period=last_7_days`, 200, 'not final: their numbers still grow');
  await state(people, 'filter-refused', `${root}?filters=x`, 400, 'filters: ');
  await state(people, 'dates-refused', `${root}?startDate=2001-01-01&endDate=2001-02-01`, 400, 'First day: must not be before');
  await state(people, 'unknown', `${service.url}/p/none`, 404, 'There is no site here that you can open.');
}

/** The state of a note that is sent after the session ended: it comes back, and is sent again after a sign-in in another tab. */
export async function ofEndedSessions(browser, service) {
  const people = await both(browser, service, 'owner');
  const { id } = await site(people.page, service, 'northmoor');
  const text = 'A relaunch & "more" of <it>,\non two lines';
  for (const one of [people.page, people.plain]) {
    await one.goto(`${service.url}/p/${id}/notes`);
    await one.locator('textarea[name=text]').fill(text);
    await one.context().clearCookies();
    await one.getByRole('button', { name: 'Add', exact: true }).click();
    await one.getByRole('heading', { name: 'You are no longer signed in' }).waitFor();
    holds(await one.locator('textarea[name=text]').inputValue() === text, 'the note came back in another form');
  }
  await lookAtBoth(people, 'state-session-ended');
  for (const one of [people.page, people.plain]) {
    const opened = one.context().waitForEvent('page');
    await one.getByRole('link', { name: 'Sign in, in another tab' }).click();
    const other = await opened;
    await other.getByRole('button', { name: /^Demo owner/i }).first().click();
    await other.getByRole('heading', { name: 'northmoor.example' }).waitFor();
    await one.getByRole('button', { name: 'Send it again' }).click();
    await one.getByText('Added.').waitFor();
    holds((await one.locator('.note').allTextContents()).includes(text), 'the note was not written');
    await one.context().close();
  }
}

/** The states of rights: locked, and no right to write. */
export async function ofRights(browser, service) {
  const lapsed = await both(browser, service, 'lapsed');
  const locked = (await json(lapsed.page, `${service.url}/api/properties?headline=false`)).data[0];
  await state(lapsed, 'locked-sites', `${service.url}/`, 200, 'Locked.');
  await state(lapsed, 'locked', `${service.url}/p/${locked.id}`, 402, 'This site is locked');
  const viewer = await both(browser, service, 'viewer');
  const { id } = await site(viewer.page, service, 'northmoor');
  await state(viewer, 'viewer', `${service.url}/p/${id}`, 200, 'you are a viewer');
  await state(viewer, 'viewer-settings', `${service.url}/p/${id}/settings`, 200, 'Share links');
  await state(viewer, 'viewer-notes', `${service.url}/p/${id}/notes`, 200, 'Notes');
  holds(!(await viewer.page.getByRole('heading', { name: 'Add a note' }).count()), 'a viewer is offered a form');
  for (const one of [viewer.page, viewer.plain]) {
    await one.evaluate(sendsTooLate);
    await one.getByText('Nothing was changed.').waitFor();
  }
  await lookAtBoth(viewer, 'state-no-right-to-write');
}

/** Sends a form that was open when the right to write was taken away. Runs in the page. */
function sendsTooLate() {
  const form = Object.assign(document.createElement('form'), { method: 'post' });
  for (const [name, value] of Object.entries({ do: 'add_note', key: 'of an old page', date: '2026-11-02', text: 'Too late' })) {
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  }
  document.getElementById('main').append(form);
  form.submit();
}

/** The states of a share link that opens nothing: revoked, expired, unknown. */
export async function ofLinks({ page, plain }, service) {
  const { id } = await site(page, service, 'northmoor');
  const made = (await write(page, service, 'POST', `/api/properties/${id}/share-links`, { name: 'Ends soon' })).data;
  const response = await page.request.delete(`${service.url}/api/properties/${id}/share-links/${made.id}`, { headers: { origin: service.url, 'if-match': made.etag } });
  holds(response.status() === 204, `the link is not revoked: ${response.status()}`);
  for (const [name, token] of [['link-ended', made.token], ['link-unknown', 'x'.repeat(43)]]) {
    await state({ page, plain }, name, `${service.url}/share/${token}`, 404, 'This link opens nothing');
  }
}

/** The states of a search account that was disconnected: for the owner and for a member. */
export async function disconnected(browser, service, { page, plain }) {
  const viewer = await both(browser, service, 'viewer');
  const { id } = await site(page, service, 'northmoor');
  await page.goto(`${service.url}/account`);
  await page.getByRole('link', { name: /^Disconnect/ }).first().click();
  await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
  await page.goto(`${service.url}/account`);
  for (const [who, name] of [[{ page, plain }, 'owner'], [viewer, 'member']]) {
    await state(who, `disconnected-${name}`, `${service.url}/p/${id}`, 409, 'The search account is disconnected');
    await state(who, `disconnected-sites-${name}`, `${service.url}/`, 200, /isconnected\./);
  }
}

/** The states of a search engine that is away: with numbers that are kept, and with none. */
export async function away(browser) {
  const gate = await engine();
  const service = await start(gate.settings);
  try {
    const people = await both(browser, service, 'owner');
    const { id } = await site(people.page, service, 'northmoor');
    const kept = (await json(people.page, `${service.url}/api/properties/${id}`)).data.headline;
    const made = (await write(people.page, service, 'POST', `/api/properties/${id}/share-links`, {})).data;
    gate.away();
    const words = 'The data cannot be read at the moment';
    // The head of a page that has just asked is sent already. One that need not ask again says so with its status.
    const status = [200, 503];
    await state(people, 'away', `${service.url}/p/${id}`, status, words);
    const shown = await people.page.locator('.tile strong').allTextContents();
    holds(shown[0] === grouped(kept.current.clicks) && shown[1] === grouped(kept.current.impressions), `kept: ${shown}`);
    const age = await people.page.locator('main time').getAttribute('datetime');
    holds(Math.abs(Date.parse(age) - Date.parse(kept.cachedAt)) < 1000, `read at ${age}, not ${kept.cachedAt}`);
    await people.page.getByRole('link', { name: 'Try again' }).click();
    await people.page.getByText(words).waitFor();
    await state(people, 'away-shared', `${service.url}/share/${made.token}`, status, words);
    // Signing in at the account reads no numbers.
    const other = await both(browser, service, 'stranger', '/account');
    const { data } = await json(other.page, `${service.url}/api/properties?headline=false`);
    await state(other, 'away-nothing-kept', `${service.url}/p/${data[0].id}/growth`, status, 'No earlier numbers of this site are kept.');
  } finally {
    await service.stop();
    await gate.stop();
  }
}

/** The state of somebody who has asked too much. */
export async function tooMany(browser) {
  const service = await start({ RATE_LIMIT__BURST: '20', RATE_LIMIT__PER_MINUTE: '1' });
  try {
    const hurried = await both(browser, service, 'owner');
    for (const one of [hurried.page, hurried.plain]) {
      let answer;
      for (let visit = 0; visit < 60 && answer?.status() !== 429; visit += 1) answer = await one.goto(`${service.url}/p/none`);
      holds(answer.status() === 429 && Number(answer.headers()['retry-after']) > 0, `after many visits: ${answer.status()}`);
    }
    await lookAtBoth(hurried, 'state-too-many');
  } finally {
    await service.stop();
  }
}
