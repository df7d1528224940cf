// People sign in at a provider of another project, and the service issues the tokens.
import { provider } from './provider.mjs';
import { inspect } from './screens.mjs';
import { freePort, start } from './service.mjs';
import * as swagger from './swagger.mjs';

const PEOPLE = {
  bob: { name: 'Bob', email: 'bob@example.test', email_verified: true },
  eve: { name: 'Eve', email: 'eve@example.test', email_verified: false },
  sam: { name: 'Sam', email: 'sam@elsewhere.test', email_verified: true },
};

export default async function (browser, step) {
  const [port, providerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const client = { client_id: 'sightline', client_secret: 'a secret of a test', redirect_uris: [`${url}/oauth/sign-in/callback`] };
  const elsewhere = await provider({ port: providerPort, clients: [client], people: PEOPLE });
  // The public URL of the tools keeps demo people away, as on a public service.
  const service = await start({
    PORT: port,
    BASE_URL: url,
    MCP__URL: 'https://tools.example.test',
    IDENTITY__SIGN_IN__ISSUER: elsewhere.issuer,
    IDENTITY__SIGN_IN__CLIENT_ID: client.client_id,
    IDENTITY__SIGN_IN__CLIENT_SECRET: client.client_secret,
  });
  try {
    await step('the operator adds bob and eve', async () => {
      for (const name of ['bob', 'eve']) await service.command('user', 'add', PEOPLE[name].email);
    });
    const bob = await browser.person('bob');
    await step('bob signs in at the provider and sees his account', async () => {
      await bob.goto(`${url}/account`);
      await bob.getByRole('link', { name: 'bob' }).click();
      await bob.waitForURL(`${url}/account`);
      await bob.getByText(PEOPLE.bob.email).first().waitFor();
      await inspect(bob, 'elsewhere-account');
    });
    await step('the operator sees how bob signs in', async () => {
      const listed = await service.command('user', 'list');
      if (!/bob@example\.test.*Bob.*active \(127\.0\.0\.1\)/.test(listed)) throw new Error(listed);
    });
    await step('Swagger UI authorizes and reads', async () => {
      const docs = await swagger.open(bob, url);
      await swagger.authorize(docs, async (popup) => {
        const allow = popup.getByRole('button', { name: 'Allow' });
        await allow.waitFor();
        await inspect(popup, 'elsewhere-consent');
        await allow.click().catch(() => {});
      });
      const list = await swagger.tryOut(docs, { id: 'listProperties', tag: 'Properties', method: 'GET', path: '/api/properties' });
      const { status, text } = await list.execute();
      if (status !== 200) throw new Error(`${status} ${text}`);
    });
    await step('eve, whose address is not verified, is told so', async () => {
      const eve = await browser.person('eve');
      await eve.goto(`${url}/account`);
      await eve.getByRole('link', { name: 'eve' }).click();
      await eve.getByRole('heading', { name: 'You cannot sign in with this account' }).waitFor();
      await eve.getByText(PEOPLE.eve.email).waitFor();
      await inspect(eve, 'elsewhere-unverified');
    });
    await step('sam, whom nobody has invited, chooses another account', async () => {
      const sam = await browser.person('sam');
      await sam.goto(`${url}/account`);
      await sam.getByRole('link', { name: 'sam' }).click();
      await sam.getByText('has not been invited').waitFor();
      await inspect(sam, 'elsewhere-not-invited');
      await sam.getByRole('link', { name: 'Use another account' }).click();
      await sam.waitForURL(`${elsewhere.issuer}/**`);
    });
  } finally {
    await service.stop();
    await elsewhere.stop();
  }
}
