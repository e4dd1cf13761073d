/** Off the main thread: a text that somebody built to be slow keeps nobody else. */
import { markdownHtml } from '../sharing/markdown-html.js';

const drawnTexts = (texts: readonly string[]): string[] => texts.map(markdownHtml);

export default drawnTexts;
