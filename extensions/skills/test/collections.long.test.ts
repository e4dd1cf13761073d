/** Skills of two packages that others publish: each installs, or is refused with a reason that a reader agrees with. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const run = promisify(execFile);
const KEY = 'collections-root-key';
const PACKAGES = ['@elizaos/skills@2.0.0-beta.1', '@framers/agentos-skills@0.10.1'] as const;
/** They are in both. */
const TWICE = ['1password', 'apple-notes', 'apple-reminders', 'coding-agent', 'github', 'healthcheck', 'notion', 'obsidian', 'spotify-player', 'trello', 'weather'];
const WITH_PROGRAMS = 25;
const FETCH_MS = 60_000;

/** Folders with SKILL.md, below. */
const foldersIn = async (root: string): Promise<string[]> => {
  const names = await readdir(root, { recursive: true });
  return names
    .filter((name) => name.toLowerCase().endsWith('/skill.md'))
    .map((name) => `${root}/${dirname(name)}`)
    .sort();
};

/** A skill for another system is installed, and off. */
const errorOf = (systems: readonly string[]): string =>
  systems.length === 0 || systems.includes(process.platform === 'darwin' ? 'macos' : process.platform) ? '' : `It is for ${systems.join(', ')} only.`;

describe('skills that others publish', function () {
  this.timeout(300_000);
  let place = '';
  let owner: TestHttp;
  const folders: string[] = [];
  before(async function () {
    place = await mkdtemp(`${tmpdir()}/svc-collections-`);
    try {
      for (const [index, name] of PACKAGES.entries()) {
        const folder = `${place}/${index}`;
        await mkdir(folder);
        const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder, name], { timeout: FETCH_MS, cwd: folder });
        await run('tar', ['-xzf', `${folder}/${stdout.trim()}`, '-C', folder]);
        folders.push(...(await foldersIn(folder)));
      }
    } catch (error) {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: `the packages cannot be fetched: ${String((error as Error).message).split('\n')[0]}` });
      this.skip();
    }
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    owner = kernel.as(KEY);
  });
  after(async () => {
    await stopTestKernels();
    await rm(place, { recursive: true, force: true });
  });

  it('install, all of them; one that is in both packages is refused until it is asked to replace the other', async () => {
    const refused: string[] = [];
    const left: string[] = [];
    let withPrograms = 0;
    for (const source of folders) {
      const first = await owner.post('/api/skills/install', { source });
      if (first.status !== 201) refused.push(`${first.body.code} ${basename(source)}`);
      const { status, body } = first.status === 201 ? first : await owner.post('/api/skills/install', { source, replace: true });
      expect(status, `${source}: ${body.error}`).to.equal(201);
      const detail = (await owner.expect(200, 'GET', `/api/skills/${body.skill}`)).body;
      expect([detail.description !== '', detail.prompt_context !== '', detail.error ?? '', detail.risk], source).to.deep.equal([true, true, errorOf(detail.requirements.systems), 'none']);
      if (detail.requirements.programs.length > 0) withPrograms += 1;
      left.push(...detail.warnings.filter((text: string) => text.includes('left out')));
    }
    expect(folders).to.have.length(122);
    expect(refused.sort()).to.deep.equal(TWICE.map((name) => `skills_exists ${name}`));
    expect(left).to.deep.equal([]);
    expect(withPrograms).to.equal(WITH_PROGRAMS);
  });
});
