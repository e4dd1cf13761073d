/** An extension in a process of its own that crashes, hangs, floods or grows: it alone is hurt, at once, and everybody is told why. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-wild';
const pathOf = (index: number): string => (index === 0 ? '/api/acme/wild' : `/api/acme/wild-${index}`);

/** With a route for each handler: `/api/acme/wild`, `/api/acme/wild-1` and so on. */
const wild = (handlers: string | readonly string[], more: Partial<ThirdPartySpec> = {}): ThirdPartySpec => ({
  id: ID,
  activate: `ctx.routes.add(
    ${[handlers]
      .flat()
      .map(
        (handler, index) =>
          `api.defineRoute({ id: 'goWild${index}', method: 'POST', path: '${pathOf(index)}', summary: 'Misbehaves', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { ${handler} } }),`,
      )
      .join('\n')}
    api.defineRoute({ id: 'beCalm', method: 'POST', path: '/api/acme/calm', summary: 'Behaves', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, { calm: true }) }),
  );`,
  ...more,
});

const boot = async (spec: ThirdPartySpec, settings = ''): Promise<TestKernel> =>
  bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n${settings}`, thirdParties: [await thirdParty(spec)] });

const statusOf = (kernel: TestKernel) => {
  const found = kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
  if (!found) throw new Error('it is not there');
  return found;
};

const calm = (kernel: TestKernel) => kernel.http.post('/api/acme/calm');
const goWild = (kernel: TestKernel, index = 0) => kernel.http.post(pathOf(index));

const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await what())) await sleep(50);
};

/** Of a handler, so that a test knows when its call has come there. */
const BEGUN = "ctx.log.info('begun');";
const hasBegun = (kernel: TestKernel): Promise<void> => until(() => kernel.daemon.kernel.log.recent(500).some(({ message, target }) => target === ID && message === 'begun'));

/** What a handler may not answer with, and the error that its caller gets. */
const WRONG_ANSWERS = [
  ['ten megabytes', "return api.reply(200, { text: 'x'.repeat(10 * 1024 * 1024) });", 'isolation_frame_size'],
  ['a loop', 'const a = {}; a.a = a; return api.reply(200, a);', 'isolation_not_plain'],
  ['a function', 'return api.reply(200, { a() {} });', 'isolation_not_plain'],
  ['nothing', 'return undefined;', 'isolation_not_plain'],
  ['a status that is none', "return { kind: 'json', status: 'fine', headers: {} };", 'isolation_not_plain'],
] as const;

describe('a wrong answer of an extension in a process of its own', () => {
  let kernel: TestKernel;
  before(async () => {
    kernel = await boot(wild(WRONG_ANSWERS.map(([, handler]) => handler)));
  });
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  for (const [index, [what, , why]] of WRONG_ANSWERS.entries())
    it(`such as ${what}: its caller gets an error by name, and the process stays`, async () => {
      const { body, status } = await goWild(kernel, index);
      expect([status >= 500, body.code], JSON.stringify(body)).to.deep.equal([true, why]);
      expect((await calm(kernel)).status).to.equal(200);
      expect(statusOf(kernel).process?.crashes).to.equal(0);
    });
});

describe('an extension in a process of its own that misbehaves', function () {
  this.timeout(60_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  it('is told from the rest when its process is killed in the middle of a call: 503, the reason shown, and it is back by itself', async () => {
    const kernel = await boot(wild(`${BEGUN} await new Promise(() => undefined);`));
    await calm(kernel);
    const pid = statusOf(kernel).process?.pid;
    const call = goWild(kernel);
    await hasBegun(kernel);
    process.kill(Number(pid), 'SIGKILL');

    const { body, status } = await call;
    expect([status, body.code, body.error]).to.deep.equal([503, 'isolation_closed', "The extension's process has ended: it was ended by SIGKILL."]);
    expect(statusOf(kernel)).to.deep.include({ state: 'active', degraded: true });
    expect(statusOf(kernel).reason).to.contain('it was ended by SIGKILL');
    const refused = await calm(kernel);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).to.deep.equal([503, 'isolation_down', '1']);
    await until(async () => (await calm(kernel)).status === 200);
    expect(statusOf(kernel)).to.deep.include({ degraded: false, reason: null });
    expect(statusOf(kernel).process?.crashes).to.equal(1);
  });

  it('is counted each time that it ends, and forgiven by whoever reloads it', async () => {
    const kernel = await boot(wild('return api.reply(200, {});'));
    const crash = async (): Promise<void> => {
      await until(async () => (await calm(kernel)).status === 200);
      process.kill(Number(statusOf(kernel).process?.pid), 'SIGKILL');
      await until(() => statusOf(kernel).process?.pid === null);
    };
    for (let times = 0; times < 2; times++) await crash();
    expect(statusOf(kernel).process?.crashes).to.equal(2);
    await kernel.daemon.kernel.reload(ID);
    expect(statusOf(kernel).process?.crashes).to.equal(0);
  });

  it('ends its process by process.exit, and no more than that call fails', async () => {
    const kernel = await boot(wild('process.exit(3); return api.reply(200, {});'));
    const { status } = await goWild(kernel);
    expect(status).to.be.oneOf([500, 503]);
    await until(async () => (await calm(kernel)).status === 200);
  });

  it('stands still for ever: it is ended when it gives no sign of life, and the rest of the daemon answers meanwhile', async () => {
    // As a loop without an end would, but for the processor that it takes: test/burglar/survivors has one.
    const kernel = await boot(wild(`${BEGUN} await new Promise((ok) => setTimeout(ok, 50)); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`));
    await calm(kernel);
    const call = goWild(kernel);
    await hasBegun(kernel);
    await sleep(100);
    for (let i = 0; i < 5; i++) expect((await kernel.http.get('/api/health')).status).to.equal(200);
    const { body, status } = await call;
    expect([status, body.code]).to.deep.equal([503, 'isolation_down']);
    expect(body.error).to.contain('it gave no sign of life for 4 s');
  });

  it('uses more memory than it may, outside of the heap too: it is ended, and says how much', async () => {
    const kernel = await boot(wild('const all = []; for (;;) { all.push(Buffer.alloc(8 * 1024 * 1024, 1)); await new Promise((ok) => setTimeout(ok, 20)); }'), 'memory_mb = 128');
    const { body, status } = await goWild(kernel);
    expect(status).to.equal(503);
    expect(body.error).to.match(/it used \d+ MB of memory, and 128 MB is the most/);
  });

  it('fills its heap: its process ends, and the daemon does not', async () => {
    const kernel = await boot(wild('const all = []; for (;;) all.push(new Array(1000).fill({}));'), 'memory_mb = 64');
    const { status } = await goWild(kernel);
    expect(status).to.equal(503);
    expect((await kernel.http.get('/api/health')).status).to.equal(200);
  });

  it('floods the daemon with calls: its channel is cut at the 65th that is open', async () => {
    const kernel = await boot(
      wild(
        "ctx.fetch; for (let i = 0; i < 500; i++) api.whenKnown; await Promise.all(Array.from({ length: 500 }, () => ctx.schemas.check({ type: 'string' }, 'x'))); return api.reply(200, { all: 500 });",
      ),
    );
    // An honest channel waits in line: all are answered.
    expect((await goWild(kernel)).body).to.deep.equal({ all: 500 });
  });

  it('writes the log without end: its lines are dropped beyond two hundred a second, and the daemon answers', async () => {
    const kernel = await boot(wild("for (let i = 0; i < 20000; i++) { ctx.log.info('line ' + i); if (i % 500 === 0) await new Promise(setImmediate); } return api.reply(200, {});"));
    expect((await goWild(kernel)).status).to.equal(200);
    const lines = kernel.daemon.kernel.log.recent(2_000).filter(({ target }) => target === ID);
    const perSecond = lines.map(({ timestamp }) => timestamp.slice(0, 19));
    for (const second of new Set(perSecond)) expect(perSecond.filter((one) => one === second).length).to.be.at.most(220);
  });

  it('fails where nobody waits: the error is in the log under its name, and the process stays', async () => {
    const kernel = await boot(wild("setTimeout(() => { throw new Error('late and alone'); }, 10); Promise.reject(new Error('nobody hears')); return api.reply(200, {});"));
    expect((await goWild(kernel)).status).to.equal(200);
    await until(() => kernel.daemon.kernel.log.recent(500).filter((line) => JSON.stringify(line).includes('late and alone')).length > 0);
    expect((await calm(kernel)).status).to.equal(200);
    await until(() => statusOf(kernel).strikes === 2);
  });

  for (const [what, activate, why] of [
    ['throws', "throw new Error('not today');", 'not today'],
    ['waits for ever', 'return new Promise(() => undefined);', 'init of acme-wild did not answer within 10000 ms'],
    ['ends the process', 'process.abort();', 'process.abort'],
  ] as const) {
    it(`${what} in activate: what is asked of it says so`, async () => {
      const spec = wild('return api.reply(200, {});');
      const one = await thirdParty(spec);
      const { writeFile, readFile } = await import('node:fs/promises');
      const file = `${one.folder}/dist/index.js`;
      await writeFile(file, (await readFile(file, 'utf8')).replace('activate(ctx) {', `activate(ctx) { ${activate}`));
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]`, thirdParties: [one] });
      const { body, status } = await calm(kernel);
      expect(status, JSON.stringify(body)).to.be.at.least(500);
      expect(statusOf(kernel).reason).to.contain(why);
    });
  }

  it('adds what its contributions do not declare, or lacks what they do: it is not believed', async () => {
    const one = await thirdParty(wild('return api.reply(200, {});'));
    const { readFile, writeFile } = await import('node:fs/promises');
    const file = `${one.folder}/dist/index.js`;
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace("path: '/api/acme/calm'", "path: '/api/acme/other'"));
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]`, thirdParties: [one] });
    const { body, status } = await calm(kernel);
    expect([status, body.code]).to.deep.equal([500, 'isolation_undeclared']);
    expect((await kernel.http.post('/api/acme/other')).status).to.equal(404);
  });

  it('is tried when somebody enables it: what fails then is its state, and the others go on', async () => {
    const one = await thirdParty(wild('return api.reply(200, {});'));
    const { readFile, writeFile } = await import('node:fs/promises');
    const file = `${one.folder}/dist/index.js`;
    await writeFile(file, (await readFile(file, 'utf8')).replace('activate(ctx) {', "activate(ctx) { throw new Error('not today');"));
    const kernel = await bootTestKernel({ config: OPEN_RATE, thirdParties: [one] });
    const { reason, state } = await kernel.daemon.kernel.enable(ID);
    expect([state, reason]).to.deep.equal(['failed', 'not today']);
    expect((await kernel.http.get('/api/health')).status).to.equal(200);
  });

  it('is ended after a rest, and begins again with the next call', async () => {
    const kernel = await boot(wild('return api.reply(200, {});'), 'rest_secs = 1');
    await calm(kernel);
    expect(statusOf(kernel).process?.pid).to.be.a('number');
    await until(() => statusOf(kernel).process?.pid === null);
    expect((await calm(kernel)).status).to.equal(200);
    expect(statusOf(kernel).process?.crashes).to.equal(0);
  });

  it('is replaced under load without a failed request, and the process of before is gone', async () => {
    const kernel = await boot(wild(`${BEGUN} await new Promise((ok) => setTimeout(ok, 500)); return api.reply(200, {});`));
    await calm(kernel);
    const before = Number(statusOf(kernel).process?.pid);
    const slow = goWild(kernel);
    await hasBegun(kernel);
    await kernel.daemon.kernel.reload(ID);
    expect((await calm(kernel)).status).to.equal(200);
    expect((await slow).status).to.equal(200);
    await kernel.daemon.lifecycle.settled();
    const isAlive = (): boolean => {
      try {
        return process.kill(before, 0);
      } catch {
        return false;
      }
    };
    await until(() => !isAlive());
    expect(statusOf(kernel).leaks).to.deep.equal([]);
  });
});
