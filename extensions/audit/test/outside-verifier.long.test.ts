/** The log of a daemon, verified by Go's own tlog and note packages (fixtures/audit-verifier). */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AuditRecorded } from '@svc/api';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { verifierKey } from '../src/format/note.js';
import { facts } from './trail-kit.js';

const run = promisify(execFile);
const KEY = 'audit-root-key';
const ENTRIES = 700;

describe('the audit log', function () {
  this.timeout(180_000);
  let [dir, program]: string[] = [];
  before(async function () {
    dir = await mkdtemp(join(tmpdir(), 'svc-verifier-'));
    await cp(join(process.cwd(), 'fixtures/audit-verifier'), dir, { recursive: true });
    program = join(dir, 'verifier');
    try {
      await run('go', ['build', '-mod=readonly', '-o', program, '.'], { cwd: dir });
    } catch {
      this.skip(); // Go is not on this machine, or its modules cannot be reached
    }
  });
  after(async () => {
    await stopTestKernels();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  it('is accepted by a verifier that svc has nothing to do with, and refused with another key', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}[audit]\ncheckpoint_entries = 1\n`, key: KEY });
    const { storage } = kernel.daemon.parts;
    const db = storage.dbFor({ id: 'kernel', tables: ['choices'], isPlatform: true });
    for (let n = 0; n < ENTRIES; n += 100) await db.commit(facts(100, n).map((fact) => storage.event('kernel', AuditRecorded.name, fact)));
    await until(async () => (await kernel.http.get('/api/audit/log/checkpoint')).text.split('\n')[1] === String(ENTRIES));
    const lines = (await kernel.http.get('/api/audit/export')).text.trim().split('\n');
    const { key } = JSON.parse(lines.at(-1) ?? '{}');

    const { stdout } = await run(program ?? '', [kernel.url, KEY, key]);
    expect(stdout.trim()).to.equal(String(ENTRIES));

    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    const refused = await run(program ?? '', [kernel.url, KEY, verifierKey(key.split('+')[0], other)]).catch((error: { stderr: string }) => error.stderr);
    expect(String(refused)).to.contain('no verifiable signatures');
  });
});
