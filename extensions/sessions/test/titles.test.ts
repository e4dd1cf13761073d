/** Titles: what a model is asked, and what is taken of its answer; and when it is asked at all. */
import { expect } from 'chai';
import { beginningOf, titleOf } from '../src/titling/title-text.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

const said = (kind: 'user' | 'assistant', text: string) => ({ kind, runId: null, seq: 1, at: '', parts: [{ type: 'text' as const, text }] });

describe('the title of a conversation', () => {
  it('is one line without markup, quotation marks or characters that are not seen', () => {
    const titles: ReadonlyArray<readonly [string, string | undefined]> = [
      ['A trip to Lisbon', 'A trip to Lisbon'],
      ['\n## **"A trip to Lisbon."**\nand more', 'A trip to Lisbon'],
      ['Title: A trip', 'A trip'],
      ['里斯本之旅。', '里斯本之旅'],
      ['a\u202Egnp.exe\u0000b', 'a gnp.exe b'],
      ['“”', undefined],
      ['  \n ', undefined],
    ];
    for (const [answer, title] of titles) expect(titleOf(answer), JSON.stringify(answer)).to.equal(title);
    expect(titleOf('x'.repeat(500))).to.have.length(80);
  });

  it('is made of the first message and the first answer, and of nothing where one is missing', () => {
    expect(beginningOf([said('user', 'hello'), said('assistant', ''), said('assistant', 'hi'), said('user', 'more')])).to.equal('User: hello\n\nAssistant: hi');
    expect(beginningOf([said('user', 'hello')])).to.equal(undefined);
    expect(beginningOf([said('assistant', 'hello')])).to.equal(undefined);
  });

  describe('in a daemon', () => {
    let svc: ModelKernel;
    before(async () => {
      svc = await bootWithModel(({ body }) => {
        const system = JSON.stringify(body.messages[0]);
        if (!system.includes('You name conversations')) return { text: 'an answer', usage: { input: 10, output: 5 } };
        return JSON.stringify(body).includes('unnamed') ? { status: 500 } : { text: '"Rivers of Europe"', usage: { input: 1_000, output: 1_000 } };
      });
    });
    after(stopModelKernels);

    const begun = async (name: string, message: string, more: object = {}): Promise<{ agent: string; session: string }> => {
      const agent = (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
      const session = (await svc.http.expect(200, 'GET', `/api/agents/${agent}`)).body.session_id;
      await svc.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message, session_id: session, ...more });
      return { agent, session };
    };
    const title = async (id: string): Promise<string | null> => (await svc.http.expect(200, 'POST', `/api/sessions/${id}/title`)).body.title;
    const row = async (id: string): Promise<Body> => (await svc.http.expect(200, 'GET', '/api/sessions?limit=500')).body.sessions.find(({ session_id }: Body) => session_id === id);
    const asked = (): number => svc.model.requests.filter(({ body }) => JSON.stringify(body).includes('You name conversations')).length;

    it('is asked for once, is shown by lists, and is charged to the agent', async () => {
      const { agent, session } = await begun('namer', 'which rivers are there?');
      expect(await row(session)).to.include({ label: 'which rivers are there?' });
      const before = asked();
      expect(await Promise.all([title(session), title(session)])).to.include('Rivers of Europe');
      expect(await title(session)).to.equal('Rivers of Europe');
      expect(asked() - before).to.equal(1);
      expect(await row(session)).to.include({ label: 'Rivers of Europe', is_labelled: false });
      expect((await svc.http.expect(200, 'GET', `/api/sessions/${session}`)).body.total_tokens, 'of the conversation itself').to.equal(15);
      expect((await svc.http.expect(200, 'GET', `/api/budget/agents/${agent}`)).body.hourly_tokens_used).to.equal(2_015);
    });

    it('never stands in the place of what a person called the conversation', async () => {
      const { session } = await begun('labeller', 'which rivers are there?');
      await svc.http.expect(200, 'PUT', `/api/sessions/${session}/label`, { label: 'Mine' });
      const before = asked();
      expect(await title(session)).to.equal(null);
      expect(asked()).to.equal(before);
      expect(await row(session)).to.include({ label: 'Mine' });
      const { session: other } = await begun('relabeller', 'which rivers are there?');
      await title(other);
      await svc.http.expect(200, 'PUT', `/api/sessions/${other}/label`, { label: 'Mine' });
      expect(await row(other)).to.include({ label: 'Mine' });
    });

    it('is not asked for where the setting says so', async () => {
      const { session } = await begun('untitled', 'which rivers are there?');
      await svc.http.expect(200, 'POST', '/api/config/set', { path: 'session.titles', value: false });
      const before = asked();
      expect(await title(session)).to.equal(null);
      expect(asked()).to.equal(before);
      await svc.http.expect(200, 'POST', '/api/config/set', { path: 'session.titles', value: true });
      expect(await title(session)).to.equal('Rivers of Europe');
    });

    it('is none where no model answers, and of a message that is not stored', async () => {
      const { session } = await begun('failing', 'unnamed');
      expect(await title(session)).to.equal(null);
      expect(await row(session)).to.include({ label: 'unnamed' });
      const { agent } = await begun('secret', 'a secret', { incognito: true });
      const hidden = (await svc.http.expect(200, 'POST', `/api/agents/${agent}/sessions`)).body.session_id;
      await svc.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'a secret', session_id: hidden, incognito: true });
      const before = asked();
      expect(await title(hidden)).to.equal(null);
      expect(asked()).to.equal(before);
    });
  });
});
