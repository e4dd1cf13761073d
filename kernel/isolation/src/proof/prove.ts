/** Tries to get out of an isolation, with the very process that extensions get, and tells what came of it. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationReport } from '@svc/api/internal';
import type { Init } from '../protocol.js';
import { createCrashRegistry } from '../supervisor/crash-registry.js';
import { type Isolation, wallFault } from '../supervisor/launch.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { ATTEMPTS, type ProofScene } from './attempts.js';

type Proof = IsolationReport['proofs'][number];

const ID = 'svc-proof';
const MAX_SAW = 200;

/** `program` is that of child/program.ts. */
export const proveIsolation = async (isolation: Isolation, program: string): Promise<IsolationReport> => {
  const fault = isolation === 'walled' ? await wallFault() : undefined;
  if (fault !== undefined) return { isolation, fault, proofs: [] };
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-proof-')));
  const server = createServer((socket) => socket.end());
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const scene: ProofScene = { file: join(folder, 'yours.txt'), folder, pid: process.pid, port: typeof address === 'object' && address !== null ? address.port : 0 };
    await writeFile(scene.file, 'yours');
    const answers = await tried(isolation, program, join(folder, 'package'), scene);
    return { isolation, fault: null, proofs: ATTEMPTS.map(({ needsWall, what }, index) => proofOf(what, isolation === 'isolated' && needsWall === true, answers[index])) };
  } catch (error) {
    return { isolation, fault: error instanceof Error ? error.message : String(error), proofs: [] };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
};

interface Answer {
  readonly got?: string | null;
  readonly refused?: string;
}

const proofOf = (what: string, isUnsure: boolean, answer: Answer | undefined): Proof => {
  const got = answer?.got ?? undefined;
  if (got !== undefined) return { what, outcome: 'open', saw: got.slice(0, MAX_SAW) };
  return { what, outcome: isUnsure ? 'not sure' : 'kept', saw: (answer?.refused ?? 'nothing').slice(0, MAX_SAW) };
};

const tried = async (isolation: Isolation, program: string, folder: string, scene: ProofScene): Promise<readonly Answer[]> => {
  const bundle = join(folder, 'dist/index.js');
  await mkdir(join(folder, 'dist'), { recursive: true });
  await writeFile(bundle, bundleText());
  const init: Init = { id: ID, version: '1.0.0', generation: 1, bundle, config: {}, capabilities: [], env: {}, services: [], folders: { data: folder, cache: folder } };
  const silent = (): void => undefined;
  const supervisor = new Supervisor({
    id: ID,
    isolation,
    program,
    folder,
    limits: { memoryMb: 256, restMs: 60_000 },
    crashes: createCrashRegistry(() => 0),
    ctx: { log: { debug: silent, info: silent, warn: silent, error: silent } },
    connect: () => ({ serve: () => Promise.reject(new Error('it asks for nothing')), onNotify: silent, close: silent }),
    reportUnhandled: silent,
    crashed: silent,
    recovered: silent,
    begin: async (call) => void (await call('init', [init])),
  });
  try {
    const answers = await supervisor.call('service', ['svc.proof@1.0.0', 'attempt', [scene]], { deadlineMs: 30_000, label: 'the attempts' });
    return Array.isArray(answers) ? answers : [];
  } finally {
    await supervisor.stop('shutdown');
  }
};

/** As an extension would be built that tries all of it. */
const bundleText = (): string => `'use strict';
const api = require('@svc/api');
const Proof = api.defineService('svc.proof', '1.0.0', { attempt: api.method([api.Type.Any()], api.Type.Any()) });
const attempts = [${ATTEMPTS.map(({ code }) => `async (scene) => { ${code} }`).join(',\n')}];
const attempt = async (one, scene) => {
  try { const got = await one(scene); return { got: got === undefined ? null : String(got) }; }
  catch (error) { return { refused: String(error && error.message) }; }
};
exports.default = api.defineExtension({ activate(ctx) {
  ctx.services.provide(Proof, { attempt: async (scene) => { const all = []; for (const one of attempts) all.push(await attempt(one, scene)); return all; } });
} });
`;
