/** What a call to the process of an isolated extension takes, against one over the channel that Node itself has for children. */
import { fork } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCrashRegistry, Supervisor, usageOf } from '@svc/isolation';

const { calls, rounds, starts, program } = JSON.parse(process.argv[2]);
/** 200 bytes of JSON. */
const PAYLOAD = { id: '0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000', text: 'x'.repeat(130), list: [1, 2, 3] };
const BUNDLE = `const api = require('@svc/api');
const Echo = api.defineService('bench.echo', '1.0.0', { echo: api.method([api.Type.Any()], api.Type.Any()) });
exports.default = api.defineExtension({ activate(ctx) { ctx.services.provide(Echo, { echo: (value) => value }); } });`;
const FLOOR = `process.on('message', ([id, value]) => process.send([id, value]));`;

const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-bench-')));
await mkdir(path.join(folder, 'dist'));
await writeFile(path.join(folder, 'dist/index.js'), BUNDLE);
await writeFile(path.join(folder, 'floor.cjs'), FLOOR);

const init = {
  id: 'bench-echo',
  version: '1.0.0',
  generation: 1,
  bundle: path.join(folder, 'dist/index.js'),
  config: {},
  capabilities: [],
  env: {},
  services: [],
  folders: { data: folder, cache: folder },
};
const silent = () => undefined;
let pid;
const makeSupervisor = () =>
  new Supervisor({
    id: init.id,
    isolation: 'isolated',
    program,
    folder,
    limits: { memoryMb: 256, restMs: 600_000 },
    crashes: createCrashRegistry(() => 0),
    ctx: { log: { debug: silent, info: silent, warn: silent, error: console.error } },
    connect: () => ({ serve: async () => undefined, reported: silent, close: silent }),
    orphan: silent,
    crashed: silent,
    recovered: silent,
    running: (now) => {
      if (now) pid = now.pid;
    },
    begin: async (call) => void (await call('init', [init])),
  });

const startMs = [];
for (let index = 0; index < starts; index += 1) {
  const one = makeSupervisor();
  const begun = performance.now();
  await one.ensure();
  startMs.push(performance.now() - begun);
  await one.stop('shutdown');
}

const supervisor = makeSupervisor();
const viaChannel = () => supervisor.call('service', ['bench.echo@1.0.0', 'echo', [PAYLOAD]], { label: 'echo', deadlineMs: 10_000 });

const child = fork(path.join(folder, 'floor.cjs'), { serialization: 'advanced' });
const waiting = new Map();
child.on('message', ([id, value]) => {
  waiting.get(id)(value);
  waiting.delete(id);
});
let next = 0;
const viaFork = () =>
  new Promise((resolve) => {
    next += 1;
    const id = next;
    waiting.set(id, resolve);
    child.send([id, PAYLOAD]);
  });

const measure = async (ask) => {
  const times = [];
  for (let index = 0; index < calls; index += 1) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(calls * 0.5)], p99: times[Math.floor(calls * 0.99)] };
};

await supervisor.ensure();
const { rssBytes } = await usageOf(pid);
await measure(viaChannel);
const { rssBytes: busyRss } = await usageOf(pid);
const floorRss = (await usageOf(child.pid)).rssBytes;
await measure(viaFork);
const channel = [];
const floor = [];
for (let round = 0; round < rounds; round += 1) {
  floor.push(await measure(viaFork));
  channel.push(await measure(viaChannel));
}
console.log(JSON.stringify({ channel, floor, startMs, rssBytes, busyRss, floorRss }));
child.kill();
await supervisor.stop('shutdown');
await rm(folder, { recursive: true, force: true });
process.exit(0);
