// The official SDK for TypeScript, of either major: signs in as it does by itself, and calls tools.
//
// usage: typescript.mjs ENDPOINT STORE CALLS, with a folder for what it is given, and a file with the calls. PYTHON names a Python. Prints
// the result of each call, or what was thrown, as a line of JSON.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const [endpoint, store, calls] = process.argv.slice(2);
const redirectUrl = 'http://127.0.0.1:9/callback';

/** Returns what the installed package exports, by names that both majors share. */
async function sdk() {
  const { dependencies } = JSON.parse(readFileSync(`${import.meta.dirname}/package.json`));
  if (dependencies['@modelcontextprotocol/client']) return import('@modelcontextprotocol/client');
  const parts = ['index.js', 'streamableHttp.js', 'auth.js'].map((part) => import(`@modelcontextprotocol/sdk/client/${part}`));
  return Object.assign({ takesCodeAlone: true }, ...(await Promise.all(parts)));
}
const { Client, StreamableHTTPClientTransport, UnauthorizedError, takesCodeAlone } = await sdk();

function load(name) {
  const file = `${store}/${name}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file)) : undefined;
}

// Another process reads the old text or the new one, never a part.
function save(name, value) {
  writeFileSync(`${store}/${name}.${process.pid}`, JSON.stringify(value));
  renameSync(`${store}/${name}.${process.pid}`, `${store}/${name}.json`);
}

/** What the SDK asks of a program that embeds it, and no more. */
const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: 'Check of the TypeScript SDK',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => load('client'),
  saveClientInformation: (client) => save('client', client),
  tokens: () => load('tokens'),
  saveTokens: (tokens) => save('tokens', tokens),
  saveCodeVerifier: (verifier) => save('verifier', verifier),
  codeVerifier: () => load('verifier'),
  redirectToAuthorization(address) {
    const back = execFileSync(process.env.PYTHON, [`${import.meta.dirname}/person.py`, address.href], { encoding: 'utf8' });
    this.answer = new URL(back.trim()).searchParams;
  },
};

/** Does something with a transport. Where it turns out that a person has to allow it, finishes that and does it again. */
async function allowed(transport, act) {
  try {
    return await act(transport);
  } catch (error) {
    const { answer } = authProvider;
    if (!(error instanceof UnauthorizedError) || !answer) throw error;
    authProvider.answer = undefined;
    await transport.finishAuth(takesCodeAlone ? answer.get('code') : answer);
    return undefined;
  }
}

async function connect() {
  const client = new Client({ name: 'tools-mcp', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider });
  const connected = await allowed(transport, async () => {
    await client.connect(transport);
    return client;
  });
  return connected ?? connect();
}

const client = await connect();
for (const called of JSON.parse(readFileSync(calls))) {
  const act = () => client.callTool({ name: called.name, arguments: called.arguments });
  const result = await (async () => (await allowed(client.transport, act)) ?? act())().catch((error) => ({ thrown: String(error) }));
  console.log(JSON.stringify(result));
}
await client.close();
