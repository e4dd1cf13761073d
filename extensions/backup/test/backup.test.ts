/** Backups over HTTP and on the page, and a restore of the daemon that runs. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BackupCollect, BackupRestore } from '@svc/api';
import { swapIn } from '@svc/platform/backup/restore-swap';
import { restoreDaemon } from '@svc/daemon';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { expect } from 'chai';

const CANARY = 'sk-canary-0123456789abcdef';
const FILENAME = /^svc_backup_\d{8}_\d{6}(?:_\d+)?\.tar\.gz$/;

describe('backups', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let home: string;
  let kernel: TestKernel;
  let collected = 0;
  let dies = false;
  let refusal: string | undefined;
  let restoring: Promise<unknown> | undefined;
  /** What answered on the port of the daemon while its data was replaced. */
  let meanwhile: Array<{ status: number; body: { code?: string } }> = [];

  const boot = (isRestored = false): Promise<TestKernel> => {
    const options: TestKernelOptions = {
      home,
      isRestored,
      key: keyOf('root'),
      extra: [
        fixtureExtension({
          id: 'collecting',
          manifest: { hooks: [{ name: 'backup.collect' }, { name: 'backup.restore' }] },
          definition: {
            activate(ctx) {
              ctx.hooks.tap(BackupCollect, async () => {
                collected += 1;
                await ctx.files.data.write('collected.txt', `for backup ${collected}`);
              });
              ctx.hooks.tap(BackupRestore, () => {
                if (refusal !== undefined) throw new Error(refusal);
              });
            },
          },
        }),
      ],
      onRestore: (plan, backed) => {
        const before = kernel;
        const { host, port } = before.daemon;
        if (dies) {
          restoring = before.stop().then(async () => {
            await swapIn(home, plan);
            kernel = await boot();
          });
          return;
        }
        const asking = setInterval(() => {
          void fetch(`http://${host}:${port}/api/agents`, { headers: { authorization: `Bearer ${keyOf('root')}` } }).then(
            async (answer) => void meanwhile.push({ status: answer.status, body: (await answer.json()) as { code?: string } }),
            () => undefined, // nobody listens for a moment
          );
        }, 5);
        restoring = restoreDaemon<TestKernel>({ home: backed, plan, host, port, stop: () => before.stop(), boot, failed: () => undefined }).then((after) => {
          clearInterval(asking);
          kernel = after;
        });
      },
    };
    return bootTestKernel(options);
  };
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-backups-'));
    const config = `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('ada', 'admin')}${person('ulf', 'user')}[extensions]\nenable = ["collecting"]\n`;
    await writeFile(join(home, 'config.toml'), config);
    kernel = await boot();
    await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: CANARY });
    await spawn('first');
  });
  after(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });
  afterEach(() => {
    [dies, refusal] = [false, undefined];
    meanwhile = [];
  });

  const spawn = (name: string) => kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name } });
  const agents = async (): Promise<string[]> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name).sort();
  const create = async (): Promise<string> => (await kernel.http.expect(200, 'POST', '/api/backup')).body.filename;
  const list = async () => (await kernel.http.expect(200, 'GET', '/api/backups')).body;
  const restore = async (filename: string) => {
    const { body } = await kernel.http.expect(200, 'POST', '/api/restore', { filename });
    await until(async () => restoring !== undefined);
    await restoring;
    restoring = undefined;
    return body;
  };

  it('are created while the daemon works, listed newest first, and deleted', async () => {
    const { body } = await kernel.http.expect(200, 'POST', '/api/backup');
    expect(body.filename).to.match(FILENAME);
    expect(body).to.include({ path: join(home, 'backups', body.filename) });
    expect(body.components).to.include.members(['database', 'config', 'extension data']);
    const later = await create();
    const { backups, last_restore, running, schedule, total } = await list();
    expect(backups.map(({ filename }: { filename: string }) => filename)).to.deep.equal([later, body.filename]);
    expect(backups[0]).to.include({ svc_version: kernel.daemon.kernel.version, problem: null });
    expect({ total, running, last_restore, schedule }).to.deep.equal({
      total: 2,
      running: null,
      last_restore: null,
      schedule: { cron: '', time_zone: 'UTC', every_hours: 0, keep: 7, keep_days: 0, next_at: null },
    });
    expect(collected).to.be.greaterThan(1);
    expect((await kernel.http.expect(200, 'DELETE', `/api/backups/${later}`)).body).to.deep.equal({ status: 'deleted', filename: later });
    expect(existsSync(join(home, 'backups', later))).to.equal(false);
    expect((await kernel.http.send('DELETE', `/api/backups/${later}`, undefined)).status).to.equal(404);
    for (const name of ['..%2Fconfig.toml', 'config.toml', '.staged', '%2Fetc%2Fpasswd', '..%5Cx.tar.gz'])
      expect((await kernel.http.send('DELETE', `/api/backups/${name}`, undefined)).status, name).to.equal(400);
    for (const body of [{}, { filename: 5 }, { filename: '../x.tar.gz' }, { filename: 'x', more: 1 }, undefined])
      expect((await kernel.http.send('POST', '/api/restore', body)).status, JSON.stringify(body)).to.equal(400);
    expect((await kernel.http.send('POST', '/api/restore', { filename: 'missing.tar.gz' })).body.code).to.equal('backup_not_found');
  });

  it('hold no key and no secret in plain text', async () => {
    const archive = gunzipSync(await readFile(join(home, 'backups', await create())));
    expect(archive.includes('data/ext/vault/vault.enc')).to.equal(true);
    expect(archive.includes('for backup')).to.equal(true);
    for (const secret of [CANARY, keyOf('root')]) expect(archive.includes(secret), secret).to.equal(false);
    const key = await readFile(join(home, 'data/ext/vault/vault.key'));
    expect(archive.includes(key)).to.equal(false);
  });

  it('are for the owner alone', async () => {
    const name = await create();
    for (const person of ['ada', 'ulf']) {
      const http = kernel.as(keyOf(person));
      for (const [method, path, body] of [
        ['POST', '/api/backup', undefined],
        ['GET', '/api/backups', undefined],
        ['DELETE', `/api/backups/${name}`, undefined],
        ['POST', '/api/restore', { filename: name }],
      ] as const)
        expect((await http.send(method, path, body)).status, `${person} ${method} ${path}`).to.equal(403);
    }
  });

  it('are made one at a time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => kernel.http.send('POST', '/api/backup', undefined)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).to.equal('backup_busy');
  });

  it('bring everything back, with the keys and secrets of this machine, and leave a backup of what was there', async () => {
    const name = await create();
    await spawn('second');
    await writeFile(join(home, 'data/ext/collecting/late.txt'), 'x');
    const body = await restore(name);
    expect(body).to.deep.include({ errors: [] });
    expect(body.restored_files).to.be.greaterThan(2);
    expect(await agents())
      .to.include('first')
      .and.not.include('second');
    expect(existsSync(join(home, 'data/ext/collecting/late.txt'))).to.equal(false);
    expect(await readFile(join(home, 'config.toml'), 'utf8')).to.contain(`api_key = "${keyOf('root')}"`);
    expect((await kernel.http.expect(200, 'GET', '/api/providers/openai')).body.auth_status ?? 'configured').to.match(/configured/);
    const { last_restore } = await list();
    expect(last_restore).to.include({ filename: name, status: 'restored', reason: null });
    expect(last_restore.safety_backup).to.match(/_safety\.tar\.gz$/);
    expect(
      meanwhile.filter(({ status }) => status === 503).every(({ body: { code } }) => ['backup_restoring', 'daemon_stopping', 'daemon_starting', 'starting', 'stopping'].includes(code ?? '')),
      JSON.stringify(meanwhile),
    ).to.equal(true);
    expect(
      meanwhile.some(({ body: { code } }) => code === 'backup_restoring'),
      'nothing answered',
    ).to.equal(true);
    await until(async () => (await kernel.http.expect(200, 'GET', '/api/audit/recent')).body.entries.some(({ event_type: type }: { event_type: string }) => type === 'backup_restored'));
    await restore(last_restore.safety_backup);
    expect(await agents()).to.include('second');
  });

  it('leave the present data in place when the restored data is refused', async () => {
    const name = await create();
    await spawn('third');
    refusal = 'this data is not mine';
    await restore(name);
    expect(await agents()).to.include('third');
    const { last_restore } = await list();
    expect(last_restore).to.include({ filename: name, status: 'reverted' });
    expect(last_restore.reason).to.contain('this data is not mine');
    expect(readdirSync(join(home, 'backups')).filter((one) => one.startsWith('.'))).to.deep.equal([]);
  });

  it('leave the present data in place when the daemon dies before the restored data has started', async () => {
    const name = await create();
    await spawn('fourth');
    dies = true;
    await restore(name);
    expect(await agents()).to.include('fourth');
    expect((await list()).last_restore).to.include({ filename: name, status: 'reverted', reason: 'The daemon stopped before the restored data had started.' });
  });

  it('are shown on the page, which creates, restores and deletes them', async () => {
    await create();
    const { page, mistakes } = await chromium.open(`${kernel.url}/`);
    await logInAs(page, 'root');
    mistakes.length = 0;
    await page.goto(`${kernel.url}/#/backups`);
    await page.getByRole('heading', { name: 'Backups', level: 1 }).waitFor();
    const rows = page.getByRole('row');
    await rows.nth(1).waitFor();
    await expectWellMade(page, 'backups');
    const before = await rows.count();
    await page.getByRole('button', { name: 'Create backup' }).click();
    await page.getByText('Backup created:').waitFor();
    await until(async () => (await rows.count()) === before + 1);
    await rows
      .nth(1)
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await until(async () => (await rows.count()) === before);
    await rows
      .nth(1)
      .getByRole('button', { name: /^Restore/ })
      .click();
    await page.getByRole('dialog', { name: 'Restore this backup?' }).waitFor();
    await page.keyboard.press('Escape');
    expect(mistakes).to.deep.equal([]);
  });
});
