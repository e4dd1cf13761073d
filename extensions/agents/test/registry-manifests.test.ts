/** Manifests with the keys and values of the published registries of LibreFang and OpenFang: each makes an agent, and no key is lost without a word. */
import { readdirSync, readFileSync } from 'node:fs';
import { isTable } from '@svc/api';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { parseManifestToml } from '../src/manifest/manifest-toml.js';

const FOLDER = 'fixtures/manifests/registries';
/** So many are published there. */
const PUBLISHED = { librefang: 33, openfang: 13, 'openfang-forks': 30 } as const;

/** `taken`: the agent has this value. `stored`: kept as written, with a warning that it has no effect yet. `shown`: kept as written. `named`: not kept, and a warning names it. */
type Fate = 'taken' | 'stored' | 'shown' | 'named' | 'usual';

/** By key, whose lists have no places. `usual`: says what holds anyway. */
const FATES: Readonly<Record<string, Fate>> = {
  ...fates('taken', [
    'name',
    'version',
    'description',
    'author',
    'tags',
    'mcp_servers',
    'max_history_messages',
    'model.provider',
    'model.model',
    'model.max_tokens',
    'model.temperature',
    'model.system_prompt',
  ]),
  ...fates('taken', ['fallback_models.provider', 'fallback_models.model', 'resources.max_llm_tokens_per_hour', 'resources.max_cost_per_hour_usd', 'resources.max_concurrent_tools']),
  ...fates(
    'taken',
    ['tools', 'network', 'memory_read', 'memory_write', 'shell', 'agent_spawn', 'agent_message'].map((key) => `capabilities.${key}`),
  ),
  ...fates('shown', ['metadata', 'i18n']),
  ...fates('taken', ['skills']),
  ...fates('taken', ['schedule']),
  ...fates('named', ['model.api_key_env', 'fallback_models.api_key_env', 'resources.max_tokens_per_turn', 'resources.max_turns', 'resources.max_memory_mb']),
  // A profile counts where no tools are listed; the variable and the address are those of the provider.
  ...fates('usual', ['profile', 'module', 'model.base_url', 'skills_disabled']),
};

function fates(fate: Fate, keys: readonly string[]): Record<string, Fate> {
  return Object.fromEntries(keys.map((key) => [key, fate]));
}

/** Both places are read, and one is written. */
const WRITTEN_AS: Readonly<Record<string, string>> = { 'resources.max_llm_tokens_per_hour': 'capabilities.max_llm_tokens_per_hour' };

const OPAQUE = new Set(['metadata', 'i18n', 'schedule']);

/** Each key with its value; those of a list of tables once for each. */
const keysOf = (table: object, path = ''): Array<readonly [key: string, value: unknown]> =>
  Object.entries(table).flatMap(([key, value]) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (isTable(value) && !OPAQUE.has(at)) return keysOf(value, at);
    if (Array.isArray(value) && value.some(isTable)) return value.flatMap((one) => keysOf(one as object, at));
    return [[at, value]];
  });

/** The variables that the key of a provider has here. */
const usualVariable: Readonly<Record<string, string>> = { openrouter: 'OPENROUTER_API_KEY', groq: 'GROQ_API_KEY', gemini: 'GEMINI_API_KEY' };

