/**
 * What the audit trail costs. Input {seconds, rate, entries, rounds, worker}; prints
 * {append: {entries, cpuMs, bareMs, lagMs}, verify: {entries, bytes, times, cpuMs, readTimes, floorTimes, floorCpuMs, fileTimes, fileCpuMs}}, times in milliseconds by round.
 * Facts go the way they go in the daemon: committed as events, numbered by the relay, entered in the chain. `worker` is the built file that walks the chain.
 */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { AuditRecorded, auditFact } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { createDurableRelay } from '@svc/platform/relay/durable-relay';
import { createRelayLease } from '@svc/platform/relay/relay-lease';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import { createWorkers } from '@svc/platform/workers/workers';
import { createChain } from '../../../../extensions/audit/src/chain.js';
import { migrations } from '../../../../extensions/audit/src/tables.js';
import { createStore } from '../../../../extensions/audit/src/store.js';
import { verifyChain } from '../../../../extensions/audit/src/verify.js';
import { openBenchStorage } from './open-storage.mjs';

const { seconds, rate, entries, rounds, worker } = JSON.parse(process.argv[2]);
const clock = systemClock();
const ids = systemIds();
const actor = { id: 'user:alice', role: 'user', ownerId: 'user:alice' };
const factOf = (n) =>
  auditFact(
    { ids, clock },
    {
      type: 'tool_invoked',
      actor,
      agentId: '01a20c2b-6b0c-706d-9537-af14a976f68a',
      details: { tool: 'file_write', digest: 'd'.repeat(64), status: 'completed', run_id: '01a20c2b-6964-7231-b566-f64c04444620', n },
      personal: { arguments: '{"path":"notes.md","content":"water the plants"}' },
    },
  );

let relay;
const { storage, close } = await openBenchStorage({ storeEvent: () => true, onEvents: () => relay?.poke() });
const own = { id: 'audit', tables: ['entries', 'segments', 'details', 'checkpoints'] };
await storage.migrate(kernelTables, kernelMigrations);
await storage.migrate(own, migrations);
const store = createStore(storage.dbFor(own));
const chain = createChain({ store, ids, entered: () => [] });
const kernel = storage.dbFor(kernelTables);

/** Acts at the given rate, each a commit of its own with one row; with `isEntered` the fact of it is in the same commit. Gives their processor time. */
const act = async (isEntered) => {
  const total = seconds * rate;
  const since = performance.now();
  const cpu = process.cpuUsage();
  let sent = 0;
  while (sent < total) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const due = Math.min(total, Math.floor(((performance.now() - since) / 1_000) * rate));
    for (; sent < due; sent += 1) {
      const row = kernel.upsert('choices', ['id'], [{ id: `act-${sent % 1_000}`, enabled: 1, at: clock.iso() }]);
      void kernel.commit(isEntered ? [row, storage.event('kernel', AuditRecorded.name, factOf(sent))] : [row]);
    }
  }
  const ended = performance.now();
  if (isEntered) while ((chain.seen()?.id ?? 0) < total) await new Promise((resolve) => setTimeout(resolve, 2));
  const used = process.cpuUsage(cpu);
  return { cpuMs: (used.user + used.system) / 1_000, lagMs: performance.now() - ended };
};

const measureAppend = async () => {
  const hub = {
    takesBatch: () => true,
    deliverTo: async (_id, _event, ...facts) => {
      await chain.enter(facts);
      return true;
    },
  };
  const installed = { all: () => [{ id: 'audit' }], get: () => ({ manifest: { events: { durable: [AuditRecorded.name] } } }), onChange: () => ({ dispose: () => undefined }) };
  const bare = await act(false);
  relay = createDurableRelay({ installed, hub, clock, log: console });
  await relay.open(kernel, createRelayLease({ db: kernel, nowSql: storage.nowSql, holder: 'bench', soleWriter: true }));
  const entered = await act(true);
  await relay.close();
  return { entries: seconds * rate, cpuMs: entered.cpuMs, bareMs: bare.cpuMs, lagMs: entered.lagMs };
};

const SEGMENTS_AT_ONCE = 8;

/** The rows alone, as the verification reads them. */
const readRows = async () => {
  const since = performance.now();
  for (let from = 0; ; ) {
    const rows = await store.segments(from, SEGMENTS_AT_ONCE);
    if (rows.length === 0) return performance.now() - since;
    from = rows.at(-1).n + 1;
  }
};

