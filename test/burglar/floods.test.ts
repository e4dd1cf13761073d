/** Somebody who may do little sends much: their sockets are closed or not read, and everybody else is served. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { defineSocket } from '@svc/api';
import { bootTestKernel, fixtureExtension, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { BINARY, frameOf, openRaw, PING, PONG, type RawSocket, TEXT } from './raw-socket.js';

const ROOT = 'root-key-0123456789';
const KEYS = { mallory: 'mallory-key-0123456789', alice: 'alice-key-0123456789' } as const;
const person = (name: keyof typeof KEYS): string => `[[users]]\nname = "${name}"\nrole = "viewer"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
/** `burst` and `perSecond` of a socket in connections/frame-shares.ts. */
const BURST = 400;
const PER_SECOND = 200;
const MOST_SOCKETS = 6;
/** `burst` of all sockets of one person. */
const BURST_OF_PERSON = 1_600;

describe('a flood', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let agentSocket: string;
  let received = 0;
  const opened: RawSocket[] = [];
  const open = async (path: string, key: string = KEYS.mallory): Promise<RawSocket> => {
    const raw = await openRaw(kernel.url, path, key);
    opened.push(raw);
    return raw;
  };

  before(async () => {
    kernel = await bootTestKernel({
      key: ROOT,
      config: `api_key = "${ROOT}"\n[api]\nrate_limit_per_second = 100000\n[rate_limit]\nmax_ws_per_ip = 100\nmax_ws_per_user = ${MOST_SOCKETS}\n[extensions]\nenable = ["echo"]\n${person('mallory')}${person('alice')}`,
      extra: [
        fixtureExtension({
          id: 'echo',
          contributions: { sockets: ['/api/echo'] },
          definition: {
            activate: (ctx) => {
              ctx.sockets.add(
                defineSocket({
                  id: 'echo',
                  path: '/api/echo',
                  summary: 'Takes everything, for nothing',
                  auth: 'bearer',
                  permission: 'webchat.read',
                  cost: 1,
                  messageCost: 0,
                  upgrade: async () => {
                    await new Promise((resolve) => setTimeout(resolve, 50));
                    return {};
                  },
                  message: () => {
                    received += 1;
                  },
                }),
              );
            },
          },
        }),
      ],
    });
    const { agent_id: id } = (await kernel.http.expect(201, 'POST', '/api/agents', { name: 'talker' })).body;
    agentSocket = `/api/agents/${id}/ws`;
  });
  afterEach(async () => {
    for (const { socket } of opened) socket.destroy();
    await Promise.all(opened.splice(0).map(({ closed }) => closed));
  });
  after(stopTestKernels);

  /** Alice's page lives on, and the daemon says that it is well. */
  const othersAreServed = async (): Promise<void> => {
    const alice = await open('/api/live', KEYS.alice);
    alice.socket.write(frameOf(TEXT, '{"type":"ping"}'));
    await until(() => alice.frames.some(({ text }) => text.includes('"ping"')), 'alice is answered');
    await kernel.as(KEYS.alice).expect(200, 'GET', '/api/health');
  };

  it('of upgrades side by side opens as many sockets as a person may have, and no more', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => open('/api/echo')));
    expect(answers.filter(({ status }) => status === 101).length).to.equal(MOST_SOCKETS);
    expect(answers.filter(({ status }) => status === 429).length).to.equal(40 - MOST_SOCKETS);
    // Another person of the same address has places of their own.
    expect((await open('/api/echo', KEYS.alice)).status).to.equal(101);
  });

  it('of upgrades whose sender leaves at once keeps no place', async () => {
    for (let n = 0; n < 3 * MOST_SOCKETS; n++) {
      const { socket, closed } = await open('/api/echo');
      socket.destroy();
      await closed;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await open('/api/echo')).status).to.equal(101);
  });

  for (const [what, frame] of [
    ['text that is not taken', frameOf(TEXT, 'x')],
    ['bytes where text belongs', frameOf(BINARY, 'x')],
  ] as const)
    it(`of ${what} ends each of five sockets after a bounded number of refusals, with a code and a reason`, async () => {
      const sockets = await Promise.all(Array.from({ length: 5 }, () => open('/api/live')));
      for (const { socket } of sockets) socket.write(Buffer.concat(Array.from({ length: 20_000 }, () => frame)));
      await othersAreServed();
      for (const { closed, frames } of sockets) {
        const { code, reason } = await closed;
        expect(code).to.equal(4429);
        expect(reason).to.match(/^too_many_refused_frames: /);
        const refusals = frames.filter(({ text }) => text.includes('"error"'));
        expect(refusals.length).to.be.within(2, 40);
        expect(JSON.parse(refusals.at(-1)?.text ?? '{}')).to.include({ type: 'error', code: 'too_many_refused_frames' });
      }
    });

  it('on the socket of an agent ends it as well', async () => {
    const { socket, closed } = await open(agentSocket, ROOT);
    socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => frameOf(TEXT, '{"type":"nonsense"}'))));
    expect((await closed).code).to.equal(4429);
    await othersAreServed();
  });

  for (const [what, frames, count] of [
    ['pings', [frameOf(PING)], 20_000],
    ['empty fragments', [frameOf(TEXT, '', false), ...Array.from({ length: 9_998 }, () => frameOf(0, '', false)), frameOf(0)], 2],
    ['messages that an area takes for nothing', [frameOf(TEXT, 'x')], 20_000],
  ] as const)
    it(`of ${what} is read no faster than the share of a socket, and the rest waits with its sender`, async () => {
      received = 0;
      const raw = await open('/api/echo');
      const began = performance.now();
      raw.socket.write(Buffer.concat(Array.from({ length: count }, () => frames).flat()));
      raw.socket.write(Buffer.concat(Array.from({ length: 20 }, () => frameOf(PING))));
      await othersAreServed();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const pongs = raw.frames.filter(({ opcode }) => opcode === PONG).length;
      // Those of a turn that has begun may come beside.
      const most = BURST + 32 + ((performance.now() - began) * PER_SECOND) / 1_000;
      expect(pongs + received).to.be.at.most(most);
      // The pings stand behind the fragments.
      if (what === 'empty fragments') expect(pongs).to.equal(0);
      else expect(pongs + received).to.be.at.least(BURST);
    });

  it('over all sockets of a person is read no faster than their common share', async () => {
    received = 0;
    const sockets = await Promise.all(Array.from({ length: MOST_SOCKETS }, () => open('/api/echo')));
    const began = performance.now();
    for (const { socket } of sockets) socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => frameOf(TEXT, 'x'))));
    await othersAreServed();
    expect(received).to.be.at.most(BURST_OF_PERSON + 32 * MOST_SOCKETS + (performance.now() - began) * 0.8);
    await until(() => received >= BURST, 'what is within the share is read');
  });

  it('that announces a frame of a gigabyte, or fragments without an end, is closed by what it announces', async () => {
    const huge = await open('/api/live');
    huge.socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4]));
    expect((await huge.closed).code).to.equal(1009);
    const endless = await open('/api/live');
    endless.socket.write(Buffer.concat([frameOf(TEXT, 'x'.repeat(1_000), false), ...Array.from({ length: 50 }, () => frameOf(0, 'x'.repeat(100), false))]));
    expect((await endless.closed).code).to.equal(1009);
  });

  it('of requests in one packet, of heads without an end and of many headers leaves others served', async () => {
    const { port } = new URL(kernel.url);
    const asks = `GET /api/agents HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer wrong\r\n\r\n`;
    const attacks = [asks.repeat(500), 'GET / HTTP/1.1\r\nX: ', `GET / HTTP/1.1\r\n${'X-Y: z\r\n'.repeat(3_000)}`];
    const sockets = attacks.flatMap((text) =>
      Array.from({ length: 10 }, () => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        socket.on('error', () => undefined);
        socket.resume();
        return socket;
      }),
    );
    try {
      for (let n = 0; n < 3; n++) await othersAreServed();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

const until = async (holds: () => boolean, what: string): Promise<void> => {
  const end = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within 5 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
