/** The compactor beside a journal: what it does while its generation goes, when a compaction cannot be done, and who begins one again. */
import { type DurableWorker, SvcError } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { Entry, EntryKind, SessionRef } from '@svc/ext-sessions/contract';
import { OWNER } from '@svc/testing';
import { createAreaActors } from '@svc/core';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { createDurableWorker } from '../../../kernel/platform/src/journal/durable-worker.js';
import { type CompactionDeps, createCompactor } from '../src/compaction/compaction.js';
import { cutOf } from '../src/compaction/cut.js';
import { historyOf } from '../src/routes/history.js';

const log = (...kinds: EntryKind[]): Entry[] => kinds.map((kind, index) => ({ kind, runId: 'r', seq: index + 1, at: '', parts: [{ type: 'text', text: `words ${index + 1}` }] }));
const turns = (count: number): EntryKind[] => Array.from({ length: count }, (): EntryKind[] => ['user', 'assistant']).flat();
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('a compactor', () => {
  afterEach(stopModelKernels);

  const entries = log(...turns(45));

  /** With the journal of a daemon; what it loads and appends is kept here. */
  const open = async (changed: Partial<CompactionDeps> = {}) => {
    const { kernel, agent } = await bootWithModel({ text: 'unasked' });
    const { journal: own, clock } = kernel.daemon.parts;
    const warned: string[] = [];
    const appended: unknown[] = [];
    const workers: DurableWorker[] = [];
    const ref: SessionRef = { id: '55555555-5555-4555-8555-555555555555', agentId: agent.id, ownerId: OWNER.ownerId, seq: entries.length };
    let holds = 0;
    const count = () => {
      holds += 1;
      return {
        release: () => {
          holds -= 1;
        },
      };
    };
    const { hold = count, closing = new AbortController().signal } = changed;
    const log: CompactionDeps['log'] = { debug: () => undefined, info: () => undefined, warn: (message) => void warned.push(message), error: () => undefined };
    const journal: CompactionDeps['journal'] = {
      ...own,
      worker: (decl, options) => {
        const worker = createDurableWorker({ journal: own, log, hold, closing, later: (ms, fn) => void clock.schedule(ms, fn), pause: (ms) => clock.sleep(ms) }, decl, options);
        workers.push(worker);
        return worker;
      },
    };
    const compactor = createCompactor({
      journal,
      actors: createAreaActors('sessions'),
      sessions: {
        ensure: async () => ref,
        append: async (_actor, _ref, drafts) => {
          appended.push(...drafts);
          return { writes: [], next: ref };
        },
      },
      // A compaction asks for the agent only when a model is there.
      agents: { get: async (): Promise<Agent> => Promise.reject(new Error('nobody asks for it')) } as unknown as CompactionDeps['agents'],
      llm: { value: undefined } as unknown as CompactionDeps['llm'],
      asked: { isEmpty: () => true, call: async () => undefined },
      log,
      hold,
      closing,
      load: async () => entries,
      forget: () => undefined,
      ...changed,
    });
    const look = async () => {
      for (const worker of workers) worker.poke();
    };
    const compactions = () => journal.list({ kind: 'compaction', actor: OWNER });
    return { compactor, look, ref, journal, warned, appended, compactions, holds: () => holds };
  };

  it('begins nothing while its generation drains, and somebody who asks is told to ask again', async () => {
    const { compactor, look, ref, compactions } = await open({ hold: () => null });
    compactor.consider(ref, entries, 90);
    expect(await codeOf(compactor.now(ref))).to.equal('sessions_compaction_busy');
    await look();
    expect(await compactions()).to.have.length(0);
  });

  it('keeps its generation for as long as it works, and no longer', async () => {
    const { compactor, look, ref, compactions, holds, warned } = await open();
    compactor.consider(ref, entries, 90);
    expect(holds()).to.equal(1);
    compactor.consider(ref, entries, 90); // one of a session at a time
    expect(holds()).to.equal(1);
    await until(() => holds() === 0);
    expect((await compactions()).map(({ status }) => status)).to.deep.equal(['done']);
    await look();
    await until(() => holds() === 0);
    await codeOf(compactor.now(ref));
    expect(holds()).to.equal(0);
    expect(warned).to.deep.equal(['a session could not be compacted; svc tries again after the next message']);
  });

  it('puts a note in the place of what is left out when there is no model at all, unless somebody asked', async () => {
    const { compactor, ref, appended, holds, compactions } = await open();
    compactor.consider(ref, entries, 90);
    await until(() => holds() === 0);
    const [run] = await compactions();
    expect(appended).to.deep.equal([{ kind: 'summary', runId: run?.id, content: '70 earlier messages were omitted; no model could summarise them.', coversThrough: 70 }]);
    const refused = await compactor.now(ref).catch((error: { code: string; message: string }) => [error.code, error.message]);
    expect(refused).to.deep.equal(['sessions_compaction_failed', 'The session was not compacted: No model is available for the summary. No model can be asked.']);
    expect(appended).to.have.length(1);
  });

  it('ends a compaction that failed, says so, and begins another with the next message', async () => {
    let isBroken = true;
    const { compactor, ref, appended, holds, compactions, warned } = await open({ load: async () => (isBroken ? Promise.reject(new Error('no disk')) : entries) });
    compactor.consider(ref, entries, 90);
    await until(() => holds() === 0);
    const [failed] = await compactions();
    expect([failed?.status, failed?.error?.code, failed?.error?.message]).to.deep.equal(['failed', 'sessions_compaction_failed', 'The session could not be compacted.']);
    expect(warned).to.deep.equal(['a session could not be compacted; svc tries again after the next message']);
    isBroken = false;
    compactor.consider(ref, entries, 90);
    await until(() => holds() === 0);
    expect(appended).to.have.length(1);
  });

  it('that has no more time gives its compaction back, and the next generation does it', async () => {
    const leaving = new AbortController();
    leaving.abort();
    const { compactor, ref, holds, compactions, warned } = await open({ closing: leaving.signal, load: async () => Promise.reject(new Error('closed')) });
    compactor.consider(ref, entries, 90);
    await until(() => holds() === 0);
    await until(async () => (await compactions())[0]?.status === 'done'); // by the compactor of the daemon
    expect(warned).to.deep.equal([]);
  });

  it('covers nothing twice: what another summary covers already is done', async () => {
    const covering = (through: number): Entry => ({ kind: 'summary', runId: 'c', seq: 91, at: '', content: 'THEY TALKED', coversThrough: through });
    for (const [through, added] of [
      [70, 0],
      [69, 1],
    ] as const) {
      const { compactor, ref, appended, holds, compactions } = await open({ load: async () => [covering(through), ...entries] });
      compactor.consider(ref, entries, 90);
      await until(() => holds() === 0);
      expect((await compactions())[0]?.status).to.equal('done');
      expect(appended, `covered through ${through}`).to.have.length(added);
    }
  });

  it('goes behind a message that is appended at the same moment, five times at most', async () => {
    for (const [conflicts, status] of [
      [4, 'done'],
      [5, 'failed'],
    ] as const) {
      let left: number = conflicts;
      let asked = 0;
      const { compactor, ref, holds, compactions } = await open({
        sessions: {
          ensure: async () => ({ id: 's', agentId: 'a', ownerId: 'owner', seq: 1 }),
          append: async (_actor, at) => {
            asked += 1;
            if (left-- > 0) throw new SvcError('storage_conflict', 'Somebody else wrote first.', { status: 409 });
            return { writes: [], next: at };
          },
        },
      });
      compactor.consider(ref, entries, 90);
      await until(() => holds() === 0);
      expect([asked, (await compactions())[0]?.status]).to.deep.equal([5, status]);
    }
  });

  it('may cover the first entry alone', () => {
    const long = log('note', 'user', ...Array.from({ length: 100 }, (): EntryKind => 'assistant'));
    expect(cutOf(long, 101)).to.equal(1);
  });
});

describe('a result without a call id', () => {
  it('belongs to the call without one', () => {
    const said: Entry[] = [
      { kind: 'tool_call', runId: null, seq: 1, at: '' },
      { kind: 'tool_result', runId: null, seq: 2, at: '', content: 'words' },
    ];
    expect(historyOf({ id: 's', agentId: 'a', label: null }, said).messages[0]?.tools?.[0]).to.include({ running: false, result: 'words' });
  });
});
