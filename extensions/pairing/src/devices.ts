/**
 * Devices of people.
 *
 * V1  A code makes one device, however many send it at once: it is used in the commit that makes the device and its key.
 * V2  A device acts on the rows of the person who paired it, never above their role (auth's U4), and its key ends with it.
 * V3  A device pairs no other one and changes no role: what was taken away with it does not come back through it.
 */
import type { AuthService } from '@svc/ext-auth/contract';
import { type Actor, type Clock, type Db, type Events, type Ids, isSvcError } from '@svc/api';
import { hashOf, newCode } from './codes.js';
import type { PairingConfig } from './config.js';
import { type CodeRow, type Device, DeviceChanged, type DeviceRole, type DeviceRow } from './contract.js';
import { pairingErrors } from './errors.js';

export interface DevicesDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'bytes' | 'uuid'>;
  readonly events: Pick<Events, 'event'>;
  readonly auth: AuthService;
  settings(): PairingConfig;
}

const MAX_PENDING = 5;
const MAX_SHOWN = 1_000;
const RANKS: readonly string[] = ['viewer', 'user', 'admin', 'owner'];

export const credentialOf = (id: string): string => `device:${id}`;
const isDevice = (actor: Actor): boolean => actor.id.startsWith('device:');
/** An owner among `[[users]]` acts on the rows of the daemon's owner, but what they paired is theirs: it ends with them. */
const personOf = ({ id, ownerId }: Actor): string => (ownerId === 'owner' && id.startsWith('user:') ? id : ownerId);

const allow = (actor: Actor, role: DeviceRole): void => {
  if (isDevice(actor)) throw pairingErrors.by_device();
  if (RANKS.indexOf(role) > RANKS.indexOf(actor.role)) throw pairingErrors.role_too_high(role, actor.role);
};

export interface NewDevice {
  readonly code: string;
  readonly display_name: string;
  readonly platform: string;
}

