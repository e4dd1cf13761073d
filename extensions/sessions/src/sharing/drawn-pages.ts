/**
 * The texts of shared pages as HTML.
 *
 * D1  A snapshot is drawn once, in a worker with a deadline, however many read it at once.
 * D2  What cannot be drawn in time is shown as it was written, for as long as the snapshot stands: nobody can make it try again.
 */
import { isSvcError, type Logger, type Workers } from '@svc/api';
import { DrawnTexts } from '../workers/drawn-texts-worker.js';
import type { SharedConversation } from './share-page.js';
import { plainHtml } from './plain-html.js';

export interface DrawnPages {
  /** One HTML text for each message, in their order; `key` names the snapshot. */
  of(key: string, conversation: SharedConversation): Promise<readonly string[]>;
}

/** In memory, of all pages together. */
const MAX_CHARS = 16_000_000;
const MAX_PAGES = 200;
/** Beside the worker's own deadline: what waits for a free one. */
const WAIT_MS = 4_000;
/** The page was the cause: it stays plain. Where no worker was free, the next reader tries again. */
const OWN_FAULT: ReadonlySet<string> = new Set(['workers_timeout', 'workers_out_of_memory', 'workers_failed']);
const NOT_DRAWN: ReadonlySet<string> = new Set([...OWN_FAULT, 'workers_busy', 'workers_cancelled']);

export const createDrawnPages = ({ workers, log }: { readonly workers: Pick<Workers, 'run'>; readonly log: Pick<Logger, 'warn'> }): DrawnPages => {
  const pages = new Map<string, Promise<readonly string[]>>();
  const sizes = new Map<string, number>();
  const forget = (key: string): void => {
    pages.delete(key);
    sizes.delete(key);
  };
  const remember = (key: string, html: readonly string[]): void => {
    if (!pages.has(key)) return;
    sizes.set(
      key,
      html.reduce((sum, one) => sum + one.length, 0),
    );
    let chars = 0;
    for (const size of sizes.values()) chars += size;
    for (const oldest of pages.keys()) {
      if (pages.size <= MAX_PAGES && chars <= MAX_CHARS) break;
      chars -= sizes.get(oldest) ?? 0;
      forget(oldest);
    }
  };
  const draw = async (key: string, texts: readonly string[]): Promise<readonly string[]> => {
    try {
      return await workers.run(DrawnTexts, [...texts], { signal: AbortSignal.timeout(WAIT_MS) });
    } catch (cause) {
      const code = isSvcError(cause) ? cause.code : '';
      if (!NOT_DRAWN.has(code)) throw cause;
      if (!OWN_FAULT.has(code)) forget(key);
      log.warn('a shared page could not be drawn in time; its texts are shown as they were written', { cause });
      return texts.map(plainHtml);
    }
  };
  return {
    of: (key, { messages }) => {
      const standing = pages.get(key);
      if (standing) return standing;
      const drawn = draw(
        key,
        messages.map(({ who, text }) => (who === 'agent' ? text : '')),
      );
      pages.set(key, drawn);
      drawn.then(
        (html) => remember(key, html),
        () => forget(key),
      );
      return drawn;
    },
  };
};
