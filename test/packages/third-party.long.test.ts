/** Three extensions of others: built by `svc ext build`, published to a registry, installed from it, and run in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExtension, createExtension } from '@svc/installer/author';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import * as esbuild from 'esbuild';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { type LocalRegistry, ROOT, startRegistry } from './local-registry.js';

const THIRD_PARTIES = ['orbit-weather', 'orbit-house-style', 'orbit-bookmarks'];

describe('extensions of others', function () {
  this.timeout(60_000);
  let folder: string;
  let registry: LocalRegistry;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-strangers-'));
    registry = await startRegistry();
    for (const id of THIRD_PARTIES) {
      await cp(join(ROOT, 'fixtures/third-party', id), join(folder, id), { recursive: true });
      await buildExtension(join(folder, id), esbuild);
      await registry.npm(join(folder, id), 'publish');
    }
  });
  after(async () => {
    await registry?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(stopModelKernels);

  const config = (more = ''): string => `${OPEN_RATE}[extensions]\nthird_party = "any"\nregistry = "${registry.url}"\n${more}`;
  const install = ({ daemon }: TestKernel, id: string) => daemon.kernel.installation.install({ source: `npm:${id}@^1`, grants: 'all', enable: true });
  const ask = async ({ http, model }: ModelKernel, manifest: object, script: Parameters<typeof model.script>[0]) => {
    const { agent_id } = (await http.expect(201, 'POST', '/api/agents', { manifest })).body;
    model.script(script);
    await http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message: 'go on' });
    return JSON.stringify(model.requests.at(-1)?.body.messages);
  };

  it('are shown as what they are: from where, by whom, how far apart', async () => {
    const kernel = await bootTestKernel({ config: config() });
    for (const id of THIRD_PARTIES) {
      const { state, bundled, origin, process } = await install(kernel, id);
      expect({ state, bundled }, id).to.deep.equal({ state: 'active', bundled: false });
      expect(origin).to.deep.include({ source: `npm:${id}@^1`, publisher: null, trust: 'unsigned' });
      expect(origin?.isolation).to.equal((await wallFault()) === undefined ? 'walled' : 'isolated');
      expect(process, 'it has a process of its own').to.not.equal(null);
    }
  });

  it('bring a tool that asks an HTTP API: the one that was granted, for agents that may reach it', async () => {
    const asked: string[] = [];
    const station = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end('{ "temperature_c": 21.5, "humidity_percent": 40, "measured_at": "2026-05-04T10:00:00Z" }');
    }).listen(0, '127.0.0.1');
    await once(station, 'listening');
    try {
      const world = await bootWithModel(undefined, { config: config(`[orbit_weather]\nbase_url = "http://127.0.0.1:${(station.address() as AddressInfo).port}"`) });
      await install(world.kernel, 'orbit-weather');
      const script = [{ toolCalls: [{ name: 'orbit_weather_read', args: { station: 'roof' } }] }, { text: 'I see.' }];
      const capabilities = { tools: ['orbit_weather_read'] };
      expect(await ask(world, { name: 'one', capabilities: { ...capabilities, network: ['127.0.0.1'] } }, script)).to.contain('21.5 °C, 40 % humidity');
      expect(await ask(world, { name: 'other', capabilities: { ...capabilities, network: ['example.org'] } }, script)).to.not.contain('21.5');
      expect(asked).to.deep.equal(['/stations/roof']);
    } finally {
      station.close();
    }
  });

  it('add to what every run begins with, by a tap of run.context', async () => {
    const world = await bootWithModel(undefined, { config: config('[orbit_house_style]\nrules = ["No exclamation marks."]') });
    await install(world.kernel, 'orbit-house-style');
    expect(await ask(world, { name: 'writer' }, { text: 'Yes.' })).to.contain('Rules of this house:\\n- No exclamation marks.');
    await world.kernel.daemon.kernel.disable('orbit-house-style');
    expect(await ask(world, { name: 'free' }, { text: 'Yes!' })).to.not.contain('Rules of this house');
  });

  it('bring routes and a table of their own, which are there again after a restart of the daemon', async () => {
    const home = join(folder, 'home');
    const first = await bootTestKernel({ config: config(), home });
    await install(first, 'orbit-bookmarks');
    await first.http.expect(201, 'POST', '/api/orbit-bookmarks', { url: 'https://one.example', title: 'One' });
    await first.http.expect(400, 'POST', '/api/orbit-bookmarks', { url: 'javascript:alert(1)', title: 'no page' });
    await first.stop();
    const { http, daemon } = await bootTestKernel({ home });
    expect((await http.expect(200, 'GET', '/api/orbit-bookmarks')).body.rows.map(({ title }: { title: string }) => title)).to.deep.equal(['One']);
    await daemon.kernel.installation.uninstall('orbit-bookmarks', { purge: true });
    expect((await http.get('/api/orbit-bookmarks')).status).to.equal(404);
  });

  it('that are being written are reloaded by `svc dev` with each change, and a change that does not build leaves the one of before', async () => {
    const dir = join(folder, 'acme-greeter');
    await createExtension({ dir, id: 'acme-greeter', template: 'route', apiVersion: '0.1.0' });
    const { http, home } = await bootTestKernel({ config: config() });
    const source = await readFile(join(dir, 'src/index.ts'), 'utf8');
    const said = async (): Promise<string> => (await http.expect(200, 'GET', '/api/acme-greeter/greetings/Ada')).body.text;
    const dev = await startDev(home, dir);
    try {
      await dev.received(/Watching/);
      expect(await said()).to.equal('Hello, Ada!');
      await writeFile(join(dir, 'src/index.ts'), source.replace(/!(?=`)/, '?'));
      await dev.received(/active after \d+ ms/);
      expect(await said()).to.equal('Hello, Ada?');
      await writeFile(join(dir, 'src/index.ts'), source.replace('activate(ctx) {', 'activate(ctx) {{'));
      await dev.received(/src\/index\.ts:\d+/);
      expect(await said()).to.equal('Hello, Ada?');
      await writeFile(join(dir, 'src/index.ts'), source);
      await dev.received(/active after \d+ ms/);
      expect(await said()).to.equal('Hello, Ada!');
    } finally {
      await dev.end();
    }
    await stopTestKernels();
  });
});

/** `svc dev` in a process of its own; `received` waits for words that it has not said before. */
const startDev = async (home: string, dir: string) => {
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, join(ROOT, 'kernel/cli/bin/svc.mjs'), '--home', home, '--no-color', 'dev', dir], {
    env: { PATH: process.env.PATH, HOME: home },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text));
  return {
    received: async (words: RegExp): Promise<void> => {
      while (!words.test(said)) {
        if (child.exitCode !== null) throw new Error(`svc dev ended with ${child.exitCode}: ${said}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      said = '';
    },
    end: async (): Promise<void> => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
};
