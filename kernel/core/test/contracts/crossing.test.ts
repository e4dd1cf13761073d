/** What crosses between areas fits its declaration: looked at between builds, and never within one. */
import { Type, defineAsk, defineEvent, defineGather, definePipe, defineService, defineStep, method, streamMethod } from '@svc/api';
import { expect } from 'chai';
import { createContractValidator, type Violation } from '../../src/contracts/contract-validator.js';
import { EventHub } from '../../src/event-hub.js';
import { HookRegistry } from '../../src/hooks/hook-registry.js';
import { Lifetime } from '../../src/lifetime.js';
import type { Contributor } from '../../src/owner.js';
import { ServiceRegistry } from '../../src/service-registry.js';

const ownerOf = (id: string, build: string | undefined): Contributor => ({ id, generation: 1, lifetime: new Lifetime(`${id}@1`), ...(build === undefined ? {} : { build }) });

/** All that these schemas say: a text, a number, or nothing. */
const violation: Violation = ({ type }, value) => (typeof value === (type === 'integer' ? 'number' : type) ? undefined : `must be ${type}`);

const text = Type.String();
const Memory = defineService('memory', '1.0.0', {
  recall: method([text, Type.Optional(Type.Integer())], text, { what: 'recalls' }),
  all: streamMethod([text], text, { what: 'recalls' }),
});
const MemoryAdded = defineEvent('memory.added', '1.0.0', text);
const Check = defineGather('doctor.check', '1.0.0', { policy: 'observe', budgetMs: 50, callable: true, subject: text, answer: text });
const Who = defineAsk('who.is', '1.0.0', { policy: 'closed', budgetMs: 50, callable: true, subject: text, answer: text });
const Prompt = definePipe('prompt.made', '1.0.0', { policy: 'closed', budgetMs: 50, callable: true, value: text, context: Type.Undefined() });
const Purge = defineStep('storage.purge', '1.0.0', { policy: 'closed', budgetMs: 50, callable: true, subject: text });

/** What code gives that no compiler has seen. */
const untyped = <T>(value: unknown): T => JSON.parse(JSON.stringify(value));

const problemOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
    return 'passed';
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

const validated = async (validatesAll = false) => {
  const validator = createContractValidator(async () => violation, validatesAll);
  await validator.load();
  return validator;
};

const builds: ReadonlyArray<readonly [what: string, provider: string | undefined, caller: string | undefined, isLookedAt: boolean]> = [
  ['one build', 'a', 'a', false],
  ['two builds', 'a', 'b', true],
  ['a build and one from elsewhere', 'a', undefined, true],
  ['one from elsewhere and a build', undefined, 'a', true],
  ['two from elsewhere', undefined, undefined, true],
];

