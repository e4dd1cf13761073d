/**
 * Two daemons as they are run: each by itself, one PostgreSQL between them, and the bus that comes with it or a NATS server.
 * Time stands still: nothing is polled, so what one hears of the other came over the bus.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { createRoughBus, stopTestKernels, TestHttp } from '@svc/testing';
import { natsProgram, type NatsServer, startNats } from '@svc/testing/nats/server';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { openChat } from '../clients/chat-socket.js';
import { until } from '../clients/model-kernel.js';
import { bootTwo, count, latch, type Replica, talk, type TwoDaemons } from './two-daemons.js';

const KEY = 'root-key-0';
const KEY_HASH = createHash('sha256').update(KEY).digest('hex');
for (const carrier of ['LISTEN and NOTIFY', 'NATS'])
  (carrier === 'NATS' && natsProgram() === undefined ? describe.skip : describe)(`two daemons on one PostgreSQL over ${carrier}`, function () {
    this.timeout(90_000);
    let nats: NatsServer | undefined;
    let two: TwoDaemons;
    let a: Replica;
    let b: Replica;
    let url: string;
    const model = latch();
    // Begun at the present, because keys and rows carry times that clients compare.
    const clock = virtualClock(systemClock().now());

    before(async () => {
      url = await (await sharedCluster()).fresh();
      if (carrier === 'NATS') nats = await startNats('authorization { token: "a-token-for-tests" }');
      two = await bootTwo({
        url,
        key: KEY,
        // The reviewer of approvals leaves each to a person.
        script: ({ body }) => (body.messages[0].content.startsWith('You review') ? { text: 'ask a person' } : model.script()),
        clock,
        config: `[[users]]\nname = "root"\nrole = "owner"\napi_key_hash = "sha256:${KEY_HASH}"\n[approval]\nrequire_approval = ["file_write"]\n${nats ? `[cluster]\nbus = "${nats.url}"\n` : ''}`,
        env: { SVC_NATS_CREDENTIALS: 'a-token-for-tests' },
      });
      ({ a, b } = two);
      await until(() => a.kernel.daemon.parts.bus.state().peers.length === 1 && b.kernel.daemon.parts.bus.state().peers.length === 1);
      expect(a.kernel.daemon.parts.bus.state().carrier).to.equal(nats ? 'nats' : 'postgres');
    });
    after(async () => {
      await two.stop();
      await stopTestKernels();
      await nats?.close();
    });

    const stored = ({ kernel }: Replica) =>
      kernel.daemon.parts.storage
        .dbFor({ id: 'auth', tables: ['revoked_keys'], isPlatform: true })
        .system('a test')
        .select({ from: 'revoked_keys', limit: 10 });
    const settingAt = async ({ kernel }: Replica, section: string, key: string): Promise<unknown> => (kernel.daemon.parts.config.get(section) as Record<string, unknown>)[key];
    const fileOf = ({ kernel }: Replica): Promise<string> => readFile(join(kernel.home, 'config.toml'), 'utf8');
    const set = ({ kernel }: Replica, path: string, value: unknown) => kernel.http.expect(200, 'POST', '/api/config/set', { path, value });

    it('bring a setting that was changed at one into force at the other, in its file as well, and enter it once', async () => {
      const entered = () => count(a, "audit__entries WHERE event_type = 'settings_changed'");
      const before = await entered();
      await set(a, 'log.level', 'debug');
      await until(async () => (await settingAt(b, 'log', 'level')) === 'debug');
      expect(await fileOf(b)).to.contain('level = "debug"');
      await set(b, 'log.level', null);
      await until(async () => (await settingAt(a, 'log', 'level')) === 'info');
      expect(await fileOf(a)).not.to.contain('level = "debug"');
      await until(async () => {
        await clock.advance(50);
        return (await entered()) >= before + 2;
      });
      expect(await entered()).to.equal(before + 2);
    });

    it('switch an extension in both', async () => {
      const stateAt = ({ kernel }: Replica) => kernel.daemon.kernel.extensions().find(({ id }) => id === 'commands')?.state;
      await a.kernel.http.expect(200, 'POST', '/api/extensions/commands/disable');
      await until(() => stateAt(b) === 'inactive');
      await b.kernel.http.expect(200, 'POST', '/api/extensions/commands/enable');
      await until(() => stateAt(a) === 'active');
    });

    it('end a login in both, and what it holds open there', async () => {
      const [at, elsewhere] = [a, b].map(({ kernel }) => new TestHttp(kernel.url)) as [TestHttp, TestHttp];
      const given = (await at.expect(200, 'POST', '/auth/session', { key: KEY })).headers.get('set-cookie')?.split(';')[0] ?? '';
      const headers = (http: TestHttp) => ({ cookie: given.replace(new URL(at.url).port, new URL(http.url).port), origin: http.url });
      await until(async () => (await elsewhere.get('/api/agents', headers(elsewhere))).status === 200);
      const chat = await openChat(b.kernel.url, two.agent.id, { headers: headers(elsewhere) });
      await at.expect(200, 'POST', '/auth/logout', undefined, headers(at));
      expect(await chat.closed()).to.equal(4401);
      expect((await elsewhere.get('/api/agents', headers(elsewhere))).status).to.equal(401);
    });

    it('refuse a key in both that was taken out of the file of one, close what it holds open, and take it again when it is put back', async () => {
      const [key, other] = ['eve-key-0', 'eve-key-1'];
      const person = (name: string, own: string) => `[[users]]\nname = "${name}"\nrole = "admin"\napi_key_hash = "sha256:${createHash('sha256').update(own).digest('hex')}"\n`;
      // Files are looked at by the clock.
      const soon = (holds: () => Promise<boolean>) =>
        until(async () => {
          await clock.advance(100);
          return holds();
        });
      const before = await Promise.all([fileOf(a), fileOf(b)]);
      const write = ({ kernel }: Replica, text: string) => writeFile(join(kernel.home, 'config.toml'), text);
      const status = async ({ kernel }: Replica, as: string) => (await kernel.as(as).get('/api/agents')).status;
      await Promise.all([write(a, `${before[0]}\n${person('eve', key)}${person('eve', other)}`), write(b, `${before[1]}\n${person('eve', key)}${person('eve', other)}`)]);
      await soon(async () => (await status(a, key)) === 200 && (await status(b, key)) === 200);
      const chat = await openChat(b.kernel.url, two.agent.id, { headers: { authorization: `Bearer ${key}` } });

      await write(a, `${before[0]}\n${person('eve', other)}`);
      await soon(async () => (await status(a, key)) === 401);
      await soon(async () => (await status(b, key)) === 401);
      expect(await chat.closed()).to.equal(4401);
      expect([await status(a, other), await status(b, other)]).to.deep.equal([200, 200]);
      const { doctor } = (await b.kernel.http.expect(200, 'GET', '/api/health/detail')).body;
      expect(doctor.find(({ check }: { check: string }) => check === 'RevokedKeyCheck')?.message).to.contain('(eve)');
      expect(JSON.stringify(await stored(a))).not.to.contain(key);

      await write(a, `${before[0]}\n${person('eve', key)}`);
      await soon(async () => (await status(a, key)) === 200 && (await status(b, key)) === 200);
      expect([await status(a, other), await status(b, other)]).to.deep.equal([401, 401]);
      await Promise.all([write(a, before[0]), write(b, before[1])]);
      await soon(async () => (await status(b, key)) === 401);
    });

    it('go on with a run of one when the other is told to approve what it waits for', async () => {
      const manifest = { name: 'writer', capabilities: { tools: ['*'], file_system: true } };
      const { agent_id: agent } = (await a.kernel.http.expect(201, 'POST', '/api/agents', { manifest })).body;
      const asked = a.kernel.http.post(`/api/agents/${agent}/message`, { message: 'write it' });
      await until(() => model.waiting() === 1);
      model.answer({ toolCalls: [{ name: 'file_write', args: { path: 'approved.txt', content: 'yes' } }] });
      const { waiting } = (await asked).body;
      await b.kernel.http.expect(200, 'POST', `/api/approvals/${waiting.approval_id}/approve`, {});
      await until(() => model.waiting() === 1);
      model.answer({ text: 'written' });
      await until(async () => (await talk(a, agent)).at(-1) === 'Assistant: written');
    });

    it('show the frames of a run in both, the same and under the same numbers', async () => {
      const own = a.kernel.http.events('POST', `/api/agents/${two.agent.id}/message/stream`, { message: 'hello' });
      await until(() => model.waiting() === 1);
      const other = b.kernel.http.events('GET', `/api/agents/${two.agent.id}/sessions/${two.agent.session_id}/stream`);
      await until(() => b.kernel.daemon.parts.streams.stats().followers === 1);
      model.answer({ deltas: ['one ', 'two ', 'three ', 'x'.repeat(30_000)], eventDelayMs: 60 });
      const [first, second] = await Promise.all([own, other]);
      const textOf = (events: typeof first) => events.flatMap(({ event, data }) => (event === 'chunk' ? [data.content] : [])).join('');
      expect(textOf(second)).to.equal(`one two three ${'x'.repeat(30_000)}`);
      expect(second.map(({ id }) => id)).to.deep.equal(first.map(({ id }) => id));
    });

    it('count for one rate limit what a caller asks of either', async () => {
      const ask = ({ kernel }: Replica) => kernel.http.get('/api/agents');
      const admitted = async (at: Replica): Promise<number> => {
        for (let count = 0; ; count++) if ((await ask(at)).status === 429) return count;
      };
      await set(a, 'api.rate_limit_per_second', 0.5);
      await until(async () => (b.kernel.daemon.parts.config.get('api') as Record<string, unknown>).rate_limit_per_second === 0.5);
      let isReported = false;
      const hearing = b.kernel.daemon.parts.bus.subscribe('events', ({ event }) => {
        isReported ||= event === 'ratelimit.spent';
      });
      const atFirst = await admitted(a);
      await clock.advance(1_000);
      await until(() => isReported);
      await hearing.dispose();
      expect([atFirst > 5, (await admitted(b)) < atFirst / 2]).to.deep.equal([true, true]);
      await clock.advance(120_000);
      await set(a, 'api.rate_limit_per_second', 100_000);
    });

    it('stop a run at the daemon that does not hold it', async () => {
      const asked = a.kernel.http.post(`/api/agents/${two.agent.id}/message`, { message: 'hello' });
      await until(() => model.waiting() === 1);
      await b.kernel.http.expect(200, 'POST', `/api/agents/${two.agent.id}/stop`);
      expect((await asked).body.finish).to.equal('cancelled');
    });
  });

describe('two daemons on one PostgreSQL without a bus', function () {
  this.timeout(90_000);
  afterEach(() => stopTestKernels());

  it('find in the rows, within five seconds, what a person changed at the other', async () => {
    const clock = virtualClock(systemClock().now());
    const bus = createRoughBus({ random: () => 0, lost: 1, maxDelayMs: 1 });
    const { a, b, stop } = await bootTwo({ url: await (await sharedCluster()).fresh(), clock, joinBus: (name) => bus.join(name) });
    try {
      await a.kernel.http.expect(200, 'POST', '/api/config/set', { path: 'log.level', value: 'debug' });
      await a.kernel.http.expect(200, 'POST', '/api/config/set', { path: 'journal.keep_days', value: 7 });
      // Nobody shares what names one daemon.
      await a.kernel.http.expect(200, 'POST', '/api/config/set', { path: 'api.listen_addr', value: '127.0.0.1:1' });
      await clock.advance(5_000);
      const at = (section: string) => b.kernel.daemon.parts.config.get(section) as Record<string, unknown>;
      await until(() => at('log').level === 'debug' && at('journal').keep_days === 7);
      expect(at('api').listen_addr).not.to.equal('127.0.0.1:1');
    } finally {
      await stop();
    }
  });
});
