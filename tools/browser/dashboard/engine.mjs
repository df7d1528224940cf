// A simulated search engine behind a gate: its answers can be held back, refused, and changed on the way.
import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';

/** Starts the engine. Returns its gate and the settings of a service that reads from it. */
export async function engine() {
  const child = spawn(process.env.SERVER, ['simulator', '--listen', '127.0.0.1:0'], { env: { PATH: process.env.PATH, RUST_LOG: 'warn' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const behind = await new Promise((listening, failed) => {
    let told = '';
    child.stdout.on('data', (piece) => {
      told += piece;
      const url = told.match(/listening on (\S+)/)?.[1];
      if (url) listening(new URL(url));
    });
    child.once('exit', (code) => failed(new Error(`the simulator ended with ${code}`)));
  });
  const planted = [];
  let held = null;
  let isAway = false;
  const server = createServer(async (asked, answer) => {
    const isQuery = asked.url.endsWith('/searchAnalytics/query');
    if (isQuery && isAway) {
      answer.writeHead(403, { 'content-type': 'application/json' });
      return answer.end(JSON.stringify({ error: { code: 403, message: 'Search Analytics load quota exceeded.', errors: [{ reason: 'quotaExceeded' }] } }));
    }
    if (isQuery && held) {
      held.count += 1;
      await held.until;
    }
    const options = { host: behind.hostname, port: behind.port, method: asked.method, path: asked.url, headers: asked.headers };
    const passed = request(options, async (from) => {
      if (!isQuery || !planted.length) {
        answer.writeHead(from.statusCode, from.headers);
        return from.pipe(answer);
      }
      const pieces = [];
      for await (const piece of from) pieces.push(piece);
      const changed = planted.reduce((text, [old, now]) => text.replaceAll(JSON.stringify(old), JSON.stringify(now)), Buffer.concat(pieces).toString());
      const { 'content-length': length, 'transfer-encoding': coding, ...headers } = from.headers;
      answer.writeHead(from.statusCode, headers);
      answer.end(changed);
    });
    passed.once('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const at = (path) => `http://127.0.0.1:${server.address().port}${path}`;
  return {
    settings: {
      SEARCH_ENGINE__API_URL: at(''),
      SEARCH_ENGINE__AUTHORIZE_URL: at('/o/oauth2/v2/auth'),
      SEARCH_ENGINE__TOKEN_URL: at('/token'),
      SEARCH_ENGINE__REVOKE_URL: at('/revoke'),
      SEARCH_ENGINE__USERINFO_URL: at('/userinfo'),
      SEARCH_ENGINE__CLIENT_ID: 'sightline',
      SEARCH_ENGINE__CLIENT_SECRET: 'simulated',
      IDENTITY__DEMO_SIGN_IN: 'true',
    },
    /** Holds questions back from now on. Returns how many are held, and lets them go. */
    hold() {
      let free;
      held = { count: 0, until: new Promise((resolve) => { free = resolve; }) };
      const own = held;
      return { count: () => own.count, release() { held = null; free(); } };
    },
    /** Refuses questions from now on, as an engine whose quota is used up. */
    away() { isAway = true; },
    /** Puts a text in the place of a query or page in answers from now on. */
    plant: (old, text) => planted.push([old, text]),
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      child.kill('SIGTERM');
      await new Promise((ended) => (child.exitCode === null ? child.once('exit', ended) : ended()));
    },
  };
}
