/** Sessions that are shortened, by themselves or because somebody asks: what the model is asked, what stays, and what is said when it cannot be done. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryDraft } from '@svc/ext-sessions/contract';
import { OWNER, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { RecordedRequest, Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { createSessionStore } from '../src/store.js';

const turn = (n: number): EntryDraft[] => [
  { kind: 'user', runId: 'r', parts: [{ type: 'text', text: `question ${n};` }] },
  { kind: 'assistant', runId: 'r', parts: [{ type: 'text', text: `answer ${n};` }] },
];
const turns = (count: number, from = 1): EntryDraft[] => Array.from({ length: count }, (_, n) => turn(from + n)).flat();
const isSummaryAsked = ({ body }: RecordedRequest): boolean => JSON.stringify(body).includes('Summarise the conversation');

describe('a session that is shortened', () => {
  afterEach(stopModelKernels);

  /** Everything else is answered `ok`. */
  const boot = (summary: ScriptedAnswer | Script, options: Parameters<typeof bootWithModel>[1] = {}): Promise<ModelKernel> =>
    bootWithModel((request) => (isSummaryAsked(request) ? (typeof summary === 'function' ? summary(request) : summary) : { text: 'ok' }), options);

  /** The agent's session holds these entries, as if they had been said. */
  const seed = async (kernel: TestKernel, agent: { id: string; session_id: string }, drafts: readonly EntryDraft[], seq = 0): Promise<void> => {
    const db = kernel.daemon.parts.storage.dbFor({ id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said', 'shares'] });
    const store = createSessionStore(db);
    const at = '2026-01-01T00:00:00.000Z';
    const row = { id: agent.session_id, agentId: agent.id, ownerId: 'owner' };
    await db.commit([store.insertSession({ ...row, label: null, at }), ...store.insertEntries({ ...row, seq }, drafts, at)]);
  };
  const compact = (svc: ModelKernel) => svc.http.post(`/api/agents/${svc.agent.id}/session/compact`);
  const say = (svc: ModelKernel, message: string) => svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message });
  const summaryOf = async (svc: ModelKernel): Promise<string | null> => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.compacted_summary;
  const summarised = async (svc: ModelKernel): Promise<string> => {
    await until(async () => (await summaryOf(svc)) !== null);
    return String(await summaryOf(svc));
  };
  const summariesAsked = (svc: ModelKernel) => svc.model.requests.filter(isSummaryAsked);
  const transcriptOf = (request: RecordedRequest | undefined): string => request?.body.messages.at(-1).content ?? '';

  it('because somebody asks keeps the newest 20 messages, says so, and what is read next is the summary and those', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    await seed(svc.kernel, svc.agent, turns(12));

    const { status, body } = await compact(svc);

    expect([status, body]).to.deep.equal([200, { status: 'compacted', message: '4 messages were summarised, the newest 20 are unchanged.', summarised: 4, kept: 20, summary_chars: 11 }]);
    expect(transcriptOf(summariesAsked(svc)[0])).to.equal('User: question 1;\nAssistant: answer 1;\nUser: question 2;\nAssistant: answer 2;');
    const { temperature, max_tokens, tools } = summariesAsked(svc)[0]?.body ?? {};
    expect({ temperature, max_tokens, tools: tools ?? [] }).to.deep.equal({ temperature: 0.3, max_tokens: 1_024, tools: [] });
    await say(svc, 'and now?');
    const read = JSON.stringify(svc.model.requests.at(-1)?.body.messages);
    expect(read).to.contain('THEY TALKED').and.contain('question 3;').and.contain('and now?').and.not.contain('answer 2;');
  });

  it('again is shortened by what the summary before it does not cover, with that summary at hand', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    await seed(svc.kernel, svc.agent, turns(12));
    await compact(svc);
    expect((await compact(svc)).body).to.include({ status: 'ok' });
    await seed(svc.kernel, svc.agent, turns(3, 13), 25);
    await compact(svc);
    const asked = summariesAsked(svc);
    expect(asked).to.have.length(2);
    expect(transcriptOf(asked[1]))
      .to.match(/^Earlier: THEY TALKED\nUser: question 3;/)
      .and.not.contain('question 2;');
  });

  it('is left as it is while it has 20 messages or fewer, and nobody is asked', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    expect((await compact(svc)).body).to.deep.equal({ status: 'ok', message: 'The session has 0 messages; the newest 20 are never summarised.', summarised: 0, kept: 0, summary_chars: 0 });
    await seed(svc.kernel, svc.agent, turns(10));
    expect((await compact(svc)).body).to.deep.equal({ status: 'ok', message: 'The session has 20 messages; the newest 20 are never summarised.', summarised: 0, kept: 20, summary_chars: 0 });
    expect(svc.model.requests).to.have.length(0);
  });

  it('is told to the model with its images, calls and results by name, each cut to 500 letters', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    const long = 'y'.repeat(600);
    await seed(svc.kernel, svc.agent, [
      {
        kind: 'user',
        runId: 'r',
        parts: [
          { type: 'text', text: 'look' },
          { type: 'image', mediaType: 'image/png', data: 'AA==' },
        ],
      },
      { kind: 'tool_call', runId: 'r', callId: 'c', tool: 'web_fetch', args: { long } },
      { kind: 'tool_result', runId: 'r', callId: 'c', tool: 'web_fetch', content: long },
      { kind: 'tool_call', runId: 'r', callId: 'd', tool: 'list' },
      ...turns(11),
    ]);
    await compact(svc);
    const [user, call, result, list] = transcriptOf(summariesAsked(svc)[0]).split('\n');
    expect(user).to.equal('User: look [image]');
    expect(call).to.equal(`Assistant called web_fetch ${JSON.stringify({ long }).slice(0, 500)}`);
    expect(result).to.equal(`Result of web_fetch: ${'y'.repeat(500)}`);
    expect(list).to.equal('Assistant called list {}');
  });

  it('is told to the model in pieces of 80,000 letters, each with the summary of those before it', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    await seed(svc.kernel, svc.agent, [{ kind: 'user', runId: 'r', parts: [{ type: 'text', text: `first word ${'z'.repeat(90_000)} last word` }] }, ...turns(12).slice(1)]);
    expect((await compact(svc)).body).to.include({ status: 'compacted', summarised: 4 });
    const changeEvents = summariesAsked(svc).map(transcriptOf);
    expect(changeEvents).to.have.length(2);
    expect(changeEvents[0])
      .to.have.length(80_000)
      .and.match(/^User: first word z/);
    expect(changeEvents[1]).to.match(/^Earlier: THEY TALKED\nz+ last word\nAssistant: answer 1;[\s\S]*answer 2;$/);
  });

  it('is told in smaller pieces to a model that reads less', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hi' });
    const small = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "small"\n[model]\nprovider = "openai"\nmodel = "gpt-4o"\ncontext_window = 4000\n' })).body.agent_id;
    const [agent] = (await svc.http.expect(200, 'GET', '/api/agents?q=small')).body.agents;
    await seed(svc.kernel, { id: small, session_id: agent.session_id }, [{ kind: 'user', runId: 'r', parts: [{ type: 'text', text: 'z'.repeat(15_000) }] }, ...turns(12).slice(1)]);
    await svc.http.expect(200, 'POST', `/api/agents/${small}/session/compact`);
    const changeEvents = summariesAsked(svc).map(transcriptOf);
    expect(changeEvents).to.have.length(2);
    for (const one of changeEvents) expect(one.length).to.be.at.most(8_020);
  });

  for (const [what, answer, why] of [
    ['refuses', { status: 400, message: 'not today' }, 'not today'],
    ['says nothing', { text: '  ' }, 'answered with nothing'],
  ] as const)
    it(`stays as it was, and somebody is told why, when the model ${what}; it may be asked again`, async () => {
      let refuses = true;
      const svc = await boot(() => (refuses ? answer : { text: 'THEY TALKED' }));
      await seed(svc.kernel, svc.agent, turns(12));
      const { status, body } = await compact(svc);
      expect([status, body.code]).to.deep.equal([500, 'sessions_compaction_failed']);
      expect(body.error).to.contain(why);
      expect(await summaryOf(svc)).to.equal(null);
      refuses = false;
      expect((await compact(svc)).body.status).to.equal('compacted');
    });

  it('is shortened by one at a time', async () => {
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const svc = await boot(async () => {
      await isOpen;
      return { text: 'THEY TALKED' };
    });
    await seed(svc.kernel, svc.agent, turns(12));
    const first = compact(svc);
    await until(() => summariesAsked(svc).length === 1);
    const second = await compact(svc);
    expect([second.status, second.body.code]).to.deep.equal([409, 'sessions_compaction_busy']);
    await say(svc, 'meanwhile'); // C3: no message waits for it
    open();
    expect((await first).status).to.equal(200);
    expect(await summaryOf(svc)).to.equal('THEY TALKED');
    await say(svc, 'and now?');
    expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages))
      .to.contain('meanwhile')
      .and.contain('THEY TALKED');
  });

  it('by itself is so at the first message after eighty, and not before', async () => {
    const svc = await boot({ text: 'THEY TALKED' });
    await seed(svc.kernel, svc.agent, turns(39));
    await say(svc, 'the 79th message');
    expect(summariesAsked(svc)).to.have.length(0);
    await say(svc, 'the 81st message');
    expect(await summarised(svc)).to.equal('THEY TALKED');
    expect(summariesAsked(svc)).to.have.length(1);
    await say(svc, 'and now?');
    expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages))
      .to.contain('the 79th message')
      .and.not.contain('question 1;');
  });

  for (const [what, answer] of [
    ['refuses', { status: 400, message: 'not today' }],
    ['says nothing', { text: '\n' }],
  ] as const)
    it(`C4 by itself has a note in the place of what was left out when the model ${what}`, async () => {
      const svc = await boot(answer);
      await seed(svc.kernel, svc.agent, turns(40));
      await say(svc, 'the 81st message');
      expect(await summarised(svc)).to.equal('60 earlier messages were omitted; no model could summarise them.');
    });

  it('C3 is so in the next life of the daemon, when an earlier one began it', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-shortening-'));
    try {
      const first = await boot({ text: 'IN VAIN' }, { home });
      await seed(first.kernel, first.agent, turns(12));
      const { journal } = first.kernel.daemon.parts;
      for (const sessionId of [first.agent.session_id, '00000000-0000-4000-8000-00000000000g']) {
        const { leased } = await journal.open({ kind: 'compaction', actor: OWNER, lane: `compaction:${sessionId}`, input: { agentId: first.agent.id, sessionId, through: 4 } });
        if (leased) await journal.release(leased);
      }
      await first.kernel.stop();

      const second = await boot({ text: 'THEY TALKED' }, { home });
      await summarised(second);
      await until(async () => (await second.kernel.daemon.parts.journal.list({ kind: 'compaction', actor: OWNER, status: ['queued', 'running'] })).length === 0);
      await second.kernel.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  describe('or read, over HTTP', () => {
    it('is the current one, or the one that is named, and shows its newest 5,000 entries', async () => {
      const svc = await boot({ text: 'ok' });
      await seed(svc.kernel, svc.agent, turns(2_501));
      const path = `/api/agents/${svc.agent.id}/session`;
      const { body } = await svc.http.expect(200, 'GET', path);
      expect(body.messages).to.have.length(5_000);
      expect(body.messages.at(0)?.content).to.equal('question 2;');
      expect(body.messages.at(-1)?.content).to.equal('answer 2501;');
      expect((await svc.http.expect(200, 'GET', `${path}?session_id=${svc.agent.session_id}`)).body.message_count).to.equal(5_000);
    });

    it('is begun with a label, and is the current one unless somebody says otherwise', async () => {
      const svc = await boot({ text: 'ok' });
      const path = `/api/agents/${svc.agent.id}/sessions`;
      const current = async () => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body;
      const aside = (await svc.http.expect(200, 'POST', path, { activate: false })).body;
      expect(aside).to.include({ label: null });
      expect((await current()).session_id).to.equal(svc.agent.session_id);
      const id = 'ABCDEF00-0000-4000-8000-000000000000';
      const { body } = await svc.http.expect(200, 'POST', path, { label: 'Work 1_a-b', session_id: id });
      expect(body).to.deep.equal({ session_id: id.toLowerCase(), label: 'Work 1_a-b' });
      await say(svc, 'hi');
      expect(await current()).to.include({ session_id: id.toLowerCase(), label: 'Work 1_a-b', message_count: 2 });
      await svc.http.expect(400, 'POST', path, { label: 'no/slash' });
      const other = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
      expect((await svc.http.expect(409, 'POST', `/api/agents/${other}/sessions`, { session_id: id })).body.code).to.equal('sessions_session_taken');
    });
  });
});
