/** The official `ws` client at the live socket, and a daemon with several people. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_RATE, type TestKernel } from '@svc/testing';
import { WebSocket } from 'ws';
import { bootWithModel, type ModelKernel } from '@svc/test/clients/model-kernel';

export interface LiveFrame {
  readonly type: string;
  readonly seq: number;
  // biome-ignore lint/suspicious/noExplicitAny: each type of frame has its own fields
  readonly [field: string]: any;
}

export interface LiveSocket {
  readonly socket: WebSocket;
  readonly frames: readonly LiveFrame[];
  /** Changes as `what state`, without what other areas do by themselves. */
  received(): string[];
  /** Resolves with the first frame that fits, past or to come. */
  until(fits: (frame: LiveFrame) => boolean): Promise<LiveFrame>;
  /** Where to go on: behind the frame that came last. */
  place(): string;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  leave(): void;
}

export const openLive = async (url: string, { after, key }: { after?: string; key?: string } = {}): Promise<LiveSocket> => {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/live${query}`, key === undefined ? [] : [`bearer.${key}`]);
  const frames: LiveFrame[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)) as LiveFrame);
    wake();
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const until = (fits: (frame: LiveFrame) => boolean): Promise<LiveFrame> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(fits);
        if (!found) return void waiting.add(look);
        waiting.delete(look);
        resolve(found);
      };
      look();
    });
  await until(({ type }) => type === 'hello');
  return {
    socket,
    frames,
    received: () => frames.filter(({ type, what }) => type === 'change' && ['agent', 'session', 'run', 'files', 'vault', 'provider'].includes(what)).map(wordsOf),
    until,
    place: () => `${frames.findLast(({ type }) => type === 'hello')?.epoch}.${frames.at(-1)?.seq}`,
    closed,
    leave: () => socket.terminate(),
  };
};

const wordsOf = ({ what, state }: LiveFrame): string => [what, state].filter((word) => word !== undefined).join(' ');

/** `count` changes that anybody may hear of who may read extensions, each of another one. */
export const flood = async ({ daemon }: TestKernel, count: number, name = 'x'): Promise<void> => {
  for (let n = 1; n <= count; n++) {
    daemon.parts.events.deliver('extension.changed', { id: `${name}${n}`, state: 'active' });
    // A listener keeps a thousand at most.
    if (n % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
};

export const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2', vera: 'vera-key-3', adam: 'adam-key-4' };
type Roles = Readonly<Partial<Record<Exclude<keyof typeof KEYS, 'owner'>, 'admin' | 'user' | 'viewer'>>>;

const people = (roles: Roles): string =>
  Object.entries(roles)
    .map(
      ([name, role]) =>
        `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256')
          .update(KEYS[name as keyof Roles])
          .digest('hex')}"\n`,
    )
    .join('');

export const bootPeople = (roles: Roles): Promise<ModelKernel> => bootWithModel({ text: 'ok' }, { key: KEYS.owner, config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${people(roles)}` });

/** From now on these have keys, beside the owner, and nobody else. */
export const keepPeople = async ({ home, daemon }: TestKernel, roles: Roles): Promise<void> => {
  const file = join(home, 'config.toml');
  const others = (await readFile(file, 'utf8')).replaceAll(/\[\[users\]\]\n(?:\w+ = .*\n)*/g, '');
  await writeFile(file, `${others}\n${people(roles)}`);
  await daemon.reloadConfig();
};
