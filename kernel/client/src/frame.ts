/**
 * For a panel that is installed from elsewhere: it runs on the page in a frame of its own, without a network, without storage
 * and without anything of the page. What it shows it asks of its own extension's routes, through the page, with the rights of
 * whoever looks at it.
 *
 *     const panel = await openFrame();
 *     const { beds } = await panel.call('GET', '/api/acme-garden/beds');
 *     panel.onChange(() => draw(panel.now));
 *
 * F1  Exactly one channel: the page's. What anybody else posts to the frame is not read.
 * F2  A call is answered, or refused with a sentence, once.
 */

/** How the page looks now, and where in the panel it is. */
export interface FrameNow {
  readonly theme: 'light' | 'dark';
  /** `en` or `zh`. */
  readonly language: string;
  /** What of the address follows the panel's id. */
  readonly path: readonly string[];
}

/** From the page, with the channel's port. */
export interface FrameGreeting {
  readonly svc: 'panel';
  readonly now: FrameNow;
}

export type FromFrame =
  | { readonly type: 'call'; readonly id: number; readonly method: string; readonly path: string; readonly body?: unknown }
  | { readonly type: 'height'; readonly px: number }
  | { readonly type: 'go'; readonly path: readonly string[] };

export type ToFrame =
  | { readonly type: 'now'; readonly now: FrameNow }
  /** What the daemon answered, whatever its status. */
  | { readonly type: 'answer'; readonly id: number; readonly status: number; readonly body: unknown }
  /** Something of the extension changed; null: perhaps all of it. */
  | { readonly type: 'changed'; readonly change: FrameChange | null }
  /** The page did not ask. */
  | { readonly type: 'refused'; readonly id: number; readonly why: string };

/** An event of your extension that it declares as live (`defineEvent(…, { permission, owner })`). It says what to read again and holds nothing of it. */
export interface FrameChange {
  /** The event's name. */
  readonly what: string;
  readonly id?: string;
  readonly state?: string;
}

/** Not 2xx, or not asked at all: then there is no status. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly status: number | undefined;
  readonly body: unknown;

  constructor(message: string, status?: number, body?: unknown) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export interface PanelFrame {
  readonly now: FrameNow;
  /** One of your extension's routes, such as `GET /api/acme-garden/beds?sort=name`. Gives the body; throws FrameError. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Called after each change of `now`; what it returns ends that. */
  onChange(fn: (now: FrameNow) => void): () => void;
  /** Called with each live event of your extension that the caller may hear of, and with null where some were missed: read anew what you show. */
  onEvent(fn: (change: FrameChange | null) => void): () => void;
  /** Goes to another place of this panel, which is in the address of the page. */
  go(path: readonly string[]): void;
}

interface Waiting {
  resolve(body: unknown): void;
  reject(error: FrameError): void;
}

const saidBy = (body: unknown): string | undefined => (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' ? body.error : undefined);

/** Resolves when the page has greeted this frame. Call it once. */
export const openFrame = async (): Promise<PanelFrame> => {
  const { port, greeting } = await greeted();
  let now = greeting.now;
  let last = 0;
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<(now: FrameNow) => void>();
  const hearers = new Set<(change: FrameChange | null) => void>();
  const send = (message: FromFrame): void => port.postMessage(message);
  const show = (): void => {
    document.documentElement.dataset['theme'] = now.theme;
    document.documentElement.lang = now.language === 'zh' ? 'zh-Hans' : now.language;
  };
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.type === 'now') {
      now = data.now;
      show();
      for (const listener of [...listeners]) listener(now);
      return;
    }
    if (data.type === 'changed') {
      for (const hearer of [...hearers]) hearer(data.change);
      return;
    }
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.type === 'refused') asked?.reject(new FrameError(data.why));
    else if (data.status >= 200 && data.status < 300) asked?.resolve(data.body);
    else asked?.reject(new FrameError(saidBy(data.body) ?? `The daemon answered ${data.status}.`, data.status, data.body));
  };
  show();
  const measure = (): void => send({ type: 'height', px: Math.ceil(document.documentElement.getBoundingClientRect().height) });
  new ResizeObserver(measure).observe(document.documentElement);
  return {
    get now() {
      return now;
    },
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        send({ type: 'call', id: last, method, path, ...(body === undefined ? {} : { body }) });
      }),
    onChange: (fn) => {
      listeners.add(fn);
      return () => void listeners.delete(fn);
    },
    onEvent: (fn) => {
      hearers.add(fn);
      return () => void hearers.delete(fn);
    },
    go: (path) => send({ type: 'go', path }),
  };
};

const greeted = (): Promise<{ port: MessagePort; greeting: FrameGreeting }> =>
  new Promise((resolve) => {
    const receive = (event: MessageEvent<Partial<FrameGreeting> | undefined>): void => {
      const [port] = event.ports;
      const { svc, now } = event.data ?? {};
      if (event.source !== parent || svc !== 'panel' || !now || !port) return;
      removeEventListener('message', receive);
      resolve({ port, greeting: { svc, now } });
    };
    addEventListener('message', receive);
  });
