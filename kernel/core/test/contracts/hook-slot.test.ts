import { type HookDecl, SvcError, type TapControl, Type } from '@svc/api';
import type { HookKind, HookPolicy } from '@svc/api/internal';
import { expect } from 'chai';
import { HookSlot, type Tap } from '../../src/hooks/hook-slot.js';
import { Lifetime } from '../../src/lifetime.js';
import { type Contributor, currentContributor } from '../../src/owner.js';

type Fn = (...args: readonly unknown[]) => unknown;

interface Fault {
  readonly owner: string;
  readonly message: string;
}

const ownerOf = (id: string): Contributor => ({ id, generation: 1, lifetime: new Lifetime(`${id}@1`) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<never> => new Promise(() => undefined);

let next = 1;
const tapOf = (owner: string | Contributor, fn: Fn): Tap => ({
  owner: typeof owner === 'string' ? ownerOf(owner) : owner,
  name: `tap#${next++}`,
  fn: fn as Tap['fn'],
  stage: 0,
  before: [],
  after: [],
});

const hookOf = (kind: HookKind, policy: HookPolicy, budgetMs: number): HookDecl => ({ declares: 'hook', name: 'test.hook', version: '1.0.0', subject: Type.Unknown(), kind, policy, budgetMs });

const slotOf = (kind: HookKind, policy: HookPolicy, taps: ReadonlyArray<Fn | Tap>, budgetMs = 20) => {
  const faults: Fault[] = [];
  const slot = new HookSlot(hookOf(kind, policy, budgetMs), {
    strike: (owner, _hook, error) => void faults.push({ owner: owner.id, message: (error as Error).message }),
    timing: () => undefined,
  });
  slot.replace(taps.map((tap, index) => (typeof tap === 'function' ? tapOf(`tap-${index}`, tap) : tap)));
  return { slot, faults };
};

/** What a call came to: its value, or the message it failed with. */
const outcome = async (slot: HookSlot, ...args: unknown[]): Promise<unknown> => {
  try {
    return await slot.call(...args);
  } catch (error) {
    return `threw: ${(error as Error).message}`;
  }
};

const broken: Fn = () => {
  throw new Error('it broke');
};
const asyncBroken: Fn = () => Promise.reject(new Error('it broke'));
const nothing: Fn = () => null;
const FAULTS: ReadonlyArray<readonly [string, Fn]> = [
  ['throws', broken],
  ['rejects', asyncBroken],
  ['hangs', never],
  ['returns null', nothing],
];

describe('a hook slot', () => {
  describe('nobody taps', () => {
    it('answers at once what its kind means by nothing', async () => {
      expect(await slotOf('veto', 'closed', []).slot.call('x')).to.equal(undefined);
      expect(await slotOf('pipe', 'closed', []).slot.call('value', 'context')).to.equal('value');
      expect(await slotOf('step', 'closed', []).slot.call('x')).to.equal(undefined);
      expect(await slotOf('ask', 'closed', []).slot.call('x')).to.equal(undefined);
      expect(await slotOf('gather', 'observe', []).slot.call('x')).to.deep.equal([]);
    });
  });

  describe('veto', () => {
    const suspend = { suspend: { reason: 'a person must look', wakeKey: 'k' } };

    it('takes silence for no objection', async () => {
      const { slot } = slotOf('veto', 'closed', [() => undefined, async () => undefined]);
      expect(await slot.call('x')).to.equal(undefined);
    });

    it('ends with the first deny; whoever comes later is not asked', async () => {
      let isAsked = false;
      const { slot } = slotOf('veto', 'closed', [
        () => ({ deny: 'no' }),
        () => {
          isAsked = true;
        },
      ]);
      expect(await slot.call('x')).to.deep.equal({ deny: 'no' });
      expect(isAsked).to.equal(false);
    });

    it('remembers the first suspend, and a later deny beats it', async () => {
      const other = { suspend: { reason: 'another', wakeKey: 'o' } };
      expect(await slotOf('veto', 'closed', [() => suspend, () => other]).slot.call('x')).to.deep.equal(suspend);
      expect(await slotOf('veto', 'closed', [() => suspend, () => ({ deny: 'no' })]).slot.call('x')).to.deep.equal({ deny: 'no' });
    });

    it('does not carry the suspend of one call into the next', async () => {
      const { slot } = slotOf('veto', 'closed', [(subject) => (subject === 'risky' ? suspend : undefined)]);
      expect(await slot.call('risky')).to.deep.equal(suspend);
      expect(await slot.call('harmless')).to.equal(undefined);
    });

    for (const [fault, fn] of FAULTS) {
      it(`closed: denies when a tap ${fault}, without a word of what went wrong`, async () => {
        const { slot, faults } = slotOf('veto', 'closed', [() => suspend, fn]);
        const verdict = (await slot.call('x')) as { deny: string; code: string };
        expect(verdict.code).to.equal('hook_failed');
        expect(verdict.deny).to.not.contain('it broke');
        expect(faults).to.have.length(1);
      });

      it(`open: goes on when a tap ${fault}, and a deny that follows counts`, async () => {
        const { slot, faults } = slotOf('veto', 'open', [fn, () => ({ deny: 'still no' })]);
        expect(await slot.call('x')).to.deep.equal({ deny: 'still no' });
        expect(faults).to.have.length(1);
      });
    }

    for (const nonsense of [true, 'allow', {}, { allow: true }, { deny: 1 }, { suspend: null }]) {
      it(`closed: denies when a tap answers ${JSON.stringify(nonsense)}, which is no verdict`, async () => {
        const { slot, faults } = slotOf('veto', 'closed', [() => nonsense]);
        expect(await slot.call('x')).to.have.property('code', 'hook_failed');
        expect(faults).to.have.length(1);
      });
    }

    it('passes on the refusal of a tap that throws one, and holds nobody at fault', async () => {
      const refusal = new SvcError('too_big', 'It is too big.', { status: 413, headers: { 'x-limit': '9' } });
      const { slot, faults } = slotOf('veto', 'closed', [() => Promise.reject(refusal)]);
      expect(await slot.call('x')).to.deep.equal({ deny: 'It is too big.', code: 'too_big', status: 413, headers: { 'x-limit': '9' } });
      expect(faults).to.deep.equal([]);
    });
  });

  describe('pipe', () => {
    it('gives each tap the value of the one before; undefined keeps it', async () => {
      const { slot } = slotOf('pipe', 'closed', [(value) => `${value}a`, () => undefined, async (value, context) => `${value}${context}`]);
      expect(await slot.call('x', 'c')).to.equal('xac');
    });

    for (const [fault, fn] of FAULTS) {
      it(`closed: fails when a tap ${fault}`, async () => {
        const { slot, faults } = slotOf('pipe', 'closed', [fn]);
        expect(await outcome(slot, 'x')).to.match(/^threw: /);
        expect(faults).to.have.length(1);
      });

      it(`open: keeps the value when a tap ${fault}, and goes on`, async () => {
        const { slot, faults } = slotOf('pipe', 'open', [(value) => `${value}a`, fn, (value) => `${value}b`]);
        expect(await slot.call('x')).to.equal('xab');
        expect(faults).to.have.length(1);
      });
    }
  });

  describe('step', () => {
    it('runs one tap after the other', async () => {
      const order: number[] = [];
      const push = (n: number) => async () => {
        await turn();
        order.push(n);
      };
      await slotOf('step', 'closed', [push(1), push(2)], 5_000).slot.call('x');
      expect(order).to.deep.equal([1, 2]);
    });

    for (const [fault, fn] of FAULTS) {
      it(`closed: fails and stops when a tap ${fault}`, async () => {
        let isNextRun = false;
        const { slot } = slotOf('step', 'closed', [
          fn,
          () => {
            isNextRun = true;
          },
        ]);
        expect(await outcome(slot, 'x')).to.match(/^threw: /);
        expect(isNextRun).to.equal(false);
      });

      it(`open: goes on when a tap ${fault}`, async () => {
        let isNextRun = false;
        const { slot, faults } = slotOf('step', 'open', [
          fn,
          () => {
            isNextRun = true;
          },
        ]);
        expect(await outcome(slot, 'x')).to.equal(undefined);
        expect(isNextRun).to.equal(true);
        expect(faults).to.have.length(1);
      });
    }
  });

  describe('ask', () => {
    it('gives the first answer and asks nobody else', async () => {
      const asked: number[] = [];
      const answer = (n: number, value: unknown) => () => {
        asked.push(n);
        return value;
      };
      const { slot } = slotOf('ask', 'closed', [answer(1, undefined), answer(2, 'me'), answer(3, 'not me')]);
      expect(await slot.call('who?')).to.equal('me');
      expect(asked).to.deep.equal([1, 2]);
    });

    for (const [fault, fn] of FAULTS) {
      it(`closed: fails when a tap ${fault}; nobody after it answers in its place`, async () => {
        expect(await outcome(slotOf('ask', 'closed', [fn, () => 'me']).slot, 'who?')).to.match(/^threw: /);
      });

      it(`open: asks the next when a tap ${fault}`, async () => {
        expect(await outcome(slotOf('ask', 'open', [fn, () => 'me']).slot, 'who?')).to.equal('me');
      });
    }
  });

  describe('gather', () => {
    for (const [fault, fn] of FAULTS) {
      it(`keeps the answers of the others when a tap ${fault}, and names its error`, async () => {
        const { slot, faults } = slotOf('gather', 'observe', [() => 'one', fn, async () => 'three']);
        const rows = (await slot.call('x')) as Array<{ owner: string; value?: unknown; error?: string }>;
        expect(rows.map(({ owner, value }) => [owner, value])).to.deep.equal([
          ['tap-0', 'one'],
          ['tap-1', undefined],
          ['tap-2', 'three'],
        ]);
        expect(rows[1]?.error).to.be.a('string');
        expect(faults).to.have.length(1);
      });
    }

    it('asks all at once', async () => {
      let open: () => void = () => undefined;
      const latch = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { slot } = slotOf('gather', 'observe', [() => latch.then(() => 'waited'), () => open()], 5_000);
      expect(((await slot.call('x')) as unknown[]).length).to.equal(2);
    });

    it('answers without a promise where every tap does', () => {
      const { slot } = slotOf('gather', 'closed', [() => 'one', () => 'two']);
      expect(slot.call('x')).to.deep.equal([
        { owner: 'tap-0', value: 'one' },
        { owner: 'tap-1', value: 'two' },
      ]);
    });

    for (const [name, fail] of [
      [
        'at once',
        () => {
          throw new SvcError('storage_locked', 'locked', { status: 503 });
        },
      ],
      ['later', () => Promise.reject(new SvcError('storage_locked', 'locked', { status: 503 }))],
    ] as const) {
      it(`fails with the error of a tap that fails ${name}, where it is closed, and lets go of all`, async () => {
        const owners = ['one', 'two', 'three'].map(ownerOf);
        const taps = [() => 'one', fail, async () => 'three'].map((fn, index) => tapOf(owners[index] ?? 'none', fn));
        const { slot } = slotOf('gather', 'closed', taps);
        const error = await Promise.resolve(slot.call('x')).catch((cause: unknown) => cause);
        expect(error).to.include({ code: 'storage_locked', status: 503 });
        expect(owners.flatMap(({ lifetime }) => lifetime.holds())).to.deep.equal([]);
      });
    }
  });

  describe('gives a tap', () => {
    it('its own owner, whoever calls', async () => {
      let seen: string | undefined;
      const { slot } = slotOf('step', 'closed', [
        async () => {
          await turn();
          seen = currentContributor()?.id;
        },
      ]);
      await slot.call('x');
      expect(seen).to.equal('tap-0');
      expect(currentContributor()).to.equal(undefined);
    });

    it('a signal that aborts when its time is up', async () => {
      let signal: AbortSignal | undefined;
      const { slot } = slotOf('step', 'open', [
        (_subject, control) => {
          signal = (control as TapControl).signal;
          return never();
        },
      ]);
      await slot.call('x');
      expect(signal?.aborted).to.equal(true);
    });
  });

  describe('across changes', () => {
    it('finishes a call in flight on the taps it began with, and holds all of them meanwhile', async () => {
      let open: () => void = () => undefined;
      const latch = new Promise<void>((resolve) => {
        open = resolve;
      });
      const validator = ownerOf('judge');
      const { slot } = slotOf('veto', 'closed', [() => latch.then(() => undefined), tapOf(validator, () => ({ deny: 'by the old judge' }))], 5_000);
      const flying = slot.call('x');
      slot.replace([]);
      let isDrained = false;
      const ended = validator.lifetime.drain(60_000).then(() => {
        isDrained = true;
        return validator.lifetime.close();
      });
      await turn();
      expect(isDrained).to.equal(false);
      expect(await slot.call('x')).to.equal(undefined);
      open();
      expect(await flying).to.deep.equal({ deny: 'by the old judge' });
      await ended;
      expect(validator.lifetime.holds()).to.deep.equal([]);
    });

    for (const kind of ['veto', 'ask', 'pipe', 'step'] as const) {
      it(`holds a single ${kind} tap too while it is being called, and lets go of it`, async () => {
        const owner = ownerOf('memory');
        const seen: string[] = [];
        const { slot } = slotOf(kind, 'closed', [tapOf(owner, async () => void seen.push(...owner.lifetime.holds()))]);
        await slot.call('x');
        expect(seen).to.deep.equal(['hook test.hook']);
        expect(owner.lifetime.holds()).to.deep.equal([]);
      });
    }

    it('closed: denies when a validator was stopped by force before its turn came', async () => {
      let open: () => void = () => undefined;
      const latch = new Promise<void>((resolve) => {
        open = resolve;
      });
      const validator = ownerOf('judge');
      const { slot, faults } = slotOf('veto', 'closed', [() => latch.then(() => undefined), tapOf(validator, () => undefined)], 5_000);
      const flying = slot.call('x');
      await validator.lifetime.close();
      open();
      expect(await flying).to.have.property('code', 'hook_failed');
      expect(faults).to.deep.equal([]);
    });

    it('leaves no hold when a tap failed or was late', async () => {
      const owner = ownerOf('hanging');
      const { slot } = slotOf('step', 'open', [tapOf(owner, never)]);
      await slot.call('x');
      expect(owner.lifetime.holds()).to.deep.equal([]);
    });
  });
});