const FILE_HASHER = `const { hash } = require('node:crypto'); const { openSync, readSync } = require('node:fs'); const { parentPort, workerData: { file, share, shares, piece } } = require('node:worker_threads');
const handle = openSync(file); const buffer = Buffer.alloc(piece); parentPort.on('message', () => { const since = performance.now();
for (let n = share; ; n += shares) { const read = readSync(handle, buffer, 0, piece, n * piece); if (read === 0) break; for (const text of buffer.latin1Slice(0, read).split('\\n')) hash('sha256', text, 'hex'); }
parentPort.postMessage(performance.now() - since); });`;

/** The same bytes in a file, read and hashed on every core at once. */
const fileFloor = async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'svc-bench-file-')), 'bodies');
  for (let from = 0; ; ) {
    const rows = await store.segments(from, SEGMENTS_AT_ONCE);
    if (rows.length === 0) break;
    for (const { bodies } of rows) await appendFile(file, `${bodies}\n`);
    from = rows.at(-1).n + 1;
  }
  const shares = availableParallelism();
  const threads = Array.from({ length: shares }, (_, share) => new Worker(FILE_HASHER, { eval: true, workerData: { file, share, shares, piece: 1_048_576 } }));
  const { times, cpuMs } = await timesOf(threads, 'go');
  await rm(path.dirname(file), { recursive: true });
  return { times, cpuMs };
};

/** How long the slowest thread took, in each round, and the processor time of a round. */
const timesOf = async (threads, message) => {
  const times = [];
  const ask = (thread) =>
    new Promise((resolve) => {
      thread.once('message', resolve);
      thread.postMessage(message);
    });
  await Promise.all(threads.map(ask));
  const cpu = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) times.push(Math.max(...(await Promise.all(threads.map(ask)))));
  const used = process.cpuUsage(cpu);
  for (const thread of threads) await thread.terminate();
  return { times, cpuMs: (used.user + used.system) / 1_000 / rounds };
};

const HASHER = `const { hash } = require('node:crypto'); const { parentPort } = require('node:worker_threads');
const texts = []; parentPort.on('message', (given) => { if (given !== null) { texts.push(...given.split('\\n')); return; }
const since = performance.now(); for (const text of texts) hash('sha256', text, 'hex'); parentPort.postMessage(performance.now() - since); });`;

/** The same texts in memory, on every core at once. */
const floor = async () => {
  const threads = Array.from({ length: availableParallelism() }, () => new Worker(HASHER, { eval: true }));
  let bytes = 0;
  for (let from = 0; ; ) {
    const rows = await store.segments(from, 16);
    if (rows.length === 0) break;
    for (const { n, bodies } of rows) {
      bytes += Buffer.byteLength(bodies);
      threads[n % threads.length].postMessage(bodies);
    }
    from = rows.at(-1).n + 1;
  }
  return { bytes, ...(await timesOf(threads, null)) };
};

const measureVerify = async () => {
  for (let at = (await store.tip()).id; at < entries; at += 1_000) await chain.enter(Array.from({ length: Math.min(1_000, entries - at) }, (_, n) => factOf(at + n)));
  const pools = createWorkers({ clock });
  const workers = { run: ({ name }, input) => pools.run(worker, 'default', input, { lane: name === 'audit.verify' ? 'bulk' : 'quick' }) };
  const verify = async () => {
    const since = performance.now();
    const verdict = await verifyChain({ store, workers, data: { list: async () => [] }, seen: chain.seen, hasKey: async () => true, sleep: async () => undefined });
    if (verdict.broken.length > 0 || verdict.problems.length > 0) throw new Error(JSON.stringify(verdict));
    return performance.now() - since;
  };
  await verify();
  const times = [];
  const cpu = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) times.push(await verify());
  const used = process.cpuUsage(cpu);
  const readTimes = [];
  for (let round = 0; round < rounds; round += 1) readTimes.push(await readRows());
  const { bytes, times: floorTimes, cpuMs: floorCpuMs } = await floor();
  const { times: fileTimes, cpuMs: fileCpuMs } = await fileFloor();
  await pools.close();
  return { entries: (await store.tip()).id, bytes, times, cpuMs: (used.user + used.system) / 1_000 / rounds, readTimes, floorTimes, floorCpuMs, fileTimes, fileCpuMs };
};

const append = await measureAppend();
const verify = await measureVerify();
await close();
console.log(JSON.stringify({ append, verify }));
