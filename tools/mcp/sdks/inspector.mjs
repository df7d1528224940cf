// The MCP Inspector without its pages: it signs in and calls a tool, once for each call.
//
// usage: inspector.mjs ENDPOINT STORE CALLS, with a folder for what it is given, and a file with the calls. Prints the result of each
// call, or what it ended with, as a line of JSON.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const [endpoint, store, calls] = process.argv.slice(2);
const here = import.meta.dirname;
const env = {
  PATH: process.env.PATH,
  HOME: store,
  BROWSER: `${here}/browser.py`,
  // It opens a browser without a terminal, and keeps its tokens in a file.
  MCP_AUTO_OPEN_ENABLED: 'true',
  MCP_INSPECTOR_SECRET_STORE: 'file',
};

async function call({ name, arguments: given }) {
  const target = ['--server-url', endpoint, '--transport', 'http', '--callback-url', 'http://127.0.0.1:0/oauth/callback'];
  const what = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(given), '--format', 'json'];
  const program = [`${here}/node_modules/.bin/mcp-inspector`, '--cli', ...target, ...what];
  const child = spawn(process.execPath, program, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  // The person says yes where it asks if it may ask for a wider scope.
  child.stdin.on('error', () => {});
  child.stdin.end('y\n');
  const said = [];
  const complained = [];
  child.stdout.on('data', (chunk) => said.push(chunk));
  child.stderr.on('data', (chunk) => complained.push(chunk));
  const [code] = await once(child, 'close');
  const text = Buffer.concat(said).toString();
  return text.startsWith('{') ? JSON.parse(text).result : { thrown: `ended with ${code}: ${text}${Buffer.concat(complained)}` };
}

for (const called of JSON.parse(readFileSync(calls))) console.log(JSON.stringify(await call(called)));
