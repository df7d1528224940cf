// Runs the journeys, each with a service of its own, and prints a line for each step.
import { browser } from './screens.mjs';

/** In the order in which they begin. Two run at once, so the longest come first. */
const JOURNEYS = ['dashboard', 'local', 'documents', 'first-number', 'command-line', 'signed-in-elsewhere', 'external-issuer'];
/** The journeys that have a folder. */
const FOLDERS = ['dashboard'];
const wanted = process.argv.slice(2);
const waiting = wanted.length ? wanted : JOURNEYS;
const opened = await browser();

/** Runs the journeys that nobody has begun, one after the other. */
async function worker() {
  while (waiting.length) await run(waiting.shift());
}

async function run(name) {
  const { default: journey } = await import(FOLDERS.includes(name) ? `./${name}/index.mjs` : `./${name}.mjs`);
  let step = name;
  try {
    await journey(opened, async (title, act) => {
      step = `${name}: ${title}`;
      const begun = Date.now();
      const result = await act();
      console.log(`ok  ${step.padEnd(70)} ${((Date.now() - begun) / 1000).toFixed(1)} s`);
      return result;
    });
  } catch (error) {
    throw new Error(`FAILED  ${step}`, { cause: error });
  }
}

try {
  await Promise.all([worker(), worker()]);
} catch (error) {
  console.error(`${error.message}\n${error.cause.stack}`);
  process.exitCode = 1;
  await opened.keep('failed').catch(() => {});
} finally {
  await opened.close();
}
