// How pages look: at both sizes, light and dark, with and without script.
import { inspect } from '../screens.mjs';
import { same } from './same.mjs';
import { tabs } from './keyboard.mjs';
import { prints } from './print.mjs';

/** Every problem that axe finds counts. */
const finds = () => true;

/** The words of the main part, without the line that stands there while it is read, and whatever number of seconds it says. Runs in the page. */
const words = () => {
  const texts = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) if (!texts.currentNode.parentElement.closest('.waiting')) found.push(texts.currentNode.data.replace(/\d+ seconds?/, '… seconds'));
  return found;
};

/** Looks at an open page, and keeps its picture. */
export const look = (page, name) => inspect(page, `dashboard-${name}`, { finds });

/** Looks at a page that is open in a browser with script and in one without, which has to show the same. */
export async function lookAtBoth({ page, plain }, name) {
  same(await plain.evaluate(words), await page.evaluate(words), `${name}, without script`);
  await Promise.all([look(page, name), inspect(plain, `${name} without script`, { finds, picture: false })]);
}

/** Looks at pages, with and without script. */
export async function everyPage(people, pages) {
  for (const { name, url } of pages) {
    await Promise.all([people.page, people.plain].map((one) => one.goto(url)));
    await lookAtBoth(people, name);
  }
}

/** Goes through pages by keyboard, and prints them. */
export async function everyKey(page, pages) {
  for (const { name, url } of pages) {
    await page.goto(url);
    await tabs(page, name);
    await prints(page, name);
  }
}
