/**
 * The authenticator of a person: set up, confirmed, used, revoked.
 *
 * T1  The secret is shown once, at setup, and is in the vault from then on. Codes of recovery are stored as HMACs under it.
 * T2  A new setup changes nothing of the one that is active until its first code is confirmed.
 * T3  Each code works once. After five failures codes are not checked for five minutes: counted apart for setup, approving and revoking.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Clock, type Ids, isSvcError, type Secrets, type Write } from '@svc/api';
import type { Db } from '@svc/api';
import type { TotpRow } from '../contract.js';
import { approvalErrors } from '../errors.js';
import { newSecret, stepOf } from './code.js';
import type { Purpose, TotpStore } from './store.js';

const RECOVERY_CODES = 8;
const RECOVERY_CODE = /^[0-9a-f]{4}(-[0-9a-f]{4}){3}$/;

export interface TotpDeps {
  readonly db: Pick<Db, 'commit'>;
  readonly store: TotpStore;
  readonly secrets: Secrets;
  readonly ids: Pick<Ids, 'bytes' | 'hex'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  readonly issuer: () => string;
  readonly graceMs: () => number;
  readonly isEnforced: () => boolean;
}

export interface Setup {
  readonly secret: string;
  readonly otpauth_uri: string;
  readonly qr_code: string;
  readonly recovery_codes: string[];
}

/** What approving takes along: writes that use the code up. */
export interface Factor {
  readonly writes: readonly Write[];
  readonly isUsed: boolean;
}

export type Totp = ReturnType<typeof createTotp>;

export const createTotp = (deps: TotpDeps) => ({
  setup: (actor: Actor, currentCode?: string): Promise<Setup> => setUp(deps, actor, currentCode),
  confirm: (actor: Actor, code: string): Promise<void> => confirm(deps, actor, code),
  status: (actor: Actor) => statusOf(deps, actor),
  revoke: (actor: Actor, code: string): Promise<void> => revoke(deps, actor, code),
  /** Throws what is wrong with the code, or that there has to be one. */
  factor: (actor: Actor, code: string | undefined): Promise<Factor> => factorOf(deps, actor, code),
  /** Uses a code up by itself. Throws what is wrong with it. */
  use: async (actor: Actor, code: string): Promise<void> => committed(deps, (await factorOf(deps, actor, code)).writes),
  /** Of a person who is erased; the rows go by themselves. */
  forget: (ownerId: string): Promise<void> => dropSecrets(deps, ownerId, []),
});

/** A name says nothing of whose it is to who lists the vault. */
const prefixOf = (ownerId: string): string => `totp.${createHash('sha256').update(ownerId).digest('hex').slice(0, 32)}.`;
const nameOf = (ownerId: string, keyId: string): string => `${prefixOf(ownerId)}${keyId}`;
const keysOf = ({ active_key: active, pending_key: pending }: TotpRow): string[] => [active, pending].filter((key) => key !== null);

async function setUp(deps: TotpDeps, { ownerId }: Actor, currentCode: string | undefined): Promise<Setup> {
  const { store, secrets, ids, issuer } = deps;
  const before = await store.find(ownerId);
  const proof = before?.active_key ? await proofOf(deps, ownerId, before.active_key, currentCode) : undefined;
  await dropSecrets(deps, ownerId, before ? keysOf(before) : []);
  const keyId = ids.hex(8);
  const made = await newSecret(ids, { issuer: issuer(), label: ownerId.replace(/^user:/, '') });
  await secrets.put(nameOf(ownerId, keyId), made.hex);
  const codes = Array.from({ length: RECOVERY_CODES }, () => (ids.hex(8).match(/.{4}/g) ?? []).join('-'));
  const rows = await Promise.all(codes.map(async (code) => ({ owner_id: ownerId, key_id: keyId, hash: await recoveryHash(deps, ownerId, keyId, code) })));
  await committed(deps, [
    ...(proof?.writes ?? []),
    store.setPending(ownerId, before, keyId),
    ...(before?.pending_key ? [store.dropRecovery(ownerId, [before.pending_key])] : []),
    store.addRecovery(rows),
  ]);
  if (before?.pending_key) await secrets.delete(nameOf(ownerId, before.pending_key));
  const { renderSVG } = await import('uqr');
  return { secret: made.base32, otpauth_uri: made.uri, qr_code: `data:image/svg+xml;base64,${Buffer.from(renderSVG(made.uri, { border: 2 })).toString('base64')}`, recovery_codes: codes };
}

/** Who has an authenticator shows a code of it before it is replaced. One whose secret is lost can be replaced while nothing asks for codes. */
async function proofOf(deps: TotpDeps, ownerId: string, keyId: string, code: string | undefined): Promise<{ writes: Write[] } | undefined> {
  if (!deps.isEnforced() && (await deps.secrets.where({ secret: nameOf(ownerId, keyId) })) === undefined) return undefined;
  if (code === undefined) throw approvalErrors.totp_current_code();
  return proven(deps, ownerId, [keyId], code, 'setup');
}

