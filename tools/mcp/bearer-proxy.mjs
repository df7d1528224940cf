// A proxy on loopback that adds an access token to every request, for clients that cannot send one.
import http from 'node:http';
import { once } from 'node:events';

/** Starts a proxy before the server at `target`. Returns its address, and a function that stops it. */
export async function startProxy(target, token) {
  const { host } = new URL(target);
  const proxy = http.createServer((request, response) => {
    const own = request.socket.localPort;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    // The proxy's own address stands for the server's. Any other host or origin is passed on, for the server to refuse.
    if (headers.host === `127.0.0.1:${own}`) headers.host = host;
    if (headers.origin === `http://127.0.0.1:${own}`) headers.origin = `http://${host}`;
    const onward = http.request(target, { path: request.url, method: request.method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', (error) => {
      if (!response.headersSent) response.writeHead(502);
      response.end(`bearer-proxy: ${error.message}`);
    });
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const stop = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${proxy.address().port}`, stop };
}
