/** Which runs of a kind a generation drives, how many at once, and what becomes of those it cannot drive. */
import { defineWork, type DurableWorker, type LeasedRun, Type } from '@svc/api';
import { expect } from 'chai';
import { alice, type JournalRig, openJournalRig } from './journal-rig.js';
import { createDurableWorker } from '../../src/journal/durable-worker.js';

const Work = defineWork('agent', '1.0.0', { input: Type.Unknown(), result: Type.Unknown() });
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a worker of durable work', () => {
  let rig: JournalRig;
  let worker: DurableWorker;
  let closing: AbortController;
  let said: string[];
  let driven: string[];
  let restored: string[];
  /** Labels of what keeps this generation alive. */
  let held: string[];
  let endings: Map<string, () => void>;
  let room: number;
  let isDraining: boolean;
  let fails: (what: 'drive' | 'restore') => boolean;

  beforeEach(async () => {
    rig = await openJournalRig();
    closing = new AbortController();
    [driven, restored, held, said, endings, room, isDraining, fails] = [[], [], [], [], new Map(), 10, false, () => false];
    worker = createDurableWorker(
      {
        journal: rig.journal,
        log: { ...silent, error: (message) => void said.push(message) },
        hold: (label) => {
          if (isDraining) return null;
          held.push(label);
          return { release: () => void held.splice(held.indexOf(label), 1) };
        },
        later: (ms, fn) => void rig.clock.schedule(ms, fn),
        pause: (ms) => rig.clock.sleep(ms),
        closing: closing.signal,
      },
      Work,
      {
        concurrency: () => room,
        pools: () => ({ jobs: 2, hooks: 1 }),
        drive: (run) => drive(run),
        resume: async (run) => {
          restored.push(nameOf(run));
          if (fails('restore')) throw new Error('nothing can be restored');
        },
      },
    );
  });
  afterEach(async () => {
    await rig.close();
  });

  const nameOf = ({ input }: { input: unknown }): string => String(input);
  /** Until nothing is being claimed; as long as that takes, the generation is held for it. */
  const quiet = async (): Promise<void> => {
    for (let looks = 0; looks < 500; looks++) {
      await rig.settled();
      if (!held.includes('claiming agent')) break;
    }
    await rig.settled();
  };
  /** Goes on until the test ends it. */
  const drive = async (run: LeasedRun): Promise<'ended'> => {
    driven.push(nameOf(run));
    if (fails('drive')) throw new Error('it cannot be begun');
    await new Promise<void>((resolve) => endings.set(nameOf(run), resolve));
    await rig.journal.advance(run, { finish: { status: 'done' } });
    return 'ended';
  };
  const end = async (name: string): Promise<void> => {
    endings.get(name)?.();
    await quiet();
  };
  const open = async (name: string) => {
    const { leased } = await rig.journal.open({ kind: 'agent', actor: alice, lane: name, input: name });
    if (!leased) throw new Error('the lane is taken');
    return leased;
  };
  /** Accepted by another generation that has let go of it. */
  const leave = async (...names: string[]): Promise<void> => {
    for (const name of names) await rig.journal.release(await open(name));
  };
  const poke = async (): Promise<void> => {
    worker.poke();
    await quiet();
  };

  it('drives a new run from its beginning, and holds its generation as long', async () => {
    const run = await open('a');
    void worker.take(run);
    await quiet();

    expect(driven).to.deep.equal(['a']);
    expect(restored).to.deep.equal([]);
    expect([...worker.active]).to.deep.equal([run.id]);
    expect(held).to.deep.equal([`agent ${run.id}`]);
    await end('a');
    expect(worker.active.size).to.equal(0);
    expect(held).to.deep.equal([]);
  });

  it('claims what others left, and restores it before it drives it', async () => {
    await leave('a', 'b');
    await poke();

    expect(restored).to.have.members(['a', 'b']);
    expect(driven).to.have.members(['a', 'b']);
    expect(held).to.have.length(2);
  });

  it('claims no more than there is room for, and the next as soon as one has ended', async () => {
    room = 2;
    await leave('a', 'b', 'c', 'd');
    await poke();
    expect(driven).to.have.length(2);
    expect(worker.hasRoom()).to.equal(false);

    await end(driven[0] as string);
    expect(driven).to.have.length(3);
    await end(driven[1] as string);
    expect(new Set(driven)).to.deep.equal(new Set(['a', 'b', 'c', 'd']));
    await end(driven[2] as string);
    expect(worker.hasRoom()).to.equal(true);
  });

  it('W4 drives no more of a pool than its number, the rest in order, and those without a pool at once', async () => {
    const queue = (name: string, more: object = { pool: 'jobs' }) => rig.journal.open({ kind: 'agent', actor: alice, lane: name, input: name, isQueued: true, ...more });
    for (const name of ['a', 'b', 'c', 'd']) await queue(name);
    await queue('hook', { pool: 'hooks' });
    await queue('other', { pool: 'of nobody' });
    await queue('message', {});
    await poke();
    expect(driven).to.deep.equal(['other', 'message', 'a', 'b', 'hook']);
    expect(worker.reserve('jobs')).to.equal(undefined);
    expect((await rig.journal.list({ actor: alice, kind: 'agent', pool: 'jobs', status: ['queued'] })).map(nameOf)).to.deep.equal(['d', 'c']);

    await end('b');
    expect(driven.slice(5)).to.deep.equal(['c']);
    await end('message');
    expect(driven).to.have.length(6);
    await end('a');
    await end('c');
    expect(driven.slice(6)).to.deep.equal(['d']);
    const [place, none] = [worker.reserve('jobs'), worker.reserve('jobs')];
    expect([typeof place, none]).to.deep.equal(['function', undefined]);
    await queue('e');
    await poke();
    expect(driven).to.have.length(7);
    place?.();
    await quiet();
    expect(driven.slice(7)).to.deep.equal(['e']);
  });

  it('claims all of many, more than one claim takes', async () => {
    room = 100;
    await leave(...Array.from({ length: 40 }, (_, n) => `r${n}`));
    await poke();
    for (let looks = 0; looks < 20 && driven.length < 40; looks++) await quiet();
    expect(new Set(driven).size).to.equal(40);
  });

  it('looks again when it was asked while it was looking', async () => {
    await leave('a');
    worker.poke();
    const late = leave('b').then(() => worker.poke());
    await late;
    await quiet();
    expect(driven).to.have.members(['a', 'b']);
  });

  it('takes nothing while its generation drains: a run that it was given is given back', async () => {
    isDraining = true;
    await leave('a');
    await poke();
    void worker.take(await open('b'));
    await quiet();
    expect(driven).to.deep.equal([]);
    expect(worker.active.size).to.equal(0);

    isDraining = false;
    await poke();
    expect(driven).to.have.members(['a', 'b']);
  });

  it('gives back what it claimed when the drain began meanwhile', async () => {
    await leave('a');
    worker.poke();
    isDraining = true;
    await quiet();
    expect(driven).to.deep.equal([]);

    isDraining = false;
    await poke();
    expect(driven).to.deep.equal(['a']);
  });

  it('tries again a second after the journal could not be read', async () => {
    await leave('a');
    rig.breakReads(() => true);
    await poke();
    await rig.clock.advance(999);
    rig.breakReads(() => false);
    await quiet();
    expect(driven).to.deep.equal([]);
    expect(held).to.deep.equal([]);

    await rig.clock.advance(1);
    await quiet();
    expect(driven).to.deep.equal(['a']);
  });

  for (const what of ['drive', 'restore'] as const)
    it(`gives a run back a second after it could not ${what} it, and not sooner`, async () => {
      fails = (asked) => asked === what;
      await leave('a');
      await poke();
      await rig.clock.advance(999);
      await poke();
      expect(restored).to.deep.equal(['a']);
      expect(worker.active.size).to.equal(1);

      fails = () => false;
      await rig.clock.advance(1);
      await quiet();
      await poke();
      expect(restored).to.deep.equal(['a', 'a']);
      expect(driven.at(-1)).to.equal('a');
      expect(held).to.have.length(1);
    });

  it('tries again later and later while the journal cannot be read', async () => {
    await leave('a');
    rig.breakReads(() => true);
    await poke();
    for (const waitMs of [1_000, 2_000, 4_000]) {
      const before = said.length;
      await rig.clock.advance(waitMs - 1);
      await quiet();
      expect(said.length, `${waitMs} ms are not over`).to.equal(before);
      await rig.clock.advance(1);
      await quiet();
      expect(said.length).to.equal(before + 1);
    }
    rig.breakReads(() => false);
    await rig.clock.advance(8_000);
    await quiet();
    expect(driven).to.deep.equal(['a']);
  });

  it('gives back at once, and says nothing of a fault, what its generation has no more time for', async () => {
    fails = () => true;
    await leave('a');
    closing.abort();
    await poke();
    expect(worker.active.size).to.equal(0);
    expect(said).to.deep.equal([]);
    const [run] = await rig.journal.claim('agent', 1);
    expect(run && nameOf(run)).to.equal('a');
  });

  it('is done with a run that it was given when that has ended', async () => {
    let isDone = false;
    const taken = worker.take(await open('a')).then(() => {
      isDone = true;
    });
    await quiet();
    expect(isDone).to.equal(false);
    await end('a');
    await taken;
    expect(worker.active.size).to.equal(0);
  });
});
