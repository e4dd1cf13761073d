/** The conformance suite of the protocol's makers, against the daemon as a server and as a client. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { suiteFixtures, uploadFixtures } from './conformance-fixtures.js';

const SUITE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
/** The suite starts all of them at once, and their turn comes after each other. */
const SCENARIO_MS = 200_000;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

interface Row {
  readonly server: ReadonlySet<string>;
  readonly client: ReadonlySet<string>;
}

/** The scenarios that the table of the README says fail, with a reason for each. */
const table = async (): Promise<Row> => {
  const text = await readFile('extensions/mcp/README.md', 'utf8');
  const of = (side: string): Set<string> =>
    new Set(
      text
        .split('\n')
        .flatMap((line) =>
          new RegExp(`^\\| ${side} `).test(line) && (line.split('|')[3] ?? '').trim() !== '' ? [...(line.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) : [],
        ),
    );
  return { server: of('server'), client: of('client') };
};

describe('conformance to MCP', function () {
  this.timeout(300_000);
  const node = process.env.NODE_24;
  let kernel: TestKernel;
  let folder: string;
  /** In one revision at least. */
  const failed = new Set<string>();

  before(async function () {
    // NODE_24 names its binary: npm install --prefix DIR node@24.
    if (node === undefined) {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'no Node of 22 or newer here (NODE_24 names it)' });
      this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
    await mkdir(join(folder, 'turns'));
    kernel = await bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["suite"]\n[tool_invoke]\nenabled = true\nallowlist = ["*"]\n`,
      extra: [suiteFixtures],
    });
    await uploadFixtures(kernel);
    // A prompt is a template of an agent.
    await mkdir(join(kernel.home, 'templates'), { recursive: true });
    await writeFile(join(kernel.home, 'templates', 'test_simple_prompt.toml'), 'name = "simple"\ndescription = "A prompt"\n[model]\nsystem_prompt = "This is a simple prompt for testing."\n');
  });
  after(async () => {
    await stopTestKernels();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** By scenario: the checks that failed. */
  const outcomes = async (kind: keyof Row, revision: string, args: readonly string[]): Promise<Map<string, string[]>> => {
    const output = join(folder, `${kind}-${revision}`);
    const env = { PATH: process.env.PATH, SVC_URL: kernel.url, SVC_TURNS: join(folder, 'turns') };
    const child = spawn(node ?? '', [SUITE, kind, '--requirements', revision, '--timeout', String(SCENARIO_MS), '-o', output, ...args], { env, stdio: 'ignore' });
    await new Promise((done) => child.on('close', done));
    const found = new Map<string, string[]>();
    for (const path of await readdir(output, { recursive: true })) {
      if (!path.endsWith('checks.json')) continue;
      const checks = JSON.parse(await readFile(join(output, path), 'utf8')) as Check[];
      const name = path.replace(/-\d{4}-\d\d-\d\dT[\w-]*\/checks\.json$/, '').replace(kind === 'server' ? /^server-/ : /^$/, '');
      found.set(
        name,
        checks.filter(({ status }) => status === 'FAILURE').map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
      );
    }
    return found;
  };

  const expectAsNamed = async (kind: keyof Row, found: Map<string, string[]>, least: number): Promise<void> => {
    const failing = [...found].filter(([, checks]) => checks.length > 0);
    for (const [name] of failing) failed.add(`${kind} ${name}`);
    const named = (await table())[kind];
    const unexpected = failing.filter(([name]) => !named.has(name)).map(([name, checks]) => `${name}: ${checks.join('; ')}`);
    expect(unexpected, 'scenarios that fail, and the README does not say so').to.deep.equal([]);
    expect(found.size - failing.length).to.be.at.least(least);
  };

  for (const revision of REVISIONS) {
    it(`as a server, ${revision}`, async () => {
      const found = await outcomes('server', revision, ['--url', `${kernel.url.replace('127.0.0.1', 'localhost')}/api/mcp`]);
      await expectAsNamed('server', found, revision === '2025-11-25' ? 14 : 19);
    });
    it(`as a client, ${revision}`, async () => {
      const found = await outcomes('client', revision, ['--command', `${node} ${resolve('extensions/mcp/test/conformance-client.mjs')}`]);
      await expectAsNamed('client', found, revision === '2025-11-25' ? 17 : 30);
    });
  }

  it('fails where the README says so, and nowhere less', async () => {
    const named = await table();
    for (const kind of ['server', 'client'] as const)
      expect(
        [...named[kind]].filter((name) => !failed.has(`${kind} ${name}`)),
        kind,
      ).to.deep.equal([]);
  });
});
