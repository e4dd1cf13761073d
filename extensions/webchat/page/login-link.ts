/**
 * A link of `svc open`, whose code logs this browser in, or one of a pairing, whose code makes it a device. Either works once.
 * The code stands behind the #, so that no server and no log sees it.
 */
import { caller, daemon, failed, loadCaller } from '@svc/kit';
import { pairHere } from './pair-here.js';

const CODE = /[?&](login|pair)=([A-Za-z0-9_-]{8,43})(?=&|$)/;

interface Code {
  readonly kind: string;
  readonly text: string;
}

/** Out of the address, and of the history, before anything is sent. */
const takenCode = (): Code | undefined => {
  const [, kind, text] = CODE.exec(location.hash) ?? [];
  if (kind === undefined || text === undefined) return undefined;
  history.replaceState(history.state, '', location.hash.replace(CODE, '') || '#/');
  // What has read the address before that would write the code back with its next change.
  dispatchEvent(new HashChangeEvent('hashchange'));
  return { kind, text };
};

const logIn = async ({ kind, text }: Code): Promise<unknown> => (kind === 'pair' ? pairHere(text) : daemon.call('createLogin', { body: { code: text, remember: true } }, { retries: 0 }));

const code = takenCode();
let isTried = false;

/** Does nothing without a code. Where the link is over, the page asks for the key as usual. */
export const followLoginLink = async (): Promise<void> => {
  if (code === undefined || isTried) return;
  isTried = true;
  await logIn(code).catch(failed);
};

/** A link that is pasted into a tab of this page loads nothing anew. */
export const followLaterLinks = (): void =>
  addEventListener('hashchange', () => {
    const later = takenCode();
    if (later !== undefined) void enter(later).catch(failed);
  });

const enter = async (later: Code): Promise<void> => {
  const before = caller.peek();
  await logIn(later);
  await loadCaller();
  // What stands there is of somebody else.
  if (before?.isKnown && before.name !== caller.peek()?.name) location.reload();
};
