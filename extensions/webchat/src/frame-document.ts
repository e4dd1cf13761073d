/**
 * The document of a panel that a third party brought.
 *
 * D1  It has an origin of its own that is nobody's, also where it is opened by itself: no cookie, no storage, no page around it.
 * D2  It runs its own module and nothing else, and opens no connection: everything it may have comes over the channel of the page.
 *     Its scripts and styles are named by what they hold. A nonce would be its own to give: an import takes it over, and
 *     its code reads it, so that anything from anywhere would be let in, and be told what the panel knows.
 * D3  Its code has no address: as a file of this origin it could be made a script of the page.
 */
import { hash } from 'node:crypto';

export interface FrameParts {
  readonly title: string;
  readonly script: string;
  /** Those of the page first. */
  readonly styles: readonly string[];
}

export interface FrameDocument {
  readonly text: string;
  /** Content-Security-Policy. */
  readonly policy: string;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const asText = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => MARKUP[sign] ?? sign);

/** As a browser reads it from a document, and makes its hash of it. */
const asRead = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll('\0', '\ufffd');
/** In a literal it reads the same; elsewhere in code it does not stand. */
const asScript = (code: string): string => asRead(code).replaceAll(/<(?=\/script|!--)/gi, '\\x3C');
const asStyle = (css: string): string => asRead(css).replaceAll(/<(?=\/style)/gi, '\\3C ');

export const frameDocument = ({ title, script, styles }: FrameParts): FrameDocument => {
  const code = asScript(script);
  const sheets = styles.map(asStyle);
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${asText(title)}</title>
${sheets.map((css) => `<style>${css}</style>`).join('\n')}
</head>
<body class="framed">
<div id="panel"></div>
<script type="module">${code}</script>
</body>
</html>
`;
  return { text, policy: policyOf(code, sheets) };
};

const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

/** What no policy forbids in the browsers of today: WebRTC, and looking a name up ahead (`preconnect`). The README says so. */
const policyOf = (code: string, sheets: readonly string[]): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${sheets.map(hashOf).join(' ')}`,
    'img-src data: blob:',
    'font-src data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; ');
