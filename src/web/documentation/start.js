// Shows the served document; the Authorize button runs the authorization-code flow with PKCE as a public client.
const ui = SwaggerUIBundle({
  dom_id: '#ui',
  url: '/openapi.json',
  deepLinking: true,
  validatorUrl: null,
  oauth2RedirectUrl: `${window.location.origin}/docs/oauth2-redirect.html`,
});
ui.initOAuth({
  clientId: '{client}',
  scopes: 'openid profile email',
  usePkceWithAuthorizationCodeGrant: true,
});
