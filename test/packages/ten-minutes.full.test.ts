/** The page for who writes an extension: read from top to bottom in a folder that has the published packages, it is true. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import { ROOT } from './local-registry.js';
import { type OutsideFolder, outsideFolder, registryOfOurs } from './outside-folder.js';

const PAGE = 'kernel/api/README.npm.md';
/** Shown and not run: what they install was published by nobody. */
const NOT_RUN = ['svc ext install npm:acme-reading@^0.1'];
const SNIPPET = /^```(\w+)\n([\s\S]*?)^```$/gm;

describe(`the page ${PAGE}`, function () {
  this.timeout(600_000);
  let registry: Awaited<ReturnType<typeof registryOfOurs>>;
  let place: OutsideFolder;
  before(async () => {
    registry = await registryOfOurs();
    place = await outsideFolder(registry.env);
    // What `npm install --global @svc/cli` gives a person.
    await place.write({ 'package.json': JSON.stringify({ name: 'machine', private: true }) });
    await registry.npm(place.dir, 'install', '@svc/cli');
  });
  after(() => place?.clean());

  it('is true from its first command to its last', async () => {
    const text = await readFile(join(ROOT, PAGE), 'utf8');
    const port = String(await freePort());
    const home = join(place.dir, 'home');
    const env = { ...registry.env, PATH: `${join(place.dir, 'node_modules/.bin')}:${registry.env.PATH}`, SVC_HOME: home, SVC_PORT: port, NO_COLOR: '1' };
    let folder = place.dir;
    const run = (script: string) => shell(`${script.replaceAll(':4545', `:${port}`)}\npwd > '${join(place.dir, '.here')}'`, folder, env);
    const kinds: string[] = [];
    try {
      for (const [, language = '', code = ''] of text.matchAll(SNIPPET)) {
        kinds.push(language);
        if (language === 'sh') {
          const { status, output } = await run(code);
          expect(status, `${code}\n${output}`).to.equal(0);
          folder = (await readFile(join(place.dir, '.here'), 'utf8')).trim();
          continue;
        }
        if (language === 'console') {
          expect(
            NOT_RUN.some((line) => code.includes(line)),
            code,
          ).to.equal(true);
          continue;
        }
        const [head = '', ...lines] = code.split('\n');
        const path = /^\/\/ ([\w./-]+)$/.exec(head)?.[1];
        if (path === undefined) throw new Error(`a snippet begins with the name of its file: ${head}`);
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), lines.join('\n'));
      }
    } finally {
      await run('svc stop || true');
    }
    expect(new Set(kinds)).to.deep.equal(new Set(['sh', 'json', 'ts', 'js', 'console']));
  });
});

const shell = (script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<{ status: number | null; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
