/** What paired devices are. */
import { defineEvent, defineResource, defineTable, Nullable, OneOf, type Plain, type RowOf, Type } from '@svc/api';
import { pairingErrors } from './errors.js';

const text = { kind: 'text', notNull: true } as const;
const id = { kind: 'text', primaryKey: true } as const;

/** Its key and role are a credential of auth, by the name `device:<id>`. */
export const DeviceRows = defineTable('devices', '1.0.0', {
  columns: { id, owner_id: text, display_name: text, platform: text, paired_at: text, notice_title: { kind: 'text' }, notice: { kind: 'text' }, notice_at: { kind: 'text' } },
  owner: 'owner_id',
  indexes: [['owner_id', 'paired_at']],
});
export type DeviceRow = RowOf<typeof DeviceRows>;
/** `id` is the SHA-256 of the code. */
export const CodeRows = defineTable('codes', '1.0.0', { columns: { id, owner_id: text, role: text, expires_at: text }, owner: 'owner_id', indexes: [['owner_id'], ['expires_at']] });
export type CodeRow = RowOf<typeof CodeRows>;

export const DeviceChanged = defineEvent('device.changed', '1.0.0', Type.Object({ id: Type.String(), ownerId: Type.String(), change: OneOf(['paired', 'changed', 'removed', 'notified']) }), {
  what: 'device',
  permission: 'pairing.read',
  owner: 'ownerId',
  id: 'id',
  state: 'change',
});

export const DeviceRole = OneOf(['owner', 'admin', 'user', 'viewer'], { description: 'What the device may do: at most what the person may do who paired it' });
export type DeviceRole = Plain<typeof DeviceRole>;
const when = Type.String({ format: 'date-time' });

export const Device = Type.Object(
  {
    id: Type.String(),
    device_id: Type.String({ description: 'The same as `id`' }),
    display_name: Type.String(),
    platform: Type.String(),
    role: DeviceRole,
    owner: Type.String({ description: 'Who paired it', examples: ['user:alice'] }),
    paired_at: when,
    last_seen: Nullable(when, { description: 'Its last request, to the minute' }),
    notice: Nullable(Type.Object({ title: Type.String(), message: Type.String(), at: when }), { description: 'The last message that was sent to it' }),
  },
  { 'x-name': 'Device' },
);
export type Device = Plain<typeof Device>;

const Title = Type.String({ maxLength: 200, default: 'svc' });

export const Devices = defineResource({
  area: 'pairing',
  one: 'device',
  path: '/api/pairing/devices',
  fields: Type.Object({ role: DeviceRole, display_name: Type.String({ minLength: 1, maxLength: 100 }) }),
  item: Device,
  operations: {
    list: { description: 'Your paired devices, the newest first, with their roles and when each was last seen.' },
    update: {
      id: 'updateDevice',
      method: 'PATCH',
      summary: 'Change a device',
      description: 'Changes the role or the name of a device; it need not be paired again. What it holds open is checked again at once.',
      examples: { 'let it approve and set up': { role: 'admin' }, 'let it only read': { role: 'viewer' }, 'call it differently': { display_name: 'Phone in the kitchen' } },
      errors: [403],
    },
    delete: { description: 'Removes a device. Its key opens nothing any more, and its open pages, streams and sockets end within a second.', answer: Type.Object({ status: Type.Literal('removed') }) },
  },
  list: { as: ['devices'], search: ['display_name', 'platform'] },
  columns: ['display_name', 'platform', 'role', 'last_seen'],
  view: { event: 'device' },
  word: 'devices',
  verbs: { delete: 'remove', update: false },
  words: {
    title: { en: 'Devices', zh: '设备' },
    one: { en: 'device', zh: '设备' },
    note: { en: 'A phone or another browser gets a key of its own, which you can take away. It works on what is yours.', zh: '手机或其他浏览器获得可随时收回的独立密钥，并使用你的数据。' },
    empty: { en: 'No devices yet. Pair one with a code.', zh: '还没有设备。请用配对码添加。' },
    fields: {
      display_name: { label: { en: 'Name', zh: '名称' } },
      platform: { label: { en: 'Platform', zh: '平台' } },
      role: { label: { en: 'Role', zh: '角色' } },
      last_seen: { label: { en: 'Last seen', zh: '最近使用' } },
    },
  },
  actions: {
    request: {
      id: 'requestPairing',
      on: 'list',
      path: '/api/pairing/request',
      summary: 'Get a pairing code',
      description:
        'The new device sends the code to POST /api/pairing/complete, with or without the dash. It works once, for five minutes by default. A person has five codes at most. A device acts as `user` unless you ask for another role; later, change it with PATCH /api/pairing/devices/{id}.',
      body: Type.Object({ role: Type.Optional(DeviceRole) }, { additionalProperties: false }),
      bodyRule: 'optional',
      examples: { 'for a phone': {}, 'for a screen that only shows': { role: 'viewer' }, 'for your second computer': { role: 'admin' } },
      answer: Type.Object({
        pairing_code: Type.String({ description: 'Eight letters and digits without look-alikes', examples: ['ABCD-2345'] }),
        token: Type.String({ description: 'The same as `pairing_code`' }),
        expires_at: when,
        url: Type.String({ description: 'Opens the page of this daemon with the code; the QR code shows it' }),
        qr_uri: Type.String({ description: 'The same for apps: `svc://pair?payload=` and base64url of `{v, base_url, token, expires_at}`' }),
      }),
      errors: [400, 403, 409],
      cost: 10,
      audit: 'pairing_requested',
      auditCategory: 'logins',
      command: false,
    },
    notify: {
      id: 'sendToDevices',
      on: 'list',
      path: '/api/pairing/notify',
      summary: 'Send a message to your devices',
      description:
        'Shows a message on the open page of each of your devices, and hands it to ntfy or Gotify where `push_provider` under `[pairing]` names one. `notified` counts the devices for which one of them took it, `failed` the others.',
      body: Type.Object({ message: Type.String({ minLength: 1, maxLength: 4_000 }), title: Type.Optional(Title) }, { additionalProperties: false }),
      examples: {
        'a text': { message: 'The build is done.' },
        'with a title': { title: 'Backup', message: 'It took 12 minutes.' },
        'two lines': { message: 'Two tasks wait for you:\nthe invoice, the letter' },
      },
      answer: Type.Object({ ok: Type.Boolean(), notified: Type.Integer(), failed: Type.Integer() }),
      permission: 'pairing.send',
      cost: 10,
      audit: 'devices_notified',
      command: false,
      done: { en: 'Reached {notified} devices; {failed} not reached.', zh: '已送达 {notified} 台设备，{failed} 台未送达。' },
    },
  },
  missing: pairingErrors.not_found,
});
