// Somebody whose tokens come from an issuer of another project: sign-in, documentation and revocation work with it.
import { inspect } from './screens.mjs';
import { freePort, start } from './service.mjs';
import { provider } from './provider.mjs';
import { walk } from './walk.mjs';

const PEOPLE = { grace: { name: 'Grace', email: 'grace@example.test', email_verified: true } };

export default async function externalIssuer(browser, step) {
  const [own, theirs] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${own}`;
  const client = { token_endpoint_auth_method: 'none', response_types: ['code'], grant_types: ['authorization_code'] };
  const op = await provider({
    port: theirs,
    resources: [url, `${url}/mcp`],
    people: PEOPLE,
    clients: [
      { ...client, client_id: 'sightline', redirect_uris: [`${url}/auth/callback`] },
      { ...client, client_id: 'sightline-docs', redirect_uris: [`${url}/docs/oauth2-redirect.html`] },
    ],
  });
  const service = await start({ PORT: own, IDENTITY__ISSUER: op.issuer, IDENTITY__CLIENT_ID: 'sightline' });
  try {
    const page = await browser.person('grace');
    await step('she signs in at the issuer', async () => {
      await page.goto(service.url);
      await page.getByRole('link', { name: 'grace' }).click();
      await page.getByText('No search account is connected yet.').waitFor();
      await page.goto(`${service.url}/account`);
      await inspect(page, 'external-account');
    });
    await walk(page, service, step, 'external', { asks: false });
  } finally {
    await service.stop();
    await op.stop();
  }
}
