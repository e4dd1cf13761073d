/** A program that hangs after it was ready, with time that passes at once. */
import { expect } from 'chai';
import type { Connection } from '../src/adapters/adapter.js';
import { sidecar } from '../src/adapters/sidecar.js';

interface Life {
  readonly said: string[];
  /** How it ended, and after how many seconds. */
  readonly ended: Promise<{ readonly why: string; readonly secs: number }>;
  readonly killed: () => boolean;
}

/** `reads`: whether it reads a line; `answers`: what it says to one. */
const live = (capabilities: readonly string[], reads: (method: string) => boolean, answers: (method: string) => string | undefined = () => undefined, lastSecs = 600): Life => {
  let now = 0;
  let isKilled = false;
  const stop = new AbortController();
  const said: string[] = [];
  const lines: string[] = [JSON.stringify({ method: 'ready', params: { capabilities } })];
  let wake = (): void => undefined;
  stop.signal.addEventListener('abort', () => wake(), { once: true });
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) throw signal.reason;
    now += ms;
    if (now > lastSecs * 1_000) stop.abort();
  };
  const stdout = async function* (): AsyncGenerator<Uint8Array> {
    while (!isKilled && !stop.signal.aborted) {
      const line = lines.shift();
      if (line !== undefined) yield Buffer.from(`${line}\n`);
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  };
  const child = {
    stdin: {
      write: (line: string) => {
        const { method } = JSON.parse(line) as { method: string };
        said.push(method);
        const answer = answers(method);
        if (answer !== undefined) {
          lines.push(JSON.stringify({ method: answer }));
          wake();
        }
        return reads(method) ? Promise.resolve() : new Promise<void>(() => undefined);
      },
    },
    stdout: stdout(),
    stderr: [],
    exit: Promise.resolve({ exitCode: 0 }),
    kill: async () => {
      isKilled = true;
      wake();
    },
  };
  const connection = {
    account: { name: 'hung', type: 'hung', ownerId: 'owner', fields: {}, isInConfig: true, startedFrom: '', sidecar: { name: 'hung', command: 'hung' } },
    signal: stop.signal,
    clock: { now: () => now, sleep, iso: () => '' },
    log: { warn: () => undefined, debug: () => undefined },
    secrets: { list: async () => [] },
    files: { data: { path: '/', write: async () => undefined } },
    spawn: async () => child,
    alive: () => undefined,
  } as unknown as Connection;
  const ended = (sidecar.connect?.(connection) ?? Promise.resolve()).then(
    () => ({ why: 'it ended', secs: now / 1_000 }),
    (error: Error) => ({ why: stop.signal.aborted ? 'it lived on' : error.message, secs: now / 1_000 }),
  );
  return { said, ended, killed: () => isKilled };
};

describe('channels: a sidecar that hangs', () => {
  it('D5 is ended where it does not read what it is sent', async () => {
    const life = live([], (method) => method === 'ready_ack');
    expect(await life.ended).to.deep.include({ why: 'the program has read nothing for 30 s' });
    expect([life.killed(), life.said]).to.deep.equal([true, ['ready_ack', 'heartbeat']]);
  });

  it('D5 is ended where it promised to answer heartbeats and does not, and lives on where it does', async () => {
    const { why, secs } = await live(['heartbeat'], () => true).ended;
    expect(why).to.equal('the program has not answered for 45 s');
    expect(secs).to.be.within(45, 120);
    expect(
      (
        await live(
          ['heartbeat'],
          () => true,
          (method) => (method === 'heartbeat' ? 'heartbeat_ack' : undefined),
        ).ended
      ).why,
    ).to.equal('it lived on');
  });

  it('D5 may be silent where it promised nothing', async () => {
    const life = live([], () => true);
    expect((await life.ended).why).to.equal('it lived on');
    expect(life.said.filter((method) => method === 'heartbeat').length).to.be.greaterThan(10);
  });
});
