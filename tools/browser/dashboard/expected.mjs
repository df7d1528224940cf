// The tables and charts that a page has to show, from the API's answers.
import { HEADS, METRICS, NONE, beside, change, changeOfRow, decimal, four, grouped, pages, percent, signed, weekday } from './words.mjs';

/** The most rows of a short table. */
const SHORT = 6;

const ROW_NAMES = { queries: 'Query', pages: 'Page', countries: 'Country', devices: 'Device', searchAppearances: 'Appearance' };

/** Returns what names each row of a table. */
function names(table, rows) {
  const page = pages(rows.map((row) => row.key));
  return (row) => row.label ?? (table === 'pages' ? page(row.key) : [...row.key].slice(0, 300).join(''));
}
const count = (number) => grouped(number);

/** The days of a metric's chart as a table. */
function days(metric, series, before) {
  const hasUsual = series.some((day) => day.usual?.[metric]);
  const head = ['Day', ...Object.values(HEADS), ...(before ? [`${HEADS[metric]} before`] : []), ...(hasUsual ? ['Usual'] : [])];
  const usual = (range) => (range ? `${grouped(range.low)} – ${grouped(range.high)}` : NONE);
  const rows = series.map((day) => [
    weekday(day.date),
    ...four(day),
    ...(before ? [METRICS[metric](before(day.date)?.[metric])] : []),
    ...(hasUsual ? [usual(day.usual?.[metric])] : []),
  ]);
  return { head, rows };
}

/** A table with all metrics. */
export function wide(table, rows, { compares, trend = false }) {
  const head = [ROW_NAMES[table], 'Clicks', ...(compares ? ['Change'] : []), 'Impressions', 'CTR', 'Pos.', ...(trend ? ['Trend'] : [])];
  const name = names(table, rows);
  const cells = (row) => {
    const [clicks, ...rest] = four(row);
    return [name(row), clicks, ...(compares ? [changeOfRow(row)] : []), ...rest, ...(trend ? [''] : [])];
  };
  return { head, rows: rows.map(cells) };
}

function short(table, rows, compares) {
  const head = [ROW_NAMES[table], 'Clicks', ...(compares ? ['Change'] : [])];
  const name = names(table, rows);
  const cells = (row) => [name(row), count(row.clicks), ...(compares ? [changeOfRow(row)] : [])];
  return { head, rows: rows.slice(0, SHORT).map(cells) };
}

/** A chart of several series: its days as a table. */
function layers(dates, series, write) {
  const rows = dates.map((date, index) => [weekday(date), ...series.map(({ values }) => write(values[index]))]);
  return { head: ['Day', ...series.map((one) => one.name)], rows };
}

export function overview({ data, meta }, sparks, { metric, first }) {
  const compares = Boolean(meta.compareWindow);
  const trend = Boolean(sparks?.data.rows.some((row) => row.known));
  const shorts = ['countries', 'devices', 'searchAppearances'].filter((table) => data.tables[table]?.length);
  const { series = [], previousSeries } = data;
  const before = previousSeries && beside(meta, previousSeries);
  const changes = Object.keys(METRICS).map((of) => data.totals.change ? change(of, data.totals.change, true) : 'not compared');
  return {
    tiles: four(data.totals).map((value, index) => [value, changes[index]]),
    charts: [{ metric, current: series, previous: before && series.map((day) => before(day.date)) }],
    tables: [
      days(metric, series, before),
      ...(data.tables[first]?.length ? [wide(first, data.tables[first], { compares, trend })] : []),
      ...shorts.map((table) => short(table, data.tables[table], compares)),
    ],
    bars: [...(data.tables[first]?.length ? [data.tables[first]] : []), ...shorts.map((table) => data.tables[table].slice(0, SHORT))],
    why: data.explanation ? why(data.explanation) : [],
    sparks: trend ? data.tables[first].map((row) => sparks.data.rows.find(({ key, known }) => known && key === row.key)?.series.map((day) => day.clicks) ?? null) : [],
  };
}

/** The parts of the change of clicks, and the queries that carry it. Click-through takes what rounding leaves. */
function why({ clicksChange, effects, queries }) {
  const whole = (number) => Math.sign(number) * Math.round(Math.abs(number));
  const demand = whole(effects.demand);
  const position = effects.position === null ? [] : [whole(effects.position)];
  const rate = clicksChange - demand - (position[0] ?? 0);
  const title = clicksChange === 0 ? 'Why as many clicks as before?' : `Why ${grouped(Math.abs(clicksChange))} ${clicksChange > 0 ? 'more' : 'fewer'} clicks?`;
  const named = (words, rows = []) => (rows.length ? [`${words}: ${rows.slice(0, 3).map((row) => `${row.key} ${signed(row.clicksChange)}`).join(', ')}`] : []);
  return [title, ...[demand, ...position, rate].map(signed), ...named('Most lost', queries?.losses.rows), ...named('Most gained', queries?.gains.rows)];
}

export function table(table, { data, meta }) {
  const rows = data.tables[table];
  return { tables: rows.length ? [wide(table, rows, { compares: Boolean(meta.compareWindow) })] : [], bars: rows.length ? [rows] : [] };
}