async function confirm(deps: TotpDeps, { ownerId }: Actor, code: string): Promise<void> {
  const { store, secrets } = deps;
  const row = await store.find(ownerId);
  if (!row?.pending_key) throw approvalErrors.totp_nothing_to_confirm();
  await counted(deps, ownerId, 'setup');
  const step = await stepOf(secrets, nameOf(ownerId, row.pending_key), deps.clock, code);
  if (step === undefined) throw approvalErrors.totp_invalid();
  if (step <= row.last_step) throw approvalErrors.totp_replayed();
  await committed(deps, [store.activate(ownerId, row.pending_key, step), store.succeeded(ownerId, 'setup'), ...(row.active_key ? [store.dropRecovery(ownerId, [row.active_key])] : [])]);
  if (row.active_key) await secrets.delete(nameOf(ownerId, row.active_key));
}

async function statusOf({ store, isEnforced }: TotpDeps, { ownerId }: Actor) {
  const row = await store.find(ownerId);
  const key = row?.active_key ?? row?.pending_key ?? undefined;
  const confirmed = row?.active_key != null;
  return { enrolled: key !== undefined, confirmed, enforced: confirmed && isEnforced(), remaining_recovery_codes: key === undefined ? 0 : await store.recovery(ownerId, key) };
}

async function revoke(deps: TotpDeps, { ownerId }: Actor, code: string): Promise<void> {
  const row = await deps.store.find(ownerId);
  if (!row || keysOf(row).length === 0) throw approvalErrors.totp_not_enrolled();
  const keys = keysOf(row);
  await proven(deps, ownerId, keys, code, 'revoke');
  await committed(deps, [deps.store.remove(ownerId), deps.store.dropRecovery(ownerId, keys), deps.store.succeeded(ownerId, 'revoke')]);
  await dropSecrets(deps, ownerId, []);
}

async function factorOf(deps: TotpDeps, { ownerId }: Actor, code: string | undefined): Promise<Factor> {
  const { store, clock, graceMs } = deps;
  const row = await store.find(ownerId);
  if (!row?.active_key) throw approvalErrors.totp_not_enrolled();
  if (code === undefined) {
    const isFresh = row.verified_at !== null && graceMs() > 0 && clock.now() - Date.parse(row.verified_at) < graceMs();
    if (!isFresh) throw approvalErrors.totp_required();
    return { writes: [], isUsed: false };
  }
  const { writes } = await proven(deps, ownerId, [row.active_key], code, 'approve');
  return { writes, isUsed: true };
}

/** The writes that use a code up, after it was found to be right. */
async function proven(deps: TotpDeps, ownerId: string, keys: readonly string[], code: string, purpose: Purpose): Promise<{ writes: Write[] }> {
  const { store, secrets, clock } = deps;
  await counted(deps, ownerId, purpose);
  const at = purpose === 'approve' ? clock.iso() : null;
  for (const key of keys) {
    if (RECOVERY_CODE.test(code.toLowerCase())) {
      const hash = await recoveryHash(deps, ownerId, key, code.toLowerCase());
      if (await store.hasRecovery(ownerId, hash)) return { writes: [store.useRecovery(ownerId, hash), store.succeeded(ownerId, purpose), ...(at === null ? [] : [store.verified(ownerId, at)])] };
      continue;
    }
    const step = await stepOf(secrets, nameOf(ownerId, key), clock, code);
    if (step === undefined) continue;
    if (step <= ((await store.find(ownerId))?.last_step ?? 0)) throw approvalErrors.totp_replayed();
    return { writes: [store.useStep(ownerId, key, step, at), store.succeeded(ownerId, purpose)] };
  }
  throw approvalErrors.totp_invalid();
}

/** Before a code is looked at. Throws while codes are not checked. */
async function counted({ store, clock }: TotpDeps, ownerId: string, purpose: Purpose): Promise<void> {
  try {
    await store.attempt(ownerId, purpose);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const until = await store.lockedUntil(ownerId, purpose);
    throw approvalErrors.totp_locked(Math.max(1_000, (until === undefined ? 0 : Date.parse(until)) - clock.now()));
  }
}

async function committed({ db }: TotpDeps, writes: readonly Write[]): Promise<void> {
  try {
    await db.commit(writes);
  } catch (error) {
    throw isConflict(error) ? approvalErrors.totp_changed() : error;
  }
}

async function recoveryHash({ secrets }: TotpDeps, ownerId: string, keyId: string, code: string): Promise<string> {
  const mac = await secrets.hmac(nameOf(ownerId, keyId), new TextEncoder().encode(`recovery:${code}`), { algorithm: 'sha256', key: 'hex' });
  if (!mac) throw approvalErrors.totp_secret_gone();
  return Buffer.from(mac).toString('hex');
}

/** Also what a setup that broke off has left. */
async function dropSecrets({ secrets }: TotpDeps, ownerId: string, kept: readonly string[]): Promise<void> {
  const names = await secrets.list(prefixOf(ownerId));
  const stay = new Set(kept.map((key) => nameOf(ownerId, key)));
  for (const name of names) if (!stay.has(name)) await secrets.delete(name);
}

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';