describe('what crosses between', () => {
  for (const [what, provider, caller, isLookedAt] of builds) {
    it(`${what} in a service is ${isLookedAt ? 'validated: arguments, answers and frames' : 'not looked at'}`, async () => {
      const services = new ServiceRegistry(() => undefined, await validated());
      const memory = ownerOf('memory', provider);
      let called = 0;
      services.provide(memory, Memory, {
        recall: (query) => {
          called++;
          return query === 'bad' ? untyped<string>(5) : query;
        },
        all: async function* () {
          yield 'one';
          yield untyped<string>(2);
        },
      });
      services.provided.swap(undefined, memory);
      const face = services.require(ownerOf('runs', caller), Memory);
      const frames: unknown[] = [];
      const streaming = async () => {
        for await (const frame of face.all('x')) frames.push(frame);
      };

      expect(await face.recall('good')).to.equal('good');
      expect(await face.recall('good', 2)).to.equal('good');
      const passed = called;
      const problems = [
        await problemOf(() => face.recall(untyped<string>(7))),
        await problemOf(() => face.recall('good', untyped<number>('two'))),
        await problemOf(() => face.recall('bad')),
        await problemOf(streaming),
      ];
      if (isLookedAt) {
        expect(problems).to.deep.equal([
          'contract_mismatch: Argument 1 of memory.recall does not fit its declaration: must be string.',
          'contract_mismatch: Argument 2 of memory.recall does not fit its declaration: must be integer.',
          'contract_mismatch: What memory.recall answers does not fit its declaration: must be string.',
          'contract_mismatch: What memory.all answers does not fit its declaration: must be string.',
        ]);
        // What does not fit is not given to the method at all.
        expect(called - passed).to.equal(1);
        expect(frames).to.deep.equal(['one']);
      } else {
        expect(problems).to.deep.equal(['passed', 'passed', 'passed', 'passed']);
        expect(frames).to.deep.equal(['one', 2]);
      }
      expect(memory.lifetime.holds()).to.deep.equal([]);
    });
  }

  for (const [build, isLookedAt] of [
    ['a', false],
    [undefined, true],
  ] as const) {
    const from = build === undefined ? 'one from elsewhere' : 'one of the build';
    const outcome = isLookedAt ? 'is judged' : 'is not looked at';

    it(`the kernel and ${from}, answered to a hook, ${outcome}; a fault is the tap's`, async () => {
      const strikes: string[] = [];
      const hooks = new HookRegistry([Check, Who, Prompt], { strike: (owner, hook) => void strikes.push(`${owner.id} ${hook}`), timing: () => undefined }, await validated());
      const thirdParty = ownerOf('stranger', build);
      hooks.tap(thirdParty, Check, () => untyped<string>(1));
      hooks.tap(thirdParty, Who, () => untyped<string>(2));
      hooks.tap(thirdParty, Prompt, () => untyped<string>(3));
      hooks.taps.swap(undefined, thirdParty);

      const [row] = await hooks.handle(Check).call('x');
      const asked = await problemOf(() => hooks.handle(Who).call('x'));
      const piped = await problemOf(() => hooks.handle(Prompt).call('x', undefined));
      if (isLookedAt) {
        expect(row?.error).to.equal('What stranger answered to the hook doctor.check does not fit its declaration: must be string.');
        expect(asked).to.equal('contract_mismatch: What stranger answered to the hook who.is does not fit its declaration: must be string.');
        expect(piped).to.contain('contract_mismatch').and.to.contain('prompt.made');
        expect(strikes).to.deep.equal(['stranger doctor.check', 'stranger who.is', 'stranger prompt.made']);
      } else {
        expect([row?.value, asked, piped]).to.deep.equal([1, 'passed', 'passed']);
        expect(strikes).to.deep.equal([]);
      }
    });

    it(`${from} and a hook that it calls ${outcome}`, async () => {
      const hooks = new HookRegistry([Purge], { strike: () => undefined, timing: () => undefined }, await validated());
      const seen: unknown[] = [];
      const files = ownerOf('files', 'a');
      hooks.tap(files, Purge, (subject) => void seen.push(subject));
      hooks.taps.swap(undefined, files);
      const problem = await problemOf(async () => hooks.use(ownerOf('caller', build), Purge).call(untyped<string>(1)));
      expect(problem).to.equal(isLookedAt ? 'contract_mismatch: What caller gave to the hook storage.purge does not fit its declaration: must be string.' : 'passed');
      expect(seen).to.deep.equal(isLookedAt ? [] : [1]);
    });

    it(`${from} and who hears its events ${outcome}`, async () => {
      const hub = new EventHub({ failed: () => undefined, dropped: () => undefined, isDurable: () => false }, await validated());
      const problem = await problemOf(async () => hub.validated(ownerOf('memory', build), MemoryAdded, 1));
      expect(problem).to.equal(isLookedAt ? 'contract_mismatch: The event memory.added of memory does not fit its declaration: must be string.' : 'passed');
      expect(await problemOf(async () => hub.validated(ownerOf('memory', build), MemoryAdded, 'fits'))).to.equal('passed');
    });
  }

  it('owners of one build is validated too where everything is to be', async () => {
    const services = new ServiceRegistry(() => undefined, await validated(true));
    const memory = ownerOf('memory', 'a');
    services.provide(memory, Memory, {
      recall: (query) => query,
      all: async function* () {
        yield* [];
      },
    });
    services.provided.swap(undefined, memory);
    expect(await problemOf(() => services.require(ownerOf('runs', 'a'), Memory).recall(untyped<string>(1)))).to.contain('contract_mismatch');
  });

  it('callers of different builds and one provider is validated for each by itself', async () => {
    const services = new ServiceRegistry(() => undefined, await validated());
    const memory = ownerOf('memory', 'a');
    services.provide(memory, Memory, {
      recall: () => 'ok',
      all: async function* () {
        yield* [];
      },
    });
    services.provided.swap(undefined, memory);
    const [ours, theirs] = [ownerOf('runs', 'a'), ownerOf('stranger', 'b')].map((owner) => services.require(owner, Memory));
    expect(await problemOf(async () => ours?.recall(untyped<string>(1)))).to.equal('passed');
    expect(await problemOf(async () => theirs?.recall(untyped<string>(1)))).to.contain('contract_mismatch');
  });
});
