/** What the look of the example page is measured by. */
import type { Page } from 'playwright-core';

/** One of each kind of element, by what it is: the first that the selector finds. */
const SAMPLES: Readonly<Record<string, string>> = {
  page: 'body',
  h1: '.panel-head h1',
  h2: '.section h2',
  h3: '.section h3',
  'reading text': '.example-reading',
  code: '.example-sizes code',
  key: '.example-sizes kbd',
  link: '.example-sizes a',
  button: '.button.plain:not(.small):not(:disabled)',
  'primary button': '.button.primary:not(.small)',
  'danger button': '.button.danger',
  'quiet button': '.button.quiet:not(.icon-only)',
  'small button': '.button.small:not(.icon-only):not(.primary)',
  'icon button': '.button.icon-only:not(.small)',
  'button that is off': '.button:disabled',
  'pressed button': '.button[aria-pressed="true"]',
  label: '.field > label:not(.off-screen)',
  field: '.field:not(.wrong) input.input:not(:disabled)',
  'field with an error': '.field.wrong input',
  'words of an error': '.wrong-text',
  'code field': '.code-area',
  select: 'select.input',
  search: '.search .input',
  switch: 'input.switch',
  tab: '.tab-list [aria-selected="true"]',
  'other tab': '.tab-list [aria-selected="false"]',
  stat: '.stat',
  'stat value': '.stat-value',
  badge: '.badge.tone-good',
  card: '.card',
  'table frame': '.table-frame',
  'table cell': '.table td',
  'current row': '.table tr.current',
  'long list': '.long-list',
  'chart legend': '.chart-legend',
  'added line': '.diff-line.added',
  'removed line': '.diff-line.removed',
  loading: '.bone',
  empty: '.empty',
  failure: '.failure',
  'changed elsewhere': '.changed-elsewhere',
};

const TYPE = ['fontSize', 'fontWeight', 'lineHeight'] as const;
const SIZE = ['paddingTop', 'paddingInlineStart', 'borderTopWidth', 'borderTopLeftRadius', 'minHeight', 'rowGap'] as const;
const PAINT = ['color', 'backgroundColor', 'borderTopColor'] as const;

/** Values as the browser computes them from the styles: no widths of text, which differ with the fonts of a machine. */
const measure = (page: Page, properties: readonly string[]): Promise<Record<string, string>> =>
  page.evaluate(
    ([samples, wanted]) => {
      /** Of colours that are mixed, builds of a browser differ in the last digit. */
      const rounded = (value: string): string => value.replaceAll(/\d+\.\d{2,}/g, (digits) => String(Math.round(Number(digits) * 100) / 100));
      return Object.fromEntries(
        Object.entries(samples).map(([name, selector]) => {
          const element = document.querySelector(`main ${selector}`) ?? document.querySelector(selector);
          if (!element) return [name, 'is not there'];
          const style: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(getComputedStyle(element)));
          const computed = getComputedStyle(element);
          return [name, wanted.map((property) => rounded(String(style[property] ?? computed.getPropertyValue(property)))).join(' | ')];
        }),
      );
    },
    [SAMPLES, properties] as const,
  );

export const sizesOf = (page: Page): Promise<Record<string, string>> => measure(page, [...TYPE, ...SIZE]);
export const paintOf = (page: Page): Promise<Record<string, string>> => measure(page, PAINT);
