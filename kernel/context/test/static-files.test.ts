/** The files that were built with an area: it reads them, and them alone. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionContext } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('static files of an area', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-static-'));
    await mkdir(join(dir, 'assets'));
    await writeFile(join(dir, 'assets/page.js'), 'alert(1)');
    await writeFile(join(dir, 'secret'), 'not an asset');
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(dir, { recursive: true, force: true });
  });

  const boot = async (assets?: string): Promise<{ ctx: ExtensionContext; disable: () => Promise<unknown> }> => {
    const given: ExtensionContext[] = [];
    const { daemon } = await bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["shower"]\n`,
      extra: [fixtureExtension({ id: 'shower', ...(assets === undefined ? {} : { assets }), definition: { activate: (one) => void given.push(one) } })],
    });
    const [ctx] = given;
    if (!ctx) throw new Error('the area did not start');
    return { ctx, disable: () => daemon.kernel.disable('shower') };
  };
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('are read without a grant, and there is no way to write them', async () => {
    const { ctx } = await boot(join(dir, 'assets'));
    expect(await ctx.files.assets.readText('page.js')).to.equal('alert(1)');
    expect((await ctx.files.assets.stat('page.js'))?.sizeBytes).to.equal(8);
    expect(Object.keys(ctx.files.assets).sort()).to.deep.equal(['read', 'readStream', 'readText', 'stat']);
  });

  it('are all that is read: nothing beside them, by path or by link', async () => {
    const { ctx } = await boot(join(dir, 'assets'));
    await symlink(join(dir, 'secret'), join(dir, 'assets/link'));
    for (const path of ['../secret', join(dir, 'secret'), 'link']) expect(await codeOf(ctx.files.assets.readText(path)), path).to.match(/^file_/);
  });

  it('are none where the build made none', async () => {
    const { ctx } = await boot();
    expect(await ctx.files.assets.stat('page.js')).to.equal(undefined);
    expect(await codeOf(ctx.files.assets.readText('page.js'))).to.match(/^file_/);
  });

  it('are read by the generation that runs, and no longer', async () => {
    const { ctx, disable } = await boot(join(dir, 'assets'));
    const { assets } = ctx.files;
    await disable();
    expect(await codeOf((async () => assets.readText('page.js'))())).to.equal('daemon_extension_stopped');
  });
});
