// The keyboard alone reaches everything, and shows where it is.
import { holds, same } from './same.mjs';

/** Marks everything that can be reached, in the order of the page. Runs in the page. */
function reachable() {
  const kinds = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
  const seen = [...document.querySelectorAll(kinds)].filter((one) => {
    // One of a group of radio buttons stands for all.
    if (one.type === 'radio' && !one.checked && document.querySelector(`[name="${one.name}"]:checked`)) return false;
    return one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !one.closest('details:not([open]) > :not(summary)');
  });
  seen.forEach((one, index) => { one.dataset.walk = index; });
  return seen.length;
}

/** Where the keyboard is, and whether that shows. Runs in the page. */
function place() {
  const one = document.activeElement;
  const isOutlined = ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  // The browser draws the focus of what opens the calendar of a field for a date.
  const isOfBrowser = one.type === 'date' && !one.matches(':focus');
  const isSeen = isOfBrowser || isOutlined(getComputedStyle(one)) || isOutlined(getComputedStyle(one, '::after'));
  const box = one.getBoundingClientRect();
  const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { at: one.dataset.walk, isSeen, isInView, name: one.outerHTML.slice(0, 120) };
}

/** Presses Tab through an open page. Fails if it leaves anything out, turns back, or does not show where it is. */
export async function tabs(page, what) {
  const count = await page.evaluate(reachable);
  await page.evaluate(() => { document.activeElement?.blur(); getSelection().removeAllRanges(); });
  const order = [];
  // A field for a date has a part each for day, month and year.
  for (let press = 0; press < 5 * count && new Set(order).size < count; press += 1) {
    await page.keyboard.press('Tab');
    const { at, isSeen, isInView, name } = await page.evaluate(place);
    holds(at !== undefined, `${what}: Tab led to ${name}`);
    holds(isSeen && isInView, `${what}: nobody sees that ${name} has the focus`);
    order.push(Number(at));
  }
  same(order, [...order].sort((one, other) => one - other), `${what}, the order of Tab`);
  holds(new Set(order).size === count, `${what}: Tab reached ${new Set(order).size} of ${count}`);
}

/** Asks, finds, compares and turns pages without a pointer. */
export async function keys(page, root) {
  await page.goto(root);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('#main:focus').waitFor();
  const tile = page.getByRole('link', { name: /^Impressions/ });
  await tile.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/metric=impressions/);
  await page.locator('.tile[aria-current]', { hasText: 'Impressions' }).waitFor();
  same([await page.evaluate(() => document.activeElement.querySelector('span')?.textContent)], ['Impressions'], 'the focus after a change in place');
  await page.keyboard.press('x');
  await page.waitForURL(/compare=none/);
  await page.getByText('not compared').first().waitFor();
  await page.keyboard.press('x');
  await page.waitForURL(/compare=previous_period(&|$)/);
  await page.goto(`${root}/queries`);
  await page.keyboard.press(']');
  await page.waitForURL(/offset=50/);
  await page.locator('a[rel=prev]').waitFor();
  await page.keyboard.press('[');
  await page.waitForURL((url) => !url.search.includes('offset'));
  await page.keyboard.press('/');
  await page.keyboard.type('jacket/x[]');
  same([await page.locator('#find').inputValue()], ['jacket/x[]'], 'the text to find');
  await page.keyboard.press('Enter');
  await page.waitForURL(/find=jacket/);
  await page.getByText('No row is left by these conditions.').waitFor();
}

/** Reads days of the chart with the arrow keys: each has the words of its row in the table of days. */
export async function arrows(page, root) {
  await page.goto(root);
  await page.locator('.plot').focus();
  const rows = page.locator('.days tbody tr');
  for (const [key, at] of [['Home', 0], ['ArrowRight', 1], ['End', -1], ['ArrowLeft', -2]]) {
    await page.keyboard.press(key);
    const tip = await page.locator('.plot .tip').textContent();
    const cells = await rows.nth(at < 0 ? (await rows.count()) + at : at).locator('th, td').allTextContents();
    holds(cells.every((cell) => tip.includes(cell)), `${key}: ${tip} does not say ${cells}`);
  }
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/notes\?day=\d{4}-\d\d-\d\d/);
}
