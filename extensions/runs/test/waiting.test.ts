/** A tap that answers `suspend` puts the run to sleep in the journal, across restart, until somebody wakes it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExtensionContext, ToolAfter, ToolBefore, Type, defineRoute, reply } from '@svc/api';
import { OPEN_RATE, type TestKernel, bootTestKernel, fixtureExtension, stopTestKernels } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';

/** Asks a person before `file_write`; POST /api/ask/{id} decides. What it asked and its decisions live in the test, as approvals keeps them in its table. */
const asking = (decisions: Map<string, boolean>, questions: Map<string, string>) =>
  fixtureExtension({
    id: 'asking',
    manifest: { hooks: [{ name: 'tool.before' }] },
    contributions: { routes: ['POST /api/ask/{id}'] },
    definition: {
      activate(ctx: ExtensionContext) {
        ctx.hooks.tap(ToolBefore, ({ tool, call, digest }) => {
          if (tool.name !== 'file_write') return undefined;
          const decided = decisions.get(digest);
          if (decided === true) return undefined;
          if (decided === false) return { deny: 'A person said no.', code: 'asked_no' };
          questions.set(`ask:${call.callId}`, digest);
          return { suspend: { reason: 'a person has to allow file_write', wakeKey: `ask:${call.callId}`, data: { digest } } };
        });
        ctx.routes.add(
          defineRoute({
            id: 'ask.decide',
            method: 'POST',
            path: '/api/ask/{id}',
            summary: 'Decide',
            auth: 'bearer',
            permission: 'ask.write',
            cost: 1,
            params: Type.Object({ id: Type.String() }),
            body: Type.Object({ digest: Type.Optional(Type.String()), allow: Type.Boolean() }),
            responses: { 200: Type.Object({ woken: Type.Boolean() }) },
            handler: async (req) => {
              const digest = questions.get(req.params.id);
              if (digest !== undefined) decisions.set(digest, req.body.allow);
              return reply(200, { woken: await ctx.journal.wake(req.actor, req.params.id, { allow: req.body.allow }) });
            },
          }),
        );
      },
    },
  });

