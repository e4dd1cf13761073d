/** The daemon's log over HTTP. */
import { createHash } from 'node:crypto';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';

interface Line {
  readonly seq: number;
  readonly level: string;
  readonly target: string;
  readonly message: string;
  readonly agent_id: string | null;
}

describe('the stream of log lines', () => {
  afterEach(stopTestKernels);

  const boot = () => bootTestKernel({ config: OPEN_RATE });
  const say = (kernel: TestKernel, level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown> = {}) => kernel.daemon.parts.log.logger('test')[level](message, fields);
  /** Lines up to the one with this message, and the id of the last. */
  const read = async (kernel: TestKernel, query: string, until: string, headers: Record<string, string> = {}) => {
    const events = await kernel.http.events('GET', `/api/logs/stream${query}`, undefined, headers, ({ data }) => data.message === until);
    return { lines: events.map(({ data }): Line => data), lastId: events.at(-1)?.id ?? '' };
  };
  const isFollowed = async (kernel: TestKernel): Promise<boolean> => (await kernel.http.expect(200, 'GET', '/api/status')).body.svc_stream_followers === 1;

  it('begins with the newest lines and goes on with each that is written', async () => {
    const kernel = await boot();
    say(kernel, 'info', 'before');
    const reading = read(kernel, '', 'after');
    await until(() => isFollowed(kernel));
    say(kernel, 'warn', 'after', { agentId: 'a-1' });
    const { lines } = await reading;
    expect(lines.map(({ message }) => message)).to.include.members(['before', 'after']);
    expect(lines.map(({ seq }) => seq)).to.deep.equal(lines.map(({ seq }) => seq).sort((a, b) => a - b));
    expect(lines.at(-1)).to.include({ level: 'warn', target: 'test', agent_id: 'a-1', action: 'test', detail: 'after', outcome: 'ok' });
  });

  it('takes a level and those above it, a text in any case, and one agent', async () => {
    const kernel = await boot();
    say(kernel, 'info', 'Green door');
    say(kernel, 'error', 'red door', { agentId: '00000000-0000-4000-8000-000000000001' });
    say(kernel, 'error', 'window');
    say(kernel, 'error', 'last DOOR');
    expect((await read(kernel, '?level=error&filter=Door', 'last DOOR')).lines.map(({ message }) => message)).to.deep.equal(['red door', 'last DOOR']);
    const ofAgent = '?agent_id=00000000-0000-4000-8000-000000000001';
    expect((await read(kernel, ofAgent, 'red door')).lines).to.have.length(1);
  });

  it('gives as many lines first as are asked for', async () => {
    const kernel = await boot();
    for (let n = 0; n < 5; n++) say(kernel, 'info', `line ${n}`);
    expect((await read(kernel, '?lines=2', 'line 4')).lines.map(({ message }) => message)).to.deep.equal(['line 3', 'line 4']);
    const reading = read(kernel, '?lines=0', 'now');
    await until(() => isFollowed(kernel));
    say(kernel, 'info', 'now');
    expect((await reading).lines.map(({ message }) => message)).to.not.include('line 4');
  });

  it('goes on after the line that a client saw last', async () => {
    const kernel = await boot();
    say(kernel, 'info', 'one');
    const { lastId } = await read(kernel, '', 'one');
    say(kernel, 'info', 'two');
    expect((await read(kernel, '', 'two', { 'last-event-id': lastId })).lines.map(({ message }) => message)).to.deep.equal(['two']);
  });

  it('goes on over a reload of its area, with no line twice', async () => {
    const kernel = await boot();
    const reading = read(kernel, '?lines=0', 'after the reload');
    await until(() => isFollowed(kernel));
    let isReloaded = false;
    const reloading = kernel.http.expect(200, 'POST', '/api/extensions/system/reload').finally(() => {
      isReloaded = true;
    });
    // All the while that one generation takes over from the other.
    await until(() => {
      say(kernel, 'info', 'in between');
      return isReloaded;
    });
    await reloading;
    say(kernel, 'info', 'in between');
    say(kernel, 'info', 'after the reload');
    const seqs = (await reading).lines.map(({ seq }) => seq);
    expect(new Set(seqs).size).to.equal(seqs.length);
  });

  it('is for owners and admins, and refuses what it does not know', async () => {
    const hash = createHash('sha256').update('veras-key').digest('hex');
    const kernel = await bootTestKernel({ config: `api_key = "root-key-0"\n${OPEN_RATE}\n[[users]]\nname = "vera"\nrole = "user"\napi_key_hash = "sha256:${hash}"\n`, key: 'root-key-0' });
    expect((await kernel.as('veras-key').get('/api/agents')).status).to.equal(200);
    expect((await kernel.as('veras-key').get('/api/logs/stream')).status).to.equal(403);
    expect((await kernel.as('nobody').get('/api/logs/stream')).status).to.equal(401);
    for (const bad of ['level=loud', 'lines=-1', 'agent_id=x']) expect((await kernel.http.get(`/api/logs/stream?${bad}`)).status, bad).to.equal(400);
  });
});
