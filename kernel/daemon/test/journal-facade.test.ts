/** A generation that has closed keeps no lease: what arrives late is given back, and giving back is always allowed. */
import { actorOf, type ExtensionContext } from '@svc/api';
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
      const gate = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        answer = async () => {
          resolve();
          answer = async () => undefined;
          await gate;
        };
      });
      return { asked, letGo: () => letGo() };
    },
  };
};

const claimable = async (kernel: TestKernel): Promise<number> => (await kernel.daemon.parts.journal.claim('work', 10)).length;

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
