/** A link of `svc open`: its code logs this browser in, once. It stands behind the #, so that no server and no log sees it. */
import { caller, daemon, failed, loadCaller } from '@svc/kit';

const CODE = /[?&]login=([A-Za-z0-9_-]{43})(?=&|$)/;

/** Out of the address, and of the history, before anything is sent. */
const takenCode = (): string | undefined => {
  const code = CODE.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(history.state, '', location.hash.replace(CODE, '') || '#/');
  // What has read the address before that would write the code back with its next change.
  dispatchEvent(new HashChangeEvent('hashchange'));
  return code;
};

const logIn = (code: string): Promise<unknown> => daemon.call('createLogin', { body: { code, remember: true } }, { retries: 0 });

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

const enter = async (later: string): Promise<void> => {
  const before = caller.peek();
  await logIn(later);
  await loadCaller();
  // What stands there is of somebody else.
  if (before?.isKnown && before.name !== caller.peek()?.name) location.reload();
};
