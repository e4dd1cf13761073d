/** Following what changes, at a real daemon, over a line that breaks. Each promise of src/live.ts by its name. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '@svc/test/clients/model-kernel';
import type { SocketClass } from '../src/chat.js';
import { followChanges, type Live, type LiveChange, type LiveOptions, type LiveState } from '../src/live.js';
import { type RoughLine, startRoughLine } from './rough-line.js';

const Socket = WebSocket as unknown as SocketClass;
const KEY = 'svc_key-of-the-test';
const SILENT_MS = 40_000;
const ANSWER_MS = 5_000;
const SLEPT_MS = 20_000;
/** Longer than any first wait before the next attempt. */
const NEXT_MS = 500;

interface Follower {
  readonly live: Live;
  readonly changes: LiveChange[];
  readonly states: LiveState[];
  gaps(): number;
  /** Resolves when it has been in this state so often. */
  was(state: LiveState, times?: number): Promise<void>;
}

describe('followChanges', () => {
  let home: string;
  let line: RoughLine;
  const followers: Live[] = [];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-follow-'));
    line = await startRoughLine();
  });
  afterEach(async () => {
    for (const live of followers.splice(0)) live.close();
    await line.close();
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = async (options: Parameters<typeof bootTestKernel>[0] = {}): Promise<TestKernel> => {
    const kernel = await bootTestKernel({ home, ...options });
    line.leadTo(kernel.url);
    return kernel;
  };
  const follow = (options: Partial<LiveOptions> = {}): Follower => {
    const changes: LiveChange[] = [];
    const states: LiveState[] = [];
    let gaps = 0;
    const live = followChanges({
      baseUrl: line.url,
      WebSocket: Socket,
      onChange: (change) => changes.push(change),
      onState: (state) => states.push(state),
      onGap: () => {
        gaps += 1;
      },
      ...options,
    });
    followers.push(live);
    return { live, changes, states, gaps: () => gaps, was: (state, times = 1) => until(() => states.filter((one) => one === state).length >= times) };
  };
  const spawn = async (kernel: TestKernel, name: string): Promise<string> => (await kernel.http.expect(201, 'POST', '/api/agents', { name })).body.agent_id;
  const agents = ({ changes }: Follower): Array<string | undefined> => changes.filter(({ what }) => what === 'agent').map(({ id }) => id);
  /** Time that stands still until the test moves it. */
  const handClock = () => {
    const clock = virtualClock(1_000);
    return { now: clock.now, after: clock.schedule, advance: clock.advance };
  };

  it('is live, and tells what changes', async () => {
    const kernel = await boot();
    const follower = follow();
    await follower.was('live');
    const id = await spawn(kernel, 'one');
    await until(() => agents(follower).length > 0);
    expect(follower.changes.find(({ what }) => what === 'agent')).to.deep.equal({ what: 'agent', id, agent_id: id, state: 'spawned' });
    expect(follower.states).to.deep.equal(['connecting', 'live']);
    expect(follower.live.state).to.equal('live');
  });

  it('L1: misses nothing over a connection that breaks, and hears nothing twice', async () => {
    const kernel = await boot();
    const follower = follow();
    await follower.was('live');
    const ids = [await spawn(kernel, 'before')];
    await until(() => agents(follower).length === 1);
    line.leadTo(undefined);
    line.cut();
    await follower.was('offline');
    ids.push(await spawn(kernel, 'meanwhile'));
    line.leadTo(kernel.url);
    await follower.was('live', 2);
    ids.push(await spawn(kernel, 'after'));
    await until(() => agents(follower).length >= 3);
    expect(agents(follower)).to.deep.equal(ids);
    expect(follower.gaps()).to.equal(0);
  });

  it('L1: begins where something was read, and tells what changed since; a place of another life is a gap', async () => {
    const kernel = await boot();
    const { after } = (await kernel.http.expect(200, 'GET', '/api/panels')).body;
    const meanwhile = await spawn(kernel, 'meanwhile');
    const follower = follow({ after });
    await until(() => agents(follower).length > 0);
    expect([agents(follower), follower.gaps()]).to.deep.equal([[meanwhile], 0]);
    const lost = follow({ after: '00000000000000ff.7' });
    await lost.was('live');
    await until(() => lost.gaps() === 1);
    const wrong = follow({ after: 'nowhere' });
    await wrong.was('live');
    expect([agents(wrong), wrong.gaps()]).to.deep.equal([[], 0]);
  });

  it('L1: says that there is a gap when the next daemon answers, and goes on with it', async () => {
    const first = await boot();
    const follower = follow();
    await follower.was('live');
    await first.stop();
    const second = await boot();
    await follower.was('live', 2);
    await until(() => follower.gaps() === 1);
    const id = await spawn(second, 'new');
    await until(() => agents(follower).includes(id));
  });

  it('L1: says that there is a gap, once, also where the connection breaks before the daemon could', async () => {
    let greeting = ['{"type":"hello","epoch":"0123456789abcdef","seq":7}'];
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (socket) => {
      for (const text of greeting) socket.send(text);
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const follower = follow({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clock: handClock() });
    const again = async (...texts: readonly string[]): Promise<number> => {
      greeting = [...texts, '{"type":"change","seq":99,"what":"auth"}'];
      const [changes, gaps] = [follower.changes.length, follower.gaps()];
      follower.live.retry();
      await until(() => follower.changes.length > changes);
      return follower.gaps() - gaps;
    };
    await follower.was('live');
    expect(await again('{"type":"hello","epoch":"0123456789abcdef","seq":7}'), 'where it was').to.equal(0);
    expect(await again('{"type":"hello","epoch":"fedcba9876543210","seq":99}'), 'of another epoch').to.equal(1);
    expect(await again('{"type":"hello","epoch":"fedcba9876543210","seq":200}', '{"type":"gap","seq":200}'), 'not held any more').to.equal(1);
    expect(await again('{"type":"hello","epoch":"fedcba9876543210","seq":99}', '{"type":"gap","seq":300}'), 'in the middle').to.equal(1);
    server.close();
  });

  it('L2: replaces a connection that went silent, as one does over which a computer slept', async () => {
    await boot();
    const clock = handClock();
    const follower = follow({ clock });
    await follower.was('live');
    line.mute(true);
    await clock.advance(SILENT_MS - ANSWER_MS);
    expect(follower.live.state).to.equal('live');
    await clock.advance(ANSWER_MS);
    expect(follower.live.state).to.equal('offline');
    line.mute(false);
    await clock.advance(NEXT_MS);
    await follower.was('live', 2);
  });

  it('L2: waits longer each time nobody answers, and no longer than until the browser is online again', async () => {
    const [page, document] = [new EventTarget(), Object.assign(new EventTarget(), { visibilityState: 'hidden' })];
    const browser = { addEventListener: page.addEventListener.bind(page), removeEventListener: page.removeEventListener.bind(page), document };
    Object.assign(globalThis, browser);
    try {
      const clock = handClock();
      const follower = follow({ clock });
      await follower.was('offline');
      await clock.advance(NEXT_MS);
      await follower.was('offline', 2);
      const kernel = await boot();
      page.dispatchEvent(new Event('online'));
      await follower.was('live');
      line.mute(true);
      document.dispatchEvent(new Event('visibilitychange'));
      await clock.advance(ANSWER_MS);
      expect(follower.live.state).to.equal('live');
      document.visibilityState = 'visible';
      document.dispatchEvent(new Event('visibilitychange'));
      await clock.advance(ANSWER_MS);
      expect(follower.live.state).to.equal('offline');
      line.mute(false);
      document.dispatchEvent(new Event('visibilitychange'));
      await follower.was('live', 2);
      // One that is there answers, and stays.
      document.dispatchEvent(new Event('visibilitychange'));
      const id = await spawn(kernel, 'still');
      await until(() => agents(follower).includes(id));
      await clock.advance(ANSWER_MS);
      expect(follower.live.state).to.equal('live');
      // One that was silent for longer than it ever is was cut while the page slept: nobody is asked first.
      line.mute(true);
      await clock.advance(SLEPT_MS);
      line.mute(false);
      document.dispatchEvent(new Event('resume'));
      await follower.was('live', 3);
      const calls = line.calls();
      follower.live.close();
      page.dispatchEvent(new Event('online'));
      expect(line.calls()).to.equal(calls);
    } finally {
      for (const name of Object.keys(browser)) delete (globalThis as Record<string, unknown>)[name];
    }
  });

  it('L3: is refused with a key that is none, is not tried again, and is live after a retry with the right one', async () => {
    await boot({ config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    let key = 'wrong';
    const clock = handClock();
    const follower = follow({ clock, key: () => key });
    await follower.was('refused');
    const calls = line.calls();
    await clock.advance(10 * SILENT_MS);
    expect(line.calls()).to.equal(calls);
    key = KEY;
    follower.live.retry();
    await follower.was('live');
    expect(follower.states).to.deep.equal(['connecting', 'refused', 'connecting', 'live']);
  });

  it('L3: is refused when the key is taken away while it is live', async () => {
    const kernel = await boot({ config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    const follower = follow({ key: KEY });
    await follower.was('live');
    await writeFile(join(home, 'config.toml'), `api_key = "another-key"\n${OPEN_RATE}`);
    await kernel.daemon.reloadConfig();
    await follower.was('refused');
    expect(follower.states).to.deep.equal(['connecting', 'live', 'refused']);
  });

  it('L4: sends the key as a subprotocol, nothing without one, and in no address either', async () => {
    const asked: Array<[url: string | undefined, protocol: string | undefined]> = [];
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (socket, req) => {
      asked.push([req.url, req.headers['sec-websocket-protocol']]);
      socket.send('{"type":"hello","epoch":"0123456789abcdef","seq":7}');
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const keyed = follow({ baseUrl, key: KEY });
    await keyed.was('live');
    await follow({ baseUrl }).was('live');
    keyed.live.retry();
    await keyed.was('live', 2);
    expect(asked).to.deep.equal([
      ['/api/live', `bearer.${KEY}`],
      ['/api/live', undefined],
      ['/api/live?after=0123456789abcdef.7', `bearer.${KEY}`],
    ]);
    server.close();
  });

  it('passes over what it does not know, and leaves whoever speaks another language', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    let said = ['{"type":"hello","epoch":"0123456789abcdef","seq":1}', '{"type":"news","seq":2}', '{"type":"change","seq":3,"what":"weather"}'];
    server.on('connection', (socket) => {
      for (const text of said) socket.send(text);
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const follower = follow({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clock: handClock() });
    await until(() => follower.changes.length > 0);
    expect(follower.changes).to.deep.equal([{ what: 'weather' }]);
    said = ['220 mail.example.com'];
    follower.live.retry();
    await follower.was('offline');
    server.close();
  });

  it('calls nobody any more once it is closed', async () => {
    const kernel = await boot();
    const [follower, other] = [follow(), follow()];
    await follower.was('live');
    await other.was('live');
    follower.live.close();
    follower.live.retry();
    const id = await spawn(kernel, 'unheard');
    await until(() => agents(other).includes(id));
    expect(follower.changes.some((change) => change.id === id)).to.equal(false);
    expect(follower.states).to.deep.equal(['connecting', 'live']);
  });
});
