/** Plugins from registries, and the dependencies of plugins by their real package managers. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFileSync } from 'node:child_process';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { createRegistries } from '../src/install/registry.js';

const MANIFEST = 'name = "NAME"\nversion = "1.2.0"\ndescription = "Knows the time."\nauthor = "x"\n[hooks]\nruntime = "bash"\ningest = "hooks/ingest.sh"\n';
const SCRIPT = 'cat >/dev/null\necho \'{"type":"ingest_result","memories":[]}\'\n';
const RAW_KEY_AT = 12;

describe('registries of plugins', function () {
  this.timeout(120_000);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const served = new Map<string, string | Buffer>();
  const asked: string[] = [];
  let server: Server;
  let kernel: TestKernel;

  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const publish = (name: string): void => {
    const files = { 'plugin.toml': MANIFEST.replace('NAME', name), 'hooks/ingest.sh': SCRIPT };
    const hashes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, sha256(text)]));
    const index = JSON.stringify({ plugins: [{ name, version: '1.2.0', description: 'Knows the time.', author: 'x', hooks: ['ingest'], files: hashes }] });
    served.set('/signed/index.json', index);
    served.set('/signed/index.json.sig', sign(null, Buffer.from(index), privateKey).toString('base64'));
    for (const [path, text] of Object.entries(files)) served.set(`/signed/${name}/${path}`, text);
  };
  /** As the contents API of a repository answers. */
  const commit = (name: string): void => {
    const root = '/api/repos/acme/plugins/contents/plugins';
    const file = (text: string) => JSON.stringify({ type: 'file', encoding: 'base64', content: Buffer.from(text).toString('base64') });
    served.set(root, JSON.stringify([{ type: 'dir', name }]));
    served.set(
      `${root}/${name}`,
      JSON.stringify([
        { type: 'file', name: 'plugin.toml' },
        { type: 'dir', name: 'hooks' },
      ]),
    );
    served.set(`${root}/${name}/plugin.toml`, file(MANIFEST.replace('NAME', name)));
    served.set(`${root}/${name}/hooks`, JSON.stringify([{ type: 'file', name: 'ingest.sh' }]));
    served.set(`${root}/${name}/hooks/ingest.sh`, file(SCRIPT));
  };

  before(async () => {
    server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      asked.push(path);
      const body = served.get(path);
      response.writeHead(body === undefined ? 404 : 200).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    publish('clock');
    commit('calendar');
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(RAW_KEY_AT).toString('base64');
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(RAW_KEY_AT).toString('base64');
    kernel = await bootTestKernel({
      config: `${OPEN_RATE}[[context_engine.plugin_registries]]\nname = "signed"\nurl = "${at}/signed"\npublic_key = "${key}"\n[[context_engine.plugin_registries]]\nname = "repository"\ngithub_repo = "acme/plugins"\napi_url = "${at}/api"\n[[context_engine.plugin_registries]]\nname = "of another"\nurl = "${at}/signed"\npublic_key = "${other}"\n`,
    });
  });
  after(async () => {
    await stopTestKernels();
    await new Promise((resolve) => server.close(resolve));
  });

  const install = (body: object) => kernel.http.send('POST', '/api/plugins/install', { source: 'registry', ...body });

  it('Y3 lists what each offers, and the error of one that cannot be trusted', async () => {
    const { registries, total } = (await kernel.http.expect(200, 'GET', '/api/plugins/registries')).body;
    expect(total).to.equal(3);
    const [signed, repository, other] = registries;
    expect(signed.plugins[0]).to.deep.include({ name: 'clock', version: '1.2.0', installed: false, hooks: ['ingest'] });
    expect(repository.plugins[0]).to.deep.include({ name: 'calendar', description: 'Knows the time.', hooks: ['ingest'] });
    expect(other.plugins).to.deep.equal([]);
    expect(other.error).to.contain('index.json is not signed with its public_key');
    const before = asked.length;
    await kernel.http.expect(200, 'GET', '/api/plugins/registries');
    expect(asked.length - before, 'both good ones are remembered for an hour').to.equal(2);
  });

  it('Y1 reaches a registry while it downloads from it, and leaves nothing behind', async () => {
    let open = 0;
    let most = 0;
    const allow = () => {
      most = Math.max(most, ++open);
      return { dispose: () => void open-- };
    };
    const registries = createRegistries({
      ...({ egress: { allow }, clock: { mono: () => 0 }, fetch: async () => ({ status: 404, cancel: () => undefined }) } as never as Parameters<typeof createRegistries>[0]),
      registries: () => [{ name: 'own', url: 'http://127.0.0.1:9/plugins' }],
    });
    expect((await registries.list())[0]?.error).to.contain('answered 404');
    expect([most, open]).to.deep.equal([1, 0]);
  });

  it('Y1 Y2 installs from a signed index, and nothing of it whose files or index were changed', async () => {
    served.set('/signed/clock/hooks/ingest.sh', `${SCRIPT}# changed\n`);
    const changed = await install({ name: 'clock', registry: 'signed' });
    expect([changed.status, changed.body.code]).to.deep.equal([502, 'plugins_registry_failed']);
    expect(JSON.stringify(changed.body)).to.contain('hooks/ingest.sh is not the file that its index names');
    served.set('/signed/index.json', String(served.get('/signed/index.json')).replace('1.2.0', '1.3.0'));
    expect(JSON.stringify((await install({ name: 'clock', registry: 'signed' })).body)).to.contain('is not signed with its public_key');
    await kernel.http.expect(404, 'GET', '/api/plugins/clock');
    publish('clock');
    expect(await install({ name: 'clock', registry: 'signed' })).to.deep.include({ status: 200 });
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/clock/test-hook')).body.success).to.equal(true);
    expect((await kernel.http.expect(200, 'GET', '/api/plugins/clock')).body.source).to.equal('registry signed');
    expect((await install({ name: 'nothing', registry: 'signed' })).status).to.equal(404);
  });

  it('Y1 installs from the contents API of a repository', async () => {
    expect((await install({ name: 'calendar', registry: 'acme/plugins' })).status).to.equal(200);
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/calendar/test-hook')).body.success).to.equal(true);
  });

  it('installs what a plugin needs with pip from a local index, and its hook can use it', async function () {
    const folder = `${kernel.home}/plugins/needy`;
    await kernel.http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'needy', runtime: 'python' });
    if (!hasPip()) return this.skip();
    await mkdir(`${folder}/wheels`);
    execFileSync('python3', ['-c', WHEEL, `${folder}/wheels`]);
    await writeFile(`${folder}/requirements.txt`, '--no-index\n--find-links wheels\ntides==1.0\n');
    await writeFile(`${folder}/hooks/ingest.py`, 'import json, sys, tides\njson.load(sys.stdin)\nprint(json.dumps({"type": "ingest_result", "memories": [{"content": tides.WHEN}]}), flush=True)\n');
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/needy/test-hook')).body.error).to.equal('ScriptError');
    const { success, output } = (await kernel.http.expect(200, 'POST', '/api/plugins/needy/install-deps')).body;
    expect(success, output).to.equal(true);
    expect(output).to.contain('tides');
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/needy/test-hook')).body.output.memories).to.deep.equal([{ content: 'at noon' }]);
    await writeFile(`${folder}/requirements.txt`, '--no-index\n--find-links wheels\nabsent==1.0\n');
    const failed = (await kernel.http.expect(200, 'POST', '/api/plugins/needy/install-deps')).body;
    expect(failed.success).to.equal(false);
    expect(failed.output).to.contain('absent');
  });

  it('installs what a plugin needs with npm from its own folder', async () => {
    const folder = `${kernel.home}/plugins/modern`;
    await kernel.http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'modern', runtime: 'node' });
    await mkdir(`${folder}/vendor/moons`, { recursive: true });
    await writeFile(`${folder}/vendor/moons/package.json`, '{"name":"moons","version":"1.0.0","main":"index.js"}');
    await writeFile(`${folder}/vendor/moons/index.js`, 'exports.count = 79;\n');
    await writeFile(`${folder}/package.json`, '{"name":"modern","version":"1.0.0","private":true,"dependencies":{"moons":"file:vendor/moons"}}');
    const script = await readFile(`${folder}/hooks/ingest.js`, 'utf8');
    await writeFile(`${folder}/hooks/ingest.js`, script.replace('const memories = [];', "const memories = [{ content: String(require('moons').count) }];"));
    const { success, output } = (await kernel.http.expect(200, 'POST', '/api/plugins/modern/install-deps')).body;
    expect(success, output).to.equal(true);
    expect((await kernel.http.expect(200, 'POST', '/api/plugins/modern/test-hook')).body.output.memories).to.deep.equal([{ content: '79' }]);
    await rm(`${folder}/node_modules`, { recursive: true });
  });
});

const hasPip = (): boolean => {
  try {
    execFileSync('python3', ['-m', 'pip', '--version'], { stdio: 'pipe' });
    return true;
  } catch {
    console.log('      not on this machine: pip');
    return false;
  }
};

/** Writes a wheel without any tool that builds one. */
const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/tides-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tides.py", "WHEN = 'at noon'\\n")
    wheel.writestr("tides-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tides\\nVersion: 1.0\\n")
    wheel.writestr("tides-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("tides-1.0.dist-info/RECORD", "tides.py,,\\ntides-1.0.dist-info/METADATA,,\\ntides-1.0.dist-info/WHEEL,,\\ntides-1.0.dist-info/RECORD,,\\n")
`;
