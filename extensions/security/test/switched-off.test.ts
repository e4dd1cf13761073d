/** Each of the 16 systems is switched off for real, on a daemon that runs: its name turns, and no other. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Dir, SecurityState } from '@svc/api';
import { standardFactories } from '@svc/daemon';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { owner: 'security-owner-key', viewer: 'security-viewer-key' };
const VIEWER = `[[users]]\nname = "vera"\nrole = "viewer"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.viewer).digest('hex')}"\n`;
/** ratelimit and capabilities may be switched off without closing the API. */
const BASE = `${OPEN_RATE}[security]\nrequired = ["auth"]\n`;
const CONFIG = `api_key = "${KEYS.owner}"\n${BASE}${VIEWER}`;

type States = Readonly<Record<string, SecurityState>>;
interface Switch {
  readonly name: string;
  readonly to: SecurityState;
  readonly off: () => unknown;
  readonly on: () => unknown;
}

describe('the security systems', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let owner: TestHttp;
  let isFolderOpen = false;
  let usual: States;
  before(async () => {
    kernel = await bootTestKernel({ config: CONFIG, key: KEYS.owner, factories: { openDir: (root) => leaky(standardFactories.openDir(root), () => isFolderOpen) } });
    owner = kernel.http;
    usual = (await report()).security_systems;
  });
  after(stopTestKernels);

  /** One of a daemon that forgot to check where a path leads. */
  const leaky = (dir: Dir, isOpen: () => boolean): Dir => ({ ...dir, readText: async (path, options) => (isOpen() ? readFileSync(join(dir.path, path), 'utf8') : dir.readText(path, options)) });

  const report = async (http = owner) => {
    kernel.daemon.parts.events.emit('config.changed', { sections: [] });
    return (await http.expect(200, 'GET', '/api/security')).body;
  };
  const settings = async (text: string): Promise<void> => {
    await writeFile(join(kernel.home, 'config.toml'), text);
    await kernel.daemon.reloadConfig();
  };
  const bySetting = (name: string, to: SecurityState, text: string): Switch => ({ name, to, off: () => settings(text), on: () => settings(CONFIG) });
  const byExtension = (name: string, id: string): Switch => ({ name, to: 'inactive', off: () => kernel.daemon.kernel.disable(id), on: () => kernel.daemon.kernel.enable(id) });

  /** An area that needs the one that was switched off stops with it, and says so of its own systems. */
  const stoppedAlong = (evidence: Readonly<Record<string, { readonly owner: string | null }>>, name: string): States => {
    const stopped = kernel.daemon.kernel.graph().filter(({ state, needs }) => state !== 'active' && needs.includes(evidence[name]?.owner ?? ''));
    return Object.fromEntries(Object.entries(evidence).flatMap(([other, { owner: id }]) => (stopped.some((one) => one.id === id) ? [[other, 'inactive' as const]] : [])));
  };

  const writeHead = ServerResponse.prototype.writeHead;
  /** Takes one header away before an answer leaves. */
  function withoutFrameOptions(this: ServerResponse, status: number, headers: Record<string, string>): ServerResponse {
    const { 'x-frame-options': _gone, ...rest } = headers;
    return writeHead.call(this, status, rest);
  }

  const switches = (): readonly Switch[] => [
    byExtension('merkle_audit_trail', 'audit'),
    {
      name: 'security_headers',
      to: 'failed',
      off: () => Object.assign(ServerResponse.prototype, { writeHead: withoutFrameOptions }),
      on: () => Object.assign(ServerResponse.prototype, { writeHead }),
    },
    bySetting('health_redaction', 'degraded', BASE),
    bySetting('subprocess_sandbox', 'degraded', `${CONFIG}[tools]\nsandbox = "off"\n`),
    bySetting('manifest_signing', 'degraded', `${CONFIG}[extensions]\nthird_party = "any"\n`),
    byExtension('gcra_rate_limiter', 'ratelimit'),
    bySetting('secret_zeroization', 'inactive', `${CONFIG}[vault]\nenabled = false\n`),
    { name: 'path_traversal_prevention', to: 'failed', off: () => (isFolderOpen = true), on: () => (isFolderOpen = false) },
    bySetting('ssrf_protection', 'degraded', `${CONFIG}[web.fetch]\nssrf_allowed_hosts = ["10.0.0.0/8", "192.168.0.0/16"]\n`),
    byExtension('capability_inheritance_validation', 'capabilities'),
    byExtension('loop_guard', 'loop-guard'),
    byExtension('wasm_dual_metering', 'skills'),
    { name: 'session_repair', to: 'inactive', off: () => kernel.daemon.kernel.disable('sessions', { force: true }), on: () => kernel.daemon.kernel.enable('sessions') },
  ];
  const systems =
    'merkle_audit_trail security_headers health_redaction subprocess_sandbox manifest_signing gcra_rate_limiter secret_zeroization path_traversal_prevention ssrf_protection capability_inheritance_validation loop_guard session_repair wasm_dual_metering';

  it('are active on a daemon with a key, but for those that this version does not have and what needs a sandbox where there is none', async () => {
    const fault = await wallFault();
    const { security_systems: states, total_systems: total, all_active: all, evidence } = await report();
    const rest = Object.entries(states as States).flatMap(([name, state]) => (state === 'active' ? [] : [name]));
    expect(rest).to.include.members(['ofp_hmac_auth']);
    expect(rest.filter((name) => !['ofp_hmac_auth', 'taint_tracking', 'prompt_injection_scanning'].includes(name))).to.deep.equal(fault === undefined ? [] : ['subprocess_sandbox']);
    if (fault !== undefined) expect(evidence.subprocess_sandbox.detail).to.include('commands of agents run without a sandbox');
    expect([total, all, Object.keys(evidence).length]).to.deep.equal([16, false, 16]);
    expect(evidence.session_repair).to.deep.include({ owner: 'sessions', detail: 'A conversation that broke off in a tool call was sent to the model with a result for that call.' });
  });

  for (const name of systems.split(' '))
    it(`${name} turns when its system is switched off, and no other does`, async () => {
      const one = switches().find((each) => each.name === name);
      if (!one) throw new Error(`${name} has no switch`);
      await one.off();
      try {
        const { security_systems: states, evidence } = await report();
        expect(states).to.deep.equal({ ...usual, ...stoppedAlong(evidence, name), [name]: one.to });
      } finally {
        await one.on();
      }
    });

  it('turn back when they are switched on, and leave nothing behind in the data folder and the log', async () => {
    expect((await report()).security_systems).to.deep.equal(usual);
    expect((await readdir(join(kernel.home, 'data'), { recursive: true })).filter((name) => name.includes('probe'))).to.deep.equal([]);
    expect(kernel.daemon.log.recent(1_000).filter(({ message }) => message.includes('refused address'))).to.deep.equal([]);
  });

  it('are shown to those who may read, and to nobody without a key', async () => {
    expect((await report(kernel.as(KEYS.viewer))).total_systems).to.equal(16);
    await kernel.as('').expect(401, 'GET', '/api/security');
  });

  it('are shown to the owner while the API is closed because one is missing', async () => {
    await settings(CONFIG.replace('required = ["auth"]', 'required = ["auth", "ratelimit"]'));
    await kernel.daemon.kernel.disable('ratelimit');
    await owner.expect(503, 'GET', '/api/agents');
    expect((await report()).security_systems).to.include({ gcra_rate_limiter: 'inactive', loop_guard: 'active' });
    await kernel.as(KEYS.viewer).expect(503, 'GET', '/api/security');
  });
});
