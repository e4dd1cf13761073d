/** Every snippet of the README runs against a daemon as it stands there. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import * as esbuild from 'esbuild';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { environment, KEY, ROOT, snippets } from './readme-snippets.js';

const run = promisify(execFile);

describe('the README of the client', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-readme-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(dir, { recursive: true, force: true });
  });

  it('has snippets that run, and say what they seem to say', async () => {
    const svc = await bootWithModel([{ text: 'Noon.', usage: { input: 7, output: 3 } }], { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    const said: string[] = [];
    for (const [index, contents] of (await snippets()).entries()) {
      const outfile = join(dir, `snippet${index}.mjs`);
      await esbuild.build({
        stdin: { contents, resolveDir: join(ROOT, 'kernel/client/test'), loader: 'ts' },
        bundle: true,
        platform: 'node',
        format: 'esm',
        external: ['ws'],
        outfile,
        logLevel: 'silent',
      });
      await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules')).catch(() => undefined); // from the second on it is there
      const { stdout, stderr } = await run(process.execPath, [outfile], { env: environment(svc) });
      expect(stderr, contents).to.equal('');
      said.push(stdout.trim());
    }
    expect(said[0]).to.match(/^\S+ Running$/);
    expect(said[1]).to.equal('Noon. 3');
    expect(said[2]).to.match(/^agent_not_found [0-9a-f-]{36}$/);
    expect(said[3]).to.equal('Noon.');
    expect(said[4]).to.equal('1 agent(s)');
    expect(said).to.have.length(5);
  });
});
