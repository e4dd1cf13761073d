/** An area without a grant tries every adapter; each attempt is refused by its own name, and nothing happens outside. */
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ExtensionContext, type FetchPurpose, Type, defineRoute, defineWorker, reply } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

interface Refusal {
  readonly code: string;
  readonly message: string;
}

describe('a burglar at the adapters', function () {
  this.timeout(30_000);
  let outside: Server;
  let port: number;
  let asked: string[];
  let kernel: TestKernel;
  before(async () => {
    outside = createServer((req, res) => {
      asked.push(`${req.url} ${req.headers['x-loot'] ?? ''}`);
      res.end('loot');
    });
    await new Promise<void>((done) => outside.listen(0, '127.0.0.1', done));
    port = (outside.address() as AddressInfo).port; // listening, so it has one
  });
  after(() => outside.close());
  beforeEach(() => {
    asked = [];
  });
  afterEach(stopTestKernels);

  const grants = (...texts: string[]): NonNullable<Manifest['grants']> => texts.map((grant) => ({ grant, why: 'for a test' }));
  /** The context of an area with these grants, in a daemon that opens 127.0.0.1 to everybody who may fetch. */
  const inside = async (manifest: Partial<Manifest> = {}): Promise<ExtensionContext> => {
    let seen: ExtensionContext | undefined;
    kernel = await bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["burglar"]\n[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`,
      env: { LOOT: 'from-the-environment' },
      extra: [
        fixtureExtension({
          id: 'burglar',
          manifest,
          definition: {
            activate: (ctx) => {
              seen = ctx;
            },
          },
        }),
      ],
    });
    if (!seen) throw new Error(`the area did not start: ${kernel.daemon.kernel.extensions().find(({ id }) => id === 'burglar')?.reason}`);
    return seen;
  };
  const refusalOf = async (attempt: () => unknown): Promise<Refusal> => {
    try {
      await attempt();
      return { code: 'none', message: 'it went through' };
    } catch (error) {
      const { code, message } = error as Partial<Refusal>;
      return { code: code ?? 'no code', message: message ?? '' };
    }
  };
  const lineFor = (grant: string): string => `burglar has no grant "${grant}": add { "grant": "${grant}", "why": "…" } to "grants" in its extension.json.`;
  const url = (path = ''): string => `http://127.0.0.1:${port}/${path}`;

  it('without a grant gets through none of them, and learns the line to add at each', async () => {
    const ctx = await inside();
    const cwd = kernel.home;
    const answer = { 200: Type.Unknown() };
    const letIn = defineRoute({
      id: 'letIn',
      method: 'GET',
      path: '/api/burglar',
      summary: 'Let in',
      auth: 'bearer',
      permission: 'burglar.read',
      cost: 1,
      callers: () => undefined,
      responses: answer,
      handler: () => reply(200, {}),
    });
    const attempts: ReadonlyArray<readonly [grant: string, attempt: () => unknown]> = [
      ...(['model', 'tool', 'webhook'] as const).map((purpose) => [`egress:${purpose}`, () => ctx.fetch(url(), { purpose })] as const),
      ['egress:anything', () => ctx.fetch(url(), { purpose: 'anything' as FetchPurpose })],
      ['egress:origins', () => ctx.egress.allow(url())],
      ['exec:sh', () => ctx.exec('sh', ['-c', `echo loot > ${join(cwd, 'loot')}`], { cwd })],
      ['exec:/bin/sh', () => ctx.exec('/bin/sh', ['-c', 'true'], { cwd })],
      ['exec:sh', () => ctx.spawn('sh', ['-c', 'true'], { cwd })],
      ['survivors', () => ctx.endSurvivors('run-1')],
      ['files:workspaces', () => ctx.files.root('workspaces')],
      ['files:uploads', () => ctx.files.root('uploads')],
      ['files:templates', () => ctx.files.root('templates')],
      [`net:dial:127.0.0.1:${port}`, () => ctx.tcp.dial({ host: '127.0.0.1', port, purpose: 'loot' })],
      ['net:dial:[::1]:25', () => ctx.tcp.dial({ host: '::1', port: 25, purpose: 'loot' })],
      [`net:dial:127.0.0.1:${port}`, () => ctx.webSocket(`ws://127.0.0.1:${port}/loot`)],
      ['net:dial:gateway.discord.gg:443', () => ctx.webSocket('wss://gateway.discord.gg')],
      ['net:listen:2525', () => ctx.tcp.listen({ port: 2525 }, async () => undefined)],
      ['net:listen:0', () => ctx.tcp.listen({ port: 0 }, async () => undefined)],
      ['env:LOOT', () => ctx.env('LOOT')],
      ['callers', () => ctx.routes.add(letIn)],
      ['kernel', () => ctx.kernel],
    ];
    expect(await refusalOf(() => ctx.workers.run(defineWorker('loot', { input: Type.Number(), output: Type.Number() }), 1))).to.include({ code: 'daemon_not_declared' });
    for (const [grant, attempt] of attempts) expect(await refusalOf(attempt), grant).to.deep.equal({ code: 'daemon_not_granted', message: lineFor(grant) });
    for (const attempt of [() => ctx.secrets.put('x', 'y'), () => ctx.secrets.where({ secret: 'provider.openai' }), () => ctx.secrets.delete('x')])
      expect(await refusalOf(attempt)).to.include({ code: 'secret_not_granted' });
    expect(asked).to.deep.equal([]);
    expect(await kernel.daemon.parts.openDir(kernel.home).stat('loot')).to.equal(undefined);
  });

  it('with one purpose gets through by no other, and by that of models to no address that nobody configured', async () => {
    const ctx = await inside({ grants: grants('egress:model', 'egress:webhook') });
    expect((await refusalOf(() => ctx.fetch(url('tool'), { purpose: 'tool' }))).message).to.equal(lineFor('egress:tool'));
    for (const there of [url('model'), 'http://169.254.169.254/latest/meta-data/', 'https://evil.test/'])
      expect(await refusalOf(() => ctx.fetch(there, { purpose: 'model' })), there).to.include({ code: 'fetch_not_a_model' });
    expect((await refusalOf(() => ctx.egress.allow(url()))).message).to.equal(lineFor('egress:origins'));
    expect(await (await ctx.fetch(url('webhook'), { purpose: 'webhook' })).text()).to.equal('loot');
    expect(asked).to.deep.equal(['/webhook ']);
  });

  it('takes no secret out in a header that it was not granted', async () => {
    const ctx = await inside({ grants: grants('egress:webhook', 'secrets:mine.*') });
    for (const secret of ['provider.openai', 'mine', 'theirs.mine.x']) {
      expect(await refusalOf(() => ctx.fetch(url('secret'), { purpose: 'webhook', secretHeaders: { 'x-loot': { secret, env: 'LOOT' } } })), secret).to.include({ code: 'secret_not_granted' });
    }
    expect(asked).to.deep.equal([]);
    await ctx.secrets.put('mine.key', 'its-own');
    await ctx.fetch(url('own'), { purpose: 'webhook', secretHeaders: { 'x-loot': { secret: 'mine.key' } } });
    expect(asked).to.deep.equal(['/own its-own']);
  });

  it('with one program starts no other, nor another of that name', async () => {
    const ctx = await inside({ grants: grants('exec:true') });
    const cwd = kernel.home;
    const fake = join(cwd, 'true');
    await writeFile(fake, '#!/bin/sh\necho loot\n', { mode: 0o755 });
    expect(await ctx.exec('true', [], { cwd })).to.include({ exitCode: 0, stdout: '' });
    expect(await (await ctx.spawn('true', [], { cwd })).exit).to.include({ exitCode: 0 });
    for (const [command, grant] of [
      ['sh', 'exec:sh'],
      ['./true', 'exec:./true'],
      [fake, `exec:${fake}`],
    ] as const) {
      expect((await refusalOf(() => ctx.exec(command, [], { cwd }))).message, command).to.equal(lineFor(grant));
      expect((await refusalOf(() => ctx.spawn(command, [], { cwd }))).message, command).to.equal(lineFor(grant));
    }
    for (const name of ['PATH', 'Path']) expect((await refusalOf(() => ctx.exec('true', [], { cwd, env: { [name]: cwd } }))).message, name).to.equal(lineFor('exec'));
    expect((await refusalOf(() => ctx.endSurvivors('run-1'))).message).to.equal(lineFor('survivors'));
  });

  it('with the end of survivors ends them, and starts nothing', async () => {
    const ctx = await inside({ grants: grants('survivors') });
    expect(await ctx.endSurvivors('run-1')).to.equal(0);
    expect((await refusalOf(() => ctx.exec('true', [], { cwd: kernel.home }))).message).to.equal(lineFor('exec:true'));
  });

  it('with one folder opens no other, and finds no way out of it', async () => {
    const ctx = await inside({ grants: grants('files:uploads') });
    expect((await refusalOf(() => ctx.files.root('workspaces'))).message).to.equal(lineFor('files:workspaces'));
    const uploads = ctx.files.root('uploads');
    await writeFile(join(kernel.home, 'loot'), 'secret');
    for (const path of ['../../loot', join(kernel.home, 'loot')]) {
      expect((await refusalOf(() => uploads.read(path))).code, path).to.match(/^file_/);
      expect((await refusalOf(() => uploads.readStream(path)[Symbol.asyncIterator]().next())).code, path).to.match(/^file_/);
      expect((await refusalOf(() => uploads.writeStream(path, ctx.files.data.readStream('x'), { maxBytes: 1 }))).code, path).to.match(/^file_/);
      expect(() => uploads.dir(path), path).to.throw();
    }
  });

  it('with one host dials no other, nor by its name what is private', async () => {
    const ctx = await inside({ grants: grants('net:dial:*.mail.test:25', 'net:dial:*:443') });
    for (const [host, at, grant] of [
      ['mx.mail.test', 26, 'net:dial:mx.mail.test:26'],
      ['mail.test', 25, 'net:dial:mail.test:25'],
      ['10.0.0.7', 25, 'net:dial:10.0.0.7:25'],
    ] as const) {
      expect((await refusalOf(() => ctx.tcp.dial({ host, port: at, purpose: 'loot' }))).message, grant).to.equal(lineFor(grant));
      expect((await refusalOf(() => ctx.webSocket(`ws://${host}:${at}`))).message, grant).to.equal(lineFor(grant));
    }
    for (const host of ['10.0.0.7', 'localhost', '169.254.169.254'])
      for (const attempt of [() => ctx.tcp.dial({ host, port: 443, purpose: 'loot' }), () => ctx.webSocket(`wss://${host}`)])
        expect(await refusalOf(attempt), host).to.include({ code: 'fetch_refused_address' });
  });

  it('with one port listens on no other', async () => {
    const ctx = await inside({ grants: grants('net:listen:0'), replace: 'stop-first' });
    expect((await refusalOf(() => ctx.tcp.listen({ port: 2525 }, async () => undefined))).message).to.equal(lineFor('net:listen:2525'));
    expect((await ctx.tcp.listen({ port: 0 }, async () => undefined)).port).to.be.greaterThan(0);
  });

  const expectOnly = async (view: ExtensionContext['kernel'], ...open: string[]): Promise<void> => {
    const parts = Object.keys(view).filter((name) => !open.includes(name));
    expect(parts.length).to.be.greaterThan(15);
    for (const name of parts) {
      const attempt = (): unknown => {
        const member: unknown = view[name as keyof typeof view];
        return typeof member === 'function' ? member() : member;
      };
      expect((await refusalOf(attempt)).message, name).to.equal(lineFor('kernel'));
    }
    for (const name of open) expect(Reflect.set(view, name, () => [])).to.equal(false);
  };

  it('with the list of tools gets the list, and no part of the kernel', async () => {
    const { kernel: view } = await inside({ grants: grants('kernel:tools') });
    expect(view.tools().map(({ owner, bundled, tool }) => `${owner} ${bundled} ${tool.name}`)).to.include('tools true shell_exec');
    await expectOnly(view, 'tools');
  });

  it('with the list of slash commands gets the list, and no part of the kernel', async () => {
    const { kernel: view } = await inside({ grants: grants('kernel:slash-commands') });
    expect(view.slashCommands().map(({ owner, command }) => `${owner} ${command.name}`)).to.include('runs stop');
    await expectOnly(view, 'slashCommands');
  });

  it('with the settings gets them without secrets, and no part of the kernel', async () => {
    const { kernel: view } = await inside({ grants: grants('kernel:settings') });
    await writeFile(join(kernel.home, 'config.toml'), 'api_key = "a-secret-of-the-house"\n');
    await view.settings.reload();
    expect((await view.settings.read()).tree.api_key).to.equal('***');
    expect(await refusalOf(() => view.settings.set('api_key', 'mine-mine-mine'))).to.include({ code: 'config_by_hand' });
    expect(Reflect.set(view.settings, 'set', () => undefined)).to.equal(false);
    await expectOnly(view, 'settings');
  });

  it('with the extensions gets their list, and no part of the kernel', async () => {
    const { kernel: view } = await inside({ grants: grants('kernel:extensions') });
    expect(view.extensions().map(({ id, state }) => `${id} ${state}`)).to.include('runs active');
    await expectOnly(view, 'extensions');
  });

  it('with the panels gets those of areas that are on and came with the daemon, and no part of the kernel', async () => {
    const { kernel: view } = await inside({ grants: grants('kernel:panels'), panels: [{ id: 'loot', title: { en: 'Loot', zh: '赃物' }, icon: 'box', hub: 'system', permission: 'loot.read' }] });
    expect(view.panels().map(({ extension, id }) => `${extension} ${id}`))
      .to.include('webchat chat')
      .and.not.include('burglar loot');
    const { extension, script = '' } = view.panels().find((one) => one.script !== undefined) ?? { extension: '' };
    expect(await view.panelFiles(extension)?.stat(script)).to.include({ kind: 'file' });
    expect(Object.keys(view.panelFiles(extension) ?? {}).sort()).to.deep.equal(['read', 'readStream', 'readText', 'stat']);
    expect(view.panelFiles('burglar')).to.equal(undefined);
    const above = view.panelFiles(extension)?.readText('../index.js') ?? Promise.resolve('');
    expect((await refusalOf(() => above)).message).to.be.a('string');
    await expectOnly(view, 'panels', 'panelFiles');
  });

  for (const [wrong, says] of [
    ['egress:everything', 'did you mean egress:model or egress:tool'],
    ['exec:/bin/sh', 'it is written exec or exec:<program>'],
    ['root', 'unknown grant "root"'],
    ['net:listen', '"replace": "stop-first"'],
  ] as const) {
    it(`does not start with ${wrong} in its manifest`, async () => {
      const failure = await inside({ grants: grants(wrong) }).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(failure).to.contain('The grants in the extension.json of burglar cannot be used').and.contain(says);
    });
  }
});