export const createDevices = ({ auth, clock, db, events, ids, settings }: DevicesDeps) => {
  const shownOf = async (rows: readonly DeviceRow[]): Promise<Device[]> => {
    const issued = await auth.issued(rows.map(({ id }) => credentialOf(id)));
    return rows.map(({ id, notice, notice_at: at, notice_title: title, owner_id: owner, ...row }) => {
      const credential = issued[credentialOf(id)];
      return {
        ...{ id, device_id: id, display_name: row.display_name, platform: row.platform, paired_at: row.paired_at, owner },
        role: (credential?.role ?? 'viewer') as DeviceRole, // `complete` gives it one of these
        last_seen: credential?.seenAt ?? null,
        notice: notice === null || at === null ? null : { title: title ?? '', message: notice, at },
      };
    });
  };
  const changed = (device: Pick<DeviceRow, 'id' | 'owner_id'>, change: 'paired' | 'changed' | 'removed' | 'notified') =>
    events.event(DeviceChanged, { id: device.id, ownerId: device.owner_id, change });
  const committed = async (writes: Parameters<Db['commit']>[0], conflict: () => Error): Promise<void> => {
    try {
      await db.commit(writes);
    } catch (error) {
      if (isSvcError(error) && error.code === 'storage_conflict') throw conflict();
      throw error;
    }
  };
  const within = (table: string, row: Readonly<Record<string, string | null>>, most: number) => {
    const columns = Object.keys(row);
    return db.sql(
      `INSERT INTO ${db.table(table)}(${columns.join(', ')}) SELECT ${columns.map(() => '?').join(', ')} WHERE (SELECT COUNT(*) FROM ${db.table(table)} WHERE owner_id = ?) < ?`,
      [...Object.values(row), row.owner_id ?? '', most],
      { expect: 1 },
    );
  };
  return {
    /** A code for a device of this person. */
    request: async (actor: Actor, role: DeviceRole): Promise<{ code: string; expiresAt: string }> => {
      allow(actor, role);
      if (!(await auth.needsKey())) throw pairingErrors.needs_key();
      const { max_devices: most, token_expiry_secs: secs } = settings();
      if ((await db.system('limit of devices').count('devices', { owner_id: personOf(actor) })) >= most) throw pairingErrors.too_many_devices(most);
      const code = newCode(ids);
      const whose = { owner_id: personOf(actor) };
      const row: CodeRow = { id: hashOf(code) ?? '', ...whose, role, expires_at: new Date(clock.now() + secs * 1_000).toISOString() };
      await committed([db.remove('codes', { expires_at: { lt: clock.iso() } }, { expect: 'any' }), within('codes', row, MAX_PENDING)], () => pairingErrors.too_many_codes(MAX_PENDING));
      return { code, expiresAt: row.expires_at };
    },
    complete: async ({ code: typed, display_name, platform }: NewDevice): Promise<{ device: DeviceRow; key: string }> => {
      const hash = hashOf(typed);
      const code = hash === undefined ? undefined : await db.system('whose a pairing code is').first<CodeRow>({ from: 'codes', where: { id: hash, expires_at: { gte: clock.iso() } } });
      if (!code) throw pairingErrors.code_over();
      const device: DeviceRow = { id: ids.uuid(), owner_id: code.owner_id, display_name, platform, paired_at: clock.iso(), notice_title: null, notice: null, notice_at: null };
      const { key, writes } = await auth.issue({ name: credentialOf(device.id), personId: code.owner_id, role: code.role as DeviceRole }); // `request` wrote it
      await committed([db.remove('codes', { id: code.id }, { expect: 1 }), within('devices', { ...device }, settings().max_devices), ...writes, changed(device, 'paired')], () =>
        pairingErrors.code_over(),
      );
      return { device, key };
    },
    list: async (actor: Actor): Promise<Device[]> =>
      shownOf(await db.as(actor).select<DeviceRow>({ from: 'devices', order: [{ column: 'paired_at', descending: true }, { column: 'id' }], limit: MAX_SHOWN })),
    change: async (actor: Actor, device: Device, { role, display_name }: { role?: DeviceRole; display_name?: string }): Promise<Device> => {
      if (role !== undefined) allow(actor, role);
      const row = { id: device.id, owner_id: device.owner };
      await committed(
        [
          ...(display_name === undefined ? [] : [db.update('devices', ['id'], [{ id: device.id, display_name }], { expect: 'each' })]),
          ...(role === undefined ? [] : await auth.setRole(credentialOf(device.id), role)),
          changed(row, 'changed'),
        ],
        () => pairingErrors.not_found(device.id),
      );
      return { ...device, ...(role === undefined ? {} : { role }), ...(display_name === undefined ? {} : { display_name }) };
    },
    remove: async (device: Device): Promise<void> =>
      committed([db.remove('devices', { id: device.id }, { expect: 1 }), ...(await auth.revoke([credentialOf(device.id)])), changed({ id: device.id, owner_id: device.owner }, 'removed')], () =>
        pairingErrors.not_found(device.id),
      ),
    /** By credential; those of other areas are left out. */
    names: async (credentials: readonly string[]): Promise<Record<string, string>> => {
      const wanted = credentials.filter((one) => one.startsWith('device:')).map((one) => one.slice('device:'.length));
      if (wanted.length === 0) return {};
      const rows = await db.system('names of devices').select<DeviceRow>({ from: 'devices', where: { id: wanted }, limit: wanted.length });
      return Object.fromEntries(rows.map(({ id, display_name: name }) => [credentialOf(id), name]));
    },
    /** Of this person alone, whatever else they may see. */
    own: (actor: Actor): Promise<DeviceRow[]> => db.system('devices of one person').select<DeviceRow>({ from: 'devices', where: { owner_id: personOf(actor) }, limit: MAX_SHOWN }),
    noted: async (devices: readonly DeviceRow[], title: string, message: string): Promise<void> => {
      if (devices.length === 0) return;
      const at = clock.iso();
      await db.commit([
        db.update(
          'devices',
          ['id'],
          devices.map(({ id }) => ({ id, notice_title: title, notice: message, notice_at: at })),
        ),
        ...devices.map((one) => changed(one, 'notified')),
      ]);
    },
  };
};
export type DevicesOf = ReturnType<typeof createDevices>;
