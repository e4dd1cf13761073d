/** An answer that takes a while: one JSON value, or its steps as server-sent events for a caller that asks for them. */
import { type InstallOptions, type InstallProgress, isSvcError, type JsonReply, type Logger, type MediaReply, reply, sse, stream } from '@svc/api';

interface Asking {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const MAX_WAITING = 64;

/** Events `progress`, then one `done` with the answer or one `error` in the form of an error answer. */
export const withProgress = async <const T>(req: Asking, work: (options: InstallOptions) => Promise<T>): Promise<JsonReply<200, T> | MediaReply> => {
  if (!(req.headers.accept ?? '').includes('text/event-stream')) return reply(200, await work({ signal: req.signal }));
  return stream(200, 'text/event-stream', events(req, work), { 'cache-control': 'no-store' });
};

async function* events(req: Asking, work: (options: InstallOptions) => Promise<unknown>): AsyncGenerator<Uint8Array> {
  const waiting: InstallProgress[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const onProgress = (progress: InstallProgress): void => {
    // Of many reports of one step the newest says enough.
    const last = waiting.at(-1);
    if (last?.step === progress.step && last.what === progress.what) waiting.pop();
    if (waiting.length < MAX_WAITING) waiting.push(progress);
    wake();
  };
  const ended = work({ signal: req.signal, onProgress })
    .then(
      (answer) => sse('done', answer),
      (error: unknown) => sse('error', errorBody(error, req)),
    )
    .finally(() => {
      isOver = true;
      wake();
    });
  yield encoded(': installing\n\n');
  while (!isOver || waiting.length > 0) {
    const next = waiting.shift();
    if (next) yield encoded(sse('progress', next));
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isOver) resolve();
      });
  }
  yield encoded(await ended);
}

const encoder = new TextEncoder();
const encoded = (text: string): Uint8Array => encoder.encode(text);

/** Their details are what a person needs to know before they agree. */
const OFFERS = ['install_needs_consent', 'install_unknown_key'];

const errorBody = (error: unknown, { id, log }: Asking): Readonly<Record<string, unknown>> => {
  if (!isSvcError(error)) {
    log.error('an installation failed', { cause: error });
    return { error: 'Something went wrong inside the daemon.', code: 'internal_error', status: 500, request_id: id };
  }
  const { code, details, hint, message, status } = error;
  return { error: message, code, status, ...(hint === undefined ? {} : { hint }), ...(OFFERS.includes(code) ? { details } : {}), request_id: id };
};
