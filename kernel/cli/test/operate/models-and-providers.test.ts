/** `svc models` and `svc providers` with the real daemon, and a provider that is a server of this test. */
import { expect } from 'chai';
import { type ListServer, openAiList, startListServer } from '@svc/fixtures/providers/list-server';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, type Ran } from '../program.js';

const KEY = 'sk-of-this-test-4711';

describe('svc models and providers with the real daemon', function () {
  this.timeout(60_000);
  let bench: Bench;
  let server: ListServer;
  before(async () => {
    server = await startListServer({ '/v1/models': openAiList('gpt-5', 'gpt-5-mini') });
    bench = createBench(await freePort());
    await bench.run(['start']);
    await bench.run(['providers', 'set-url', 'openai', `${server.url}/v1`]);
  });
  after(async () => {
    await bench.run(['stop']);
    bench.clean();
    await server.close();
  });

  const models = (...args: string[]): Promise<Ran> => bench.run(['models', ...args]);
  const providers = (args: readonly string[], stdin?: string): Promise<Ran> => bench.run(['providers', ...args], stdin === undefined ? {} : { stdin });

  describe('models', () => {
    it('list shows what can be asked now, and all with --all', async () => {
      expect((await models('list')).stdout)
        .to.match(/^MODEL +PROVIDER/)
        .and.match(/^rehearsal +builtin +128k +free +tools +yes$/m)
        .and.not.contain('claude');
      const all = JSON.parse((await models('list', '--all', '--json')).stdout) as { models: Array<{ id: string }>; total: number };
      expect(all.models.map(({ id }) => id)).to.include('gpt-5');
      expect((await models('list', '--provider', 'anthropic')).stdout).to.contain('svc providers set-key PROVIDER');
    });

    it('show finds it by id in any case, by alias and behind its provider', async () => {
      for (const name of ['gpt-5', 'GPT-5', 'openai/gpt-5']) expect(JSON.parse((await models('show', name, '--json')).stdout)).to.include({ id: 'gpt-5', provider: 'openai' });
      expect((await models('show', 'gpt-5')).stdout).to.match(/\n {2}price +1\.25 in, 10 out \(USD per million tokens\)\n/);
    });

    it('use makes it the default, and says what keeps it from answering', async () => {
      expect((await models('use', 'rehearsal')).stdout).to.equal('✓ builtin / rehearsal is now the default.\n');
      expect((await bench.run(['status'])).stdout).to.contain('builtin / rehearsal');
    });

    it('alias gives a name, lists it first, refuses to move it silently, and takes it away', async () => {
      expect((await models('alias', 'Fast', 'gpt-5-mini')).stdout).to.equal('✓ fast is a name of gpt-5-mini\n');
      expect((await models('alias')).stdout).to.match(/^ALIAS +MODEL +FROM\nfast +gpt-5-mini +yours\n/);
      expect(JSON.parse((await models('show', 'fast', '--json')).stdout)).to.include({ id: 'gpt-5-mini' });
      expect(JSON.parse((await models('alias', 'fast', 'gpt-5-mini', '--json')).stdout)).to.include({ status: 'unchanged' });
      const moved = await models('alias', 'fast', 'gpt-5');
      expect([moved.code, moved.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('svc models alias --remove fast'));
      expect(JSON.parse((await models('alias', '--remove', 'fast', '--json')).stdout)).to.include({ status: 'removed', alias: 'fast' });
      expect((await models('alias', 'lab', 'some-new-model')).stderr).to.contain('The catalog has no model "some-new-model"');
    });

    for (const [args, code, words] of [
      [['show', 'gpt-55'], 1, 'Did you mean gpt-5'],
      [['use', 'gpt-5', '--provider', 'opneai'], 1, 'Did you mean "openai"?'],
      [['use', 'claude-opus-4-7', '--provider', 'openai'], 1, 'no model "claude-opus-4-7" of openai'],
      [['list', '--provider', 'opneai'], 1, 'Did you mean "openai"?'],
      [['alias', 'fast'], 2, 'needs a model'],
      [['alias', 'x', '--remove', 'y'], 2, '--remove takes the name alone'],
      [['alias', '--remove', 'nope'], 1, 'no alias "nope"'],
      [['update'], 1, 'catalog_url'],
    ] as const)
      it(`\`svc models ${args.join(' ')}\` ends with ${code}`, async () => {
        const ran = await models(...args);
        expect(ran.code, ran.stdout).to.equal(code);
        expect(ran.stderr).to.contain(words);
      });
  });

  describe('providers', () => {
    it('set-key tries the key and says what it found', async () => {
      const ran = await providers(['set-key', 'openai', '--stdin'], KEY);
      expect([ran.code, ran.stdout], ran.stderr).to.satisfy(([code, text]: [number, string]) => code === 0 && /✓ The key of openai is stored, and openai takes it \(2 models, \d+ ms\)\.\n/.test(text));
      expect(server.asked.at(-1)?.headers.authorization).to.equal(`Bearer ${KEY}`);
      expect((await providers(['list'])).stdout).to.match(/^openai +key works +/m);
      expect(ran.stdout + ran.stderr).to.not.contain(KEY);
    });

    it('set-key says that a key was refused, that it is kept, and ends with 1', async () => {
      server.answer('/v1/models', { status: 401, body: { error: { message: 'Incorrect API key provided' } } });
      const ran = await providers(['set-key', 'openai', '--stdin', '--json'], 'sk-wrong');
      expect(ran.code).to.equal(1);
      expect((JSON.parse(ran.stdout) as { test: unknown }).test).to.include({ status: 'error', auth_status: 'invalid_key' });
      expect((await providers(['set-key', 'openai', '--stdin'], 'sk-wrong')).stdout).to.contain('stored, and openai refused it. It stays until you set another');
      expect((await providers(['list'])).stdout).to.match(/^openai +key refused +/m);
      server.answer('/v1/models', openAiList('gpt-5', 'gpt-5-mini'));
    });

    it('set-key of a provider that cannot be reached keeps the key, says so, and ends with 0', async () => {
      await providers(['set-url', 'groq', 'http://127.0.0.1:9/v1']);
      const ran = await providers(['set-key', 'groq', '--stdin'], KEY);
      expect([ran.code, ran.stdout]).to.satisfy(
        ([code, text]: [number, string]) => code === 0 && text.includes('✓ The key of groq is stored.') && text.includes('could not be tested: 127.0.0.1:9 cannot be reached'),
      );
    });

    it('test ends with 0 where it answers, with 1 where not, and knows whether it has a model', async () => {
      await providers(['set-key', 'openai', '--stdin'], KEY);
      expect((await providers(['test', 'openai'])).stdout).to.match(/^✓ openai answers \(2 models, \d+ ms\), and has gpt-5/);
      const missing = await providers(['test', 'openai', '--model', 'gpt-9']);
      expect([missing.code, missing.stdout]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('gpt-9'));
      expect(JSON.parse((await providers(['test', 'groq', '--json'])).stdout)).to.include({ status: 'error', provider: 'groq' });
      expect((await providers(['test', 'anthropic'])).stderr).to.contain('anthropic has no key');
    });

    it('add makes one of your own, tells what it serves, and remove-url takes it away', async () => {
      const added = await providers(['add', 'house', `${server.url}/v1`]);
      expect([added.code, added.stdout]).to.satisfy(([code, text]: [number, string]) => code === 0 && text.includes('✓ house is added') && text.includes('with 2 models: gpt-5, gpt-5-mini'));
      const again = await providers(['add', 'house', 'http://127.0.0.1:1/v1']);
      expect([again.code, again.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('svc providers set-url house'));
      expect((await providers(['remove-url', 'house'])).stdout).to.equal('✓ house is gone\n');
      const keyed = await providers(['add', 'house', `${server.url}/v1`, '--key-stdin', '--json'], KEY);
      expect(JSON.parse(keyed.stdout)).to.include({ status: 'saved', provider: 'house', models: 2 });
      expect(server.asked.at(-1)?.headers.authorization).to.equal(`Bearer ${KEY}`);
      await providers(['remove-url', 'house']);
    });

    it('remove-key forgets it', async () => {
      expect((await providers(['remove-key', 'groq'])).stdout).to.equal('✓ groq has no key any more.\n');
      expect((await providers(['list'])).stdout).to.match(/^groq +no key +/m);
    });

    for (const args of [
      ['test', 'opneai'],
      ['remove-key', 'opneai'],
      ['set-url', 'opneai', 'http://127.0.0.1:1'],
      ['remove-url', 'opneai'],
      ['set-key', 'opneai', '--stdin'],
    ])
      it(`\`svc providers ${args.join(' ')}\` names the nearest`, async () => {
        const ran = await providers(args, KEY);
        expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('Did you mean "openai"?'));
      });

    it('an address that is none is refused', async () => {
      expect((await providers(['add', 'house', 'ftp://x'])).stderr).to.contain('its scheme is ftp');
      expect((await providers(['add', 'house', `${server.url}/v1`, '--key-stdin'], ' ')).code).to.equal(2);
      expect((await providers(['test', 'house'])).code).to.equal(1);
    });
  });
});
