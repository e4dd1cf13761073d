/** People over HTTP, on the command line and on the page: who may come in, what each holds, and what owners and admins change of it. */
import { defineResource, Nullable, OneOf, type Plain, Type } from '@svc/api';
import { authErrors } from '../errors.js';

const RoleOfPerson = OneOf(['owner', 'admin', 'user', 'viewer']);
const when = Type.String({ format: 'date-time' });

const Access = Type.Object({
  kind: OneOf(['login', 'sign_in', 'device'], { description: '`login`: a browser that showed a key. `sign_in`: a sign-in at a provider. `device`: a paired device' }),
  name: Type.String(),
  role: Nullable(RoleOfPerson),
  since: when,
  last_seen: Nullable(when),
  expires_at: Nullable(when),
});
export type Access = Plain<typeof Access>;

const person = {
  id: Type.String({ description: '`user:<name>` of the settings, `oidc:<hash>` of a provider, or `owner`: whoever has the key of the daemon', examples: ['user:alice'] }),
  name: Type.String(),
  email: Nullable(Type.String()),
  role: Nullable(RoleOfPerson, { description: 'Null: none, so this person may not come in' }),
  role_from: OneOf(['settings', 'provider', 'chosen'], { description: '`chosen`: by an owner or admin, in place of what the provider says' }),
  state: OneOf(['active', 'disabled']),
  source: Type.String({ description: '`settings`, or provider and subject', examples: ['settings', 'company:248289761001'] }),
  logins: Type.Integer({ description: 'Browsers and programs that are logged in' }),
  devices: Type.Array(Type.String(), { description: 'Names of paired devices' }),
  last_seen: Nullable(when),
};
export const Person = Type.Object(person, { 'x-name': 'Person' });
export type Person = Plain<typeof Person>;
export const PersonDetail = Type.Object({ ...person, access: Type.Array(Access, { description: 'What opens the daemon for this person, beside keys of the settings' }) }, { 'x-name': 'PersonDetail' });
export type PersonDetail = Plain<typeof PersonDetail>;

const permission = 'auth.admin';

export const People = defineResource({
  area: 'auth',
  one: 'person',
  many: 'people',
  path: '/api/people',
  key: { name: 'id', schema: Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,120}$', description: 'Id, or the name of a user of the settings', examples: ['user:alice'] }) },
  fields: Type.Object({
    role: Nullable(RoleOfPerson, { description: 'Of a person of a provider: stands above what the provider says. Null: what the provider says' }),
    disabled: Type.Boolean({ description: 'Nobody who is disabled comes in, and none of their agents uses what their role allowed' }),
  }),
  item: Person,
  operations: {
    list: { permission, description: 'Everybody whom the settings name or who signed in at a provider, with roles, logins, devices and when each was last seen. For owners and admins.' },
    get: { permission, answer: PersonDetail, description: 'With each login, sign-in and device. For owners and admins.' },
    update: {
      id: 'updatePerson',
      method: 'PATCH',
      permission,
      summary: 'Disable a person or choose a role',
      description:
        'What the person holds open is checked again at once, on every daemon: streams and sockets end, and agents lose what the role allowed. An admin gives no role above admin and changes no owner. Nobody changes themselves, and one owner stays. Roles of people of the settings are changed there.',
      answer: PersonDetail,
      examples: {
        'nobody may come in as this person': { disabled: true },
        'they may again': { disabled: false },
        'a role that their provider does not give': { role: 'admin' },
        'what the provider says': { role: null },
      },
      errors: [403, 409],
      audit: 'person_changed',
    },
  },
  list: { as: ['people'], search: ['name', 'email', 'id'] },
  columns: ['name', { field: 'role', none: { en: 'none', zh: '无' } }, 'state', 'source', 'logins', 'devices', { field: 'last_seen', format: 'ago' }],
  word: 'people',
  verbs: { get: 'show', update: false },
  words: {
    title: { en: 'People', zh: '人员' },
    one: { en: 'person', zh: '人员' },
    note: { en: 'Whoever the settings name, and whoever signed in at a provider.', zh: '设置中列出的人员，以及通过身份提供商登录过的人员。' },
    empty: { en: 'Nobody yet. Name people under [[users]], or a provider under [external_auth].', zh: '还没有人员。请在 [[users]] 中添加，或在 [external_auth] 中设置身份提供商。' },
    fields: {
      name: { label: { en: 'Name', zh: '名称' } },
      email: { label: { en: 'E-mail', zh: '邮箱' } },
      role: { label: { en: 'Role', zh: '角色' } },
      role_from: { label: { en: 'Role given by', zh: '角色来源' } },
      state: { label: { en: 'State', zh: '状态' } },
      source: { label: { en: 'Known from', zh: '来源' } },
      logins: { label: { en: 'Logins', zh: '登录' } },
      devices: { label: { en: 'Devices', zh: '设备' } },
      last_seen: { label: { en: 'Last seen', zh: '最近使用' } },
      disabled: { label: { en: 'Disabled', zh: '已停用' } },
    },
  },
  actions: {
    signOut: {
      id: 'signOutPerson',
      path: '/sign-out',
      summary: 'Sign a person out',
      description: 'Ends each login and each sign-in of this person, with what they hold open. Keys of the settings and devices go on working.',
      permission,
      answer: Type.Object({ ended: Type.Integer() }),
      errors: [403],
      audit: 'person_signed_out',
      auditCategory: 'logins',
      done: { en: 'Ended {ended} logins.', zh: '已结束 {ended} 个登录。' },
      button: { label: { en: 'Sign out', zh: '登出' }, icon: 'log-out', confirm: { title: { en: 'Sign this person out everywhere?', zh: '让此人在所有地方登出？' } } },
      command: { verb: 'sign-out', confirm: false },
    },
  },
  missing: authErrors.person_not_found,
});
