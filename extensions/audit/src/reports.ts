/** What doctor, health, metrics and the security page hear of the trail. Each looks at what is stored now. */
import type { DoctorFinding, Metric, SecurityLook } from '@svc/api';
import { type CheckpointService, isAuthentic } from './checkpoints.js';
import { GENESIS } from './format/entry.js';
import { TILE } from './format/merkle.js';
import { type AuditStore, hashAt } from './store.js';
import verifySegments from './workers/verify-segments.js';

export interface ReportDeps {
  readonly store: AuditStore;
  readonly checkpoints: Pick<CheckpointService, 'state'>;
}

interface Look {
  readonly entries: number;
  readonly problem: string | undefined;
  readonly evidence: string;
}

/** The newest segment, what follows it, and the newest checkpoint: some hundred entries, whatever the length of the log. */
const look = async ({ store }: ReportDeps): Promise<Look> => {
  const [tail, tip, checkpoint] = [await store.tail(), await store.tip(), await store.newestCheckpoint()];
  const n = Math.floor((tip.id - tail.length) / TILE) - 1;
  const [newest, before] = [n < 0 ? undefined : await store.segment(n), n < 1 ? undefined : await store.segment(n - 1)];
  const segments = [
    ...(newest ? [{ first: n * TILE + 1, bodies: newest.bodies, hashes: newest.hashes, cuts: [] }] : []),
    ...(tail.length > 0 ? [{ first: (n + 1) * TILE + 1, bodies: tail.map(({ body }) => body ?? '').join('\n'), hashes: tail.map(({ hash }) => hash ?? '').join(''), cuts: [] }] : []),
  ];
  const { broken } = verifySegments({ prev: before ? hashAt(before, TILE - 1) : GENESIS, segments });
  const [first] = broken;
  const problem = first ? `Entry ${first.id}: ${first.problem}` : checkpoint && !isAuthentic(checkpoint) ? `The checkpoint of ${checkpoint.size} entries has no valid signature.` : undefined;
  const signed = checkpoint ? `signed up to entry ${checkpoint.size} (${checkpoint.at})` : 'none is signed yet';
  return { entries: tip.id, problem, evidence: `${tip.id} ${tip.id === 1 ? 'entry' : 'entries'}, the newest ${Math.min(tip.id, tail.length + (newest ? TILE : 0))} hashed again; ${signed}` };
};

export const lookAtTrail = async (deps: ReportDeps): Promise<SecurityLook> => {
  const { problem, evidence } = await look(deps);
  const { problem: unsigned } = deps.checkpoints.state();
  if (problem !== undefined) return { state: 'failed', detail: `The audit trail is not what was written. ${problem}` };
  if (unsigned !== undefined) return { state: 'degraded', detail: `${evidence}. The trail cannot be signed: ${unsigned}` };
  return { state: 'active', detail: `${evidence}.` };
};

export const healthProbe = async (deps: ReportDeps): Promise<{ name: string; status: 'ok' | 'warn' | 'error'; detail: string }> => {
  const { problem, entries } = await look(deps);
  const { problem: unsigned, witnessProblem } = deps.checkpoints.state();
  if (problem !== undefined) return { name: 'audit', status: 'error', detail: problem };
  const why = unsigned ?? witnessProblem;
  return why === undefined ? { name: 'audit', status: 'ok', detail: `${entries} entries` } : { name: 'audit', status: 'warn', detail: why };
};

export const doctorFindings = async (deps: ReportDeps): Promise<DoctorFinding[]> => {
  const check = 'AuditTrailCheck';
  const { problem, evidence } = await look(deps);
  const { problem: unsigned, witnessProblem } = deps.checkpoints.state();
  if (problem !== undefined)
    return [{ check, result: 'fail', message: `The audit trail is not what was written. ${problem}`, fix: 'svc audit verify   names every entry; compare it with an export or a backup' }];
  if (unsigned !== undefined) return [{ check, result: 'warn', message: `The audit trail cannot be signed: ${unsigned}`, fix: 'svc vault status   shows whether the key that signs can be read' }];
  if (witnessProblem !== undefined)
    return [{ check, result: 'warn', message: `The witness did not sign the last checkpoint: ${witnessProblem}`, fix: 'Check [audit] witness_url and your network connection' }];
  return [{ check, result: 'pass', message: `The audit trail has ${evidence}.` }];
};

export const metrics = async ({ store, checkpoints }: ReportDeps): Promise<Metric[]> => [
  { name: 'svc_audit_entries', help: 'Entries of the audit trail, trimmed ones among them', type: 'gauge', value: (await store.tip()).id },
  { name: 'svc_audit_signed_entries', help: 'Entries that the newest signed checkpoint covers', type: 'gauge', value: Math.max(0, checkpoints.state().size) },
];
