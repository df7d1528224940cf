// Every number of a page is the one that the API answers to the same question.
import { charts, sparks } from './charts.mjs';
import { json } from './people.mjs';
import { bars, looseNumbers, tables, tiles, told, why } from './read.mjs';
import { holds, same } from './same.mjs';
import { decimal, grouped, percent, weekday } from './words.mjs';

/** Fails unless an open page shows what is expected of it. `answers` are those of the API that it is made of. */
export async function shows(page, expected, answers, what) {
  const found = await tables(page);
  holds(found.length === expected.tables.length, `${what}: ${found.length} tables instead of ${expected.tables.length}`);
  expected.tables.forEach((table, at) => {
    same(found[at].head, table.head, `${what}, heading of table ${at}`);
    holds(found[at].rows.length === table.rows.length, `${what}, table ${at}: ${found[at].rows.length} rows instead of ${table.rows.length}`);
    table.rows.forEach((row, index) => same(found[at].rows[index], row, `${what}, table ${at}, row ${index}`));
  });
  const shown = await tiles(page);
  (expected.tiles ?? []).forEach((tile, at) => same(shown[at], tile, `${what}, tile ${at}`));
  holds(shown.length === (expected.tiles ?? []).length, `${what}: ${shown.length} tiles`);
  same(await why(page), expected.why ?? [], `${what}, why`);
  await charts(page, expected.charts ?? [], what);
  if (expected.bars?.length || expected.parts?.length) await filled(page, expected, what);
  if (expected.sparks?.length) await sparks(page, '.scroll .rows tbody td:last-child', expected.sparks, what);
  await sentences(page, answers, what);
}

/** Fails unless the bars are as long as the rows' parts of the largest row, or as the parts that rows have themselves. */
async function filled(page, { bars: rows, parts }, what) {
  const widths = await bars(page);
  const ofLargest = (table) => {
    const most = Math.max(...table.map((row) => row.clicks ?? 0));
    return table.map((row) => (most ? (row.clicks ?? 0) / most : 0));
  };
  const expected = parts ?? rows.map(ofLargest);
  expected.forEach((table, at) => {
    // A width that ends in half of its last digit may be rounded up or down.
    const isDrawn = (part, index) => Math.abs(widths[at][index] - part * 100) < 0.00501;
    const drawn = table.map((part, index) => (isDrawn(part, index) ? widths[at][index] : Number((part * 100).toFixed(2))));
    same(widths[at], drawn, `${what}, bars of table ${at}`);
  });
}

/** Fails if a sentence of the page has a number that is in none of the answers, and that is no constant of the page's words. */
async function sentences(page, answers, what) {
  const known = new Set();
  for (const answer of answers) collect(answer, known);
  for (const number of CONSTANTS) known.add(number);
  const strange = (await looseNumbers(page)).filter((number) => !known.has(number));
  holds(!strange.length, `${what}: numbers that no answer has: ${strange.join(', ')}`);
}

/** Numbers that are part of the pages' words: `16 months`, `of 100`, `0 that none`, `10 of each kind`, `the 8 weeks before`. */
const CONSTANTS = ['16', '100', '0', '10', '8'];

/** Adds every number of an answer as the pages may write it, and the parts of its dates. */
function collect(value, known) {
  if (typeof value === 'number') {
    for (const one of [value, Math.abs(value)]) {
      for (const text of [grouped(one), decimal(one), percent(one).replace(/[<>% ]/g, '')]) known.add(text);
    }
  } else if (typeof value === 'string') {
    const date = value.match(/^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d))?/);
    if (date) for (const part of date.slice(1).filter(Boolean)) known.add(part).add(String(Number(part)));
    for (const part of value.match(/\d[\d,.]*/g) ?? []) known.add(part.replace(/[.,]$/, ''));
  } else if (value && typeof value === 'object') {
    if (Array.isArray(value)) known.add(grouped(value.length));
    for (const part of Object.values(value)) collect(part, known);
  }
}

/** Parameters of size, which the command of a page leaves out or has with another value. */
const OF_SIZE = /^(queryLimit|pageLimit|limit|queryOffset|pageOffset|explain|usual|includeSystem)=/;

/** Fails unless the command that a page shows asks what the page was asked. */
async function tellsItsQuestion(page, asked, what) {
  const url = await told(page);
  const [operation, params] = asked.split('?');
  holds(url.pathname.endsWith(`/${operation}`), `${what}: the command asks ${url.pathname}`);
  const pairs = (query) => [...new URLSearchParams(query)].map((pair) => pair.join('=')).filter((pair) => !OF_SIZE.test(pair)).sort();
  same(pairs(url.search), pairs(params), `${what}, the command`);
}

/** Opens every page with numbers, and compares it with the answers to its question. */
export async function everyNumber(page, service, site, questions) {
  const api = `${service.url}/api/properties/${site.id}`;
  const { meta } = await json(page, api);
  const today = new Date().toLocaleDateString('en-CA', { timeZone: 'America/Los_Angeles' });
  const at = { today, last: meta.freshness.lastFinalDate };
  for (const { name, path, asks, beside, shows: expected } of questions) {
    const answers = { answer: await json(page, `${api}/${asks(at)}`) };
    for (const [part, question] of Object.entries(beside(at))) answers[part] = await json(page, `${api}/${question}`);
    await page.goto(`${service.url}/p/${site.id}${path}`);
    await tellsItsQuestion(page, asks(at), name);
    await shows(page, expected(answers), Object.values(answers), name);
  }
}

/** Fails unless the page of notes has the days and texts of the API. */
export async function everyNote(page, service, site) {
  await page.goto(`${service.url}/p/${site.id}/notes?updates=true`);
  const { data } = await json(page, `${service.url}/api/properties/${site.id}/annotations?includeSystem=true&limit=50`);
  const shown = await page.locator('.notes > li').evaluateAll((all) => all.map((note) => (
    `${note.querySelector('strong').textContent}: ${note.querySelector('.note').textContent}`
  )));
  const days = ({ date, endDate }) => [date, endDate].filter(Boolean).map(weekday).join(' – ');
  holds(data.length > 0, 'there are no notes');
  same(shown, data.map((note) => `${days(note)}: ${note.text}`), 'the notes');
}
