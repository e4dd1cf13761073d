/** What an area has not said of itself in its extension.json, it cannot do: each refusal by its name, each permission beside it. */
import {
  ConfigChanged,
  type ExtensionContext,
  HealthProbe,
  type HookDecl,
  SecretResolve,
  Type,
  defineAnswerProjection,
  defineConfig,
  defineEvent,
  defineFrames,
  defineService,
  defineStep,
  defineStreamProjection,
  defineWorker,
  method,
  reply,
} from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const which = method([], Type.String());
const Tunes = (version: string) => defineService('fluent', version, { which });
const Foreign = defineService('agents', '1.0.0', { which });
const Asked = defineStep('fluent.asked', '1.0.0', { policy: 'open', budgetMs: 50, subject: Type.Undefined() });
const Sung = defineEvent('fluent.sung', '1.0.0', Type.Object({ verses: Type.Integer() }));
const Section = defineConfig('fluent', Type.Object({ size: Type.Integer({ default: 3 }) }, { default: {} }));
const Count = defineWorker('fluent.count', { input: Type.Integer(), output: Type.Integer() });
const Frames = defineFrames('fluent', '1.0.0', { frames: { n: Type.Integer(), done: Type.Null() }, final: ['done'] });
const shownAs = (name: string) => defineStreamProjection(name, '1.0.0', { format: Frames, contentType: 'text/event-stream', args: Type.Undefined() });
const answeredAs = (name: string) => defineAnswerProjection(name, '1.0.0', { format: Frames, args: Type.Undefined() });

/** Says all that it does. */
const fluent: Partial<Manifest> = {
  provides: { fluent: ['1.0.0', '2.0.0'] },
  requires: {},
  optional: { agents: '^1.0.0' },
  hooks: [{ name: 'health.probe' }],
  defines: ['fluent.asked'],
  events: { publishes: ['fluent.sung'], listens: ['config.changed'] },
  config: [{ section: 'fluent' }],
};

/** Does all that `fluent` says. */
const declared = (ctx: ExtensionContext): void => {
  ctx.services.provide(Tunes('1.0.0'), { which: () => 'one' });
  ctx.services.provide(Tunes('2.0.0'), { which: () => 'two' });
  ctx.services.optional(Foreign);
  ctx.hooks.tap(HealthProbe, () => ({ name: 'fluent', status: 'ok' }));
  ctx.hooks.define(Asked);
  ctx.events.on(ConfigChanged, () => undefined);
  ctx.streams.project(shownAs('fluent.sse'), { encode: () => undefined });
  ctx.streams.answer(answeredAs('fluent.answer'), { answer: () => reply(200, {}) });
};

