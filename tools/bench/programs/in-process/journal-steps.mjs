/** Runs of ten empty steps through the journal, each step with its intent and its outcome. Input {clients, steps, windows, seconds}; prints {rates}. */
import { systemIds } from '@svc/platform/clock/ids';
import { createJournal } from '@svc/platform/journal/journal';
import { journalMigrations, journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { log, openBenchStorage } from './open-storage.mjs';

const { clients, steps, windows, seconds } = JSON.parse(process.argv[2]);
const { storage, clock, close } = await openBenchStorage();
await storage.migrate(journalOwner, journalMigrations);
const ids = systemIds();
const journal = createJournal({ db: storage.dbFor(journalOwner), nowSql: storage.nowSql, clock, ids, log, instanceId: ids.uuid(), soleWriter: true });
const actor = { id: 'bench', role: 'owner', ownerId: 'bench' };

const specOf = (run, seq) => ({ seq, kind: 'tool', key: `${run.id}:${seq}`, replay: 'safe', intent: { tool: 'nothing', digest: 'bench' } });
const outcomeOf = (seq) => ({ seq, status: 'done', outcome: { status: 'completed', frames: seq } });

/** As the agent loop does: the outcome of a step and the intent of the next share a commit. */
const drive = async (lane) => {
  const { leased } = await journal.open({ kind: 'bench', actor, lane, input: { text: 'ten steps' } });
  await journal.advance(leased, { intents: [specOf(leased, 1)] });
  for (let seq = 1; seq < steps; seq += 1) await journal.advance(leased, { outcomes: [outcomeOf(seq)], intents: [specOf(leased, seq + 1)] });
  await journal.advance(leased, { outcomes: [outcomeOf(steps)], finish: { status: 'done', result: { steps } } });
};

const window = async () => {
  const begun = performance.now();
  const endMs = begun + seconds * 1_000;
  let done = 0;
  const loop = async (client) => {
    while (performance.now() < endMs) {
      await drive(`lane-${client}`);
      done += steps;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  return done / ((performance.now() - begun) / 1_000);
};

await window();
const rates = [];
for (let round = 0; round < windows; round += 1) rates.push(await window());
await journal.close();
await close();
console.log(JSON.stringify({ rates }));
