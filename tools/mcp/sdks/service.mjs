// A service of its own behind a gate, with demo people and a connected SEO provider, which some of the tools ask.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Gate } from './gate.mjs';

/** How often a service is started anew, where another program takes the port that was free. */
const STARTS = 5;

/** The service prints the address of the gate, so its own must be known before it starts. */
async function freePort() {
  const listener = net.createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  await once(listener.close(), 'close');
  return port;
}

export class Service {
  /** Starts the program `server`, whose addresses are those of a gate before it. It writes what it complains about in `log`. */
  static async start(server, log) {
    const service = new Service();
    service.gate = await Gate.open();
    service.endpoint = `${service.gate.url}/mcp`;
    service.data = mkdtempSync(`${tmpdir()}/sightline-sdks-`);
    try {
      await service.#serve(server, log);
      await service.#prepare(server);
      return service;
    } catch (error) {
      await service.stop();
      throw new Error(`${error.message}\n${readFileSync(log)}`);
    }
  }

  async stop() {
    this.gate.close();
    if (this.child.exitCode === null && this.child.kill()) await once(this.child, 'close');
    rmSync(this.data, { recursive: true, force: true });
  }

  /** No setting of the person who runs this reaches the service. */
  #env(settings = {}) {
    return { PATH: process.env.PATH, HOME: this.data, RUST_LOG: 'warn', SIGHTLINE_BASE_URL: this.gate.url, ...settings };
  }

  async #serve(server, log) {
    for (let start = 0; start < STARTS; start += 1) {
      const listen = `127.0.0.1:${await freePort()}`;
      const env = this.#env({ SIGHTLINE_LISTEN: listen, SIGHTLINE_RATE_LIMIT__ENABLED: 'false' });
      const out = openSync(log, 'w');
      this.child = spawn(server, ['serve'], { cwd: this.data, env, stdio: ['ignore', 'pipe', out] });
      closeSync(out);
      this.gate.target = `http://${listen}`;
      for await (const line of createInterface({ input: this.child.stdout })) {
        if (line.startsWith('listening on ')) return;
      }
    }
    throw new Error('the service does not start');
  }

  async #prepare(server) {
    const options = { cwd: this.data, env: this.#env() };
    this.token = (await promisify(execFile)(server, ['login', '--as', 'owner'], options)).stdout.trim();
    const response = await fetch(`${this.gate.url}/api/integrations/provider-a`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ login: 'good@demo.test', password: 'demo' }),
    });
    if (!response.ok) throw new Error(`provider-a: ${response.status} ${await response.text()}`);
  }
}