const boot = async () => {
  const seen = new Map<string, ExtensionContext>();
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["plain", "fluent"]\n[fluent]\nsize = 5\n`,
    extra: [
      fixtureExtension({ id: 'plain', definition: { activate: (ctx) => void seen.set(ctx.id, ctx) } }),
      fixtureExtension({
        id: 'fluent',
        manifest: fluent,
        contributions: { config: { fluent: Section.schema } },
        definition: {
          config: [Section],
          activate: (ctx) => {
            seen.set(ctx.id, ctx);
            declared(ctx);
          },
        },
      }),
    ],
  });
  const ctxOf = (id: string): ExtensionContext => {
    const ctx = seen.get(id);
    const status = kernel.daemon.lifecycle.statuses().find((one) => one.id === id);
    if (!ctx || status?.state !== 'active') throw new Error(`${id} did not start: ${JSON.stringify(status)}`);
    return ctx;
  };
  return { kernel, plain: ctxOf('plain'), fluent: ctxOf('fluent') };
};

const refusal = async (work: () => unknown): Promise<{ code: unknown; message: string }> => {
  try {
    await work();
    return { code: 'nothing was refused', message: '' };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { code: 'code' in error ? error.code : undefined, message: error.message };
  }
};

describe('what an extension.json does not name', () => {
  afterEach(stopTestKernels);

  it('is refused as daemon_not_declared, with the name and the field', async () => {
    const { plain } = await boot();
    const attempts: ReadonlyArray<readonly [field: string, name: string, attempt: () => unknown]> = [
      ['hooks', 'health.probe', () => plain.hooks.tap(HealthProbe, () => ({ name: 'x', status: 'ok' }))],
      ['defines', 'fluent.asked', () => plain.hooks.define(Asked)],
      ['provides', 'fluent', () => plain.services.provide(Tunes('1.0.0'), { which: () => 'x' })],
      ['requires', 'agents', () => plain.services.require(Foreign)],
      ['optional', 'agents', () => plain.services.optional(Foreign)],
      ['events.listens', 'config.changed', () => plain.events.on(ConfigChanged, () => undefined)],
      ['events.publishes', 'fluent.sung', () => plain.events.publish(Sung, { verses: 2 })],
      ['events.publishes', 'fluent.sung', () => plain.events.event(Sung, { verses: 2 })],
      ['config', 'fluent', () => plain.config.get(Section)],
      ['config', 'fluent', () => plain.config.onChange(Section, () => undefined)],
      ['workers', 'fluent.count', () => plain.workers.run(Count, 1)],
    ];
    for (const [field, name, attempt] of attempts) {
      const { code, message } = await refusal(attempt);
      expect(code, `${field} ${name}`).to.equal('daemon_not_declared');
      expect(message).to.contain(`plain may not use "${name}"`).and.to.contain(`"${field}"`);
    }
  });

  it('is refused to an area that names something near it: another version, another use, another section', async () => {
    const { fluent: ctx } = await boot();
    const attempts: ReadonlyArray<readonly [string, () => unknown]> = [
      ['a version that is not provided', () => ctx.services.provide(Tunes('1.1.0'), { which: () => 'x' })],
      ['a service it may only use while it is there', () => ctx.services.require(Foreign)],
      ['an event it only hears', () => ctx.events.publish(ConfigChanged, { sections: [] })],
      ['an event it only says', () => ctx.events.on(Sung, () => undefined)],
      ['a key at the top', () => ctx.config.get(defineConfig('/api_key', Type.String()))],
      ['a section of another area', () => ctx.config.get(defineConfig('agents', Type.Object({})))],
      ['a section of the kernel', () => ctx.config.get(defineConfig('api', Type.Object({})))],
    ];
    for (const [what, attempt] of attempts) expect((await refusal(attempt)).code, what).to.equal('daemon_not_declared');
  });

  it('is all there is to it: what is named is there', async () => {
    const { fluent: ctx, kernel } = await boot();
    expect(ctx.config.get(Section)).to.deep.equal({ size: 5 });
    ctx.events.publish(Sung, { verses: 2 });
    await ctx.db.commit([ctx.events.event(Sung, { verses: 2 })]);
    const fixture = kernel.daemon.lifecycle.status('fluent');
    expect(fixture?.contributes).to.deep.include({ service: ['fluent@1', 'fluent@2'], hook: ['fluent.asked'], tap: ['health.probe'], projection: ['fluent.sse@1', 'fluent.answer@1'] });
  });
});

describe('at the latch', () => {
  afterEach(stopTestKernels);

  it('a projection is registered under the id of its area only: daemon_foreign_name', async () => {
    const { fluent: ctx } = await boot();
    for (const name of ['runs.sse', 'fluentx.sse', 'fluent']) {
      for (const attempt of [() => ctx.streams.project(shownAs(name), { encode: () => undefined }), () => ctx.streams.answer(answeredAs(name), { answer: () => reply(200, {}) })]) {
        const { code, message } = await refusal(attempt);
        expect(code, name).to.equal('daemon_foreign_name');
        expect(message).to.contain(`"${name}"`).and.to.contain('"fluent."');
      }
    }
  });

  it('nobody calls a hook that its owner keeps for itself, with a declaration of its own making neither', async () => {
    const { plain } = await boot();
    const forged: HookDecl = { ...SecretResolve, callable: true };
    for (const hook of [SecretResolve, Asked, forged]) expect((await refusal(() => plain.hooks.use(hook))).code).to.equal('hook_not_callable');
  });

  it('a frame of another format or of a type that its format lacks is stream_wrong_format, one that does not fit contract_mismatch', async () => {
    const { fluent: ctx } = await boot();
    const other = defineFrames('other', '1.0.0', { frames: { n: Type.Integer() }, final: [] });
    const frameOf = (text: string): number => JSON.parse(text);
    ctx.streams.open(Frames, 'tune');
    ctx.streams.publish(Frames, 'tune', 'n', 1);
    expect((await refusal(() => ctx.streams.publish(other, 'tune', 'n', 2))).code).to.equal('stream_wrong_format');
    const undeclared = defineFrames('fluent', '1.0.0', { frames: { ...Frames.frames, more: Type.Integer() }, final: ['done'] });
    const attempt = await refusal(() => ctx.streams.publish({ ...undeclared, frames: Frames.frames } as typeof undeclared, 'tune', 'more', 2));
    expect(attempt.code).to.equal('stream_wrong_format');
    const { code, message } = await refusal(() => ctx.streams.publish(Frames, 'tune', 'n', frameOf('"two"')));
    expect(code).to.equal('contract_mismatch');
    expect(message).to.contain('A frame n of fluent@1, published by fluent');
    expect((await ctx.streams.state('tune'))?.seq).to.equal(1);
  });

  it('an event that does not fit is refused before it is said, in a commit and beside one', async () => {
    const { fluent: ctx } = await boot();
    const wrong: { verses: number } = JSON.parse('{ "verses": "two" }');
    for (const attempt of [() => ctx.events.publish(Sung, wrong), () => ctx.events.event(Sung, wrong)]) {
      const { code, message } = await refusal(attempt);
      expect(code).to.equal('contract_mismatch');
      expect(message).to.contain('The event fluent.sung of fluent');
    }
  });
});
