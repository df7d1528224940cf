// A gate between clients and the service: it passes everything on, notes what was asked, and can hold refreshes until several are there, so
// that they reach the service at the same moment.
import http from 'node:http';
import { once } from 'node:events';

/** How long a held refresh waits for the others. */
const PATIENCE = 60_000;

export class Gate {
  /** The address of the service, `http://HOST:PORT`, once it is known. */
  target;
  /** All requests: the method, the address, and the status of the answer. */
  requests = [];
  /** Requests at the token endpoint: what each sent, the status and what was answered. */
  tokens = [];
  #held = [];
  #holding = 1;

  static async open() {
    const gate = new Gate();
    gate.server = http.createServer((request, response) => gate.#pass(request, response).catch((error) => response.destroy(error)));
    gate.server.listen(0, '127.0.0.1');
    await once(gate.server, 'listening');
    gate.url = `http://127.0.0.1:${gate.server.address().port}`;
    return gate;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Forgets what was noted. From now on, `holding` refreshes are passed on together. */
  begin(holding = 1) {
    this.requests = [];
    this.tokens = [];
    this.#holding = holding;
  }

  /** The requests that were made of a path. */
  of(path) {
    return this.requests.filter(({ url }) => url.pathname === path);
  }

  /** The requests for tokens by a grant. */
  grants(type) {
    return this.tokens.filter(({ sent }) => sent.grant_type === type);
  }

  async #pass(request, response) {
    const url = new URL(request.url, this.url);
    const noted = { method: request.method, url };
    this.requests.push(noted);
    response.on('close', () => (noted.status = response.statusCode));
    if (url.pathname === '/oauth/token') return this.#token(request, response);
    const onward = this.#send(request, request.headers);
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', (error) => response.destroy(error));
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  #send({ url, method }, headers) {
    return http.request(this.target, { path: url, method, headers });
  }

  async #token(request, response) {
    const body = await text(request);
    const sent = Object.fromEntries(new URLSearchParams(body));
    if (sent.grant_type === 'refresh_token') await this.#together();
    // The gate reads the answer, so it must not be compressed.
    const onward = this.#send(request, { ...request.headers, 'accept-encoding': 'identity' });
    onward.end(body);
    const [answer] = await once(onward, 'response');
    const said = await text(answer);
    this.tokens.push({ sent, status: answer.statusCode, said });
    response.writeHead(answer.statusCode, answer.headers);
    response.end(said);
  }

  /** Waits until as many refreshes are there as are to go together. */
  async #together() {
    let timer;
    const released = new Promise((release) => {
      this.#held.push(release);
      timer = setTimeout(release, PATIENCE);
    });
    if (this.#held.length >= this.#holding) {
      this.#holding = 1;
      for (const release of this.#held.splice(0)) release();
    }
    await released;
    clearTimeout(timer);
  }
}

async function text(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
