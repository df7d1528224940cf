// The points of charts, held against the values that they stand for.
import { holds } from './same.mjs';

/** The greatest distance of a point from its place, in thousandths of the chart. Points are written with one decimal place. */
const SLACK = 0.11;

/** Reads the points of all charts of a page. Runs in the page. */
function drawn() {
  const points = (shape) => shape.getAttribute('points').split(' ').map((pair) => pair.split(',').map(Number));
  const all = (figure, kind) => [...figure.querySelectorAll(kind)].map(points);
  return [...document.querySelectorAll('#main figure.plot')].map((figure) => ({
    current: all(figure, '.plane .current'),
    previous: all(figure, '.plane .previous'),
    lines: [0, 1, 2, 3, 4, 5].map((at) => all(figure, `.plane .line.layer${at}`)),
    areas: all(figure, '.plane polygon'),
  }));
}

/** Fails unless the points stand at the values: each at its day, and all on one scale, which runs from `first`. */
function atValues(pieces, values, what, days, scale) {
  const found = new Map();
  for (const [x, y] of pieces.flat()) {
    const index = days < 2 ? 0 : Math.round((x / 1000) * (days - 1));
    found.set(index, y);
    if (days > 1) holds(Math.abs(x - (index / (days - 1)) * 1000) <= SLACK, `${what}: a point between days, at ${x}`);
  }
  values.slice(0, days).forEach((value, index) => {
    if ((value ?? null) === null) return holds(!found.has(index), `${what}: a point without a value on day ${index}`);
    holds(found.has(index), `${what}: no point on day ${index}`);
    holds(Math.abs(found.get(index) - scale(value)) <= SLACK, `${what}: day ${index} is at ${found.get(index)}, not at ${scale(value)}`);
  });
}

/** The place of a value in thousandths from the top, from the highest of some points. */
function scaled(pairs, metric) {
  const isPosition = metric === 'position';
  const first = isPosition ? 1 : 0;
  const known = pairs.filter(([value]) => (value ?? null) !== null);
  const [most, y] = known.reduce((best, pair) => (pair[0] > best[0] ? pair : best), [first, isPosition ? 0 : 1000]);
  const part = isPosition ? y / 1000 : 1 - y / 1000;
  if (most === first || part === 0) return () => (isPosition ? 0 : 1000);
  // The top is a round number, and the point of the largest value has an error of its own.
  const top = (most - first) / part;
  return (value) => (isPosition ? ((value - first) / top) * 1000 : 1000 - ((value - first) / top) * 1000);
}

const pairsOf = (pieces, values, days) => pieces.flat().map(([x, y]) => [values[days < 2 ? 0 : Math.round((x / 1000) * (days - 1))], y]);

/** Fails unless the band has the upper and the lower bound of each day, the upper ones first. Bands are broken where a day has no range. */
function band(pieces, ranges, what, scale) {
  const known = ranges.filter(Boolean).length;
  // A day alone has no band.
  if (ranges.length < 2) return holds(!pieces.length, `${what}: a band of one day`);
  if (known < ranges.length) return holds(known > 0 || !pieces.length, `${what}: a band without a range`);
  const bounds = [...ranges.map(({ high }) => high), ...ranges.map(({ low }) => low).reverse()];
  holds(pieces.length === 1 && pieces[0].length === bounds.length, `${what}: ${pieces.length} bands`);
  bounds.forEach((value, at) => holds(Math.abs(pieces[0][at][1] - scale(value)) <= 10 * SLACK, `${what}: bound ${at} is at ${pieces[0][at][1]}, not at ${scale(value)}`));
}

/** Fails unless the charts of a page have their points where the API's values are. */
export async function charts(page, expected, what) {
  const found = await page.evaluate(drawn);
  holds(found.length === expected.length, `${what}: ${found.length} charts instead of ${expected.length}`);
  expected.forEach(({ metric, current, previous, lines, areas }, at) => {
    const chart = found[at];
    if (current) {
      const values = current.map((day) => day[metric]);
      const before = (previous ?? []).map((day) => day?.[metric]);
      const all = [...pairsOf(chart.current, values, values.length), ...pairsOf(chart.previous, before, values.length)];
      const scale = scaled(all, metric);
      atValues(chart.current, values, `${what}, ${metric}`, values.length, scale);
      atValues(chart.previous, before, `${what}, ${metric} before`, values.length, scale);
      band(chart.areas, current.map((day) => day.usual?.[metric]), `${what}, usual ${metric}`, scale);
    }
    if (lines) {
      const days = lines[0].length;
      const scale = scaled(lines.flatMap((values, line) => pairsOf(chart.lines[line], values, days)));
      lines.forEach((values, line) => atValues(chart.lines[line], values, `${what}, line ${line}`, days, scale));
    }
    if (areas) {
      const days = areas[0].length;
      const upper = areas.map((_, layer) => areas[0].map((__, day) => areas.slice(0, layer + 1).reduce((sum, values) => sum + (values[day] ?? 0), 0)));
      const edges = chart.areas.map((points) => [points.slice(0, days)]);
      const scale = scaled(upper.flatMap((values, layer) => pairsOf(edges[layer], values, days)));
      upper.forEach((values, layer) => atValues(edges[layer], values, `${what}, area ${layer}`, days, scale));
    }
  });
}

/** Fails unless the small lines of rows have the course of their values. */
export async function sparks(page, selector, expected, what) {
  const found = await page.locator(selector).evaluateAll((cells) => cells.map((cell) => {
    const lines = [...cell.querySelectorAll('svg.spark polyline')];
    return lines.map((line) => line.getAttribute('points').split(' ').map((pair) => pair.split(',').map(Number)));
  }));
  holds(found.length === expected.length, `${what}: ${found.length} small lines instead of ${expected.length}`);
  expected.forEach((values, at) => {
    if (!values) return holds(!found[at].length, `${what}: a small line without values in row ${at}`);
    const most = Math.max(...values) || 1;
    atValues(found[at], values, `${what}, small line ${at}`, values.length, (value) => 1000 - (value / most) * 1000);
  });
}
