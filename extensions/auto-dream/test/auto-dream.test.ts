/** Dreams over HTTP, with a clock that the test moves and a model on its wire. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { systemClock } from '@svc/platform/clock/clock';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { failedAgain, nextAt } from '../src/due.js';
import type { DreamRow } from '../src/tables.js';

const KEYS = { owner: 'dreams-root-key', alice: 'dreams-alice-key', bob: 'dreams-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const HOUR = 3_600_000;
const MISSING = '00000000-0000-4000-8000-000000000000';

interface Sent {
  readonly tools: readonly string[];
  readonly text: string;
}

describe('dreams', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let ahead = 0;
  let dreamer = '';
  const sent: Sent[] = [];
  let mode: 'store' | 'forbidden' | 'fail' | 'hang' = 'store';
  before(async () => {
    const real = systemClock();
    const clock = { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() };
    world = await bootWithModel(
      (request) => {
        const { messages, tools = [] } = request.body;
        const text = JSON.stringify(messages);
        if (!text.includes('You are tidying your memory')) return { text: 'noted' };
        sent.push({ tools: tools.map((one: { function: { name: string } }) => one.function.name), text });
        if (mode === 'fail') return { status: 400, error: 'broken' };
        if (mode === 'hang') return { text: 'slow', delayMs: 60_000 };
        if (messages.at(-1).role === 'tool') return { text: 'I stored one fact.' };
        return { text: 'I look.', toolCalls: [mode === 'store' ? { name: 'memory_store', args: { key: 'tea', value: 'green' } } : { name: 'system_time', args: {} }] };
      },
      { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[auto_dream]\nenabled = true\nmin_sessions = 1\ncheck_interval_secs = 60\n${person('alice')}${person('bob')}`, key: KEYS.owner, clock },
    );
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    dreamer = await spawn('dreamer');
    await alice.expect(200, 'POST', `/api/agents/${dreamer}/message`, { message: 'I drink green tea.' });
  });
  beforeEach(() => {
    mode = 'store';
    sent.length = 0;
  });
  after(stopModelKernels);

  const spawn = async (name: string, more: object = {}, http = alice): Promise<string> =>
    (await http.expect(201, 'POST', '/api/agents', { manifest: { name, auto_dream_enabled: true, capabilities: { memory_read: ['*'], memory_write: ['*'] }, ...more } })).body.agent_id;
  const shown = async (id: string, http = alice) => (await http.expect(200, 'GET', '/api/auto-dream/status')).body.agents.find((one: { agent_id: string }) => one.agent_id === id);
  const trigger = async (id: string, http = alice) => (await http.expect(200, 'POST', `/api/auto-dream/agents/${id}/trigger`)).body;
  const until = async (id: string, is: (progress: { status: string; phase: string } | null) => boolean) => {
    for (let tries = 0; tries < 600; tries++) {
      const one = await shown(id);
      if (is(one.progress)) return one;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`the dream of ${id} is ${JSON.stringify((await shown(id)).progress)}`);
  };
  const ended = (id: string) => until(id, (progress) => progress !== null && progress.status !== 'running');

  it('D2 store with memory tools alone, and join no conversation', async () => {
    expect((await alice.expect(200, 'GET', '/api/auto-dream/status')).body).to.deep.include({ enabled: true, unavailable: null, min_hours: 24, min_sessions: 1, lock_dir: '' });
    expect(await shown(dreamer)).to.deep.include({ auto_dream_enabled: true, last_consolidated_at_ms: null, progress: null, can_abort: false, unavailable: null });
    expect(await trigger(dreamer)).to.deep.include({ fired: true, agent_id: dreamer });
    const { progress, last_consolidated_at_ms: at } = await ended(dreamer);
    expect(progress).to.deep.include({ status: 'completed', phase: 'done', tool_use_count: 1, memories_touched: ['tea'], error: null });
    expect(progress.turns.map((turn: { text: string }) => turn.text)).to.deep.equal(['I look.', 'I stored one fact.']);
    expect([at, progress.usage.input_tokens > 0]).to.deep.equal([progress.ended_at_ms, true]);
    expect(sent[0]?.tools).to.include.members(['memory_store', 'wiki_write']);
    expect(sent[0]?.tools.filter((name) => !/^(memory|knowledge|wiki)_/.test(name))).to.deep.equal([]);
    expect(sent[0]?.text).to.contain('I drink green tea.');
    expect((await alice.expect(200, 'GET', `/api/memory/agents/${dreamer}/kv/tea`)).body.value).to.equal('green');
    const session = JSON.stringify((await alice.expect(200, 'GET', `/api/agents/${dreamer}/session`)).body);
    expect(session).to.contain('green tea').and.not.to.contain('tidying');
  });

  it('D2 refuse other tools that a model names', async () => {
    mode = 'forbidden';
    expect((await trigger(dreamer)).fired).to.equal(true);
    await ended(dreamer);
    expect(sent.at(-1)?.text).to.contain('There is no tool system_time');
  });

  it('P1 read no conversation that was deleted', async () => {
    const id = await spawn('forgetful');
    await alice.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'My word is zebra.' });
    const { sessions } = (await alice.expect(200, 'GET', `/api/agents/${id}/sessions`)).body;
    for (const { session_id } of sessions) await alice.expect(200, 'DELETE', `/api/sessions/${session_id}`);
    await trigger(id);
    await ended(id);
    expect(sent[0]?.text).to.contain('## Your last conversations, as data\\n(none)');
  });

  it('D1 have one dream at a time, however often they are asked', async () => {
    mode = 'hang';
    const id = await spawn('sleeper');
    const answers = await Promise.all([trigger(id), trigger(id), trigger(id)]);
    expect(answers.filter(({ fired }) => fired)).to.have.length(1);
    await until(id, (progress) => progress?.phase === 'consolidate');
    expect((await alice.expect(200, 'POST', `/api/auto-dream/agents/${id}/abort`)).body).to.deep.include({ aborted: true, agent_id: id });
    expect((await ended(id)).progress).to.deep.include({ status: 'aborted' });
    expect((await alice.expect(200, 'POST', `/api/auto-dream/agents/${id}/abort`)).body.aborted).to.equal(false);
  });

  it('G2 dream for no person who may not see them, and not without their consent', async () => {
    for (const at of ['trigger', 'abort']) expect((await bob.expect(404, 'POST', `/api/auto-dream/agents/${dreamer}/${at}`)).body.code).to.equal('auto_dream_agent_not_found');
    expect((await alice.expect(404, 'POST', `/api/auto-dream/agents/${MISSING}/trigger`)).body.code).to.equal('auto_dream_agent_not_found');
    expect(await shown(dreamer, bob)).to.equal(undefined);
    await alice.expect(200, 'PUT', `/api/auto-dream/agents/${dreamer}/enabled`, { enabled: false });
    expect(await trigger(dreamer)).to.deep.include({ fired: false, task_id: null });
    expect((await alice.expect(200, 'PUT', `/api/auto-dream/agents/${dreamer}/enabled`, { enabled: true })).body).to.deep.equal({ agent_id: dreamer, enabled: true });
    expect((await trigger(await spawn('locked', { capabilities: {} }))).reason).to.contain('memory_read');
  });

  it('G1 dream once within their hours, and again after a failure no sooner than in an hour, three times a day', () => {
    const gates = { minHours: 24, minSessions: 1 };
    const start = Date.parse('2027-01-01T08:00:00.000Z');
    const row = (fields: object) =>
      ({ started_at: '2027-01-01T08:00:00.000Z', ended_at: '2027-01-01T08:10:00.000Z', status: 'completed', failures: 0, failed_on: null, ...fields }) as unknown as DreamRow;
    expect(nextAt(undefined, gates)).to.equal(undefined);
    for (const status of ['completed', 'aborted']) expect(nextAt(row({ status }), gates)).to.equal(start + 24 * HOUR);
    const failed = (failures: number) => row({ status: 'failed', failures, failed_on: '2027-01-01' });
    expect(nextAt(failed(1), gates)).to.equal(start + HOUR + HOUR / 6);
    expect(nextAt(failed(3), gates)).to.equal(Date.parse('2027-01-02T00:00:00.000Z'));
    expect(failedAgain(failed(2), start + HOUR)).to.deep.equal({ failures: 3, failed_on: '2027-01-01' });
    expect(failedAgain(failed(3), start + 24 * HOUR)).to.deep.equal({ failures: 1, failed_on: '2027-01-02' });
  });

  it('G1 begin by themselves when they are due, and count a failure', async () => {
    mode = 'fail';
    const id = await spawn('regular');
    await alice.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'Hello.' });
    ahead += 61_000;
    const { progress, next_eligible_at_ms: next } = await ended(id);
    expect(progress.status).to.equal('failed');
    expect(next).to.equal(progress.ended_at_ms + HOUR);
    mode = 'store';
    const witness = await spawn('witness');
    await alice.expect(200, 'POST', `/api/agents/${witness}/message`, { message: 'Hello.' });
    ahead += 61_000;
    await ended(witness);
    expect((await shown(id)).progress.task_id).to.equal(progress.task_id);
    await alice.expect(200, 'POST', `/api/agents/${id}/message`, { message: '/new' });
    await alice.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'Hello again.' });
    ahead += HOUR;
    await until(id, (one) => one?.status === 'completed');
  });
});
