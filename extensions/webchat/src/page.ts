/// <reference path="./assets.d.ts" />
/**
 * Puts the page together: markup, style and scripts in one document, and the policy that lets exactly these run.
 *
 * W1  Nothing but the page's own style and scripts runs, by hash; it may speak to its own origin and nowhere else.
 * W2  What a model, a tool or the daemon says enters the document as text, never as markup.
 * W3  The API key lives in the tab's session storage, and leaves it only in the Authorization header.
 */
import { createHash } from 'node:crypto';
import conversation from './page/conversation.client.js' with { type: 'text' };
import daemon from './page/daemon.client.js' with { type: 'text' };
import page from './page/page.client.js' with { type: 'text' };
import style from './page/page.css' with { type: 'text' };
import markup from './page/page.html' with { type: 'text' };
import rendering from './page/rendering.client.js' with { type: 'text' };

export interface Page {
  readonly html: string;
  /** The value of Content-Security-Policy. */
  readonly policy: string;
}

export const assemblePage = (): Page => {
  const scripts = [rendering, daemon, conversation, page];
  const html = markup.replace('<!-- style -->', () => `<style>${style}</style>`).replace('<!-- scripts -->', () => scripts.map((script) => `<script>${script}</script>`).join('\n'));
  return { html, policy: policyOf(scripts, style) };
};

const policyOf = (scripts: readonly string[], css: string): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map(hashSource).join(' ')}`,
    `style-src ${hashSource(css)}`,
    "connect-src 'self'",
    // The empty icon below keeps browsers from asking for /favicon.ico.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
