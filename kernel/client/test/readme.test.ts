/** Every snippet of the README runs against a daemon as it stands there, and so does the packed package. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPEN_RATE, releaseFile } from '@svc/testing';
import { expect } from 'chai';
import * as esbuild from 'esbuild';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

const ROOT = join(releaseFile(), '..', '..');
const KEY = 'svc_key-of-the-readme';
const run = promisify(execFile);

const snippets = async (): Promise<string[]> => [...(await readFile(join(ROOT, 'kernel/client/README.md'), 'utf8')).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
const environment = ({ kernel }: ModelKernel) => ({ PATH: process.env.PATH, SVC_URL: kernel.url, SVC_API_KEY: KEY });

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

  it('is true of the package as it is packed: plain modules, with types that a strict program compiles against', async function () {
    this.timeout(60_000);
    const svc = await bootWithModel([{ text: 'Noon.' }], { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    await run(process.execPath, [join(ROOT, 'tools/client.mjs'), '--pack'], { cwd: ROOT });
    await mkdir(join(dir, 'node_modules/@svc'), { recursive: true });
    await symlink(join(ROOT, 'dist/client'), join(dir, 'node_modules/@svc/client'));
    await symlink(join(ROOT, 'node_modules/eventsource-parser'), join(dir, 'node_modules/eventsource-parser'));
    await symlink(join(ROOT, 'node_modules/@types'), join(dir, 'node_modules/@types'));
    const [first = '', second = ''] = await snippets();
    // Strict programs say what happens where there is no agent.
    const strict = (code: string): string => code.replaceAll('process.env.SVC_URL', "process.env.SVC_URL ?? ''").replace('key: process.env.SVC_API_KEY', "key: process.env.SVC_API_KEY ?? ''");
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }');
    await writeFile(join(dir, 'one.ts'), strict(first));
    await writeFile(join(dir, 'two.ts'), strict(second));
    await writeFile(join(dir, 'three.ts'), "import { createClient } from '@svc/client';\nawait createClient().call('getNothing');\n");
    await writeFile(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, exactOptionalPropertyTypes: true, module: 'nodenext', target: 'es2023', types: ['node'], skipLibCheck: true, outDir: 'out' },
        files: ['one.ts', 'two.ts', 'three.ts'],
      }),
    );
    const compiled = await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', dir]).catch((error: { stdout: string }) => error);
    expect(
      compiled.stdout
        .trim()
        .split('\n')
        .filter((line) => line.includes('error TS')),
    ).to.have.length(1);
    expect(compiled.stdout).to.match(/three\.ts\(2,\d+\): error TS\d+: .*getNothing/);
    expect((await run(process.execPath, [join(dir, 'out/one.js')], { env: environment(svc) })).stdout).to.contain('Running');
  });
});
