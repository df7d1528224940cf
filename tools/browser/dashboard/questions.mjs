// The pages of a site with numbers: each with the question that it stands for, and what it has to show.
import * as expected from './expected.mjs';
import { later } from './words.mjs';

const BEFORE = 'compare=previous_period';

/** Conditions as a parameter. */
export const filters = (...conditions) => encodeURIComponent(JSON.stringify(conditions.map(([dimension, operator, value]) => ({ dimension, operator, value }))));
const USA = filters(['country', 'equals', 'usa']);

const lasting = (last, days) => `startDate=${later(last, 1 - days)}&endDate=${last}`;

/** A query string without some parameters. */
const without = (query, names) => query.split('&').filter((pair) => !names.test(pair)).join('&');

/** An overview. `of` returns the parameters of its question; `at` has today and the last final day. */
function overview(name, query, of, { metric = 'clicks', first = 'queries' } = {}) {
  return {
    name,
    path: query && `?${query}`,
    asks: (at) => `performance?${of(at)}&scope=all&queryLimit=10&pageLimit=10&usual=true${of(at).includes('compare=') ? '&explain=true' : ''}`,
    beside: (at) => ({
      sparks: `table-sparklines?${without(of(at), /^compare/)}&table=${first}&limit=10`,
      notes: 'annotations?includeSystem=true&limit=100',
    }),
    shows: ({ answer, sparks }) => expected.overview(answer, sparks, { metric, first }),
  };
}

/** A whole table. */
function table(kind, name, query, question) {
  const ofTrends = `countries-timeseries?${without(question, /^(sort|metricFilters)=/)}&top=5`;
  return {
    name,
    path: `/${kind}${query && `?${query}`}`,
    asks: () => `performance?${question}&scope=tables&queryLimit=50&pageLimit=50`,
    beside: () => (kind === 'countries' ? { trends: ofTrends } : {}),
    shows: ({ answer, trends }) => (kind === 'countries' ? expected.countries(answer, trends) : expected.table(kind, answer)),
  };
}

/** An analysis with an operation of its own. */
const analysis = (name, path, asked, shows) => ({ name, path, asks: () => asked, beside: () => ({}), shows: ({ answer }) => shows(answer) });

export const QUESTIONS = [
  overview('overview', '', () => BEFORE),
  overview('overview-position', 'metric=position&period=last_91_days&dataState=all',
    ({ today }) => `${lasting(today, 91)}&dataState=all&${BEFORE}`, { metric: 'position' }),
  overview('overview-filtered', `filters=${USA}&tab=pages&metric=impressions`, () => `filters=${USA}&${BEFORE}`,
    { metric: 'impressions', first: 'pages' }),
  overview('overview-alone', 'compare=none&period=last_480_days&metric=ctr', ({ last }) => lasting(last, 480), { metric: 'ctr' }),
  overview('overview-not-brand', 'classification=nonBranded&compare=previous_year', () => 'classification=nonBranded&compare=previous_year'),
  overview('overview-images', 'startDate=2026-09-01&endDate=2026-09-30&searchType=image',
    () => `startDate=2026-09-01&endDate=2026-09-30&searchType=image&${BEFORE}`),
  overview('overview-discover', 'searchType=discover', () => `searchType=discover&${BEFORE}`, { first: 'pages' }),
  overview('overview-one-day', 'startDate=2026-09-01&endDate=2026-09-01', () => `startDate=2026-09-01&endDate=2026-09-01&${BEFORE}`),
  table('queries', 'queries', '', BEFORE),
  table('queries', 'queries-shrinking', 'rows=shrinking', `${BEFORE}&sort=change.clicks&metricFilters=queries.change.clicks<0`),
  table('queries', 'queries-new', 'rows=new', `${BEFORE}&sort=-clicks&metricFilters=queries.presence=new`),
  table('queries', 'queries-later', 'offset=50&compare=none&sort=position', 'sort=position&queryOffset=50'),
  table('pages', 'pages', 'sort=-impressions&least=100', `${BEFORE}&sort=-impressions&metricFilters=pages.impressions>=100`),
  table('pages', 'pages-found', 'find=guides&compare=none', `filters=${filters(['page', 'contains', 'guides'])}`),
  table('pages', 'pages-discover', 'searchType=discover', `searchType=discover&${BEFORE}`),
  table('countries', 'countries', 'sort=-impressions', `${BEFORE}&sort=-impressions`),
  analysis('growth', '/growth', `growth-opportunities?${BEFORE}&limit=50`, expected.growth),
  analysis('growth-snippet', '/growth?kind=snippet&minImpressions=50', `growth-opportunities?${BEFORE}&kind=snippet&minImpressions=50&limit=50`, expected.growth),
  analysis('cannibalization', '/cannibalization', `cannibalization?${BEFORE}&limit=20`, expected.cannibalization),
  analysis('insights', '/insights', `query-insights?${BEFORE}&limit=10`, expected.insights),
];
