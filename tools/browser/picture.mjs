// Draws the picture of the dashboard in README from the demo.
import { fileURLToPath } from 'node:url';
import { start } from './service.mjs';

const PICTURE = fileURLToPath(new URL('../../docs/dashboard.png', import.meta.url));

export default async function picture(browser, step) {
  const service = await start();
  try {
    const page = await browser.person('owner', { viewport: { width: 1120, height: 1180 } });
    await step('the overview of a demo site is drawn', async () => {
      await page.goto(service.url);
      await page.getByRole('button', { name: /owner/i }).first().click();
      await page.getByRole('link', { name: 'www.ledgerline.example' }).click();
      await page.getByRole('link', { name: '13 weeks' }).click();
      await page.locator('[aria-label=Period] [aria-current]', { hasText: '13 weeks' }).waitFor();
      await page.mouse.move(0, 0);
      await page.evaluate(() => document.activeElement.blur());
      await page.screenshot({ path: PICTURE });
    });
  } finally {
    await service.stop();
  }
}
