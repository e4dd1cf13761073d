/** The tokens of the kit, read from its style sheet, and the contrast of two colours as WCAG 2.2 counts it. */
import { readFileSync } from 'node:fs';

export type Look = 'light' | 'dark' | 'light, more contrast' | 'dark, more contrast';
export type Tokens = Readonly<Record<string, string>>;

const FILE = 'kernel/kit/src/look/tokens.css';

const declared = (block: string): Tokens => Object.fromEntries([...block.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value]));

const blockOf = (text: string, selector: string): Tokens => {
  const at = text.indexOf(`${selector} {`);
  if (at === -1) throw new Error(`${FILE} has no ${selector}`);
  return declared(text.slice(at, text.indexOf('}', at)));
};

/** As a page has them: what a theme or a wish for more contrast does not name is that of the light one. */
export const readTokens = (): Readonly<Record<Look, Tokens>> => {
  const text = readFileSync(FILE, 'utf8');
  const [common = '', more = ''] = text.split('@media (prefers-contrast: more)');
  const light = blockOf(common, ':root');
  const dark = { ...light, ...blockOf(common, ":root[data-theme='dark']") };
  return { light, dark, 'light, more contrast': { ...light, ...blockOf(more, ':root') }, 'dark, more contrast': { ...dark, ...blockOf(more, ":root[data-theme='dark']") } };
};

/** `#rrggbb`: 0 to 1. */
const luminance = (colour: string): number => {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  if (!hex) throw new Error(`${colour} is no colour of six digits`);
  const [red = 0, green = 0, blue = 0] = hex.slice(1).map((part) => {
    const value = Number.parseInt(part, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** 1 to 21. */
export const contrastOf = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((left, right) => left - right);
  return (light + 0.05) / (dark + 0.05);
};
