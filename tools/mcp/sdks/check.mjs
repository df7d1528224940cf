// Official SDKs as they are: each signs in by its own code with a person in the browser, calls every tool, stays signed in over a refresh,
// and over two processes that refresh with one refresh token at the same moment.
//
// usage: check.mjs SERVER WORK KNOWN NAME..., with the program of the service, a folder in which each SDK is installed below its name, and a
// file with calls that work. PYTHON names a Python.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { callsFor, lasting, listTools } from './arguments.mjs';
import { Service } from './service.mjs';

const [server, work, known, ...names] = process.argv.slice(2);
/** A program that takes longer hangs. */
const LIMIT = 600_000;
/** Known faults of SDKs. A check fails once one is gone. */
const FAULTS = JSON.parse(readFileSync(`${import.meta.dirname}/faults.json`));
/** What each asks the service on its way to a token, and what it has not done otherwise. */
const WAY = {
  '/.well-known/oauth-protected-resource/mcp': 'it did not read the metadata of the resource',
  '/.well-known/oauth-authorization-server': 'it did not read the metadata of the issuer',
  '/oauth/register': 'it did not register',
  '/oauth/authorize': 'nobody was asked',
};
const ONE_CALL = [{ name: 'list_properties', arguments: { search: 'northmoor' } }];

/** Runs an SDK in a process of its own. Returns the results of its calls. */
async function run(name, { endpoint }, store, calls) {
  const [driver] = readdirSync(`${work}/${name}`).filter((file) => file.startsWith('driver.'));
  const program = driver.endsWith('.py') ? `${work}/${name}/venv/bin/python` : process.execPath;
  const file = `${work}/${name}/calls-${calls.length}.json`;
  writeFileSync(file, JSON.stringify(calls));
  const child = spawn(program, [`${work}/${name}/${driver}`, endpoint, store, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT);
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (chunk) => (printed[stream] += chunk));
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  assert.equal(code, 0, `ended with ${code ?? signal}\n${printed.stderr.slice(-6000)}`);
  const results = printed.stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(results.length, calls.length, printed.stderr.slice(-6000));
  return results;
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`);
}

/** Makes the access token in a store useless: one that is refused, and that has expired for the driver in Python. */
function spoil(store, { tokens }) {
  const given = tokens.filter(({ status }) => status === 200).map(({ said }) => JSON.parse(said).access_token);
  let spoiled = false;
  for (const file of files(store)) {
    const text = readFileSync(file, 'utf8');
    const token = given.find((one) => text.includes(one));
    if (!token) continue;
    spoiled = true;
    writeFileSync(file, text.replaceAll(token, 'spoiled').replace(/("good_until": )[\d.]+/, '$11'));
  }
  assert.ok(spoiled, 'its store holds no access token');
}

/** The results of calls that are wrong: each with its tool, and a line that says what is wrong. */
function faultsOf(calls, results) {
  const answers = new Map();
  return calls.flatMap((call, at) => {
    const { isError, content, structuredContent } = results[at];
    const asked = `${call.name} ${JSON.stringify(call.arguments)}`;
    const wrong = (what) => [{ tool: call.name, fault: `${asked}: ${what.slice(0, 400)}` }];
    if (isError || !structuredContent) return wrong(JSON.stringify(content?.[0]?.text ?? results[at]));
    const answer = JSON.stringify(lasting(structuredContent));
    answers.set(`${call.name} ${JSON.stringify(call.arguments)}`, answer);
    const like = JSON.stringify(call.like);
    const expected = answers.get(`${call.name} ${like}`);
    return expected === undefined || expected === answer ? [] : wrong(`answers otherwise than ${like}`);
  });
}

/** Checks that an SDK found its way from the first refusal to a token by itself. */
function checkSignIn(gate) {
  const [first] = gate.requests;
  assert.deepEqual([first.url.pathname, first.status], ['/mcp', 401], 'it did not begin with a refusal');
  for (const [path, why] of Object.entries(WAY)) assert.ok(gate.of(path).length > 0, why);
  const [{ url }] = gate.of('/oauth/authorize');
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
  assert.equal(url.searchParams.get('resource'), `${gate.url}/mcp`);
  const [code] = gate.grants('authorization_code');
  assert.ok(code.sent.code_verifier && JSON.parse(code.said).refresh_token, code.said);
}

async function signInAndCall(name, service, store, calls) {
  service.gate.begin();
  const results = await run(name, service, store, calls);
  checkSignIn(service.gate);
  const known = FAULTS[name]?.tools ?? [];
  const wrong = faultsOf(calls, results);
  const failed = wrong.filter(({ tool }) => !known.includes(tool));
  const mended = known.filter((tool) => !wrong.some((one) => one.tool === tool));
  assert.ok(failed.length === 0, `${failed.length} of ${calls.length} calls are wrong:\n${failed.map(({ fault }) => fault).join('\n')}`);
  assert.ok(mended.length === 0, `can call these now, remove them from faults.json: ${mended}`);
  const except = known.length > 0 ? ` (it cannot call ${known.join(', ')}, as is known)` : '';
  return `signed in, called tools ${calls.length - wrong.length} times${except}`;
}

/** Runs an SDK as often at once as `together` says, with a store whose access token is no longer good. */
async function refresh(name, service, store, together) {
  spoil(store, service.gate);
  service.gate.begin(together);
  const runs = Array.from({ length: together }, () => run(name, service, store, ONE_CALL));
  const ended = await Promise.allSettled(runs);
  for (const { reason } of ended) if (reason) throw reason;
  assert.deepEqual(ended.flatMap(({ value }) => faultsOf(ONE_CALL, value)), []);
  assert.equal(service.gate.of('/oauth/authorize').length, 0, 'a person was asked again');
  const refreshes = service.gate.grants('refresh_token');
  assert.equal(refreshes.length, together, `${refreshes.length} refreshes`);
  for (const { status, said } of refreshes) assert.equal(status, 200, said);
  const [used, next] = ['sent', 'said'].map((side) => new Set(refreshes.map((one) => tokenOf(one[side]))));
  assert.equal(used.size, 1, 'the processes sent different refresh tokens');
  assert.equal(next.size, 1, 'the processes were given different refresh tokens');
  return together === 1 ? 'refreshed' : `refreshed in ${together} processes at once`;
}

function tokenOf(side) {
  return (typeof side === 'string' ? JSON.parse(side) : side).refresh_token;
}

async function check(name, service, calls) {
  const store = mkdtempSync(`${work}/${name}/store-`);
  const begun = Date.now();
  const passed = [];
  const steps = [
    () => signInAndCall(name, service, store, calls),
    () => refresh(name, service, store, 1),
    () => refresh(name, service, store, 2),
    // What the two were given is good for the next time.
    () => refresh(name, service, store, 1),
  ];
  for (const step of steps) {
    try {
      passed.push(await step());
    } catch (error) {
      process.exitCode = 1;
      console.error(`test-mcp: ${name}: FAILED: ${error.message}`);
    }
  }
  rmSync(store, { recursive: true, force: true });
  console.log(`test-mcp: ${name}: ${passed.join(', ')} (${Math.round((Date.now() - begun) / 1000)} s)`);
}

const service = await Service.start(server, `${work}/server.log`);
try {
  const tools = await listTools(service.endpoint, service.token);
  const works = JSON.parse(readFileSync(known)).tools;
  // The Inspector starts anew for each call.
  for (const name of names) await check(name, service, callsFor(tools, works, name === 'inspector'));
} finally {
  await service.stop();
}
