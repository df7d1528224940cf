// What a page costs a visitor: requests, bytes, and the time to its first bytes.
import { get } from 'node:http';
import { createGunzip } from 'node:zlib';
import { json, signIn, site } from './people.mjs';
import { holds } from './same.mjs';

/** The most requests of a page, and the most bytes that all of them take on the wire. */
const MOST_REQUESTS = 4;
const MOST_BYTES = 60_000;

/** Opens each address with empty caches, and adds up what it takes. */
export async function small(browser, service, person, addresses) {
  const page = await browser.person('fresh');
  await signIn(page, `${service.url}/account`, person);
  await page.waitForURL(`${service.url}/account`);
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Network.setCacheDisabled', { cacheDisabled: true });
  let sizes = [];
  page.on('requestfinished', (request) => sizes.push(request.sizes().then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize)));
  const most = { requests: 0, bytes: 0 };
  for (const address of addresses) {
    await page.goto('about:blank');
    sizes = [];
    await page.goto(address, { waitUntil: 'networkidle' });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    holds(sizes.length <= MOST_REQUESTS && bytes <= MOST_BYTES, `${address}: ${sizes.length} requests, ${bytes} bytes`);
    most.requests = Math.max(most.requests, sizes.length);
    most.bytes = Math.max(most.bytes, bytes);
  }
  await page.context().close();
  return most;
}

/**
 * Asks for each page while the search engine answers nothing, and fails unless its head and the line that says so are there, packed as a
 * browser takes them. Then the engine answers, and the page has to come to its end.
 */
export async function headFirst(browser, service, gate, person, paths) {
  const page = await browser.person('early');
  await signIn(page, `${service.url}/`, person);
  const { id } = await site(page, service, 'northmoor');
  await json(page, `${service.url}/api/properties/${id}`);
  const cookie = (await page.context().cookies(service.url)).map(({ name, value }) => `${name}=${value}`).join('; ');
  for (const path of paths) {
    const held = gate.hold();
    const answer = await new Promise((resolve, failed) => {
      get(`${service.url}/p/${id}${path}`, { headers: { cookie, accept: 'text/html', 'accept-encoding': 'gzip' } }, resolve).once('error', failed);
    });
    holds(answer.statusCode === 200 && answer.headers['content-encoding'] === 'gzip', `${path}: ${answer.statusCode}, not packed`);
    const text = answer.pipe(createGunzip()).setEncoding('utf8');
    const early = await first(text, 'Reading from the search engine', path);
    holds(early.includes('<title>') && early.includes('northmoor.example') && !early.includes('</html>'), `${path}: it began with ${early}`);
    holds(held.count() > 0, `${path}: the search engine was not asked`);
    held.release();
    let rest = '';
    for await (const piece of text) rest += piece;
    holds(rest.includes('</html>') && rest.includes('<h1><bdi dir="ltr">northmoor.example</bdi></h1>'), `${path}: it ended with ${rest.slice(-300)}`);
  }
  await page.context().close();
}

/** Reads up to a text. Fails if it has not come after a minute. */
async function first(stream, text, what) {
  const late = setTimeout(() => stream.destroy(new Error(`${what}: no first bytes before the search engine answered`)), 60_000);
  let found = '';
  while (!found.includes(text)) {
    const piece = stream.read();
    if (piece === null) await new Promise((readable, failed) => stream.once('readable', readable).once('error', failed).once('end', readable));
    else found += piece;
    if (stream.readableEnded) break;
  }
  clearTimeout(late);
  return found;
}
