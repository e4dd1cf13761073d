/** Manifests as they are published for other daemons: each makes an agent, and what is not as it says is told. */
import { readdirSync, readFileSync } from 'node:fs';
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const FOLDER = 'fixtures/manifests/public';
const names = readdirSync(FOLDER).map((file) => file.replace('.toml', ''));

/** What the warnings of these must say; of the others none is about a key or a module. */
const REPORTED: Readonly<Record<string, readonly string[]>> = {
  'default-with-keys': [
    'Line 21: model.api_key_env "GEMINI_API_KEY" is not read: the default provider, now openai, is asked with the key kept for it.',
    'Line 31: fallback_models.0.api_key_env "GROQ_API_KEY" is not read: the default provider, now openai, is asked with the key kept for it.',
  ],
  'fallback-key-alone': ['fallback_models.0.api_key_env "GEMINI_API_KEY" is not read'],
  'scheduled-orchestrator': ['model.api_key_env "DEEPSEEK_API_KEY" is not read', 'fallback_models.0.api_key_env "GROQ_API_KEY" is not read'],
  'native-router': ['Line 6: module "builtin:router" is not here: its questions are answered by the model'],
  'pipeline-step': ['fallback_models.0.api_key_env "GROQ_API_KEY" is not read', 'exec_policy "full" adds nothing'],
  'foreign-variable': ['"OPENAI_API_KEY" is not read: anthropic is asked with the key kept for it', '"GEMINI_API_KEY" is not read: openai is asked with the key kept for it'],
  'extra-limits': ['resources.max_turns is not a key of agent.toml and was ignored'],
};

describe('a public manifest', () => {
  let svc: TestKernel;
  before(async () => {
    svc = await bootTestKernel({ config: '[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n', env: { OPENAI_API_KEY: 'sk-x' } });
  });
  after(stopTestKernels);

  for (const name of names)
    it(`makes an agent, and tells what is not as it says: ${name}`, async () => {
      const text = readFileSync(`${FOLDER}/${name}.toml`, 'utf8');
      const { status, body } = await svc.http.post('/api/agents', { manifest_toml: text });
      expect([status, body.error]).to.deep.equal([201, undefined]);
      const reported = REPORTED[name] ?? [];
      const warnings: string[] = body.warnings ?? [];
      for (const words of reported)
        expect(
          warnings.some((warning) => warning.includes(words)),
          `${words} in ${JSON.stringify(warnings)}`,
        ).to.equal(true);
      expect(warnings.filter((warning) => warning.includes('api_key_env'))).to.have.length(reported.filter((words) => words.includes('_KEY"')).length);
      const { body: checked } = await svc.http.expect(200, 'POST', '/api/agents/check', { manifest_toml: text });
      expect(checked.warnings ?? []).to.deep.equal(warnings);
      const { body: agent } = await svc.http.expect(200, 'GET', `/api/agents/${body.agent_id}`);
      expect(JSON.stringify(agent)).to.not.contain('api_key_env');
    });

  it('that names an account of its own, or another address, is still refused: that is a limit which nothing would keep', async () => {
    for (const [line, key] of [
      ['api_key_env = "TEAM_B_KEY"', 'model.api_key_env'],
      ['base_url = "http://127.0.0.1:9/v1"', 'model.base_url'],
    ]) {
      const { status, body } = await svc.http.post('/api/agents', { manifest_toml: `name = "own"\n[model]\nprovider = "openai"\nmodel = "gpt-4o"\n${line}\n` });
      expect([status, body.details.problems[0].key]).to.deep.equal([400, key]);
    }
    expect((await svc.http.post('/api/agents', { manifest_toml: 'name = "own"\nmodule = "wasm:skill.wasm"\n' })).status).to.equal(400);
  });
});
