/** Writers that each commit one row and wait until it is durable. Input {writers, windows, seconds}; prints {rates}. */
import { openBenchStorage } from './open-storage.mjs';

const { writers, windows, seconds } = JSON.parse(process.argv[2]);
const { storage, close } = await openBenchStorage();
const owner = { id: 'bench', tables: ['rows'] };
await storage.migrate(owner, [
  {
    name: '0001_init',
    up: (m) =>
      m.createTable('rows', { id: { kind: 'text', primaryKey: true }, writer: { kind: 'integer', notNull: true }, body: { kind: 'json', notNull: true }, at: { kind: 'text', notNull: true } }),
  },
]);
const db = storage.dbFor(owner);
const body = JSON.stringify({ text: 'x'.repeat(280) });

const window = async (round) => {
  const begun = performance.now();
  const endMs = begun + seconds * 1_000;
  let rows = 0;
  const write = async (writer) => {
    for (let n = 0; performance.now() < endMs; n += 1) {
      await db.commit([db.insert('rows', [{ id: `${round}.${writer}.${n}`, writer, body, at: '2026-01-01T00:00:00.000Z' }])]);
      rows += 1;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return rows / ((performance.now() - begun) / 1_000);
};

await window('warm');
const rates = [];
for (let round = 0; round < windows; round += 1) rates.push(await window(round));
await close();
console.log(JSON.stringify({ rates }));
