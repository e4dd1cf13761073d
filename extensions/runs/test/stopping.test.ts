/** A stop ends what was accepted before it, whatever becomes of that in the same moment. */
import { describeOnEngines, OWNER } from '@svc/testing';
import { createJournal, type PlatformJournal } from '@svc/platform/journal/journal';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

describeOnEngines('a stop', () => {
  afterEach(stopModelKernels);

  type Interrupt = PlatformJournal['interrupt'];
  const bootWatched = (script: Parameters<typeof bootWithModel>[0], watch: (runId: string, reported: boolean) => Promise<void>): Promise<ModelKernel> =>
    bootWithModel(script, {
      factories: {
        createJournal: (options) => {
          const journal = createJournal(options);
          const interrupt: Interrupt = async (runId, reason) => {
            const reported = await journal.interrupt(runId, reason);
            await watch(runId, reported);
            return reported;
          };
          return { ...journal, interrupt };
        },
      },
    });
  const newest = async (svc: ModelKernel, parentId?: string) => (await svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent', ...(parentId === undefined ? {} : { parentId }) }))[0];

  it('ends a queued run that begins between the look at who holds it and its cancelling', async () => {
    let letGo = (): void => undefined;
    const latch = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let hasBegun = false;
    const svc = await bootWatched(
      ({ index }) => (index === 0 ? latch.then(() => ({ text: 'first' })) : { hang: true }),
      async (runId, reported) => {
        if (reported || hasBegun) return;
        hasBegun = true;
        letGo();
        await until(async () => (await svc.kernel.daemon.parts.journal.get(OWNER, runId))?.status === 'running');
      },
    );
    const send = (message: string) => svc.http.post(`/api/agents/${svc.agent.id}/message`, { message });
    const first = send('one');
    await until(() => svc.model.requests.length === 1);
    const second = send('two');
    await until(async () => (await newest(svc))?.status === 'queued');

    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`);

    expect(hasBegun).to.equal(true);
    expect(body.stopped).to.be.greaterThan(0);
    expect((await first).body.response).to.equal('first');
    expect((await second).body.finish).to.equal('cancelled');
    expect((await newest(svc))?.status).to.equal('cancelled');
  });

  it('ends what the run asked of another agent after the stop had looked for that', async () => {
    let isStopped = false;
    const svc = await bootWithModel(({ body }) => (body.messages.at(-1).content === 'ask' ? { toolCalls: [{ name: 'agent_send', args: { agent_id: 'other', message: 'wait' } }] } : { hang: true }), {
      factories: {
        createJournal: (options) => {
          const journal = createJournal(options);
          return {
            ...journal,
            open: async (request, ...rest) => {
              // The asking run is stopped, with all that it has begun, before this one is there.
              if (request.parentId !== undefined && !isStopped) {
                isStopped = true;
                await svc.http.expect(200, 'POST', `/api/agents/${asking}/stop`);
              }
              return journal.open(request, ...rest);
            },
          };
        },
      },
    });
    const spawn = async (name: string): Promise<string> =>
      (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\nagent_message = ["*"]\n` })).body.agent_id;
    await spawn('other');
    const asking = await spawn('asking');
    const { headers } = await svc.http.expect(200, 'POST', `/api/agents/${asking}/message`, { message: 'ask' });

    await until(async () => (await newest(svc, headers.get('x-svc-run') ?? ''))?.status === 'cancelled');
  });
});
