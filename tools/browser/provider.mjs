// A certified OpenID provider of another project, as the place to sign in and as an issuer of tokens.
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { errors } from 'oidc-provider';

/** Starts a provider on `port` that issues tokens for `resources`. `people` maps a login to its claims. */
export async function provider({ port, clients = [], resources = [], people }) {
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'only' };
  const resourceIndicators = {
    enabled: true,
    defaultResource: () => resources[0],
    useGrantedResource: () => true,
    getResourceServerInfo(context, resource) {
      if (!resources.includes(resource)) throw new errors.InvalidTarget();
      return { scope: 'openid profile email', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'RS256' } } };
    },
  };
  const op = new Provider(issuer, {
    jwks: { keys: [key] },
    cookies: { keys: ['of a test'] },
    clients,
    clientDefaults: { response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'] },
    clientBasedCORS: () => true,
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      ...(resources.length ? { resourceIndicators } : {}),
    },
    extraTokenClaims: (context, token) => {
      const { name, email, email_verified } = people[token.accountId] ?? {};
      return { name, email, email_verified };
    },
    findAccount: (context, sub) => people[sub] && { accountId: sub, claims: () => ({ sub, ...people[sub] }) },
    interactions: { url: (context, { uid }) => `/sign-in/${uid}` },
  });
  op.use(async (context, next) => {
    if (!context.path.startsWith('/sign-in/')) return next();
    const details = await op.interactionDetails(context.req, context.res);
    if (details.prompt.name === 'consent') {
      return op.interactionFinished(context.req, context.res, { consent: { grantId: await consent(op, details) } });
    }
    const accountId = new URL(context.href).searchParams.get('as');
    if (people[accountId]) return op.interactionFinished(context.req, context.res, { login: { accountId } });
    // The provider's own page: one link for each person.
    const links = Object.keys(people).map((name) => `<p><a href="/sign-in/${details.uid}?as=${name}">${name}</a></p>`);
    context.type = 'html';
    context.body = `<!doctype html><html lang="en"><title>Provider</title><h1>Who are you?</h1>${links.join('')}</html>`;
  });
  const listening = op.listen(port, '127.0.0.1');
  return { issuer, stop: () => new Promise((closed) => { listening.closeAllConnections(); listening.close(closed); }) };
}

async function consent(op, { grantId, session, params, prompt }) {
  const grant = (grantId && (await op.Grant.find(grantId))) || new op.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingOIDCClaims, missingResourceScopes } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  if (missingOIDCClaims) grant.addOIDCClaims(missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(' '));
  return grant.save();
}
