import { execFileSync } from 'node:child_process';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { generate } from 'otplib';
import { bootApprovals, type World } from './approvals-kit.js';

const STEP_MS = 30_000;
const hasOathtool = (): boolean => {
  try {
    execFileSync('oathtool', ['--version']);
    return true;
  } catch {
    return false;
  }
};

describeOnEngines('the second factor of approvals', function () {
  this.timeout(60_000);
  let world: World;
  let agent: string;
  let secret = '';
  let recovery: string[] = [];
  before(async () => {
    world = await bootApprovals('require_approval = true', { top: 'second_factor = "totp"' });
    agent = await world.spawn('guarded');
  });
  after(stopModelKernels);

  const codeAt = (ms: number, of = secret): Promise<string> => generate({ secret: of, epoch: Math.floor(ms / 1_000) });
  const now = (of = secret): Promise<string> => codeAt(world.clock.now(), of);
  const nextStep = (): Promise<unknown> => world.clock.advance(STEP_MS);
  const wrong = async (): Promise<string> => ((await now()) === '000000' ? '000001' : '000000');
  const post = (path: string, body: unknown = {}, http = world.alice) => http.post(`/api/approvals/${path}`, body);
  const code = async (status: number, path: string, body: unknown = {}, http = world.alice): Promise<string> => (await http.expect(status, 'POST', `/api/approvals/${path}`, body)).body.code;
  const status = async (http = world.alice) => (await http.expect(200, 'GET', '/api/approvals/totp/status')).body;
  const waiting = async (path: string): Promise<string> => (await world.alice.expect(200, 'POST', '/api/approvals', { agent_id: agent, action: 'file_write', payload: { path } })).body.id;

  it('has to be set up before anything can be approved, and not before it is rejected', async () => {
    const id = await waiting('early.txt');
    expect(await code(400, `${id}/approve`, { totp_code: '123456' })).to.equal('approvals_totp_not_enrolled');
    expect(await code(400, `${id}/approve`)).to.equal('approvals_totp_not_enrolled');
    expect(await status()).to.deep.equal({ enrolled: false, confirmed: false, enforced: false, remaining_recovery_codes: 0 });
    await world.alice.expect(200, 'POST', `/api/approvals/${id}/reject`, {});
  });

  it('T1 is set up by a secret that is shown once, and holds once a code confirms it', async () => {
    expect(await code(409, 'totp/confirm', { code: '123456' })).to.equal('approvals_totp_nothing_to_confirm');
    const first = await post('totp/setup');
    const { body } = await world.alice.expect(200, 'POST', '/api/approvals/totp/setup', {});
    expect(body.secret)
      .to.match(/^[A-Z2-7]{32}$/)
      .and.not.equal(first.body.secret);
    expect(body.otpauth_uri).to.match(/^otpauth:\/\/totp\/svc:alice\?.*secret=[A-Z2-7]{32}/);
    expect(Buffer.from(body.qr_code.slice('data:image/svg+xml;base64,'.length), 'base64').toString()).to.match(/^<svg /);
    expect(body.recovery_codes).to.have.length(8);
    [secret, recovery] = [body.secret, body.recovery_codes];
    expect(await status()).to.deep.equal({ enrolled: true, confirmed: false, enforced: false, remaining_recovery_codes: 8 });
    expect(await code(400, 'totp/confirm', { code: await now(first.body.secret) })).to.equal('approvals_totp_invalid');
    expect((await post('totp/confirm', { code: '12345' })).status).to.equal(400);
    await world.alice.expect(200, 'POST', '/api/approvals/totp/confirm', { code: await now() });
    expect(await status()).to.deep.equal({ enrolled: true, confirmed: true, enforced: true, remaining_recovery_codes: 8 });
    expect(await status(world.bob)).to.include({ enrolled: false });
  });

  it('T3 is one code for one approval, of this step or the ones beside it', async () => {
    const one = await waiting('1.txt');
    expect(await code(400, `${one}/approve`)).to.equal('approvals_totp_required');
    // The one that confirmed the authenticator.
    expect(await code(400, `${one}/approve`, { totp_code: await now() })).to.equal('approvals_totp_replayed');
    await nextStep();
    expect(await code(400, `${one}/approve`, { totp_code: await codeAt(world.clock.now() + 2 * STEP_MS) })).to.equal('approvals_totp_invalid');
    expect(await code(400, `${one}/approve`, { totp_code: await codeAt(world.clock.now() - 3 * STEP_MS) })).to.equal('approvals_totp_invalid');
    const used = await codeAt(world.clock.now() + STEP_MS);
    await world.alice.expect(200, 'POST', `/api/approvals/${one}/approve`, { totp_code: used });
    expect((await world.alice.expect(200, 'GET', `/api/approvals/${one}`)).body).to.include({ status: 'approved', second_factor_used: true });
    const next = await waiting('2.txt');
    expect(await code(400, `${next}/approve`, { totp_code: used })).to.equal('approvals_totp_replayed');
    expect(await code(400, 'batch', { ids: [next], decision: 'approve' })).to.equal('approvals_totp_in_batch');
    await nextStep();
    await nextStep();
    const at = await now();
    const twice = await Promise.all([post(`${next}/approve`, { totp_code: at }), post(`${next}/approve`, { totp_code: at })]);
    expect(twice.map((answer) => answer.status).sort()).to.satisfy(([first, second]: number[]) => first === 200 && (second === 400 || second === 409));
  });

  it('T3 takes a recovery code once', async () => {
    const id = await waiting('3.txt');
    await world.alice.expect(200, 'POST', `/api/approvals/${id}/approve`, { totp_code: recovery[0]?.toUpperCase() });
    expect((await status()).remaining_recovery_codes).to.equal(7);
    expect(await code(400, `${await waiting('4.txt')}/approve`, { totp_code: recovery[0] })).to.equal('approvals_totp_invalid');
  });

  it('T3 is locked for five minutes by five wrong codes, also when they come at once, and for this purpose alone', async () => {
    await nextStep();
    const id = await waiting('5.txt');
    const guess = await wrong();
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${id}/approve`, { totp_code: guess })));
    const invalid = answers.filter(({ body }) => body.code === 'approvals_totp_invalid');
    expect(invalid.length).to.be.at.most(5);
    expect(answers.length - invalid.length).to.equal(answers.filter(({ body, status: s }) => s === 400 && body.code === 'approvals_totp_locked').length);
    expect(await code(400, `${id}/approve`, { totp_code: await now() })).to.equal('approvals_totp_locked');
    expect(await code(400, 'totp/revoke', { code: guess })).to.equal('approvals_totp_invalid');
    await world.clock.advance(5 * 60_000 + 1_000);
    await world.alice.expect(200, 'POST', `/api/approvals/${id}/approve`, { totp_code: await now() });
  });

  it('T2 is replaced with a code of the one before, which holds until the new one is confirmed', async () => {
    await nextStep();
    expect(await code(400, 'totp/setup')).to.equal('approvals_totp_current_code');
    expect(await code(400, 'totp/setup', { current_code: await wrong() })).to.equal('approvals_totp_invalid');
    const { body } = await world.alice.expect(200, 'POST', '/api/approvals/totp/setup', { current_code: await now() });
    await nextStep();
    await world.alice.expect(200, 'POST', `/api/approvals/${await waiting('6.txt')}/approve`, { totp_code: await now() });
    await nextStep();
    await world.alice.expect(200, 'POST', '/api/approvals/totp/confirm', { code: await now(body.secret) });
    await nextStep();
    const id = await waiting('7.txt');
    expect(await code(400, `${id}/approve`, { totp_code: await now() })).to.equal('approvals_totp_invalid');
    [secret, recovery] = [body.secret, body.recovery_codes];
    await world.alice.expect(200, 'POST', `/api/approvals/${id}/approve`, { totp_code: await now() });
  });

  it('makes the codes that oathtool makes', async function () {
    if (!hasOathtool()) this.skip();
    await nextStep();
    const at = new Date(world.clock.now()).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
    const made = execFileSync('oathtool', ['--totp', '-b', secret, '--now', at]).toString().trim();
    await world.alice.expect(200, 'POST', `/api/approvals/${await waiting('8.txt')}/approve`, { totp_code: made });
  });

  it('is removed by a code or a recovery code, and by nothing else', async () => {
    expect(await code(400, 'totp/revoke', { code: '0000-0000-0000-0000' })).to.equal('approvals_totp_invalid');
    expect(await code(400, 'totp/revoke', { code: recovery[1] }, world.bob)).to.equal('approvals_totp_not_enrolled');
    expect((await world.alice.expect(200, 'DELETE', '/api/approvals/totp', { code: recovery[1] })).body.status).to.equal('revoked');
    expect(await code(400, 'totp/revoke', { code: recovery[2] })).to.equal('approvals_totp_not_enrolled');
    const { body } = await world.alice.expect(200, 'POST', '/api/approvals/totp/setup', {});
    await world.alice.expect(200, 'POST', '/api/approvals/totp/revoke', { code: await now(body.secret) });
    expect(await status()).to.include({ enrolled: false });
  });

  it('goes with its person: no secret, code or attempt stays', async () => {
    const { body } = await world.bob.expect(200, 'POST', '/api/approvals/totp/setup', {});
    await world.bob.expect(200, 'POST', '/api/approvals/totp/confirm', { code: await now(body.secret) });
    expect(await status(world.bob)).to.include({ confirmed: true });
    await world.kernel.daemon.parts.purges.purge({ ownerId: 'user:bob' });
    expect(await status(world.bob)).to.deep.equal({ enrolled: false, confirmed: false, enforced: false, remaining_recovery_codes: 0 });
    const db = world.kernel.daemon.parts.storage.dbFor({ id: 'counting', tables: [], isPlatform: true });
    for (const table of ['totp', 'recovery_codes', 'attempts'])
      expect(await db.system('a test').readOne<{ n: number }>(`SELECT count(*) AS n FROM approvals__${table} WHERE owner_id = 'user:bob'`), table).to.deep.equal({ n: 0 });
  });
});
