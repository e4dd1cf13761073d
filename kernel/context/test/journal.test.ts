/** A generation that has closed keeps no lease: what arrives late is given back, and giving back is always allowed. */
import { type ExtensionContext, Type, defineFrames } from '@svc/api';
import { actorOf, systemActor } from '@svc/api/internal';
import { createJournal } from '@svc/platform/journal/journal';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

interface Bench {
  readonly kernel: TestKernel;
  /** What the first generation of the area was given. */
  readonly ctx: ExtensionContext;
  /** The next open or claim of the area is done, and answered only when it is let go. */
  holdBack(): { readonly asked: Promise<void>; letGo(): void };
}

const Frames = defineFrames('runs', '1.0.0', { frames: { done: Type.Object({}) }, final: ['done'] });
const request = { kind: 'work', actor: actorOf('owner'), input: {}, lane: 'lane' };

const bootWorker = async (): Promise<Bench> => {
  const seen: ExtensionContext[] = [];
  let answer: () => Promise<void> = async () => undefined;
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["worker"]`,
    extra: [fixtureExtension({ id: 'worker', manifest: { kinds: ['work'] }, definition: { activate: (ctx) => void seen.push(ctx) } })],
    factories: {
      createJournal: (options) => {
        const journal = createJournal(options);
        const late = async <T>(kind: string, result: Promise<T>): Promise<T> => {
          const value = await result;
          if (kind === request.kind) await answer();
          return value;
        };
        return { ...journal, open: (...args) => late(args[0].kind, journal.open(...args)), claim: (...args) => late(args[0], journal.claim(...args)) };
      },
    },
  });
  const [ctx] = seen;
  if (!ctx) throw new Error('The area did not start.');
  return {
    kernel,
    ctx,
    holdBack: () => {
      let letGo = (): void => undefined;
      const latch = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        answer = async () => {
          resolve();
          answer = async () => undefined;
          await latch;
        };
      });
      return { asked, letGo: () => letGo() };
    },
  };
};

const claimable = async (kernel: TestKernel): Promise<number> => (await kernel.daemon.parts.journal.claim('work', 10)).length;

const refusal = (work: () => unknown): Promise<string> =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'none',
      (error: { code?: string }) => error.code ?? String(error),
    );

describe('an area that owns kinds of work', () => {
  afterEach(stopTestKernels);

  it('begins, claims, hears of and lists those, and no others', async () => {
    const { ctx } = await bootWorker();
    const actor = request.actor;
    for (const work of [
      () => ctx.journal.open({ ...request, kind: 'agent' }),
      () => ctx.journal.claim('agent', 1),
      () => ctx.journal.onReady('agent', () => undefined),
      () => ctx.journal.list({ actor, kind: 'agent' }),
      () => ctx.journal.list({ actor }),
      () => ctx.journal.byKey(actor, 'agent', 'key'),
    ])
      expect(await refusal(work), String(work)).to.equal('daemon_kind_not_own');
    const { run } = await ctx.journal.open({ ...request, key: 'key' });
    expect((await ctx.journal.list({ actor, kind: 'work' })).map(({ id }) => id)).to.deep.equal([run.id]);
    expect([(await ctx.journal.get(actor, run.id))?.id, (await ctx.journal.byKey(actor, 'work', 'key'))?.id]).to.deep.equal([run.id, run.id]);
    expect(await ctx.journal.interrupt(run.id, new Error('stop'))).to.equal(true);
  });

  it("does not see, cancel or interrupt another's, whoever asks", async () => {
    const { kernel, ctx } = await bootWorker();
    const { journal } = kernel.daemon.parts;
    const actor = systemActor('worker');
    const { run, leased } = await journal.open({ ...request, kind: 'agent', lane: 'theirs' });
    if (!leased) throw new Error('The lane was not free.');
    await journal.advance(leased, { intents: [{ seq: 1, kind: 'model', key: 'k', replay: 'safe', intent: {} }] });
    expect([await ctx.journal.get(actor, run.id), await ctx.journal.steps(actor, run.id), await ctx.journal.interrupt(run.id, new Error('stop'))]).to.deep.equal([undefined, [], false]);
    await journal.wait(leased, { reason: 'r', wakeKey: 'w' });
    expect(await ctx.journal.cancel(actor, run.id, { code: 'c', message: 'm' })).to.equal(false);
    expect((await journal.get(actor, run.id))?.status).to.equal('waiting');
  });

  it('sees the connections of its own sockets alone', async () => {
    const { ctx } = await bootWorker();
    expect(await refusal(() => ctx.sockets.connections('chatWithAgent'))).to.equal('daemon_socket_not_own');
    expect(ctx.sockets.connections('of-nobody')).to.deep.equal([]);
  });

  it('publishes to no topic of another', async () => {
    const { kernel, ctx } = await bootWorker();
    kernel.daemon.parts.streams.as('runs').open(Frames, 'a-run');
    expect(await refusal(() => ctx.streams.publish(Frames, 'a-run', 'done', {}))).to.equal('stream_not_writer');
  });

  it('is kept from starting when another has the kind', async () => {
    const rival = fixtureExtension({ id: 'rival', manifest: { kinds: ['own', 'agent'] }, definition: { activate: () => undefined } });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["rival"]`, extra: [rival] });
    const status = kernel.daemon.kernel.extensions().find(({ id }) => id === 'rival');
    expect([status?.state, status?.reason]).to.deep.equal(['pending', 'it claims runs of the kind "agent", which runs owns']);
  });
});

describe('a generation that has closed', () => {
  afterEach(stopTestKernels);

  it('gives back at once what it claimed before', async () => {
    const { kernel, ctx, holdBack } = await bootWorker();
    const { leased } = await ctx.journal.open(request);
    if (leased) await ctx.journal.release(leased);
    const { asked, letGo } = holdBack();
    const claimed = ctx.journal.claim('work', 1);
    await asked;
    await kernel.daemon.kernel.disable('worker', { force: true });

    letGo();

    expect(await claimed).to.deep.equal([]);
    expect(await claimable(kernel)).to.equal(1);
  });

  it('keeps no lease of a run that it opened before', async () => {
    const { kernel, ctx, holdBack } = await bootWorker();
    const { asked, letGo } = holdBack();
    const opening = ctx.journal.open(request);
    await asked;
    await kernel.daemon.kernel.disable('worker', { force: true });

    letGo();

    expect((await opening).leased).to.equal(undefined);
    expect(await claimable(kernel)).to.equal(1);
  });

  it('may give back, and nothing else', async () => {
    const { kernel, ctx } = await bootWorker();
    const { leased } = await ctx.journal.open(request);
    if (!leased) throw new Error('The lane was not free.');
    await kernel.daemon.kernel.disable('worker', { force: true });

    await ctx.journal.release(leased);

    const refused = await ctx.journal.advance(leased, { finish: { status: 'done' } }).catch((error: { code: string }) => error.code);
    expect(refused).to.equal('daemon_extension_stopped');
    expect(await claimable(kernel)).to.equal(1);
  });
});
