// Lets the conformance runner start on Node 20: it imports `fs.globSync`, which came with Node 22, for a command that is not used here.
import { register } from 'node:module';

const hooks = `
export async function resolve(name, context, next) {
  const isRunner = name === 'fs' && context.parentURL.includes('/@modelcontextprotocol/conformance/');
  return isRunner ? { url: 'sightline:fs', shortCircuit: true } : next(name, context);
}
export async function load(url, context, next) {
  if (url !== 'sightline:fs') return next(url, context);
  const source = \`
    export * from 'node:fs';
    export { default } from 'node:fs';
    export function globSync() { throw new Error('fs.globSync needs Node 22'); }
  \`;
  return { format: 'module', source, shortCircuit: true };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
