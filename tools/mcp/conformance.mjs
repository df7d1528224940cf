// The conformance runner of the Model Context Protocol: its scenarios for servers, through a proxy that adds a token because the runner
// sends none, and those for authorization servers against the embedded issuer. not-applicable/ lists the checks that do not apply.
//
// usage: conformance.mjs URL, with the root of the service. TOKEN is an access token, PYTHON names a Python, RESULTS a folder for what
// the runner writes.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { startProxy } from './bearer-proxy.mjs';

const here = import.meta.dirname;
const [service] = process.argv.slice(2);
const { TOKEN, PYTHON, RESULTS } = process.env;
const REVISIONS = ['2025-11-25', '2026-07-28'];

/** Runs the runner. Returns whether it is content, with what it printed, and with its checks by scenario. `onLine` gets each line. */
async function run(folder, options, onLine = async () => {}) {
  const results = `${RESULTS}/${folder}`;
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const program = [`--import=${here}/fs-of-node-22.mjs`, `${here}/node_modules/.bin/conformance`];
  const child = spawn(process.execPath, [...program, ...options, '--output-dir', results], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      printed += `${line}\n`;
      onLine(line).catch((error) => {
        printed += `${error}\n`;
        child.kill();
      });
    });
  }
  const [code] = await once(child, 'close');
  // A scenario that was cut short has a folder without checks.
  const names = readdirSync(results).filter((name) => existsSync(`${results}/${name}/checks.json`));
  const scenarios = names.sort().map((name) => ({
    // KIND-NAME-TIME
    name: name.replace(/^(server|authorization-server)-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
    checks: JSON.parse(readFileSync(`${results}/${name}/checks.json`)),
  }));
  return { passed: code === 0, printed, scenarios };
}

const isBad = ({ status }) => status === 'FAILURE' || status === 'WARNING';

/** Says what a scenario passed, or nothing if that is only the form of messages. */
function passedOf({ name, checks }) {
  const good = checks.filter(({ id, status }) => status === 'SUCCESS' && id !== 'wire-schema-valid').length;
  const bad = checks.filter(isBad).length;
  return good === 0 ? [] : [bad === 0 ? name : `${name} (${good} of ${good + bad} checks)`];
}

/** Prints what passed, or what failed with what the server said. `excused` is the text that names the checks that do not apply. */
function report(what, { passed, printed, scenarios }, excused = '') {
  const good = scenarios.flatMap(passedOf);
  if (passed && good.length > 0) {
    console.log(`test-mcp: conformance, ${what}: passed ${good.join(', ')}`);
    return;
  }
  process.exitCode = 1;
  console.error(printed.slice(Math.max(0, printed.indexOf('=== SUMMARY ==='))));
  for (const { name, checks } of scenarios) {
    for (const check of checks.filter((check) => isBad(check) && !excused.includes(`${name}:${check.id}\n`))) {
      console.error(`${name}: ${JSON.stringify(check, null, 2)}`);
    }
  }
  console.error(`test-mcp: conformance, ${what}: FAILED`);
}

async function server(revision) {
  const proxy = await startProxy(service, TOKEN);
  const baseline = `${here}/not-applicable/${revision}.yml`;
  const options = ['--url', `${proxy.url}/mcp`, '--suite', 'all', '--spec-version', revision, '--expected-failures', baseline];
  try {
    report(revision, await run(revision, ['server', ...options]), readFileSync(baseline, 'utf8'));
  } finally {
    proxy.stop();
  }
}

/** Returns a port of 127.0.0.1 that nobody listens on. */
async function freePort() {
  const listener = http.createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  await once(listener.close(), 'close');
  return port;
}

async function authorizationServer() {
  const port = await freePort();
  const registered = await fetch(`${service}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance runner', redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  if (!registered.ok) throw new Error(`registration answered ${registered.status} ${await registered.text()}`);
  const { client_id } = await registered.json();
  const options = ['--url', service, '--client-id', client_id, '--resource', `${service}/mcp`, '--port', `${port}`];
  // The runner prints the address that a person has to open, and waits.
  const open = async (line) => {
    if (!line.startsWith(`${service}/oauth/authorize?`)) return;
    const back = execFileSync(PYTHON, [`${here}/person.py`, line], { encoding: 'utf8' });
    await fetch(back.trim());
  };
  report('authorization server', await run('authorization', ['authorization', ...options], open));
}

for (const revision of REVISIONS) await server(revision);
await authorizationServer();
