/** What other areas put into a prompt, and what stays of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Recalled, RunContext, RunPrompt, RunRecall } from '@svc/ext-runs/contract';
import { fixtureExtension, OPEN_RATE, OWNER } from '@svc/testing';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

interface World {
  readonly asked: string[];
  readonly questions: Array<Record<string, unknown>>;
  recalled: readonly Recalled[] | Error;
  base: { text: string; source?: string } | undefined;
  slowMs: number;
}

const NOTE: Recalled = { id: 'm1', text: 'Ann likes tea.', origin: { labels: ['ExternalNetwork'], source: 'a page of May' } };

describe('the prompt of a run', () => {
  let home: string;
  let world: World;

  const mind = () =>
    fixtureExtension({
      id: 'mind',
      manifest: { hooks: ['run.context', 'run.prompt', 'run.recall'].map((name) => ({ name })) },
      definition: {
        activate: (ctx) => {
          ctx.hooks.tap(RunPrompt, () => {
            world.asked.push('prompt');
            return world.base;
          });
          ctx.hooks.tap(RunContext, async (text, { message, sessionId, peerId }) => {
            world.asked.push('context');
            if (world.slowMs > 0) await ctx.clock.sleep(world.slowMs);
            return `${text}\n\nContext ${world.asked.length} for ${message} in ${sessionId} of ${peerId ?? 'nobody'}.`;
          });
          ctx.hooks.tap(RunRecall, ({ kind, message, sessionId, budgetTokens }) => {
            world.asked.push('recall');
            world.questions.push({ kind, message, sessionId, budgetTokens });
            if (world.recalled instanceof Error) throw world.recalled;
            return [...world.recalled];
          });
        },
      },
    });
  const boot = (script: Script | readonly ScriptedAnswer[], config = ''): Promise<ModelKernel> =>
    bootWithModel(script, { home, stopDrainMs: 100, extra: [mind()], config: `${OPEN_RATE}[extensions]\nenable = ["mind"]\n${config}` });
  const send = (svc: ModelKernel, message: string, more: object = {}) => svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message, ...more });
  const sent = (svc: ModelKernel, at: number): Array<{ role: string; content: string }> => svc.model.requests[at]?.body.messages ?? [];
  const systemOf = (svc: ModelKernel, at: number): string => sent(svc, at)[0]?.content ?? '';
  const textOf = (svc: ModelKernel, at: number): string => JSON.stringify(sent(svc, at).slice(1));
  const history = async (svc: ModelKernel) => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages;
  const toolCall = { text: '', toolCalls: [{ name: 'system_time', args: {} }] };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-prompt-'));
    world = { asked: [], questions: [], recalled: [NOTE], base: undefined, slowMs: 0 };
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('Q1 Q2 recalls once for a message, before it; later requests begin with the same text', async () => {
    const svc = await boot([toolCall, { text: 'tea' }, { text: 'yes' }]);
    await send(svc, 'what does Ann like?');
    world.recalled = [];
    await send(svc, 'are you sure?');

    expect(world.asked.filter((one) => one === 'recall')).to.have.length(2);
    expect(world.questions[0]).to.include({ kind: 'normal', message: 'what does Ann like?', sessionId: svc.agent.session_id, budgetTokens: 2_000 });
    const first = sent(svc, 0)[1];
    expect(JSON.stringify(first)).to.match(/a page of May.*Ann likes tea\..*what does Ann like\?/);
    for (const at of [1, 2]) expect(sent(svc, at)[1], `request ${at}`).to.deep.equal(first);
    const [question, ...rest] = await history(svc);
    expect(question).to.deep.include({ role: 'User', content: 'what does Ann like?', recalled: [{ id: 'm1', by: 'mind', source: 'a page of May', content: 'Ann likes tea.' }] });
    expect(JSON.stringify(rest)).to.not.contain('Ann likes tea.');
    const raw = (await svc.http.expect(200, 'GET', `/api/sessions/${svc.agent.session_id}`)).body;
    expect(JSON.stringify(raw)).to.contain('Ann likes tea.');
  });

  it('Q2 shows it in the trace of its run', async () => {
    const svc = await boot([{ text: 'tea' }]);
    world.base = { text: 'You are arm B.', source: 'arm-b' };
    const { body } = await send(svc, 'what does Ann like?');
    const trace = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/traces?run_id=${body.run_id}`)).body;
    expect(trace.recalled).to.deep.equal([{ id: 'm1', by: 'mind', source: 'a page of May', labels: ['ExternalNetwork'], content: 'Ann likes tea.' }]);
    expect(trace.run.prompt_source).to.equal('arm-b');
  });

  it('Q1 Q3 asks for the prompt once for a run, and after a restart goes on with what it had', async () => {
    const first = await boot([toolCall, { hang: true }]);
    world.base = { text: 'You are arm B.', source: 'arm-b' };
    const answer = first.http.post(`/api/agents/${first.agent.id}/message`, { message: 'go' }).catch(() => undefined);
    await until(() => first.model.requests.length === 2);
    expect(systemOf(first, 1)).to.equal(systemOf(first, 0));
    expect(systemOf(first, 0)).to.match(new RegExp(`^You are arm B\\.[^]*Context \\d for go in ${first.agent.session_id} of nobody\\.$`));
    await first.kernel.stop();
    await answer;
    world.base = { text: 'You are arm C.' };
    world.recalled = [];

    const second = await boot([{ text: 'done' }]);
    await until(async () => (await history(second)).at(-1)?.content === 'done');
    expect(systemOf(second, 0)).to.equal(systemOf(first, 0));
    expect(sent(second, 0)[1]).to.deep.equal(sent(first, 0)[1]);
    expect(world.asked.toSorted()).to.deep.equal(['context', 'prompt', 'recall']);
    const [run] = await second.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent' });
    expect(run?.input, 'what stays of the prompt').to.deep.include({ prompt: { source: 'arm-b' } });
  });

  it('Q1 asks nobody twice whose answer is slower than the message is accepted', async () => {
    const svc = await boot([{ text: 'tea' }]);
    world.slowMs = 250;
    await send(svc, 'what does Ann like?');
    expect(world.asked.toSorted()).to.deep.equal(['context', 'prompt', 'recall']);
    expect(textOf(svc, 0).split('Ann likes tea.')).to.have.length(2);
  });

  it('Q4 leaves out what is more than was asked for', async () => {
    world.recalled = [NOTE, { ...NOTE, id: 'm2', text: 'x'.repeat(400) }, { ...NOTE, id: 'm3', text: 'Bob likes milk.' }];
    const svc = await boot([{ text: 'ok' }], '[runs]\nrecall_max_tokens = 100\n');
    await send(svc, 'what do they like?');
    expect(textOf(svc, 0)).to.contain('Ann likes tea.').and.contain('Bob likes milk.').and.not.contain('xxx');
  });

  it('answers without what could not be recalled', async () => {
    const svc = await boot([{ text: 'ok' }]);
    world.recalled = new Error('the memory is broken');
    expect((await send(svc, 'go')).body.response).to.equal('ok');
    expect(textOf(svc, 0)).to.contain('go').and.not.contain('Recalled');
  });

  it('Q2 says which kind of message asks, and keeps nothing of one beside the conversation', async () => {
    const svc = await boot([{ text: 'one' }, { text: 'two' }]);
    await send(svc, 'a secret question', { incognito: true });
    await send(svc, 'an aside', { ephemeral: true });
    expect(world.questions.map(({ kind, sessionId }) => [kind, sessionId])).to.deep.equal([
      ['incognito', svc.agent.session_id],
      ['side_question', svc.agent.session_id],
    ]);
    expect(textOf(svc, 0)).to.contain('Ann likes tea.');
    expect(await history(svc)).to.deep.equal([]);
    const [, incognito] = await svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent' });
    expect(JSON.stringify(incognito)).to.not.contain('secret question').and.not.contain('Ann likes');
  });
});
