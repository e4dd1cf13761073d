import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FIRST_MANIFEST } from '../src/first-agent.js';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { readManifest } from '../src/manifest/manifest-reader.js';
import { MAX_MANIFEST_BYTES, parseManifestToml, plainManifest } from '../src/manifest/manifest-toml.js';
import { codeOf } from './agents-kit.js';

const ground = { schemas: createValueChecks(), declared: [] };
const readText = async (text: string) => readManifest(ground, await parseManifestToml(text), text);
const readFixture = async (name: string) => readText(await readFile(`fixtures/manifests/${name}.toml`, 'utf8'));
const readJson = (manifest: unknown) => readManifest(ground, plainManifest(manifest));

const messageOf = async (work: Promise<unknown>): Promise<string> => work.then(String, (error: Error) => error.message);

interface Problem {
  readonly line: number | null;
  readonly key: string;
  readonly message: string;
  readonly expected: string;
}
const problemsOf = async (work: Promise<unknown>): Promise<readonly Problem[]> =>
  work.then(
    () => [],
    (error: { details?: { problems: readonly Problem[] } }) => error.details?.problems ?? [],
  );

describe('agent manifest', () => {
  it('fills every default in', async () => {
    const { manifest, warnings } = await readFixture('hello');
    expect(manifest).to.deep.equal({
      name: 'hello',
      version: '0.1.0',
      description: '',
      author: '',
      tags: [],
      enabled: true,
      model: {
        provider: 'default',
        model: 'default',
        max_tokens: 4096,
        temperature: 0.7,
        system_prompt: 'Greet people in one sentence.',
        request_timeout_secs: null,
        context_window: null,
        max_output_tokens: null,
      },
      thinking: null,
      fallback_models: [],
      max_history_messages: null,
      capabilities: { tools: [], network: [], memory_read: [], memory_write: [], shell: [], agent_spawn: false, agent_message: [], file_system: true, max_llm_tokens_per_hour: null },
      resources: { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 },
      tool_allowlist: [],
      tool_blocklist: [],
      tools_disabled: false,
      autonomous: { max_iterations: 50 },
      kept: {},
    });
    expect(warnings).to.deep.equal([]);
  });

  it('reads everything that acts, and says nothing about it', async () => {
    const { manifest, warnings } = await readFixture('researcher');
    expect(manifest.model).to.include({ provider: 'openai', model: 'gpt-4o', max_tokens: 2048, temperature: 0.2, request_timeout_secs: 90, context_window: 64_000, max_output_tokens: 1_024 });
    expect(manifest.fallback_models).to.deep.equal([
      { provider: 'anthropic', model: 'claude-3-5-haiku-latest' },
      { provider: 'default', model: 'default' },
    ]);
    expect(manifest.capabilities).to.include({ agent_spawn: true, max_llm_tokens_per_hour: 150_000 });
    expect(manifest.resources).to.include({ burst_ratio: 0.2, max_cost_per_day_usd: 2.5, max_concurrent_tools: 2 });
    expect(manifest).to.deep.include({ thinking: { budget_tokens: 4_000 }, max_history_messages: 40 });
    expect(manifest.autonomous.max_iterations).to.equal(20);
    expect(warnings).to.deep.equal([]);
  });

  it('reads exec_policy in every form, and says what it does not do', async () => {
    const policy = (exec_policy: unknown, shell: string[] = ['*']) => readJson({ exec_policy, capabilities: { shell } });
    const limits = { programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null };
    for (const word of ['deny', 'none', 'Disabled']) expect((await policy(word)).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'deny' });
    for (const word of ['allowlist', 'restricted']) expect((await policy(word)).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'allowlist' });
    for (const word of ['full', 'allow', 'all', 'unrestricted']) expect((await policy(word)).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'full' });
    const table = { allowed_commands: ['git *', 'ls'], safe_bins: 'cat', allowed_env_vars: ['LANG'], timeout_secs: 5, no_output_timeout_secs: 3, max_output_bytes: 9 };
    expect((await policy(table)).manifest.capabilities.exec).to.deep.equal({
      mode: 'allowlist',
      programs: ['git', 'ls', 'cat'],
      env: ['LANG'],
      timeout_secs: 5,
      no_output_timeout_secs: 3,
      max_output_bytes: 9,
    });
    expect((await policy({ timeout_secs: 5 })).manifest.capabilities.exec).to.deep.equal({ ...limits, mode: 'full', timeout_secs: 5 });
    expect((await policy({ mode: 'full', allowed_commands: ['git'] })).manifest.capabilities.exec).to.deep.include({ mode: 'full', programs: null });
    expect((await policy(undefined)).manifest.capabilities).to.not.have.property('exec');
    expect((await policy('full', ['git *'])).warnings.join()).to.match(/"full" adds nothing/);
    expect((await policy({ allowed_commands: ['git'] }, [])).warnings.join()).to.match(/only narrows/);
    expect((await policy({ safe_bins_skip_approval: true })).warnings.join()).to.match(/safe_bins_skip_approval changes nothing/);
  });

  it('refuses an exec_policy that it cannot keep', async () => {
    for (const [exec_policy, what] of [
      ['sometimes', /exec_policy must be one of deny/],
      [true, /exec_policy must be a word/],
      [{ mode: 5 }, /must be one of/],
      [{ allowed_comands: ['git'] }, /exec_policy.allowed_comands is not a key/],
      [{ timeout_secs: 0 }, /exec_policy.timeout_secs must be a whole number from 1/],
      [{ max_output_bytes: 'many' }, /exec_policy.max_output_bytes/],
      [{ allowed_commands: [5] }, /exec_policy.allowed_commands must be a list/],
    ] as const)
      expect(await messageOf(readJson({ exec_policy })), JSON.stringify(exec_policy)).to.match(what);
  });

  it('reads how many tools may be called in a minute', async () => {
    expect((await readJson({ resources: { max_tool_calls_per_minute: 5 } })).manifest.capabilities.max_tool_calls_per_minute).to.equal(5);
    expect(await messageOf(readJson({ resources: { max_tool_calls_per_minute: -1 } }))).to.match(/resources.max_tool_calls_per_minute/);
  });

  it('takes max_llm_tokens_per_hour from either place, the capabilities first', async () => {
    const both = await readJson({ capabilities: { max_llm_tokens_per_hour: 10 }, resources: { max_llm_tokens_per_hour: 20 } });
    expect(both.manifest.capabilities.max_llm_tokens_per_hour).to.equal(10);
  });

  it('takes one text for a list, and warns about what nothing uses, with its line', async () => {
    const { manifest, warnings } = await readFixture('lenient');
    expect(manifest.capabilities.tools).to.deep.equal(['file_read']);
    expect(manifest.tags).to.deep.equal([]);
    expect(warnings.join('\n'))
      .to.match(/tags is not a list/)
      .and.match(/Line 5: favourite_colour is not a key/);
  });

  it('M1 refuses misspelt, misplaced and out-of-range keys, each with its line, what was expected and the nearest name', async () => {
    const problems = await problemsOf(readFixture('misspelt'));

    expect(problems.map(({ line, key, expected }) => [line, key, expected])).to.deep.equal([
      [3, 'descripton', 'description'],
      [4, 'temperature', 'temperature under [model]'],
      [10, 'capabilities.netwrok', 'network'],
      [13, 'autonomous.max_iteratons', 'max_iterations'],
      [15, 'capabilites', 'capabilities'],
      [7, 'model.temperature', 'a number from 0 to 2'],
    ]);
    expect(await messageOf(readFixture('misspelt'))).to.match(
      /^The agent manifest cannot be used \(line 3\): descripton is not a key of agent.toml\. Did you mean "description"\? Also \(line 4\): temperature /,
    );
  });

  it('M1 refuses a key of a section that is misspelt at the top, with its section; a word that is only alike is told', async () => {
    for (const [key, expected] of [
      ['temprature', 'temperature under [model]'],
      ['systm_promt', 'system_prompt under [model]'],
      ['max_tokns', 'max_tokens under [model]'],
      ['netwrok', 'network under [capabilities]'],
      ['max_cost_per_dya_usd', 'max_cost_per_day_usd under [resources]'],
    ]) {
      const [problem] = await problemsOf(readJson({ [key as string]: 1 }));
      expect([problem?.key, problem?.expected]).to.deep.equal([key, expected]);
      expect(problem?.message).to.contain(`Did you mean "${expected?.split(' ')[0]}"`);
    }
    for (const key of ['max_turns', 'temp', 'role', 'team', 'tokens', 'favourite_colour']) {
      const { warnings } = await readJson({ [key]: 1 });
      expect(warnings, key).to.have.length(1);
      expect(warnings[0], key).to.contain('was ignored');
    }
  });

  it('M1 refuses a key that narrows or redirects what nothing here does, by its name, unless it changes nothing', async () => {
    const refused = {
      model: { base_url: 'http://localhost:1234/v1' },
      module: 'wasm:skill.wasm',
      workspace: '/srv/files',
      tool_exec_backend: 'docker',
      response_format: { type: 'json' },
      routing: { simple_model: 'small' },
      resources: { max_network_bytes_per_hour: 1_000 },
      fallback_models: [{ provider: 'openai', model: 'gpt-4o', api_key_env: 'MY_KEY' }],
    };
    for (const [key, value] of Object.entries(refused)) {
      const [problem] = await problemsOf(readJson({ [key]: value }));
      expect(problem?.key, key).to.match(new RegExp(`^${key}`));
      expect(problem?.message, key).to.match(/is not supported/);
    }
    const harmless = { model: { base_url: '' }, module: 'builtin:chat', tool_exec_backend: 'local', response_format: { type: 'text' }, resources: { max_network_bytes_per_hour: 0 } };
    expect((await readJson(harmless)).warnings).to.deep.equal([]);
  });

  it('M2 keeps what waits for its area or only describes, and says so', async () => {
    const { manifest, warnings } = await readJson({
      generate_identity_files: false,
      metadata: { routing: { aliases: ['x'] } },
      autonomous: { quiet_hours: '0 22 * * *' },
      priority: 'High',
    });
    expect(manifest.kept).to.deep.equal({ generate_identity_files: false, metadata: { routing: { aliases: ['x'] } }, autonomous: { quiet_hours: '0 22 * * *' }, priority: 'High' });
    expect(warnings).to.have.length(3);
  });

  it('gives the tools of a profile where the manifest names none, and grants nothing with them', async () => {
    const { manifest } = await readJson({ profile: 'minimal' });
    expect(manifest.capabilities).to.deep.include({ tools: ['file_read', 'file_list'], network: [], shell: [] });
    expect(manifest.profile).to.equal('minimal');
    expect((await readJson({ profile: 'minimal', capabilities: { tools: ['web_fetch'] } })).manifest.capabilities.tools).to.deep.equal(['web_fetch']);
    expect((await problemsOf(readJson({ profile: 'minimall' })))[0]?.message).to.match(/Did you mean "minimal"/);
  });

  it('names the line where the text stops being TOML', async () => {
    const message = await messageOf(readFixture('bad-syntax'));
    expect(message)
      .to.match(/\(line 4\)/)
      .and.match(/not TOML/);
    expect(message).not.to.match(/row|pos \d/);
  });

  it('names the line, the key and what was expected when a type is wrong', async () => {
    expect(await messageOf(readFixture('bad-type'))).to.equal('The agent manifest cannot be used (line 6): model.temperature must be a number from 0 to 2, got "very".');
  });

  it('refuses a malformed list of tools instead of reading it as every tool', async () => {
    expect(await messageOf(readFixture('bad-capability'))).to.equal('The agent manifest cannot be used (line 5): capabilities.tools must be a string or a list of strings of at most 1000, got 5.');
    expect(await codeOf(readFixture('bad-capability'))).to.equal('agents_invalid_manifest');
  });

  it('refuses a section that is no table: a limit in it would be lost', async () => {
    for (const section of ['model', 'capabilities', 'resources', 'autonomous']) expect(await messageOf(readJson({ [section]: 'yes' })), section).to.match(new RegExp(`${section} must be a table`));
  });

  it('refuses names that are empty, reserved or hold what cannot be seen', async () => {
    for (const name of ['', ' ', '_operator:x', 'a\nb', 'a\u202egnp.exe', 'assist\u200bant', 'x\u2028y', 'a\u009b31m', '\ud800'])
      expect(await messageOf(readJson({ name })), JSON.stringify(name)).to.match(/name must not/);
  });

  it('refuses a manifest of more than 1 MiB before it parses it', async () => {
    expect(await codeOf(parseManifestToml('#'.repeat(MAX_MANIFEST_BYTES + 1)))).to.equal('manifest_too_large');
  });

  it('refuses whole numbers that cannot be kept exactly, and tables without end', async () => {
    expect(await messageOf(readText('[model]\nmax_tokens = 99999999999999999999'))).to.match(/too large to be stored exactly/);
    expect(await messageOf(readText(`${'a.'.repeat(30)}a = 1`))).to.match(/more than 20 deep/);
  });

  // Compared with every known name each, these would take longer than a test may.
  it('M3 looks at the first twenty of nine thousand unknown keys, and refuses the rest in one sentence', async () => {
    const many = (key: string): object => Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${key}${i}${'_'.repeat(40)}`, i]));

    for (const manifest of [many('descripton'), { capabilities: many('netwrok') }]) {
      const problems = await problemsOf(readJson(manifest));
      expect(problems.length).to.be.within(1, 21);
      expect(problems.at(-1)?.message).to.match(/^9000 unknown keys/);
    }
  });

  it('M3 names twenty violations at most, however long a list is', async () => {
    for (const manifest of [{ capabilities: { tools: Array.from({ length: 9_000 }, () => 5) } }, { fallback_models: Array.from({ length: 3_000 }, () => ({ provider: 5, modl: 'x' })) }]) {
      expect((await problemsOf(readJson(manifest))).length).to.be.within(1, 20);
    }
  });

  it('lets the first agent pass, which is not validated when it is made', async () => {
    expect((await readJson(FIRST_MANIFEST)).warnings).to.deep.equal([]);
  });
});
