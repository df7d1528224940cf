// mcp-remote, by which programs that only speak to local servers reach this one: it signs in, and this calls tools through it.
//
// usage: mcp-remote.mjs ENDPOINT STORE CALLS, with a folder for what it is given, and a file with the calls. Prints the result of each
// call, or what was thrown, as a line of JSON.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [endpoint, store, calls] = process.argv.slice(2);
const here = import.meta.dirname;
const client = new Client({ name: 'tools-mcp', version: '1' });
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [`${here}/node_modules/.bin/mcp-remote`, endpoint, '--transport', 'http-only', '--auth-timeout', '60'],
  env: { PATH: process.env.PATH, HOME: store, MCP_REMOTE_CONFIG_DIR: store, BROWSER: `${here}/browser.py` },
  stderr: 'inherit',
});
await client.connect(transport);
for (const called of JSON.parse(readFileSync(calls))) {
  const result = client.callTool({ name: called.name, arguments: called.arguments }).catch((error) => ({ thrown: String(error) }));
  console.log(JSON.stringify(await result));
}
await client.close();
