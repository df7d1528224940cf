// Numbers, changes and dates as the pages write them.

/** The word for a number that is not known. */
export const NONE = '–';

const isNone = (number) => (number ?? null) === null;

/** Writes a number with some decimal places. A tie goes to the even digit, as on the server. */
function fixed(number, places) {
  const scaled = number * 10 ** places;
  const isTie = Number.isInteger(number * 2 ** (places + 1)) && Math.abs(scaled % 1) === 0.5;
  if (!isTie) return number.toFixed(places);
  const below = Math.floor(scaled);
  return ((below % 2 === 0 ? below : below + 1) / 10 ** places).toFixed(places);
}

export const grouped = (number) => isNone(number) ? NONE : fixed(number, 0).replace(/\B(?=(\d{3})+$)/g, ',');
export const decimal = (number) => isNone(number) ? NONE : fixed(number, 1);
/** Only nothing is 0.0 %, and only all is 100.0 %. */
export function percent(share) {
  if (isNone(share)) return NONE;
  const shown = fixed(share * 100, 1);
  if (shown === '0.0' && share > 0) return '< 0.1 %';
  if (shown === '100.0' && share < 1) return '> 99.9 %';
  return `${shown} %`;
}

export const signed = (number) => `${number < 0 ? '−' : '+'}${grouped(Math.abs(number))}`;

/** How each metric is written. */
export const METRICS = { clicks: grouped, impressions: grouped, ctr: percent, position: decimal };
export const HEADS = { clicks: 'Clicks', impressions: 'Impressions', ctr: 'CTR', position: 'Pos.' };

/** The metrics of a row or a day, in the order of the pages. */
export const four = (values) => Object.entries(METRICS).map(([name, write]) => write(values[name]));

/** A change that reads as zero. */
const unchanged = (number) => number === 0 ? 'no change' : 'hardly any change';

/** The size of a change in percent. */
const ofChange = (part) => part > 0 && decimal(part) === '0.0' ? '< 0.1 %' : `${decimal(part)} %`;

/** A change with its mark. `withPercent` is true for tiles. */
export function change(metric, of, withPercent) {
  const { absolute, percent: part } = of[metric];
  if (isNone(absolute)) return NONE;
  const sign = absolute < 0 ? '−' : '+';
  const size = {
    clicks: () => sign + grouped(Math.abs(absolute)),
    impressions: () => sign + grouped(Math.abs(absolute)),
    ctr: () => `${sign}${decimal(Math.abs(absolute * 100))} pt`,
    position: () => `${decimal(Math.abs(absolute))} ${absolute < 0 ? 'better' : 'worse'}`,
  }[metric]();
  if (!/[1-9]/.test(size)) return unchanged(absolute);
  const isBetter = absolute > 0 !== (metric === 'position');
  const added = withPercent && ['clicks', 'impressions'].includes(metric) && !isNone(part) ? ` (${ofChange(Math.abs(part))})` : '';
  return `${isBetter ? '▲' : '▼'} ${size}${added}`;
}

/** The change of a row's clicks. */
export function changeOfRow(row) {
  if (['new', 'lost', 'unknown'].includes(row.presence)) return row.presence;
  return row.change ? change('clicks', row.change, false) : '';
}

/** The change of an index. */
export function points(number) {
  const size = decimal(Math.abs(number));
  if (!/[1-9]/.test(size)) return unchanged(number);
  return number > 0 ? `▲ +${size}` : `▼ −${size}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** A day such as `Mon 2 Nov 2026`, from `2026-11-02`. */
export function weekday(date) {
  const [year, month, day] = date.split('-').map(Number);
  return `${WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()]} ${day} ${MONTHS[month - 1]} ${year}`;
}

/** A day such as `2 Nov`. */
export const shortDay = (date) => `${Number(date.slice(8))} ${MONTHS[Number(date.slice(5, 7)) - 1]}`;

/** Days such as `26 Oct – 22 Nov 2026`. */
export function days({ startDate, endDate }) {
  const year = (date) => date.slice(0, 4);
  const end = `${shortDay(endDate)} ${year(endDate)}`;
  if (startDate === endDate) return end;
  return `${shortDay(startDate)}${year(startDate) === year(endDate) ? '' : ` ${year(startDate)}`} – ${end}`;
}

/** The day some days after another. */
export function later(date, count) {
  return new Date(Date.parse(date) + count * 86_400_000).toISOString().slice(0, 10);
}

/**
 * Returns what finds, for a day of a window, the day of the other series that stands beside it. Windows of the same dates of two years are
 * paired by date, and then 29 February has no partner; all others by the number of days since their start.
 */
export function beside({ window, compareWindow }, previousSeries) {
  const days = new Map(previousSeries.map((day) => [day.date, day]));
  const years = window.startDate.slice(0, 4) - compareWindow.startDate.slice(0, 4);
  const earlier = (date) => `${date.slice(0, 4) - years}${date.slice(4)}`;
  const isLeap = (year) => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  const ends = (date) => (date.endsWith('-02-29') && !isLeap(date.slice(0, 4)) ? `${date.slice(0, 4)}-02-28` : date);
  const isSame = (end) => ends(earlier(window[end])) === compareWindow[end];
  if (years > 0 && isSame('startDate') && isSame('endDate')) return (date) => days.get(earlier(date));
  return (date) => days.get(later(compareWindow.startDate, (Date.parse(date) - Date.parse(window.startDate)) / 86_400_000));
}

/** Returns what names each page of a list: its path, or its host and path where there are several hosts. The simulated ones have no escapes. */
export function pages(keys) {
  const parts = (key) => key.match(/^https?:\/\/([^/?#]*)(.*)$/s) ?? [key, undefined, key];
  const severalHosts = new Set(keys.map((key) => parts(key)[1]).filter((host) => host !== undefined)).size > 1;
  return (key) => {
    const [, host, rest] = parts(key);
    const path = host === undefined ? rest : rest || '/';
    return [...(severalHosts ? (host ?? '') + path : path)].slice(0, 300).join('');
  };
}
