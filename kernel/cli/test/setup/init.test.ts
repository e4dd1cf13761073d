/** `svc init`: from an empty home to the first chat, and never over what is there. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startOpenAiServer, type ProviderServer } from '@svc/fixtures/providers/openai-server';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import { openTerminal } from '../chat/pseudo-terminal.js';
import { type Bench, createBench } from '../program.js';

const KEY = 'sk-init-of-nobody';
const ENTER = '\r';

interface Said {
  readonly code: string;
  readonly fix: string;
  readonly started: boolean;
  readonly config: string;
  readonly key: string;
  readonly provider: string;
  readonly model: string;
  readonly agent: { name: string; created: boolean } | null;
}

describe('svc init', function () {
  this.timeout(90_000);
  let model: ProviderServer;
  const benches: Bench[] = [];
  const bench = async (): Promise<Bench> => {
    const made = createBench(await freePort());
    benches.push(made);
    return made;
  };
  const config = (one: Bench): string => readFileSync(path.join(one.home, 'config.toml'), 'utf8');
  const init = async (one: Bench, args: readonly string[], options: { stdin?: string; env?: Record<string, string> } = {}) => {
    const ran = await one.run(['init', ...args, '--json'], options);
    return { exit: ran.code, said: JSON.parse(ran.stdout) as Said, text: ran.stdout + ran.stderr };
  };
  before(async () => {
    model = await startOpenAiServer({ text: 'hello' });
  });
  after(async () => {
    for (const one of benches) {
      await one.stopStarted();
      one.clean();
    }
    await model.close();
  });

  it('starts the daemon, begins config.toml and has an agent to chat with; then asks at a terminal for what is missing, and replaces nothing', async () => {
    const one = await bench();
    const first = await init(one, ['--yes']);
    expect([first.exit, first.said.started, first.said.config, first.said.key, first.said.agent?.name]).to.deep.equal([0, true, 'created', 'none', 'assistant']);
    await one.run(['config', 'set', 'provider_urls.openai', `${model.url}/v1`]);
    const before = config(one);
    const again = await init(one, ['--yes', '--agent', 'helper']);
    expect([again.said.started, again.said.config, again.said.agent]).to.deep.equal([false, 'kept', { name: 'helper', created: true }]);
    expect((await init(one, ['--yes', '--agent', 'helper'])).said.agent).to.deep.equal({ name: 'helper', created: false });
    expect((await init(one, ['--no-agent'])).said.agent).to.equal(null);
    expect(config(one)).to.equal(before);

    const terminal = openTerminal(['init'], 100, { env: one.env, cwd: path.dirname(one.home) });
    await terminal.shows('The provider of your models');
    terminal.type('openai');
    await terminal.shows('OpenAI');
    terminal.type(ENTER);
    await terminal.shows('API key of openai');
    terminal.type(KEY + ENTER);
    await terminal.shows('Default model');
    terminal.type(ENTER);
    await terminal.shows('let agents wait for you');
    terminal.type(`y${ENTER}`);
    await terminal.shows('svc is set up.');
    const { code, stdout } = await terminal.end;
    expect([code, stdout.includes(KEY)]).to.deep.equal([0, false]);
    expect(config(one)).to.match(/\[approval\]\s+require_approval = true/);
    expect((await one.run(['message', 'helper', 'hi'])).stdout).to.contain('hello');
    expect(model.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${KEY}`);

    const set = await init(one, ['--yes']);
    expect([set.said.provider, set.said.key]).to.deep.equal(['openai', 'found']);
    const refused = await init(one, ['--provider', 'openai', '--stdin'], { stdin: 'sk-another' });
    expect([refused.exit, refused.said.code]).to.deep.equal([1, 'cli_already_set']);
  });

  it('takes the provider whose key is in the environment, and a key from stdin for another', async () => {
    const one = await bench();
    const found = await init(one, ['--yes'], { env: { OPENAI_API_KEY: KEY, SVC__PROVIDER_URLS__OPENAI: `${model.url}/v1` } });
    expect([found.exit, found.said.provider, found.said.key]).to.deep.equal([0, 'openai', 'found']);
    expect(config(one)).to.contain('provider = "openai"').and.not.contain(KEY);
    const other = await init(one, ['--provider', 'acme', '--stdin'], { stdin: KEY });
    expect([other.exit, other.said.code]).to.deep.equal([1, 'cli_no_such_provider']);
    const groq = await init(one, ['--provider', 'groq', '--stdin'], { stdin: `${KEY}\n` });
    expect([groq.said.key, groq.said.provider], 'the choice that stands stays').to.deep.equal(['stored', 'openai']);
    expect(groq.text).to.not.contain(KEY);
  });

  it('asks for nothing where nobody can answer, and says how to give it', async () => {
    const one = await bench();
    expect((await init(one, ['--yes'])).exit).to.equal(0);
    const noKey = await init(one, ['--provider', 'groq']);
    expect([noKey.exit, noKey.said.fix.replace('npx ', '')]).to.deep.equal([2, 'svc init --provider groq --stdin < keyfile']);
    const noName = await init(one, ['--stdin'], { stdin: KEY });
    expect([noName.exit, existsSync(path.join(one.home, 'config.toml'))]).to.deep.equal([2, true]);
  });
});
