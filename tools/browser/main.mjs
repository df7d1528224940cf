// Runs the journeys, each with a service of its own, and prints a line for each step.
import { browser } from './screens.mjs';

const JOURNEYS = ['dashboard', 'documents', 'first-number', 'local', 'command-line', 'signed-in-elsewhere', 'external-issuer'];
/** The journeys that have a folder. */
const FOLDERS = ['dashboard'];
const wanted = process.argv.slice(2);
const opened = await browser();
let step = '';
try {
  for (const name of wanted.length ? wanted : JOURNEYS) {
    const { default: journey } = await import(FOLDERS.includes(name) ? `./${name}/index.mjs` : `./${name}.mjs`);
    await journey(opened, async (title, act) => {
      step = `${name}: ${title}`;
      const begun = Date.now();
      const result = await act();
      console.log(`ok  ${step.padEnd(70)} ${((Date.now() - begun) / 1000).toFixed(1)} s`);
      return result;
    });
  }
} catch (error) {
  console.error(`FAILED  ${step}\n${error.stack}`);
  process.exitCode = 1;
  await opened.keep('failed').catch(() => {});
} finally {
  await opened.close();
}
