/** A link of `svc open`: its code logs this browser in, once. It stands behind the #, so that no server and no log sees it. */
import { daemon, failed } from '@svc/kit';

const CODE = /[?&]login=([A-Za-z0-9_-]{43})(?=&|$)/;

/** Out of the address, and of the history, before anything is sent. */
const takenCode = (): string | undefined => {
  const code = CODE.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(history.state, '', location.hash.replace(CODE, '') || '#/');
  return code;
};

const code = takenCode();
let isTried = false;

/** Does nothing without a code. Where the link is over, the page asks for the key as usual. */
export const followLoginLink = async (): Promise<void> => {
  if (code === undefined || isTried) return;
  isTried = true;
  await daemon.call('createLogin', { body: { code, remember: true } }, { retries: 0 }).catch(failed);
};
