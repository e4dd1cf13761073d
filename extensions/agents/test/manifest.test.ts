import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { SECTION_KEYS, TOP_KEYS } from '../src/manifest-keys.js';
import { readManifest } from '../src/manifest-reader.js';
import { lineOfKey, MAX_MANIFEST_BYTES, parseManifestToml } from '../src/manifest-toml.js';
import { codeOf } from './agents-kit.js';

const fixture = (name: string): Promise<string> => readFile(`fixtures/manifests/${name}.toml`, 'utf8');

const readFixture = async (name: string) => {
  const text = await fixture(name);
  return readManifest(await parseManifestToml(text), (path) => lineOfKey(text, path));
};

const messageOf = async (work: Promise<unknown>): Promise<string> => work.then(String, (error: Error) => error.message);

describe('agent manifest', () => {
  it('fills every default in', async () => {
    const { manifest, warnings } = await readFixture('hello');
    expect(manifest).to.deep.equal({
      name: 'hello',
      version: '0.1.0',
      description: '',
      author: '',
      tags: [],
      model: { provider: 'default', model: 'default', max_tokens: 4096, temperature: 0.7, system_prompt: 'Greet people in one sentence.', request_timeout_secs: null },
      fallback_models: [],
      capabilities: { tools: [], network: [], memory_read: [], memory_write: [], shell: [], agent_spawn: false, agent_message: [], file_system: true, max_llm_tokens_per_hour: null },
      tool_allowlist: [],
      tool_blocklist: [],
      tools_disabled: false,
      autonomous: { max_iterations: 50 },
    });
    expect(warnings).to.deep.equal([]);
  });

  it('reads everything that acts, and says nothing about it', async () => {
    const { manifest, warnings } = await readFixture('researcher');
    expect(manifest.model).to.include({ provider: 'openai', model: 'gpt-4o', max_tokens: 2048, temperature: 0.2, request_timeout_secs: 90 });
    expect(manifest.fallback_models).to.deep.equal([
      { provider: 'anthropic', model: 'claude-3-5-haiku-latest' },
      { provider: 'default', model: 'default' },
    ]);
    expect(manifest.capabilities).to.include({ agent_spawn: true, max_llm_tokens_per_hour: 150_000 });
    expect(manifest.autonomous.max_iterations).to.equal(20);
    expect(warnings).to.deep.equal([]);
  });

  it('reads exec_policy in every form, and says what it does not do', () => {
    const policy = (exec_policy: unknown, shell: string[] = ['*']) => readManifest({ exec_policy, capabilities: { shell } });
    const limits = { programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null };
    for (const word of ['deny', 'none', 'Disabled']) expect(policy(word).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'deny' });
    for (const word of ['allowlist', 'restricted']) expect(policy(word).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'allowlist' });
    for (const word of ['full', 'allow', 'all', 'unrestricted']) expect(policy(word).manifest.capabilities.exec, word).to.deep.equal({ ...limits, mode: 'full' });
    const table = { allowed_commands: ['git *', 'ls'], safe_bins: 'cat', allowed_env_vars: ['LANG'], timeout_secs: 5, no_output_timeout_secs: 3, max_output_bytes: 9 };
    expect(policy(table).manifest.capabilities.exec).to.deep.equal({
      mode: 'allowlist',
      programs: ['git', 'ls', 'cat'],
      env: ['LANG'],
      timeout_secs: 5,
      no_output_timeout_secs: 3,
      max_output_bytes: 9,
    });
    expect(policy({ timeout_secs: 5 }).manifest.capabilities.exec).to.deep.equal({ ...limits, mode: 'full', timeout_secs: 5 });
    expect(policy({ mode: 'full', allowed_commands: ['git'] }).manifest.capabilities.exec).to.deep.include({ mode: 'full', programs: null });
    expect(policy(undefined).manifest.capabilities).to.not.have.property('exec');
    expect(policy('full', ['git *']).warnings.join()).to.match(/"full" adds nothing/);
    expect(policy({ allowed_commands: ['git'] }, []).warnings.join()).to.match(/only narrows/);
    expect(policy({ safe_bins_skip_approval: true }).warnings.join()).to.match(/safe_bins_skip_approval changes nothing/);
  });

  it('refuses an exec_policy that it cannot keep', () => {
    for (const [exec_policy, what] of [
      ['sometimes', /exec_policy must be one of deny/],
      [true, /exec_policy must be a word/],
      [{ mode: 5 }, /must be one of/],
      [{ allowed_comands: ['git'] }, /exec_policy.allowed_comands is not a key/],
      [{ timeout_secs: 0 }, /exec_policy.timeout_secs must be a whole number from 1/],
      [{ max_output_bytes: 'many' }, /exec_policy.max_output_bytes/],
      [{ allowed_commands: [5] }, /exec_policy.allowed_commands must be a list/],
    ] as const)
      expect(() => readManifest({ exec_policy }), JSON.stringify(exec_policy)).to.throw(what);
  });

  it('reads how many tools may be called in a minute', () => {
    expect(readManifest({ resources: { max_tool_calls_per_minute: 5 } }).manifest.capabilities.max_tool_calls_per_minute).to.equal(5);
    expect(() => readManifest({ resources: { max_tool_calls_per_minute: -1 } })).to.throw(/resources.max_tool_calls_per_minute/);
  });

  it('takes max_llm_tokens_per_hour from either place, the capabilities first', () => {
    const both = readManifest({ capabilities: { max_llm_tokens_per_hour: 10 }, resources: { max_llm_tokens_per_hour: 20 } });
    expect(both.manifest.capabilities.max_llm_tokens_per_hour).to.equal(10);
  });

  it('takes one text for a list, and warns about what it does not use', async () => {
    const { manifest, warnings } = await readFixture('lenient');
    expect(manifest.capabilities.tools).to.deep.equal(['file_read']);
    expect(manifest.tags).to.deep.equal([]);
    expect(warnings.join('\n'))
      .to.match(/tags is not a list/)
      .and.match(/autonomous is not a table/)
      .and.match(/schedule .*nothing in this installation/)
      .and.match(/descripton .*Did you mean description\?/);
  });

  it('names the line where the text stops being TOML', async () => {
    const message = await messageOf(readFixture('bad-syntax'));
    expect(message)
      .to.match(/\(line 4\)/)
      .and.match(/not TOML/);
    expect(message).not.to.match(/row|pos \d/);
  });

  it('names the line, the key and what was expected when a type is wrong', async () => {
    expect(await messageOf(readFixture('bad-type'))).to.equal('The agent manifest cannot be used (line 6): model.temperature must be a number from 0 to 2.');
  });

  it('refuses a malformed list of tools instead of reading it as every tool', async () => {
    expect(await messageOf(readFixture('bad-capability'))).to.equal('The agent manifest cannot be used (line 5): capabilities.tools must be a list of texts.');
    expect(await codeOf(readFixture('bad-capability'))).to.equal('agents_invalid_manifest');
  });

  it('refuses names that are empty, reserved or hold control characters', () => {
    for (const name of ['', ' ', '_operator:x', 'a\nb']) expect(() => readManifest({ name }), JSON.stringify(name)).to.throw(/name/);
  });

  it('refuses a manifest of more than 1 MiB before it parses it', async () => {
    expect(await codeOf(parseManifestToml('#'.repeat(MAX_MANIFEST_BYTES + 1)))).to.equal('manifest_too_large');
  });

  it('knows the same keys as the published schema', async () => {
    const schema = JSON.parse(await readFile('schemas/agent.schema.json', 'utf8'));
    expect(Object.keys(schema.properties).sort()).to.deep.equal([...TOP_KEYS.acts, ...TOP_KEYS.known].sort());
    for (const [section, keys] of Object.entries(SECTION_KEYS)) {
      expect(Object.keys(schema.properties[section].properties).sort(), section).to.deep.equal([...keys.acts, ...keys.known].sort());
    }
  });
});
