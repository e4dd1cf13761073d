/** A database that is not the one of before: the daemon works, and says so wherever somebody looks. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityFileOf } from '@svc/platform/config/home';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('a database that was taken away', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-database-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('leaves the daemon working and degraded, with what fixes it, until a person accepts it', async () => {
    const first = await bootTestKernel({ home });
    await first.daemon.parts.storage.tend();
    await first.stop();
    const data = join(home, 'data');
    for (const name of (await readdir(data)).filter((one) => /^svc\.db(-wal|-shm)?$/.test(one))) await rm(join(data, name));

    const second = await bootTestKernel({ home });
    const { body } = await second.http.expect(200, 'GET', '/api/health/detail');
    const finding = body.doctor.find((one: { check: string }) => one.check === 'DatabaseIdentityCheck');
    expect([body.status, body.database, finding.result]).to.deep.equal(['degraded', 'connected', 'fail']);
    expect(finding.fix).to.contain('svc doctor --accept-database');
    expect((await second.http.expect(200, 'GET', '/api/health')).body.status).to.equal('degraded');
    expect((await second.http.expect(200, 'GET', '/api/agents')).body.agents).to.have.length(1);

    await rm(identityFileOf(join(data, 'svc.db')));
    await second.daemon.parts.storage.tend();
    expect((await second.http.expect(200, 'GET', '/api/health')).body.status).to.equal('ok');
  });
});