export function countries(answer, { data }) {
  const dates = data.countries[0].series.map((day) => day.date);
  const clicks = (days) => dates.map((date) => days.find((day) => day.date === date)?.clicks);
  const named = data.countries.map((one) => ({ name: one.label ?? one.country, values: clicks(one.series) }));
  const series = [...named, ...(data.other ? [{ name: 'All others', values: clicks(data.other.series) }] : [])];
  const own = table('countries', answer);
  return { ...own, charts: [{ lines: series.map(({ values }) => values) }], tables: [layers(dates, series, grouped), ...own.tables] };
}

export function growth({ data }) {
  const head = ['Query', 'Clicks to win', 'Clicks', 'Impressions', 'Position', 'Rate now', 'Rate expected', 'By'];
  const by = { rank: 'position', snippet: 'snippet' };
  // Below a row stands what a narrow screen has no columns for.
  const under = (one) => `Better ${by[one.kind]}: ${grouped(one.impressions)} impressions at position ${decimal(one.position)}, `
    + `clicked by ${percent(one.ctr)} instead of ${percent(one.expectedCtr)}`;
  const page = pages(data.opportunities.flatMap((one) => one.page ?? []));
  const rows = data.opportunities.flatMap((one) => [[
    one.page ? `${one.query} ${page(one.page)}` : one.query,
    grouped(one.potentialClicks), grouped(one.clicks), grouped(one.impressions), decimal(one.position),
    percent(one.ctr), percent(one.expectedCtr), by[one.kind],
  ], [under(one)]]);
  return { tables: rows.length ? [{ head, rows }] : [] };
}

export function cannibalization({ data }) {
  const head = ['Page', 'Share', 'Clicks', 'Impressions', 'Position'];
  const name = pages(data.queries.flatMap((query) => query.pages.map((page) => page.page)));
  const row = (page) => [name(page.page), percent(page.impressionsShare), grouped(page.clicks), grouped(page.impressions), decimal(page.position)];
  return {
    tables: data.queries.map(({ pages }) => ({ head, rows: pages.map(row) })),
    parts: data.queries.map(({ pages }) => pages.map((page) => page.impressionsShare)),
  };
}

const BUCKETS = { '1-3': '1 to 3', '4-10': '4 to 10', '11-20': '11 to 20', '21+': 'Beyond 20' };
const bucketName = (bucket) => BUCKETS[bucket];

export function insights({ data }) {
  const { visibility, distribution, previousDistribution, brandedSplit, movers, ctrByPosition } = data;
  const dates = visibility.series.map((day) => day.date);
  const found = [];
  found.push(layers(dates, [{ name: 'Visibility', values: visibility.series.map((day) => day.index) }], decimal));
  const buckets = distribution.map(({ bucket }) => ({
    name: bucketName(bucket),
    values: visibility.series.map((day) => day.buckets.find((one) => one.bucket === bucket)?.queries),
  }));
  found.push(layers(dates, buckets, grouped), {
    head: ['Position', 'Queries', ...(previousDistribution ? ['Before'] : []), 'Clicks', 'Impressions'],
    rows: distribution.map((row) => [
      bucketName(row.bucket), grouped(row.queries),
      ...(previousDistribution ? [grouped(previousDistribution.find(({ bucket }) => bucket === row.bucket).queries)] : []),
      grouped(row.clicks), grouped(row.impressions),
    ]),
  });
  const split = brandedSplit && ['branded', 'nonBranded', 'anonymised'].map((part) => brandedSplit.series.map((day) => day[part].clicks));
  if (brandedSplit) {
    const names = ['Brand', 'Not brand', 'Not named'];
    const parts = ['branded', 'nonBranded', 'anonymised'].map((part, index) => [names[index], brandedSplit[part]]).filter(([, part]) => part);
    found.push(layers(brandedSplit.series.map((day) => day.date), split.map((values, index) => ({ name: names[index], values })), grouped), {
      head: ['Queries', 'Clicks', 'Share', 'Impressions'],
      rows: parts.map(([name, part]) => [name, grouped(part.clicks), percent(part.clicksShare), grouped(part.impressions)]),
    });
  }
  for (const list of ['new', 'lost', 'moving', 'unknown']) {
    if (movers?.[list].length) found.push(wide('queries', movers[list], { compares: true }));
  }
  if (ctrByPosition) {
    const row = (rate) => [String(rate.position), percent(rate.ctr), grouped(rate.queries), grouped(rate.impressions)];
    found.push({ head: ['Position', 'Rate', 'Queries', 'Impressions'], rows: ctrByPosition.map(row) });
  }
  const areas = (series) => ({ areas: series });
  return {
    tables: found,
    charts: [
      { lines: [visibility.series.map((day) => day.index)] },
      areas(buckets.map(({ values }) => values)),
      ...(split ? [areas(split)] : []),
    ],
  };
}

/** The cards of all sites: the metrics of each with their changes. */
export function sites({ data }) {
  return data.map(({ headline }) => headline
    ? ['clicks', 'impressions', 'position'].map((metric) => [METRICS[metric](headline.current[metric]), headline.change ? change(metric, headline.change, false) : ''])
    : []);
}
