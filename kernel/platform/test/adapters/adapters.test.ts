import { createPublicKey, verify } from 'node:crypto';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { execErrors, fetchErrors, filesErrors, secretErrors } from '../../src/adapters/errors.js';
import { createSecrets, type SecretChange, type SecretsAdapter } from '../../src/adapters/secrets-adapter.js';
import { createLog } from '../../src/log/log.js';

describe('adapters: secrets', () => {
  const log = createLog({ dir: null, level: 'info', clock: systemClock(), terminal: false });
  let vault: Map<string, string>;
  let secrets: SecretsAdapter;
  beforeEach(() => {
    vault = new Map();
    const change = async ({ op, name, value }: SecretChange) => {
      if (op === 'list') return { changed: false, names: [...vault.keys()] };
      if (op === 'delete') return { changed: vault.delete(name) };
      vault.set(name, value ?? '');
      return { changed: true };
    };
    const ask = async (name: string) => (vault.has(name) ? { value: vault.get(name) ?? '' } : undefined);
    secrets = createSecrets({ env: { A_KEY: 'from-environment', SVC_VAULT_KEY: 'master' }, ask, change, log });
  });
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error) => error.code ?? error.message,
    );

  it('prefers the stored value to the environment', async () => {
    const ref = { secret: 'provider.a', env: 'A_KEY' };
    expect([await secrets.where(ref), await secrets.resolve(ref)]).to.deep.equal(['environment', 'from-environment']);
    await secrets.put('provider.a', 'from-the-vault');
    expect([await secrets.where(ref), await secrets.resolve(ref)]).to.deep.equal(['stored', 'from-the-vault']);
    expect([await secrets.delete('provider.a'), await secrets.delete('provider.a')]).to.deep.equal([true, false]);
    expect(await secrets.where({ secret: 'provider.b', env: 'SVC_VAULT_KEY' })).to.equal(undefined);
  });

  it('lets an extension touch only what it was granted', async () => {
    await secrets.put('provider.a', 'value-of-provider-a');
    await secrets.put('oidc.client', 'value-of-oidc-client');
    const mine = secrets.limited(['secrets:provider.*', 'net:x.test']);
    expect(await mine.secrets.list('')).to.deep.equal(['provider.a']);
    expect(await mine.resolve({ secret: 'provider.a' })).to.equal('value-of-provider-a');
    const refused = [mine.resolve({ secret: 'oidc.client' }), mine.secrets.where({ secret: 'oidc.client' }), mine.secrets.put('oidc.client', 'x'), mine.secrets.delete('oidc.client')];
    for (const attempt of refused) expect(await codeOf(attempt)).to.equal('secret_not_granted');
  });

  it('signs with a key that it makes once, and gives out the public half alone', async () => {
    const [one, two] = await Promise.all([secrets.sign('audit.key', Buffer.from('a')), secrets.sign('audit.key', Buffer.from('a'))]);
    expect(Buffer.from(one.signature)).to.deep.equal(Buffer.from(two.signature));
    const key = createPublicKey({ key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), one.publicKey]), format: 'der', type: 'spki' });
    expect([verify(null, Buffer.from('a'), key, one.signature), verify(null, Buffer.from('b'), key, one.signature)]).to.deep.equal([true, false]);
    expect(log.scrub(vault.get('audit.key') ?? '')).to.equal('•••');
    vault.set('audit.key', 'no key');
    expect(await codeOf(secrets.sign('audit.key', Buffer.from('a')))).to.equal('secret_not_a_key');
    expect(await codeOf(secrets.limited(['secrets:provider.*']).secrets.sign('audit.key', Buffer.from('a')))).to.equal('secret_not_granted');
  });

  it('passes on that the store is broken, instead of taking it for empty, where the environment has no value', async () => {
    const broken = createSecrets({ env: { A_KEY: 'x' }, ask: () => Promise.reject(new Error('sealed')), change: async () => undefined, log });
    expect(await codeOf(broken.resolve({ secret: 'a', env: 'B_KEY' }))).to.equal('sealed');
    expect(await codeOf(broken.where({ secret: 'a' }))).to.equal('sealed');
    expect([await broken.where({ secret: 'a', env: 'A_KEY' }), await broken.resolve({ secret: 'a', env: 'A_KEY' })]).to.deep.equal(['environment', 'x']);
    expect(await codeOf(broken.put('a', 'v'))).to.equal('secret_no_store');
    expect(await codeOf(broken.resolve({ secret: 'a b' }))).to.equal('secret_bad_name');
  });

  it('makes an HMAC under a secret of the extension, and gives away no other', async () => {
    await secrets.put('totp.a', Buffer.from('12345678901234567890').toString('hex'));
    const mine = secrets.limited(['secrets:totp.*']).secrets;
    // RFC 4226, appendix D: the counter 1.
    const mac = await mine.hmac('totp.a', new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1]), { algorithm: 'sha1', key: 'hex' });
    expect(Buffer.from(mac ?? []).toString('hex')).to.equal('75a48a19d4cbe100644e8ac1397eea747a2d33ab');
    // The same secret, written in base64 (as Standard Webhooks do).
    await secrets.put('totp.b', Buffer.from('12345678901234567890').toString('base64'));
    expect(await mine.hmac('totp.b', new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1]), { algorithm: 'sha1', key: 'base64' })).to.deep.equal(mac);
    expect(await mine.hmac('totp.none', new Uint8Array(), { algorithm: 'sha256', key: 'utf8' })).to.equal(undefined);
    expect(await codeOf(mine.hmac('provider.a', new Uint8Array(), { algorithm: 'sha256', key: 'utf8' }))).to.equal('secret_not_granted');
  });

  it('hides every value it has seen from the log', async () => {
    await secrets.put('provider.a', 'canary-stored');
    await secrets.resolve({ secret: 'none', env: 'A_KEY' });
    expect(log.scrub('canary-stored and from-environment')).to.equal('••• and •••');
  });
});

describe('adapters: errors', () => {
  it('have codes that are used once', () => {
    const codes = [fetchErrors, execErrors, filesErrors, secretErrors].flatMap((errors) => errors.table.map((row) => row.code));
    expect(new Set(codes).size).to.equal(codes.length);
  });
});