describe('a manifest of a registry', function () {
  this.timeout(60_000);
  let svc: TestKernel;
  before(async () => {
    svc = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n`,
      env: { OPENAI_API_KEY: 'sk-x', OPENROUTER_API_KEY: 'sk-y' },
    });
    for (const { id } of (await svc.http.expect(200, 'GET', '/api/agents')).body.agents) await svc.http.expect(200, 'DELETE', `/api/agents/${id}`);
  });
  after(stopTestKernels);

  for (const [registry, count] of Object.entries(PUBLISHED))
    it(`of ${registry}, each of ${count}, makes an agent, and what becomes of each key is said`, async () => {
      const files = readdirSync(`${FOLDER}/${registry}`);
      expect(files).to.have.length(count);
      for (const file of files) {
        const text = readFileSync(`${FOLDER}/${registry}/${file}`, 'utf8');
        const raw = await parseManifestToml(text);
        const { status, body } = await svc.http.post('/api/agents', { manifest_toml: text });
        expect([status, body.error], file).to.deep.equal([201, undefined]);
        const { body: agent } = await svc.http.expect(200, 'GET', `/api/agents/${body.agent_id}`);
        const written = await parseManifestToml(String(agent.manifest_toml));
        for (const [key, value] of keysOf(raw)) expectFate(`${file}: ${key}`, key, value, { written, raw, warnings: body.warnings ?? [], agent });
        await svc.http.expect(200, 'DELETE', `/api/agents/${body.agent_id}`);
      }
    });

  it('is told which of its tools this daemon does not have', async () => {
    const text = readFileSync(`${FOLDER}/librefang/travel-planner.toml`, 'utf8');
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: text.replace('name = "travel-planner"', 'name = "told"') });
    expect(body.warnings).to.include(
      'This daemon does not have the tools browser_navigate, browser_click, browser_type, browser_read_page, browser_screenshot and browser_close: the agent works without them.',
    );
    expect(body.warnings.filter((one: string) => one.includes('memory_write'))).to.deep.equal([]);
    const { body: plain } = await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'plain', capabilities: { tools: ['file_*', 'file_read'] } } });
    expect(plain.warnings ?? []).to.deep.equal([]);
  });

  it('keeps the limits that it names: tools, hosts, commands and receivers are those and no others', async () => {
    const text = readFileSync(`${FOLDER}/librefang/devops-lead.toml`, 'utf8');
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: text });
    const { body: agent } = await svc.http.expect(200, 'GET', `/api/agents/${body.agent_id}`);
    expect(agent.capabilities).to.deep.include({ network: [], shell: ['docker *', 'git *', 'cargo *', 'kubectl *'], agent_message: ['*'], agent_spawn: false });
    expect(agent.capabilities.tools).to.include('shell_exec').and.not.include('web_fetch');
  });
});

interface Spawned {
  readonly written: Readonly<Record<string, unknown>>;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  readonly agent: { readonly [key: string]: unknown };
}

const expectFate = (what: string, key: string, value: unknown, { written, raw, warnings }: Spawned): void => {
  const fate = FATES[key] ?? FATES[key.split('.')[0] ?? ''];
  expect(fate, what).to.be.a('string');
  const kept = keysOf(written).filter(([name]) => name === key || name === WRITTEN_AS[key]);
  if (fate === 'taken' || fate === 'shown' || fate === 'stored') {
    // What a manifest says anyway is not written again.
    if (kept.length > 0)
      expect(
        kept.map(([, one]) => one),
        what,
      ).to.deep.include(value);
    else expect(isUsual(key, value), `${what} is what holds anyway`).to.equal(true);
  }
  const named = warnings.some((warning) => warning.includes(key) || (key.startsWith('fallback_models.') && warning.includes(key.replace('fallback_models.', 'fallback_models.0.'))));
  if (fate === 'stored') expect(named, `${what} in ${JSON.stringify(warnings)}`).to.equal(true);
  if (fate === 'named' && !isOwnVariable(key, value, raw)) expect(named, `${what} in ${JSON.stringify(warnings)}`).to.equal(true);
  if (fate === 'usual' && key === 'module' && value !== 'builtin:chat') expect(named, what).to.equal(true);
};

const isUsual = (key: string, value: unknown): boolean => {
  const usual: Readonly<Record<string, unknown>> = { version: '0.1.0', 'model.max_tokens': 4_096, 'model.temperature': 0.7, 'resources.max_cost_per_hour_usd': 0, 'capabilities.agent_spawn': false };
  return Object.hasOwn(usual, key) ? usual[key] === value : Array.isArray(value) && value.length === 0;
};

const isOwnVariable = (key: string, value: unknown, raw: Spawned['raw']): boolean =>
  keysOf(raw).some(([name, provider]) => name === key.replace('api_key_env', 'provider') && usualVariable[String(provider)] === value);
