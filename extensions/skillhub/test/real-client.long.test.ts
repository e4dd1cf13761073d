/** The client that the public hub publishes, and svc, at one hub: what they install has the same bytes. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { startHub, TEXT } from './hub.js';

const run = promisify(execFile);
const KEY = 'client-root-key';
const CLIENT = 'clawhub@0.23.3';
const { NODE_24: node = '' } = process.env;
const FETCH_MS = 120_000;

/** Of a skill alone: each client has a file of its own beside it. */
const bytesIn = async (folder: string): Promise<Record<string, string>> => {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1));
  return Object.fromEntries(
    await Promise.all(names.filter((name) => !name.startsWith('.clawhub/') && name !== '_meta.json').map(async (name) => [name, (await readFile(`${folder}/${name}`)).toString('base64')] as const)),
  );
};

describe('the client of the public hub', function () {
  this.timeout(240_000);
  let place = '';
  let hub: Awaited<ReturnType<typeof startHub>>;
  const client = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await run(
      node,
      [`${place}/node_modules/clawhub/bin/clawdhub.js`, '--no-input', '--workdir', place, '--site', hub.url.slice(0, -7), '--registry', hub.url.slice(0, -7), ...args],
      {
        cwd: place,
        env: { PATH: `${dirname(node)}:${process.env.PATH ?? ''}`, HOME: place, CLAWHUB_DISABLE_TELEMETRY: '1', NO_COLOR: '1' },
        timeout: 60_000,
      },
    );
    return `${stdout}${stderr}`;
  };
  before(async function () {
    place = await mkdtemp(`${tmpdir()}/svc-hub-client-`);
    let why = node === '' ? 'NODE_24 names no Node 24, which the client needs' : '';
    if (why === '')
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', place, CLIENT], { cwd: place, timeout: FETCH_MS }).catch((error: Error) => {
        why = `the client cannot be fetched: ${error.message.split('\n')[0]}`;
      });
    if (why !== '') {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: why });
      return this.skip();
    }
    hub = await startHub();
  });
  after(async () => {
    await stopTestKernels();
    hub?.close();
    await rm(place, { recursive: true, force: true });
  });

  it('searches, inspects and installs at the hub of the fixtures, and svc installs the same bytes', async () => {
    expect(await client('search', 'weather')).to.include('weather');
    const inspected = await client('inspect', 'weather', '--file', 'SKILL.md');
    expect(inspected).to.include('Look out of the window.');
    await client('install', 'weather');
    const theirs = await bytesIn(`${place}/skills/weather`);
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}[skills]\nhub_url = "${hub.url}"\n`, key: KEY });
    const owner = kernel.as(KEY);
    expect((await owner.expect(200, 'GET', '/api/skillhub/search?q=weather')).body.items[0].slug).to.equal('weather');
    await owner.expect(201, 'POST', '/api/skillhub/install', { slug: 'weather' });
    const ours = await bytesIn((await owner.expect(200, 'GET', '/api/skills/weather')).body.path);
    expect(Object.keys(ours).sort()).to.deep.equal(['SKILL.md', 'references/clouds.md']);
    expect(ours).to.deep.equal(theirs);
    expect(Buffer.from(ours['SKILL.md'] ?? '', 'base64').toString()).to.equal(TEXT);
  });
});
