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
