// Connects the simulated SEO provider A, which two of the tools ask.
//
// usage: connect-provider.mjs URL, with the root of the service. TOKEN is an access token.
const response = await fetch(`${process.argv[2]}/api/integrations/provider-a`, {
  method: 'PUT',
  headers: { authorization: `Bearer ${process.env.TOKEN}`, 'content-type': 'application/json' },
  body: JSON.stringify({ login: 'good@demo.test', password: 'demo' }),
});
if (!response.ok) throw new Error(`connect-provider: ${response.status} ${await response.text()}`);
