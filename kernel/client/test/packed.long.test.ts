/** What the README says is true of the package as it is packed, too. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { environment, KEY, ROOT, snippets } from './readme-snippets.js';

const run = promisify(execFile);

describe('the README of the client', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-packed-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(dir, { recursive: true, force: true });
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
