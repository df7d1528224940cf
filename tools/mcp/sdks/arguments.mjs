// What every tool is called with: what it needs alone, then with each declared default, then with what an empty form sends.

/** Asks the endpoint for its tools, without an SDK. */
export async function listTools(endpoint, token) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const said = await response.text();
  if (!response.ok) throw new Error(`tools/list: ${response.status} ${said}`);
  const message = said.startsWith('{') ? said : said.match(/^data: ?(\{.*)$/m)[1];
  return JSON.parse(message).result.tools;
}

/** What a form sends for a field that nobody filled in, or nothing. */
function emptyValue(schema) {
  const types = [schema.type, ...(schema.anyOf ?? []).map(({ type }) => type)].flat();
  if (types.includes('null')) return null;
  if (types.includes('string')) return '';
  if (types.includes('array')) return [];
  return undefined;
}

/** The fields of a schema that `value` has a value for. */
function filled(properties, value) {
  const pairs = Object.entries(properties).map(([name, schema]) => [name, value(schema)]);
  return Object.fromEntries(pairs.filter(([, given]) => given !== undefined));
}

/** The calls of a tool. Those with `like` must answer as those arguments alone. */
function callsOf({ name, inputSchema }, known, isShort) {
  const { properties = {}, required = [] } = inputSchema;
  // Some kinds of records need a property, which the schema cannot say.
  const needed = (call) => Object.fromEntries(Object.entries(call).filter(([field]) => required.includes(field) || field === 'property'));
  const begun = isShort ? known.map(needed) : [...known.map(needed), ...known];
  const bases = new Map(begun.map((base) => [JSON.stringify(base), base]));
  const defaults = filled(properties, (schema) => schema.default);
  const empties = filled(properties, emptyValue);
  return [...bases.values()].flatMap((base) => {
    const first = { name, arguments: base };
    const more = [defaults, empties].filter((fields) => Object.keys(fields).some((field) => !(field in base)));
    return [first, ...more.map((fields) => ({ name, arguments: { ...fields, ...base }, like: base }))];
  });
}

/** All calls of all tools. `known` are calls that work, by tool: their arguments are given as well, unless the list is to be short. */
export function callsFor(tools, known, isShort) {
  return tools.flatMap((tool) => callsOf(tool, known[tool.name] ?? [], isShort));
}

/** Fields that differ between two answers to one question: names of a new record, and the cost, which is none when it is repeated. */
const PASSING = new Set(['id', 'etag', 'cost']);

/** An answer without what differs from call to call. */
export function lasting(answer) {
  if (Array.isArray(answer)) return answer.map(lasting);
  if (answer === null || typeof answer !== 'object') return answer;
  const kept = Object.entries(answer).filter(([name]) => !name.endsWith('At') && !PASSING.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, lasting(value)]));
}
