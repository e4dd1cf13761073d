/**
 * Two ways to use the page without a mouse, behind one interface: keys alone, and a finger alone.
 *
 * K1  The keyboard reaches what it presses by Tab, Shift+Tab and arrows, and says which element it could not reach.
 * K2  After each key something has the focus, and its ring can be seen.
 */
import type { Locator, Page } from 'playwright-core';

export interface Hand {
  /** Presses a button, follows a link, chooses a tab. */
  press(target: Locator): Promise<void>;
  /** Writes in the place of what stands there. */
  write(field: Locator, text: string): Promise<void>;
  /** One option of a select. */
  choose(field: Locator, option: string): Promise<void>;
  /** Sends what was written. */
  send(field: Locator): Promise<void>;
  /** Opens a panel of the navigation. */
  open(panel: string): Promise<void>;
}

const MAX_STEPS = 120;

const isFocused = (target: Locator): Promise<boolean> => target.evaluate((element) => element === document.activeElement, undefined, { timeout: 10_000 });

/** What has the focus, where that is nothing or cannot be seen. */
const lostFocus = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => {
    const focused = document.activeElement;
    if (!focused || focused === document.body || focused === document.documentElement) return 'nothing has the focus';
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused);
    const around = focused.closest('.composer');
    const isMarked = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none' || (around !== null && getComputedStyle(around).outlineStyle !== 'none') || focused.id === 'content';
    return isMarked ? undefined : `the focus on <${focused.tagName.toLowerCase()} class="${focused.className}"> cannot be seen`;
  });

export const keyboardOf = (page: Page): Hand => {
  const key = async (name: string, after: string): Promise<void> => {
    await page.keyboard.press(name);
    // What a key leads to may be drawn a moment later.
    for (let look = 0; look < 100 && (await lostFocus(page)) !== undefined; look++) await page.waitForTimeout(100);
    const lost = await lostFocus(page);
    if (lost !== undefined) throw new Error(`after ${name} on ${after}, ${lost}`);
  };
  /** The one Tab stop of a group, from which arrows lead further. */
  const isOfGroup = (target: Locator): Promise<boolean> => target.evaluate((element) => element.getAttribute('tabindex') === '-1');
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor();
    if (await isFocused(target)) return;
    // What is after the focus is reached by Tab, what is before it by Shift+Tab: nobody goes round the whole page.
    const isBefore = await target.evaluate((element) => Boolean((document.activeElement ?? document.body).compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING));
    const inGroup = await isOfGroup(target);
    for (let step = 0; step < MAX_STEPS; step++) {
      await page.keyboard.press(isBefore ? 'Shift+Tab' : 'Tab');
      if (await isFocused(target)) return;
      if (!inGroup) continue;
      const isBeside = await target.evaluate((element) => {
        const list = element.closest('[role="tablist"], ul, [role="menu"]');
        return list?.contains(document.activeElement) === true;
      });
      for (let arrow = 0; isBeside && arrow < MAX_STEPS; arrow++) {
        await page.keyboard.press((await target.getAttribute('role')) === 'tab' ? 'ArrowRight' : 'ArrowDown');
        if (await isFocused(target)) return;
      }
    }
    throw new Error(`${MAX_STEPS} presses of Tab do not reach ${target}`);
  };
  const press = async (target: Locator): Promise<void> => {
    await reach(target);
    await key('Enter', String(target));
  };
  return {
    press,
    write: async (field, text) => {
      await reach(field);
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    },
    choose: async (field, option) => {
      await reach(field);
      await page.keyboard.type(option);
    },
    send: (field) => press(field),
    open: (panel) => press(page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: panel, exact: true })),
  };
};

export const fingerOf = (page: Page): Hand => ({
  press: (target) => target.tap(),
  write: async (field, text) => {
    await field.tap();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  },
  // The list of a native select belongs to the phone, not to the page.
  choose: async (field, option) => {
    await field.tap();
    await field.selectOption({ label: option });
  },
  send: async (field) => {
    await field.locator('xpath=ancestor::form').getByRole('button', { name: 'Send' }).tap();
  },
  open: async (panel) => {
    await page.getByRole('button', { name: 'Menu', exact: true }).tap();
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: panel, exact: true }).tap();
  },
});
