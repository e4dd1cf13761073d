/** Secrets in a text that nobody asked to remember. The value is never part of what is said about it. */
import { detect } from '@svc/ext-taint/contract';

const SECRET = new Set(['Secret'] as const);
/** Said in a sentence, as people tell an agent: "the password is hunter2". */
const SPOKEN = /(?:\b(?:password|passphrase|passwd|pwd|pin|api key|access key|secret key|token)\b[^.\n]{0,20}?\b(?:is|was)\s+|(?:密码|口令)(?:是|为|：)\s*)["'`]?(?=\S*[\d!@#$%^&*_-])\S{4,}/i;

/** The rule that a text meets: those of taint, and secrets said in a sentence. */
export const secretIn = (text: string): string | undefined => detect([{ key: '', text, isText: true }], SECRET)[0]?.rule ?? (SPOKEN.test(text) ? 'spoken_secret' : undefined);
