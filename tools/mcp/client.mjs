// The official TypeScript client of the Model Context Protocol: signs in as a client that registers itself, and uses everything that the
// server lists, in both generations of the protocol.
//
// usage: client.mjs URL, with the address of the tool endpoint. PYTHON names a Python.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const here = import.meta.dirname;
const endpoint = process.argv[2];
const known = JSON.parse(readFileSync(`${here}/calls.json`));
const redirectUrl = 'http://127.0.0.1:9/callback';

/** The requests so far, each with what the server said. */
const exchanges = [];

async function recorded(address, options = {}) {
  const response = await fetch(address, options);
  const { status, headers } = response;
  exchanges.push({
    method: options.method ?? 'GET',
    url: new URL(address),
    sent: String(options.body ?? ''),
    status,
    challenge: headers.get('www-authenticate'),
    said: await response.clone().text(),
  });
  return response;
}

/** A client that registers itself, and what it has been given since. */
class Registered {
  redirectUrl = redirectUrl;
  clientMetadata = {
    client_name: 'Check of the TypeScript client',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
  state = () => (this.ownState ??= crypto.randomUUID());
  clientInformation = () => this.client;
  saveClientInformation = (client) => (this.client = client);
  tokens = () => this.saved;
  saveTokens = (tokens) => (this.saved = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => (this.verifier = verifier);
  discoveryState = () => this.discovered;
  saveDiscoveryState = (discovered) => (this.discovered = discovered);
  redirectToAuthorization(address) {
    this.asked = address;
    const back = execFileSync(process.env.PYTHON, [`${here}/person.py`, address.href], { encoding: 'utf8' });
    this.answer = new URL(back.trim()).searchParams;
  }
}

async function connect(mode, authProvider) {
  const client = new Client({ name: 'tools-mcp', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider, fetch: recorded });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || authProvider.saved) throw error;
    await transport.finishAuth(authProvider.answer);
    return connect(mode, authProvider);
  }
}

/** Checks the sign-in, from the first refusal to the token. */
function checkSignIn(provider) {
  const [first] = exchanges;
  assert.equal(first.status, 401);
  const metadata = first.challenge.match(/resource_metadata="([^"]+)"/)[1];
  const find = (what, test) => exchanges.find(test) ?? assert.fail(`no request for ${what}`);
  const resource = JSON.parse(find('the metadata of the resource', (one) => one.url.href === metadata).said);
  assert.equal(resource.resource, endpoint);
  const issuer = find('the metadata of the issuer', (one) => one.url.pathname.startsWith('/.well-known/oauth-authorization-server'));
  const server = JSON.parse(issuer.said);
  assert.equal(server.issuer, resource.authorization_servers[0]);
  assert.equal(find('a registration', (one) => one.url.href === server.registration_endpoint).status, 201);
  const asked = provider.asked.searchParams;
  assert.equal(asked.get('resource'), endpoint);
  assert.equal(asked.get('code_challenge_method'), 'S256');
  assert.equal(provider.answer.get('iss'), server.issuer);
  const token = new URLSearchParams(find('a token', (one) => one.url.href === server.token_endpoint).sent);
  assert.equal(token.get('resource'), endpoint);
  assert.ok(token.get('code_verifier'));
  assert.ok(provider.saved.refresh_token, 'no refresh token');
}

/** Replaces the access token by one that is not valid, so that the client has to use its refresh token. */
function spoil(provider) {
  provider.saved = { ...provider.saved, access_token: 'spoiled' };
  return { ...provider.saved, asked: provider.asked };
}

/** Checks that the client was given new tokens for its refresh token, and that nobody was asked. */
function checkRefresh(provider, before) {
  const refreshed = exchanges.find((one) => new URLSearchParams(one.sent).get('grant_type') === 'refresh_token');
  assert.equal(refreshed?.status, 200);
  assert.notEqual(provider.saved.refresh_token, before.refresh_token);
  assert.equal(provider.asked, before.asked);
}

/** Calls a tool. One that needs a wider scope is called again after the client has asked the person for it. */
async function call(client, called) {
  try {
    return await client.callTool(called);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await client.transport.finishAuth(provider.answer);
    return client.callTool(called);
  }
}

