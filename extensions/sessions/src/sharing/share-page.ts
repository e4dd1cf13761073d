/** The page behind a link: plain HTML and one style, without scripts, cookies or anything from elsewhere. */
import { createHash } from 'node:crypto';
import { escaped } from './plain-html.js';
import { pageWords } from './page-words.js';
import type { SharedMessage } from './shared-view.js';
import style from './share.css' with { type: 'text' };

const STYLE_HASH = createHash('sha256').update(style).digest('base64');

/** `sandbox`: should markup of an answer ever get through, it runs nothing and belongs to no origin. */
const POLICY = ["default-src 'none'", `style-src 'sha256-${STYLE_HASH}'`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", 'sandbox'].join('; ');

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** Stored nowhere: a link that ends, ends at once. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'x-content-type-options': 'nosniff',
  vary: 'accept-language',
} as const;

export interface SharedConversation {
  readonly title: string;
  /** ISO time. */
  readonly asOf: string;
  readonly messages: readonly SharedMessage[];
  /** Whether all are there: of a very long conversation the newest are. */
  readonly isWhole: boolean;
}

/** `drawn`: the HTML of each message of an agent, by its place. */
export const sharePage = (languages: string | undefined, { title, asOf, messages, isWhole }: SharedConversation, drawn: readonly string[]): string => {
  const words = pageWords(languages);
  const day = asOf.slice(0, 10);
  const name = title === '' ? words.untitled : title;
  const notes = [`<p class="muted">${words.asOf} <time datetime="${escaped(asOf)}">${escaped(day)}</time></p>`, ...(isWhole ? [] : [`<p class="muted">${words.isCut}</p>`])];
  return page(words.language, name, `<header><h1 dir="auto">${escaped(name)}</h1>${notes.join('')}</header>\n${messages.map((message, at) => article(message, drawn[at] ?? '', words)).join('\n')}`);
};

/** The same for a token that never was, one that was revoked and one that is over. */
export const endedPage = (languages: string | undefined): string => {
  const words = pageWords(languages);
  return page(words.language, words.endedTitle, `<h1>${words.endedTitle}</h1><p>${words.ended}</p>`);
};

const article = ({ who, text, files }: SharedMessage, html: string, words: ReturnType<typeof pageWords>): string => {
  const attached = files === 0 ? '' : `<p class="muted">${words.files(files)}</p>`;
  const said = who === 'person' ? `<p class="said" dir="auto">${escaped(text)}</p>` : `<div dir="auto">${html}</div>`;
  return `<article class="${who}"><h2>${words[who]}</h2>${attached}${text === '' ? '' : said}</article>`;
};

const page = (language: string, title: string, body: string): string => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow, noarchive">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
