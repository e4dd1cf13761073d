/**
 * The document of a panel that a stranger brought.
 *
 * D1  It has an origin of its own that is nobody's, also where it is opened by itself: no cookie, no storage, no page around it.
 * D2  It runs its own module and nothing else, and opens no connection: everything it may have comes over the channel of the page.
 * D3  Its code has no address: as a file of this origin it could be made a script of the page.
 */

export interface FrameParts {
  readonly title: string;
  readonly script: string;
  /** Those of the page first. */
  readonly styles: readonly string[];
  /** Letters and digits, new for each answer. */
  readonly nonce: string;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const asText = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => MARKUP[sign] ?? sign);

/** In a literal it reads the same; elsewhere in code it does not stand. */
const asScript = (code: string): string => code.replaceAll(/<(?=\/script|!--)/gi, '\\x3C');
const asStyle = (css: string): string => css.replaceAll(/<(?=\/style)/gi, '\\3C ');

export const frameDocument = ({ title, script, styles, nonce }: FrameParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${asText(title)}</title>
${styles.map((css) => `<style nonce="${nonce}">${asStyle(css)}</style>`).join('\n')}
</head>
<body class="framed">
<div id="panel"></div>
<script type="module" nonce="${nonce}">${asScript(script)}</script>
</body>
</html>
`;

/** What no policy forbids in the browsers of today: WebRTC, and looking a name up ahead (`preconnect`). The README says so. */
export const framePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    'img-src data: blob:',
    'font-src data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; ');
