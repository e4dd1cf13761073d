import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { presentedKey } from '../src/index.js';
import { createKeyring } from '../src/keyring.js';
import { mayDo } from '../src/roles.js';

const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const cycle = createKeyring({ apiKey: 'root-key', apiKeyHash: '', users: [{ name: 'alice', role: 'user', api_key_hash: hash('alice-key') }] });

describe('the keyring', () => {
  it('U1 knows whose key it is, and nobody else’s', () => {
    expect(cycle.find('root-key')).to.include({ role: 'owner', ownerId: 'owner' });
    expect(cycle.find('alice-key')).to.deep.equal({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });
    expect(cycle.find('root-ke')).to.equal(undefined);
  });

  it('takes a hash in place of the key itself', () => {
    expect(createKeyring({ apiKey: '', apiKeyHash: hash('k'), users: [] }).find('k')?.role).to.equal('owner');
  });

  it('U2 is open only without any key', () => {
    expect(createKeyring({ apiKey: '', apiKeyHash: '', users: [] }).isOpen).to.equal(true);
    expect(cycle.isOpen).to.equal(false);
  });

  it('R1 refuses a key that another daemon revoked, and is not open without the others', () => {
    const revoked = new Set([hash('alice-key').slice('sha256:'.length)]);
    const settings = { apiKey: '', apiKeyHash: '', ownerKeyHash: hash('made'), users: [{ name: 'alice', role: 'user', api_key_hash: hash('alice-key') }] } as const;
    const keyring = createKeyring(settings, revoked);
    expect([keyring.find('alice-key'), keyring.roleOf('user:alice'), keyring.isOpen, keyring.revokedHolders]).to.deep.equal([undefined, undefined, false, ['alice']]);
    expect(keyring.bind('alice-key', 'secret')).to.equal(undefined);
    // What a daemon made is its own, and no other one hears of it.
    expect([...keyring.named]).to.deep.equal([...revoked]);
    expect(createKeyring({ ...settings, ownerKeyHash: '' }, revoked).isOpen).to.equal(false);
  });

  it('U3 knows a page of before where the daemon made the key itself, and nowhere else', () => {
    const none = { apiKey: '', apiKeyHash: '', users: [] };
    const { binding = '' } = createKeyring(none).bindOpen('secret') ?? {};
    const made = createKeyring({ ...none, ownerKeyHash: hash('made') });
    expect([made.isOpen, made.isOwnerKeyUsed, made.find('made')?.role]).to.deep.equal([false, true, 'owner']);
    expect(made.findBound('owner', binding, 'secret')?.role).to.equal('owner');
    expect(made.findBound('owner', binding, 'another secret')).to.equal(undefined);
    expect(made.bindOpen('secret')).to.equal(undefined);
    expect(cycle.findBound('owner', binding, 'secret')).to.equal(undefined);
  });

  it('knows the role of an owner of rows: the least of several keys, and none for nobody', () => {
    const user = (name: string, role: 'admin' | 'user' | 'viewer' | 'owner', key: string) => ({ name, role, api_key_hash: hash(key) });
    const { roleOf } = createKeyring({ apiKey: 'k', apiKeyHash: '', users: [user('ann', 'admin', 'a'), user('bob', 'admin', 'b'), user('bob', 'user', 'c'), user('cy', 'owner', 'd')] });
    expect(['user:ann', 'user:bob', 'user:cy', 'owner', 'user:dora', ''].map(roleOf)).to.deep.equal(['admin', 'user', undefined, 'owner', undefined, undefined]);
  });

  it('U5 U7 knows whom a sender of a channel is, the person behind a caller, and neither once they are disabled', () => {
    const user = (name: string, role: 'user' | 'owner', channel_bindings: Record<string, string | string[]>) => ({ name, role, channel_bindings });
    const users = [user('ann', 'user', { telegram: ['1', '2'] }), user('bob', 'user', { telegram: '3', slack: '1' }), user('cy', 'user', { telegram: '3' }), user('dora', 'owner', { telegram: '4' })];
    const keyring = createKeyring({ apiKey: 'k', apiKeyHash: '', users });
    expect([keyring.boundTo('telegram', '2'), keyring.boundTo('slack', '1'), keyring.boundTo('telegram', '4')]).to.deep.equal(['user:ann', 'user:bob', 'user:dora']);
    for (const [channel, sender] of [
      ['slack', '2'],
      ['telegram', '3'],
      ['telegram', ''],
      ['constructor', '1'],
      ['telegram2', '1'],
    ] as const)
      expect(keyring.boundTo(channel, sender), `${channel} ${sender}`).to.equal(undefined);
    expect(keyring.personAs('user:ann', 'admin')).to.deep.equal({ id: 'user:ann', role: 'user', ownerId: 'user:ann' });
    expect(keyring.personAs('user:ann', 'viewer')?.role).to.equal('viewer');
    expect(keyring.personAs('user:dora', 'admin')).to.deep.equal({ id: 'user:dora', role: 'admin', ownerId: 'owner' });
    expect(keyring.personAs('user:zoe', 'admin')).to.equal(undefined);
    const row = { id: 'user:ann', owner_id: 'user:ann', name: 'ann', email: null, source: 'users', role: null, set_role: null, disabled: 1, created_at: '', seen_at: null };
    const device = { id: 'device:1', ownerId: 'user:dora', role: 'user' as const, keyHash: 'a'.repeat(64), createdAt: '', seenAt: null, actorId: null, expiresAt: null };
    const after = createKeyring({ apiKey: 'k', apiKeyHash: '', users }, new Set(), { credentials: [device], people: [row] });
    expect([after.boundTo('telegram', '2'), after.personAs('user:ann', 'admin'), after.behind({ id: 'user:ann', role: 'user', ownerId: 'user:ann' })]).to.deep.equal([undefined, undefined, undefined]);
    expect(after.behind({ id: 'device:1', role: 'user', ownerId: 'owner' })).to.equal('user:dora');
    expect(after.behind({ id: 'owner', role: 'owner', ownerId: 'owner' })).to.equal('owner');
    expect(after.behind({ id: 'oidc:unknown', role: 'owner', ownerId: 'owner' }), 'whose rights are the owner’s and who is not named').to.equal(undefined);
    expect(after.behind({ id: 'system:runs', role: 'system', ownerId: 'user:bob' })).to.equal(undefined);
  });

  it('reads a key from the bearer header, x-api-key and the WebSocket subprotocol', () => {
    expect(presentedKey({ headers: { authorization: 'Bearer k1' } })).to.equal('k1');
    expect(presentedKey({ headers: { 'x-api-key': 'k2' } })).to.equal('k2');
    expect(presentedKey({ headers: { 'sec-websocket-protocol': 'chat, bearer.k3' } })).to.equal('k3');
    for (const authorization of ['Basic abc', 'Bearer', 'Bearer  ', 'Bearerk1']) expect(presentedKey({ headers: { authorization } }), authorization).to.equal(undefined);
    expect(presentedKey({ headers: { authorization: 'bearer  a key with blanks ' } })).to.equal('a key with blanks');
  });

  it('takes empty and blank for unset, wherever a key may stand', () => {
    for (const blank of ['', ' ', '\t\n', undefined]) {
      expect(createKeyring({ environment: blank, apiKey: blank, apiKeyHash: blank, users: [] }).isOpen, JSON.stringify(blank)).to.equal(true);
      const fromFile = createKeyring({ environment: blank, apiKey: 'file-key', apiKeyHash: blank, users: [] });
      expect([fromFile.isOpen, fromFile.find('file-key')?.role, fromFile.find(String(blank))]).to.deep.equal([false, 'owner', undefined]);
    }
  });

  it('puts SVC_API_KEY above api_key, and lets neither a hash nor the text around a key open anything', () => {
    const both = createKeyring({ environment: ' env-key ', apiKey: 'file-key', apiKeyHash: '', users: [] });
    expect([both.find('env-key')?.role, both.find('file-key'), both.find(' env-key ')]).to.deep.equal(['owner', undefined, undefined]);
    const stored = createKeyring({ apiKey: hash('k'), apiKeyHash: '', users: [] });
    expect([stored.find('k')?.role, stored.find(hash('k')), stored.isPlainInFile, both.isPlainInFile]).to.deep.equal(['owner', undefined, false, false]);
  });

  it('lets a viewer read, a user write and send, and only owners and admins administer', () => {
    expect(['agents.read', 'runs.send', 'agents.write', 'kernel.admin'].map((permission) => [mayDo('viewer', permission), mayDo('user', permission), mayDo('admin', permission)])).to.deep.equal([
      [true, true, true],
      [false, true, true],
      [false, true, true],
      [false, false, true],
    ]);
  });
});
