/** Long talks with a real model server: how often they are summarised, what the model is asked, and that nothing is lost. */
import { expect } from 'chai';
import type { RecordedRequest } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const TURNS = 250;
const MAX_MESSAGES = 80;
/** A compaction runs beside the conversation: messages that come meanwhile are asked with what stands. */
const MEANWHILE = 20;

const isSummaryAsked = ({ body }: RecordedRequest): boolean => JSON.stringify(body).includes('Summarise the conversation');
const textOf = ({ content }: { content: unknown }): string => (typeof content === 'string' ? content : JSON.stringify(content));
const numbersIn = (text: string): number[] => [...text.matchAll(/question (\d+);/g)].map((match) => Number(match[1]));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

describe('a long conversation', function () {
  this.timeout(180_000);
  afterEach(stopModelKernels);

  const transcripts = (svc: ModelKernel): string[] => svc.model.requests.filter(isSummaryAsked).map(({ body }) => textOf(body.messages.at(-1)));
  const history = async (svc: ModelKernel) => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body;

  it('of 500 messages is summarised as often as it grows past eighty, each message once, and shows all of them', async () => {
    let summaries = 0;
    let held: () => void = () => undefined;
    const svc = await bootWithModel(async (request) => {
      if (!isSummaryAsked(request)) return { text: `answer to ${numbersIn(textOf(request.body.messages.at(-1))).at(-1)};` };
      summaries += 1;
      // Some messages come while it is made.
      await new Promise<void>((resolve) => {
        held = resolve;
      });
      return { text: `SUMMARY ${summaries}` };
    });
    let since = 0;
    let seen = 0;
    for (const n of upTo(TURNS)) {
      await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: `question ${n};` });
      since = summaries > seen ? since + 1 : 0;
      if (since < 2) continue;
      held();
      seen = summaries;
      const made = seen;
      await until(async () => (await history(svc)).compacted_summary === `SUMMARY ${made}`);
    }

    // After 80 messages, and then whenever 60 have joined the 20 that stay.
    expect(summaries).to.be.within(6, 8);
    const covered = transcripts(svc).map(numbersIn);
    expect(covered.flat()).to.deep.equal(upTo(covered.flat().length));
    for (const [index, changeEvents] of transcripts(svc).entries())
      expect(changeEvents.startsWith(index === 0 ? 'User: question 1;' : `Earlier: SUMMARY ${index}\n`), changeEvents.slice(0, 60)).to.equal(true);
    for (const { body } of svc.model.requests.filter((request) => !isSummaryAsked(request))) {
      expect(body.messages.length).to.be.at.most(MAX_MESSAGES + MEANWHILE);
      const asked = numbersIn(body.messages.map(textOf).join('\n'));
      // Nothing between the summary and the newest is left out or told twice.
      expect(asked).to.deep.equal(upTo(asked.at(-1) ?? 0).slice(-asked.length));
    }
    const { messages, message_count } = await history(svc);
    expect(message_count).to.equal(2 * TURNS);
    expect(messages.map(({ content }: { content: string }) => content)).to.deep.equal(upTo(TURNS).flatMap((n) => [`question ${n};`, `answer to ${n};`]));
  });

  it('of a few long messages is summarised before the window of the model is full', async () => {
    const window = 8_000;
    const svc = await bootWithModel((request) => ({ text: isSummaryAsked(request) ? 'IN SHORT' : 'ok' }));
    const { agent_id } = (
      await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "small"\n[model]\nprovider = "openai"\nmodel = "gpt-4o"\ncontext_window = ${window}\nmax_tokens = 1000\n` })
    ).body;
    for (const n of upTo(12)) {
      await svc.http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message: `question ${n}; ${'words '.repeat(700)}` });
    }
    await until(async () => (await svc.http.expect(200, 'GET', `/api/agents/${agent_id}/session`)).body.compacted_summary === 'IN SHORT');
    expect(svc.model.requests.filter(isSummaryAsked).length).to.be.within(1, 6);
    for (const { body } of svc.model.requests) expect(body.messages.map(textOf).join('').length / 4).to.be.at.most(window);
    const asked = svc.model.requests.filter((request) => !isSummaryAsked(request)).map(({ body }) => numbersIn(body.messages.map(textOf).join('\n')));
    for (const [index, numbers] of asked.entries()) expect(numbers.at(-1)).to.equal(index + 1);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${agent_id}/session`)).body.message_count).to.equal(24);
  });

  it('is compacted by one of two that ask at once, and messages that come meanwhile stand behind in their order', async () => {
    let release: () => void = () => undefined;
    const svc = await bootWithModel(async (request) => {
      if (!isSummaryAsked(request)) return { text: 'ok' };
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { text: 'IN SHORT' };
    });
    const say = (n: number) => svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: `question ${n};` });
    for (const n of upTo(15)) await say(n);
    const compact = () => svc.http.post(`/api/agents/${svc.agent.id}/session/compact`);
    const first = compact();
    await until(() => transcripts(svc).length === 1);
    const second = await compact();
    expect([second.status, second.body.code]).to.deep.equal([409, 'sessions_compaction_busy']);
    for (const n of [16, 17, 18]) await say(n);
    release();
    expect((await first).body).to.deep.equal({ status: 'compacted', message: '10 messages were summarised, the newest 20 are unchanged.', summarised: 10, kept: 20, summary_chars: 8 });
    await say(19);
    const asked = svc.model.requests.at(-1)?.body.messages.map(textOf).join('\n') ?? '';
    expect(asked).to.contain('IN SHORT');
    expect(numbersIn(asked)).to.deep.equal(upTo(19).slice(5));
    expect(numbersIn(JSON.stringify((await history(svc)).messages))).to.deep.equal(upTo(19));
  });
});
