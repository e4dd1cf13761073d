/**
 * The files of deploy/, without containers: three daemons with the environment that compose.yaml gives them, on a real
 * PostgreSQL and nats-server, behind haproxy with the configuration that is shipped. Names of hosts become ports of this machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { TestHttp } from '@svc/testing';
import { freePort } from '@svc/testing/free-port';
import { natsProgram, type NatsServer, startNats } from '@svc/testing/nats/server';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { parse } from 'yaml';
import { endDaemons, newHome, type RealDaemon, startDaemon, until } from '../burglar/real-daemon.js';
import { openChat } from '../clients/chat-socket.js';
import { modelConfig } from '../clients/model-kernel.js';
import { latch } from './two-daemons.js';

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
}

const HAPROXY = '/usr/sbin/haproxy';
const REPLICAS = ['svc-a', 'svc-b', 'svc-c'];
const VALUES: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'postgres0password',
  NATS_TOKEN: 'nats0token',
  SVC_API_KEY: 'a-key-of-the-deployment-0001',
  SVC_VAULT_KEY: Buffer.alloc(32, 7).toString('base64'),
  OPENAI_API_KEY: 'sk-model-key-of-the-tests-0001',
};
const VARIABLE = /\$\{([A-Z_]+)(:[?-])[^}]*\}/g;

const read = (file: string): Promise<string> => readFile(join('deploy', file), 'utf8');

const readCompose = async (): Promise<{ readonly services: Readonly<Record<string, Service>>; readonly volumes: Readonly<Record<string, unknown>> }> =>
  parse(await read('compose.yaml'), { merge: true });

describe('the files of deploy/', () => {
  it('name the same variables: what compose.yaml needs is in .env.example, and nothing else', async () => {
    const named = new Set([...(await read('compose.yaml')).matchAll(VARIABLE)].map(([, name = '']) => name));
    const offered = [...(await read('.env.example')).matchAll(/^([A-Z_]+)=(.*)$/gm)];
    expect(offered.map(([, name]) => name)).to.have.members([...named]);
    expect(
      offered.filter(([, , value]) => value !== ''),
      'no secret has a value that everybody knows',
    ).to.deep.equal([]);
  });

  it('start three replicas that differ in their name and home alone, and open one port, on this machine', async () => {
    const { services, volumes } = await readCompose();
    const replicas = REPLICAS.map((name) => services[name] ?? {});
    const shared = replicas.map(({ environment }) => Object.entries(environment ?? {}).filter(([name]) => name !== 'SVC__CLUSTER__NAME'));
    expect(shared[1]).to.deep.equal(shared[0]);
    expect(shared[2]).to.deep.equal(shared[0]);
    expect(replicas.map(({ environment }) => environment?.['SVC__CLUSTER__NAME'])).to.deep.equal(REPLICAS);
    expect(new Set(replicas.flatMap(({ volumes: homes = [] }) => homes)).size).to.equal(3);
    expect(Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).to.deep.equal([['balancer', '127.0.0.1:4545:4545']]);
    const used = Object.values(services).flatMap(({ volumes: mounts = [] }) => mounts.map((mount) => mount.split(':')[0] ?? ''));
    expect(used.filter((name) => !name.startsWith('.'))).to.have.members(Object.keys(volumes));
    for (const { depends_on = {} } of Object.values(services)) expect(Object.keys(services)).to.include.members(Array.isArray(depends_on) ? depends_on : Object.keys(depends_on));
  });
});

(existsSync(HAPROXY) && natsProgram() !== undefined ? describe : describe.skip)('the deployment of deploy/, on this machine', function () {
  this.timeout(240_000);
  const daemons = new Map<string, RealDaemon>();
  const model = latch();
  let provider: ProviderServer;
  let nats: NatsServer;
  let balancer: ChildProcess | undefined;
  let folder: string;
  let http: TestHttp;
  let agent: { readonly id: string };

  before(async () => {
    const database = await (await sharedCluster()).fresh();
    const { services } = await readCompose();
    const [, token = ''] = services['nats']?.command ?? [];
    nats = await startNats(`authorization { token: "${filled(token)}" }`);
    provider = await startOpenAiServer(model.script);
    const here = (value: string): string => value.replace(/^postgres:\/\/svc:postgres0password@postgres:5432\/svc$/, database).replace(/^nats:\/\/nats:4222$/, nats.url);
    for (const name of REPLICAS) {
      const environment = Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, here(filled(value))] as const);
      daemons.set(name, await startDaemon(await newHome(modelConfig(provider.url)), { env: Object.fromEntries(environment) }));
    }
    folder = await mkdtemp(join(tmpdir(), 'svc-deployment-'));
    const port = await freePort();
    let config = (await read('haproxy.cfg')).replace('bind :4545', `bind 127.0.0.1:${port}`);
    for (const [name, daemon] of daemons) config = config.replace(`server ${name} ${name}:4545`, `server ${name} ${new URL(daemon.http().url).host}`);
    await writeFile(join(folder, 'haproxy.cfg'), config);
    balancer = spawn(HAPROXY, ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
    http = new TestHttp(`http://127.0.0.1:${port}`, () => VALUES['SVC_API_KEY']);
    await until(async () => (await http.get('/api/ready').catch(() => undefined))?.status === 200);
    agent = (await http.expect(200, 'GET', '/api/agents')).body.agents[0];
  });
  after(async () => {
    if (balancer?.exitCode === null) {
      const ended = once(balancer, 'exit');
      balancer.kill('SIGKILL');
      await ended;
    }
    await endDaemons();
    await provider?.close();
    await nats?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('are settings that the daemons know: none of them warns of one, and all are one deployment over NATS', async () => {
    await until(async () => (await http.expect(200, 'GET', '/api/cluster')).body.daemons.filter(({ reached }: { reached: boolean }) => reached).length >= 2);
    for (const [name, daemon] of daemons) expect(daemon.said(), name).to.not.match(/is not a setting|is ignored|unknown/i);
    const { body } = await http.expect(200, 'GET', '/api/cluster');
    expect(body.daemons.map((daemon: { name: string }) => daemon.name)).to.have.members(REPLICAS);
    expect(body).to.include({ shared: true, connected: true, carrier: 'nats' });
    expect((await fetch(`${http.url}/api/agents`)).status, 'without the key').to.equal(401);
  });

  it('carry a message and a WebSocket through the balancer', async () => {
    const asked = http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'one' });
    await until(() => model.waiting() === 1);
    model.answer({ text: 'first' });
    expect((await asked).body.response).to.equal('first');

    const chat = await openChat(http.url, agent.id, { headers: { authorization: `Bearer ${VALUES['SVC_API_KEY']}` } });
    chat.send({ type: 'message', content: 'two' });
    await until(() => model.waiting() === 1);
    model.answer({ text: 'second' });
    expect((await chat.next('response')).content).to.equal('second');
    chat.socket.close();
  });

  it('lose nothing of a stream whose replica is killed: the client resumes at another, which continues the run', async () => {
    const path = `/api/agents/${agent.id}/message/stream`;
    const first = await http.raw('POST', path, { message: 'three' });
    const served = first.headers.get('x-served-by') ?? '';
    expect(REPLICAS).to.include(served);
    const reader = (first.body ?? expect.fail('no stream')).getReader();
    await until(() => model.waiting() === 1);
    model.answer({ deltas: Array.from({ length: 200 }, (_, n) => `${n} `), eventDelayMs: 500 });
    let received = '';
    while (!/event: chunk/.test(received)) received += new TextDecoder().decode((await reader.read()).value);
    daemons.get(served)?.process.kill('SIGKILL');
    await reader.cancel().catch(() => undefined);

    const asked = Date.now();
    await http.expect(200, 'GET', `/api/agents/${agent.id}`);
    expect(Date.now() - asked, 'the next request goes to another replica').to.be.lessThan(10_000);

    let last = [...received.matchAll(/^id: ?(\S+)/gm)].at(-1)?.[1];
    const events: Array<{ readonly event: string; readonly data: { readonly phase?: string; readonly content?: string; readonly result?: { readonly response: string } } }> = [];
    const resumed = (async () => {
      while (events.at(-1)?.event !== 'done') {
        const seen = await http.events('POST', path, { message: 'three' }, last === undefined ? {} : { 'last-event-id': last }, ({ event }) => event === 'done').catch(() => []);
        events.push(...seen);
        last = seen.findLast(({ id }) => id !== undefined)?.id ?? last;
      }
    })();
    // The lease of the dead replica runs out first, after ten seconds.
    await until(() => model.waiting() === 1, 25_000);
    model.answer({ deltas: ['all of ', 'it'] });
    await resumed;
    expect(events.at(-1)?.data.result?.response).to.equal('all of it');
    const voided = events.findLastIndex(({ data }) => data.phase === 'restarted');
    expect(
      events
        .slice(voided + 1)
        .map(({ event, data }) => (event === 'chunk' ? data.content : ''))
        .join(''),
    ).to.equal('all of it');
    const { body } = await http.expect(200, 'GET', `/api/agents/${agent.id}/session`);
    expect(body.messages.filter(({ content }: { content: unknown }) => content === 'three')).to.have.length(1);
  });
});

const filled = (value: string): string => value.replaceAll(VARIABLE, (_, name: string) => VALUES[name] ?? '');
