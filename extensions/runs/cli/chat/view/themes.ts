/** Colours of the conversation; plain where colours are off. */
import type { EditorTheme, MarkdownTheme, SelectListTheme } from '@mariozechner/pi-tui';
import { colourCode } from './code-colours.js';
import type { Colours } from './colours.js';

export const selectTheme = (c: Colours): SelectListTheme => ({
  selectedPrefix: c.cyan,
  selectedText: c.cyan,
  description: c.dim,
  scrollInfo: c.dim,
  noMatch: c.dim,
});

export const editorTheme = (c: Colours): EditorTheme => ({ borderColor: c.dim, selectList: selectTheme(c) });

export const markdownTheme = (c: Colours, redraw: () => void): MarkdownTheme => ({
  heading: (text) => c.bold(c.cyan(text)),
  link: (text) => c.underline(c.blue(text)),
  linkUrl: c.dim,
  code: c.yellow,
  codeBlock: (text) => text,
  codeBlockBorder: c.dim,
  quote: c.italic,
  quoteBorder: c.dim,
  hr: c.dim,
  listBullet: c.cyan,
  bold: c.bold,
  italic: c.italic,
  strikethrough: c.strikethrough,
  underline: c.underline,
  highlightCode: (code, language) => colourCode(c, code, language, redraw),
});
