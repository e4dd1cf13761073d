/** Which runs a generation drives, how many at once, and what becomes of those it cannot drive. */
import type { LeasedRun } from '@svc/api';
import { createStreams } from '@svc/platform/streams/streams';
import { expect } from 'chai';
import { alice, type JournalRig, openJournalRig } from '../../../kernel/platform/test/journal-rig.js';
import { createDispatcher, type Dispatcher } from '../src/dispatcher.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the dispatcher of runs', () => {
  let rig: JournalRig;
  let streams: ReturnType<typeof createStreams>;
  let dispatcher: Dispatcher;
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
    streams = createStreams({ clock: rig.clock, maxFramesPerTopic: 8, maxBytesPerTopic: 10_000, maxTopics: 10 });
    [driven, restored, held, endings, room, isDraining, fails] = [[], [], [], new Map(), 10, false, () => false];
    dispatcher = createDispatcher({
      journal: rig.journal,
      streams,
      log: silent,
      maxActive: () => room,
      hold: (label) => {
        if (isDraining) return null;
        held.push(label);
        return { release: () => void held.splice(held.indexOf(label), 1) } as ReturnType<Parameters<typeof createDispatcher>[0]['hold']>;
      },
      later: (ms, fn) => void rig.clock.schedule(ms, fn),
      pause: (ms) => rig.clock.sleep(ms),
      drive: (run) => drive(run),
      restore: async (run) => {
        restored.push(nameOf(run));
        if (fails('restore')) throw new Error('nothing can be restored');
      },
    });
  });
  afterEach(async () => {
    streams.close();
    await rig.close();
  });

  const nameOf = ({ input }: { input: unknown }): string => String(input);
  /** Until nothing is being claimed; as long as that takes, the generation is held for it. */
  const quiet = async (): Promise<void> => {
    for (let looks = 0; looks < 500; looks++) {
      await rig.settled();
      if (!held.includes('claiming runs')) break;
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
    dispatcher.poke();
    await quiet();
  };

  it('drives a new run from its beginning, and holds its generation as long', async () => {
    const run = await open('a');
    dispatcher.take(run);
    await quiet();

    expect(driven).to.deep.equal(['a']);
    expect(restored).to.deep.equal([]);
    expect([...dispatcher.active]).to.deep.equal([run.id]);
    expect(held).to.deep.equal([`run ${run.id}`]);
    await end('a');
    expect(dispatcher.active.size).to.equal(0);
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
    expect(dispatcher.hasRoom()).to.equal(false);

    await end(driven[0] as string);
    expect(driven).to.have.length(3);
    await end(driven[1] as string);
    expect(new Set(driven)).to.deep.equal(new Set(['a', 'b', 'c', 'd']));
    await end(driven[2] as string);
    expect(dispatcher.hasRoom()).to.equal(true);
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
    dispatcher.poke();
    const late = leave('b').then(() => dispatcher.poke());
    await late;
    await quiet();
    expect(driven).to.have.members(['a', 'b']);
  });

  it('takes nothing while its generation drains: a run that it was given is given back', async () => {
    isDraining = true;
    await leave('a');
    await poke();
    dispatcher.take(await open('b'));
    await quiet();
    expect(driven).to.deep.equal([]);
    expect(dispatcher.active.size).to.equal(0);

    isDraining = false;
    await poke();
    expect(driven).to.have.members(['a', 'b']);
  });

  it('gives back what it claimed when the drain began meanwhile', async () => {
    await leave('a');
    dispatcher.poke();
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
      expect(dispatcher.active.size).to.equal(1);

      fails = () => false;
      await rig.clock.advance(1);
      await quiet();
      await poke();
      expect(restored).to.deep.equal(['a', 'a']);
      expect(driven.at(-1)).to.equal('a');
      expect(held).to.have.length(1);
    });

  it('is idle when the last of its runs has ended', async () => {
    let isIdle = false;
    await dispatcher.idle();
    for (const name of ['a', 'b']) dispatcher.take(await open(name));
    await quiet();
    const idle = dispatcher.idle().then(() => {
      isIdle = true;
    });
    await end('a');
    expect(isIdle).to.equal(false);
    await end('b');
    await idle;
  });
});
