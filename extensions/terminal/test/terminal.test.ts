/** A shell over the socket: who may, what it does, and that nothing is left of it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createOutputFrames } from '../src/frames.js';

const KEYS = { owner: 'terminal-root-key', admin: 'terminal-admin-key', alice: 'terminal-alice-key' };
const person = (name: 'admin' | 'alice', role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const config = (more: string): string => `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('admin', 'admin')}${person('alice', 'user')}${more}`;

interface Frame {
  readonly type: string;
  readonly [name: string]: unknown;
}

interface Shell {
  readonly ws: WebSocket;
  readonly frames: Frame[];
  text(): string;
  send(frame: object): void;
  frame(type: string): Promise<Frame>;
  until(pattern: RegExp): Promise<RegExpExecArray>;
  closed: Promise<number>;
}

const eventually = async <T>(look: () => T | undefined | false | null, what: string, ms = 15_000): Promise<T> => {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const found = look();
    if (found) return found;
  }
  throw new Error(`it never came: ${what}`);
};

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

describe('the terminal', function () {
  this.timeout(120_000);
  let kernel: TestKernel;
  let owner: TestHttp;
  before(async () => {
    kernel = await bootTestKernel({
      env: { SVC_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') },
      config: config('[terminal]\nenabled = true\nshell = "/bin/bash"\nmax_windows = 2\n'),
      key: KEYS.owner,
    });
    owner = kernel.http;
  });
  after(() => stopTestKernels());

  const connect = (query = '', key = KEYS.owner, headers: Record<string, string> = {}): WebSocket =>
    new WebSocket(`${owner.url.replace('http', 'ws')}/api/terminal/ws${query}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const shell = async (query = '', key = KEYS.owner): Promise<Shell> => {
    const ws = connect(query, key);
    const frames: Frame[] = [];
    ws.on('message', (data) => frames.push(JSON.parse(String(data))));
    const closed = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
    const text = (): string => frames.map(({ type, data, binary }) => (type === 'output' && !binary ? String(data) : '')).join('');
    const one: Shell = {
      ws,
      frames,
      text,
      send: (frame) => ws.send(JSON.stringify(frame)),
      frame: (type) => eventually(() => frames.find((frame) => frame.type === type), `a frame ${type}`),
      until: (pattern) => eventually(() => pattern.exec(text()), String(pattern)),
      closed,
    };
    return one;
  };
  const refusal = (ws: WebSocket): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      ws.on('open', () => reject(new Error('it was let in')));
      ws.on('error', () => undefined);
      ws.on('unexpected-response', (_request, answer) => {
        let text = '';
        answer.on('data', (piece) => (text += piece)).on('end', () => resolve([answer.statusCode ?? 0, JSON.parse(text).code]));
      });
    });

  it('T1 is there for owners alone, and for no page of another origin', async () => {
    expect((await owner.expect(200, 'GET', '/api/terminal/health')).body).to.include({ ok: true, max_windows: 2, os: process.platform });
    expect((await kernel.as(KEYS.admin).expect(403, 'GET', '/api/terminal/health')).body.code).to.equal('terminal_role');
    await kernel.as(KEYS.alice).expect(403, 'GET', '/api/terminal/health');
    expect(await refusal(connect('', KEYS.admin))).to.deep.equal([403, 'terminal_role']);
    expect((await refusal(connect('', KEYS.alice)))[0]).to.equal(403);
    expect((await refusal(connect('', 'no-key')))[0]).to.equal(401);
    expect((await refusal(connect('', KEYS.owner, { origin: 'https://evil.example' })))[0]).to.equal(403);
    expect(await refusal(connect('?cols=1001'))).to.deep.equal([400, 'terminal_bad_size']);
  });

  it('runs what is typed, in the size that the client has', async () => {
    const one = await shell('?cols=101&rows=31');
    const started = await one.frame('started');
    expect(started).to.include({ shell: '/bin/bash', isRoot: process.getuid?.() === 0 });
    one.send({ type: 'input', data: 'stty size; echo "a=$((6*7))"\r' });
    await one.until(/31 101\r\n[\s\S]*a=42/);
    one.send({ type: 'resize', cols: 90, rows: 20 });
    one.send({ type: 'input', data: 'stty size\r' });
    await one.until(/20 90/);
    one.send({ type: 'input', data: 'tty; exit 3\r' });
    await one.until(/\/dev\/pts\//);
    expect(await one.frame('exit')).to.deep.equal({ type: 'exit', code: 3, signal: null });
    expect(await one.closed).to.equal(1000);
  });

  it('knows none of the secrets of the daemon', async () => {
    const one = await shell();
    one.send({ type: 'input', data: 'env | grep -c ^SVC_VAULT; echo end=$((1+1))\r' });
    await one.until(/\r0\r\nend=2/);
    one.send({ type: 'close' });
    await one.closed;
  });

  it('T2 ends with its socket, and so does all that it started', async () => {
    const one = await shell();
    const { pid } = await one.frame('started');
    one.send({ type: 'input', data: 'sleep 1000 & (setsid nohup sleep 1001 >/dev/null 2>&1 & echo away=$!); echo job=$!\r' });
    const pids = [Number(pid), Number((await one.until(/away=(\d+)/))[1]), Number((await one.until(/job=(\d+)/))[1])];
    expect(pids.map(isAlive)).to.deep.equal([true, true, true]);
    one.ws.terminate();
    await eventually(() => pids.every((each) => !isAlive(each)), `the end of ${pids.join(', ')}`);
  });

  it('T3 output without end waits for its reader, and costs no memory', async () => {
    const one = await shell();
    await one.frame('started');
    // Nothing is read from now on: what was sent fills the sockets, and then the shell waits.
    one.ws.pause();
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    one.send({ type: 'input', data: 'yes "$(head -c 1000 /dev/zero | tr "\\0" x)"\r' });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    globalThis.gc?.();
    expect((process.memoryUsage().rss - before) / 1_048_576).to.be.lessThan(60);
    // It is still there, and goes on.
    one.ws.resume();
    one.send({ type: 'input', data: '\u0003' });
    one.send({ type: 'input', data: 'echo over=$((2+3))\r' });
    await one.until(/over=5/);
    one.send({ type: 'close' });
    await one.closed;
  });

  it('T5 start and end are in the audit, and nothing that was typed', async () => {
    const one = await shell();
    const { pid } = await one.frame('started');
    one.send({ type: 'input', data: 'echo canary-of-the-terminal; exit\r' });
    await one.closed;
    const entries = async (): Promise<Array<{ event_type: string; details: string; actor: string }>> => (await owner.expect(200, 'GET', '/api/audit/recent?limit=50')).body.entries;
    let found: string[] = [];
    for (let tries = 0; tries < 200 && found.length < 2; tries += 1) {
      found = (await entries()).filter(({ details }) => details.includes(`"pid":${String(pid)}`)).map(({ event_type: type, actor }) => `${type} ${actor}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(found.toSorted()).to.deep.equal(['terminal_ended owner', 'terminal_started owner']);
    expect(JSON.stringify(await entries())).not.to.include('canary-of-the-terminal');
  });

  it('X1 windows stay when a terminal is closed', async function () {
    if (!(await owner.expect(200, 'GET', '/api/terminal/health')).body.tmux) {
      Object.assign(this.test ?? {}, { skipReason: 'no tmux here' });
      this.skip();
    }
    const { id } = (await owner.expect(201, 'POST', '/api/terminal/windows', { name: 'first' })).body;
    const one = await shell(`?window=${encodeURIComponent(id)}`);
    expect(await one.frame('active_window')).to.deep.equal({ type: 'active_window', window_id: id });
    one.send({ type: 'input', data: 'kept=$((40+2)); echo now=$kept\r' });
    await one.until(/now=42/);
    const other = (await owner.expect(201, 'POST', '/api/terminal/windows', {})).body.id;
    expect((await owner.expect(429, 'POST', '/api/terminal/windows', {})).body).to.deep.include({ code: 'terminal_window_limit_reached', details: { max: 2 } });
    one.send({ type: 'switch_window', window: other });
    await eventually(() => one.frames.find(({ type, window_id: to }) => type === 'active_window' && to === other), 'the other window');
    one.ws.terminate();
    await one.closed;
    const again = await shell(`?window=${encodeURIComponent(id)}`);
    await again.frame('started');
    again.send({ type: 'input', data: 'echo still=$kept\r' });
    await again.until(/still=42/);
    again.send({ type: 'close' });
    await owner.expect(204, 'PATCH', `/api/terminal/windows/${encodeURIComponent(id)}`, { name: 'renamed' });
    expect((await owner.expect(200, 'GET', '/api/terminal/windows')).body.windows.map(({ id: each, name }: { id: string; name: string }) => [each, name])[0]).to.deep.equal([id, 'renamed']);
    for (const each of [id, other]) await owner.expect(200, 'DELETE', `/api/terminal/windows/${encodeURIComponent(each)}`);
    expect((await owner.expect(200, 'GET', '/api/terminal/windows')).body.windows).to.deep.equal([]);
    await owner.expect(404, 'DELETE', `/api/terminal/windows/${encodeURIComponent(id)}`);
    expect(await refusal(connect(`?window=${encodeURIComponent(id)}`))).to.deep.equal([404, 'terminal_window_not_found']);
  });

  it('refuses frames that are none, and goes on', async () => {
    const one = await shell();
    await one.frame('started');
    for (const text of ['x', '[]', '{"type":"resize","cols":0,"rows":1}', '{"type":"input"}', '{"type":"switch_window","window":"; rm"}']) one.ws.send(text);
    await eventually(() => one.frames.filter(({ type }) => type === 'error').length === 5, 'five errors');
    one.send({ type: 'input', data: 'echo fine=$((1+1))\r' });
    await one.until(/fine=2/);
    one.send({ type: 'close' });
    await one.closed;
  });

  it('a letter that is cut comes whole, and what is no text comes in base64', () => {
    const frames = createOutputFrames();
    const euro = Buffer.from('a€');
    expect(frames(euro.subarray(0, 2))).to.deep.equal({ type: 'output', data: 'a' });
    expect(frames(euro.subarray(2))).to.deep.equal({ type: 'output', data: '€' });
    expect(frames(Buffer.from([0xff, 0x41]))).to.deep.equal({ type: 'output', data: '/0E=', binary: true });
    expect(frames(Buffer.from([0xf0, 0x9f]))).to.equal(undefined);
    expect(frames(Buffer.from([0x98, 0x80]))).to.deep.equal({ type: 'output', data: '😀' });
  });
});

describe('a terminal that nobody uses', function () {
  this.timeout(120_000);
  after(() => stopTestKernels());

  it('T6 ends after the minutes of the settings, with what runs in it; one that is used stays', async () => {
    const clock = virtualClock(systemClock().now());
    const { http } = await bootTestKernel({ clock, config: config('[terminal]\nenabled = true\nshell = "/bin/bash"\nidle_minutes = 5\n'), key: KEYS.owner });
    const open = async () => {
      const ws = new WebSocket(`${http.url.replace('http', 'ws')}/api/terminal/ws`, { headers: { authorization: `Bearer ${KEYS.owner}` } });
      const frames: Frame[] = [];
      ws.on('message', (data) => frames.push(JSON.parse(String(data))));
      const closed = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
      const { pid } = await eventually(() => frames.find(({ type }) => type === 'started'), 'a frame started');
      return { ws, frames, closed, pid: Number(pid) };
    };
    const [idle, used] = [await open(), await open()];
    await clock.advance(4 * 60_000);
    used.ws.send(JSON.stringify({ type: 'input', data: 'echo used=$((1+1))\r' }));
    await eventually(() => used.frames.find(({ type, data }) => type === 'output' && String(data).includes('used=2')), 'what was typed');
    await clock.advance(70_000);
    expect(await idle.closed).to.equal(1000);
    expect(idle.frames.at(-1)).to.include({ type: 'error', code: 'terminal_idle' });
    await eventually(() => !isAlive(idle.pid), 'the end of the shell');
    expect([used.ws.readyState, isAlive(used.pid)]).to.deep.equal([WebSocket.OPEN, true]);
    used.ws.close();
    await used.closed;
  });
});

describe('the terminal where it may not be', function () {
  this.timeout(120_000);
  afterEach(() => stopTestKernels());

  it('T1 is off at first: 403 names the setting', async () => {
    const { http } = await bootTestKernel({ config: config(''), key: KEYS.owner });
    const { body } = await http.expect(403, 'GET', '/api/terminal/health');
    expect([body.code, body.hint]).to.deep.equal(['terminal_disabled', 'It gives a shell with all rights of the daemon. To switch it on, write enabled = true below [terminal] in config.toml.']);
    for (const [method, path] of [
      ['GET', '/api/terminal/windows'],
      ['POST', '/api/terminal/windows'],
      ['DELETE', '/api/terminal/windows/@0'],
    ] as const)
      expect((await http.expect(403, method, path, method === 'POST' ? {} : undefined)).body.code).to.equal('terminal_disabled');
  });

  it('T1 is not there without a key, and for admins where the setting says so', async () => {
    const open = await bootTestKernel({ config: `${OPEN_RATE}[terminal]\nenabled = true\n` });
    expect((await open.http.expect(403, 'GET', '/api/terminal/health')).body.code).to.equal('terminal_keyless');
    const { as } = await bootTestKernel({ config: config('[terminal]\nenabled = true\nroles = ["owner", "admin"]\n'), key: KEYS.owner });
    await as(KEYS.admin).expect(200, 'GET', '/api/terminal/health');
  });
});