async function useTools(client) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.deepEqual([...names].sort(), Object.keys(known.tools).sort(), 'calls.json must hold calls of every listed tool, and of no other');
  for (const { name } of tools) {
    for (const called of known.tools[name]) {
      const result = await call(client, { name, arguments: called });
      assert.ok(!result.isError && result.structuredContent, `${name} refuses ${JSON.stringify(called)}: ${JSON.stringify(result)}`);
      assert.ok(result.content[0].text, `${name} says nothing in text`);
    }
  }
  for (const refused of known.refused) {
    const result = await call(client, refused);
    assert.ok(result.isError && result.content[0].text, `${JSON.stringify(refused)} is not refused: ${JSON.stringify(result)}`);
  }
  return `${tools.length} tools`;
}

/** Returns a value of an argument: the first that the server completes, or the known one. */
async function value(client, ref, name) {
  if (client.getServerCapabilities().completions) {
    const complete = async (begun) => (await client.complete({ ref, argument: { name, value: begun } })).completion.values;
    const [first] = await complete('');
    if (first) {
      assert.ok((await complete(first.slice(0, 3))).includes(first), `${name}: ${first} does not complete its own beginning`);
      return first;
    }
  }
  return known.values[name];
}

async function useResources(client) {
  if (!client.getServerCapabilities().resources) return 'no resources';
  const { resources } = await client.listResources();
  const addresses = resources.map((resource) => resource.uri);
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const { uriTemplate } of resourceTemplates) {
    let address = uriTemplate;
    for (const [whole, name] of uriTemplate.matchAll(/\{([^}]+)\}/g)) {
      const found = await value(client, { type: 'ref/resource', uri: uriTemplate }, name);
      assert.ok(found, `calls.json must hold a value of ${name} in ${uriTemplate}`);
      address = address.replace(whole, encodeURIComponent(found));
    }
    addresses.push(address);
  }
  assert.ok(addresses.length > 0, 'the server has the capability resources and lists none');
  for (const uri of addresses) {
    const { contents } = await client.readResource({ uri });
    assert.ok(contents.length > 0 && contents.every((content) => content.text), `${uri} is empty`);
  }
  return `${resources.length} resources, ${resourceTemplates.length} templates`;
}

async function usePrompts(client) {
  if (!client.getServerCapabilities().prompts) return 'no prompts';
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.length > 0, 'the server has the capability prompts and lists none');
  for (const prompt of prompts) {
    const given = {};
    for (const { name, required } of prompt.arguments ?? []) {
      const found = await value(client, { type: 'ref/prompt', name: prompt.name }, name);
      assert.ok(found || !required, `calls.json must hold a value of ${name} for ${prompt.name}`);
      if (found) given[name] = found;
    }
    const { messages } = await client.getPrompt({ name: prompt.name, arguments: given });
    assert.ok(messages.length > 0, `${prompt.name} has no messages`);
  }
  return `${prompts.length} prompts`;
}

/** Uses the server in one generation of the protocol, which the client has to negotiate by itself. */
async function useAll(mode, version) {
  const client = await connect(mode, provider);
  assert.equal(client.getNegotiatedProtocolVersion(), version);
  const used = [await useTools(client), await useResources(client), await usePrompts(client)];
  await client.close();
  console.log(`test-mcp: TypeScript client, ${version}: used ${used.join(', ')}`);
}

const provider = new Registered();
try {
  await useAll('legacy', '2025-11-25');
  checkSignIn(provider);
  const before = spoil(provider);
  await useAll('auto', '2026-07-28');
  checkRefresh(provider, before);
  console.log('test-mcp: TypeScript client: signed in by registration, then by its refresh token');
} catch (error) {
  console.error(error);
  for (const { method, url, sent, status, said } of exchanges.slice(-2)) {
    console.error(`\n${method} ${url}\n${sent.slice(0, 4000)}\nanswered ${status}\n${said.slice(0, 4000)}`);
  }
  process.exitCode = 1;
}