describe('a run that waits for a person', () => {
  afterEach(stopTestKernels);

  const assistant = async (kernel: TestKernel): Promise<string> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  const ask = { message: 'write hello to notes.txt' };

  it('answers the caller at once with what it waits for', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["asking"]`, extra: [asking(new Map(), new Map())] });

    const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${await assistant(kernel)}/message`, ask);

    expect(body.waiting.run_id).to.equal(body.run_id);
    expect(body.waiting.approval_id).to.match(/^ask:/);
  });

  it('is asked about once its call is stored', async () => {
    const seen: Array<readonly [isProvisional: boolean, isStored: boolean]> = [];
    let read: () => Promise<string> = () => Promise.reject(new Error('It has not started.'));
    const watching = fixtureExtension({
      id: 'watching',
      manifest: { hooks: [{ name: 'tool.before' }] },
      definition: {
        activate: (ctx) => {
          ctx.hooks.tap(ToolBefore, async ({ call, isProvisional = false }) => {
            seen.push([isProvisional, (await read()).includes(call.callId)]);
            return { suspend: { reason: 'a person has to allow it', wakeKey: call.callId } };
          });
        },
      },
    });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["watching"]`, extra: [watching] });
    const agent = await assistant(kernel);
    read = async () => JSON.stringify((await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body);

    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);

    expect(seen).to.deep.equal([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });

  it('goes on after a yes, in a later life of the daemon, and does the work once', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-wait-'));
    const decisions = new Map<string, boolean>();
    const questions = new Map<string, string>();
    const boot = () => bootTestKernel({ home, config: `${OPEN_RATE}[extensions]\nenable = ["asking"]`, extra: [asking(decisions, questions)] });
    const first = await boot();
    const agent = await assistant(first);
    const { body } = await first.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);
    await first.stop();

    const second = await boot();
    await second.http.expect(200, 'POST', `/api/ask/${encodeURIComponent(body.waiting.approval_id)}`, { allow: true });
    const events = await second.http.events('POST', `/api/agents/${agent}/message/stream`, ask, { 'last-event-id': `${body.run_id}.1.1` });

    expect(events.at(-1)?.event).to.equal('done');
    const { body: file } = await second.http.expect(200, 'GET', `/api/agents/${agent}/files/notes.txt`);
    expect(file.content).to.equal('hello');
    await second.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('is not cancelled because nobody watches it', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const kernel = await bootTestKernel({ clock, config: `${OPEN_RATE}[extensions]\nenable = ["asking"]\n[runs]\nunwatched = "cancel"`, extra: [asking(new Map(), new Map())] });
    const agent = await assistant(kernel);
    const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);
    await clock.advance(60_000);

    const { body: decided } = await kernel.http.expect(200, 'POST', `/api/ask/${encodeURIComponent(body.waiting.approval_id)}`, { allow: true });

    expect(decided.woken).to.equal(true);
    const events = await kernel.http.events('POST', `/api/agents/${agent}/message/stream`, ask, { 'last-event-id': `${body.run_id}.1.1` });
    expect(events.at(-1)?.event).to.equal('done');
  });

  it('tells the model of a no', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["asking"]`, extra: [asking(new Map(), new Map())] });
    const agent = await assistant(kernel);
    const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);
    await kernel.http.expect(200, 'POST', `/api/ask/${encodeURIComponent(body.waiting.approval_id)}`, { allow: false });
    await kernel.http.events('POST', `/api/agents/${agent}/message/stream`, ask, { 'last-event-id': `${body.run_id}.1.1` });

    const { body: session } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);

    expect(session.messages.flatMap((message: { tools?: Array<{ result: string }> }) => message.tools ?? [])[0].result).to.contain('A person said no');
    expect((await kernel.http.get(`/api/agents/${agent}/files/notes.txt`)).status).to.equal(404);
  });

  it('gives way to a new message, whose answer does not wait', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["asking"]`, extra: [asking(new Map(), new Map())] });
    const agent = await assistant(kernel);
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);

    const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'what time is it?' });

    expect(body.waiting).to.equal(undefined);
    expect(body.response).to.be.a('string').and.not.equal('');
    const { body: session } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    expect(JSON.stringify(session.messages)).to.contain('Skipped');
  });

  it('is ended by stop', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["asking"]`, extra: [asking(new Map(), new Map())] });
    const agent = await assistant(kernel);
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, ask);

    const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent}/stop`);

    expect(body).to.include({ message: 'Run cancelled', stopped: 1 });
    expect((await kernel.http.expect(200, 'POST', `/api/agents/${agent}/stop`)).body.stopped).to.equal(0);
  });
});

describe('messages to one session', () => {
  afterEach(stopTestKernels);

  /** Counts the tool calls that were made. */
  const counting = () => {
    const made = { calls: 0 };
    const extension = fixtureExtension({
      id: 'counting',
      manifest: { hooks: [{ name: 'tool.after' }] },
      definition: {
        activate(ctx) {
          ctx.hooks.tap(ToolAfter, () => {
            made.calls += 1;
            return undefined;
          });
        },
      },
    });
    return { made, extension };
  };

  it('are answered one after the other, each once', async () => {
    const { made, extension } = counting();
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["counting"]`, extra: [extension] });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;

    const answers = await Promise.all(
      ['write one to 1.txt', 'write two to 2.txt', 'write three to 3.txt'].map((message) => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message })),
    );

    expect(new Set(answers.map((answer) => answer.body.run_id)).size).to.equal(3);
    expect(made.calls).to.equal(3);
    const { body: session } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    expect(session.messages.filter((message: { role: string }) => message.role === 'User')).to.have.length(3);
  });

  it('with one key are one run, and another body under the key is refused', async () => {
    const kernel = await bootTestKernel();
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    const send = (message: string) => kernel.http.post(`/api/agents/${agent}/message`, { message }, { 'idempotency-key': 'k1' });

    const [first, second] = await Promise.all([send('what time is it?'), send('what time is it?')]);
    const third = await send('what time is it?');
    const other = await send('list files');

    expect(new Set([first?.body.run_id, second?.body.run_id, third.body.run_id]).size).to.equal(1);
    expect(third.headers.get('idempotency-replayed')).to.equal('true');
    expect(third.body.response).to.equal(first?.body.response);
    expect(other.status).to.equal(409);
  });
});
