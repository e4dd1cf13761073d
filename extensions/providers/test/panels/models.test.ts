/** The panel of models and providers, used as a person uses it; what it did is seen at the API. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ListServer, ollamaList, openAiList, startListServer } from '@svc/fixtures/providers/list-server';
import { expectWellMade, picture, useBrowser } from '@svc/test/page/browser';
import { configure, logInAs, person } from '@svc/test/page/callers';

const KEY = 'sk-canary-9f3a77c0';
const DEAD = 'http://127.0.0.1:1/v1';

describe('the panel of models and providers', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  const OPENAI = openAiList('gpt-5', 'gpt-5-nano', 'house-model-7');
  let server: ListServer;
  /** Each claim leaves it as it was. */
  let kernel: TestKernel;
  /** Its environment has a key of OpenAI. */
  let keyed: TestKernel;
  before(async () => {
    server = await startListServer({ '/v1/models': OPENAI, '/api/tags': ollamaList(['qwen3:8b', 5_200_000_000]) });
    kernel = await bootTestKernel({ config: OPEN_RATE + urls() });
    keyed = await bootTestKernel({ config: OPEN_RATE + urls(), env: { OPENAI_API_KEY: KEY } });
  });
  afterEach(async () => {
    server.answer('/v1/models', OPENAI);
    for (const name of ['groq', 'openai']) await kernel.http.expect(200, 'DELETE', `/api/providers/${name}/key`);
  });
  after(async () => {
    await stopTestKernels();
    await server.close();
  });

  const urls = (more: Readonly<Record<string, string>> = {}): string =>
    `[provider_urls]\n${Object.entries({ ollama: DEAD, lmstudio: DEAD, vllm: DEAD, lemonade: DEAD, openai: `${server.url}/v1`, ...more })
      .map(([name, url]) => `${name} = "${url}"\n`)
      .join('')}`;
  const provider = async ({ http }: TestKernel, name: string) => (await http.expect(200, 'GET', `/api/providers/${name}`)).body;
  const give = (name: string) => kernel.http.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: KEY });
  const at = (of: TestKernel, place = ''): string => `${of.url}/#/models${place}`;

  it('says that nobody answers yet, and what to do about that; each view is well made', async () => {
    const { page, mistakes } = await chromium.open(at(kernel));
    await page.getByRole('heading', { name: 'No model configured' }).waitFor();
    await page.getByRole('region', { name: 'Setup needed' }).getByRole('link', { name: 'OpenAI', exact: true }).waitFor();
    await expectWellMade(page, 'providers');
    await page.getByRole('tab', { name: 'Models', exact: true }).click();
    await page.getByText(/^100 of \d+$/).waitFor();
    await expectWellMade(page, 'models');
    await page.goto(at(kernel, '/provider/openai'));
    await page.getByRole('heading', { name: 'OpenAI' }).waitFor();
    await expectWellMade(page, 'a provider');
    await page.goto(at(kernel, '/own'));
    await page.getByText('No aliases yet.').waitFor();
    await expectWellMade(page, 'names and own models');
    expect(mistakes).to.deep.equal([]);
  });

  it('takes a key once, tries it, says what was found, and shows it nowhere', async () => {
    const { page } = await chromium.open(at(kernel, '/provider/openai'));
    await page.getByLabel('New key').fill(KEY);
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('OpenAI responds and accepts the key.').waitFor();

    await page.getByText('Lists 3 models, including gpt-5-nano.').waitFor();
    expect(await page.getByLabel('New key').inputValue()).to.equal('');
    expect(await page.content()).to.not.contain(KEY);
    expect(page.url()).to.not.contain(KEY);
    expect(server.asked.at(-1)?.headers['authorization']).to.equal(`Bearer ${KEY}`);
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'validated_key', is_default: true });
    await expectWellMade(page, 'a key that works');
  });

  it('opens the form of a first key where the address says so, tests it, and leads to a conversation', async () => {
    const { page, mistakes } = await chromium.open(at(kernel, '?add=key'));
    const form = page.getByRole('dialog', { name: 'Add an API key' });
    await form.waitFor();
    await expectWellMade(page, 'the form of a first key');
    const choice = form.getByLabel('Provider', { exact: true });
    await choice.selectOption('openai');
    await choice.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.type(KEY);
    await page.keyboard.press('Enter');
    await form.getByText('OpenAI accepts the key.').waitFor();
    await form.getByText('Default model: gpt-5-mini.').waitFor();
    await expectWellMade(page, 'a first key that works');
    expect(await page.content()).to.not.contain(KEY);
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'validated_key', is_default: true });
    await form.getByRole('link', { name: 'Start a conversation' }).click();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    expect(await page.getByRole('dialog').count()).to.equal(0);
    expect(mistakes).to.deep.equal([]);
  });

  it('says of a first key that fails what is wrong, and takes another one', async () => {
    server.answer('/v1/models', { status: 401 });
    const { page } = await chromium.open(at(kernel, '?add=key'));
    const form = page.getByRole('dialog', { name: 'Add an API key' });
    await form.getByLabel('Provider', { exact: true }).selectOption('openai');
    await form.getByRole('textbox', { name: 'API key' }).fill(KEY);
    await form.getByRole('button', { name: 'Save and test' }).click();
    await form.getByText('The key is saved, but the test failed.').waitFor();
    await form.getByText(/refused the key \(401\)/).waitFor();
    await form.getByRole('button', { name: 'Replace and test' }).click();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.url()).to.not.contain('add=');
  });

  it('never says that a key was not tried, nor that it was answered, where the test of it failed', async () => {
    server.answer('/v1/models', { status: 500 });
    const { page } = await chromium.open(at(kernel, '/provider/openai'));
    await page.getByLabel('New key').fill(KEY);
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('The test of OpenAI failed.').waitFor();
    await page.getByText('Key set, last test failed').waitFor();
    await page.getByText(/^Key saved\. The test took/).waitFor();
    expect(await page.locator('main').innerText()).to.not.match(/not tested|Responded in/);
    await picture(page, 'a key whose test failed');
  });

  it('keeps a key that is refused, and says that it was', async () => {
    server.answer('/v1/models', { status: 401 });
    const { page } = await chromium.open(at(kernel, '/provider/openai'));
    await page.getByLabel('New key').fill(KEY);
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('The test of OpenAI failed.').waitFor();
    await page.getByText('Key refused').waitFor();
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'invalid_key', key_present: true });
  });

  it('removes a key when that is confirmed, and takes one of the environment back into use', async () => {
    const { page } = await chromium.open(at(keyed, '/provider/openai'));
    await page.getByRole('button', { name: 'Remove key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await provider(keyed, 'openai')).to.include({ key_present: true });
    await page.getByRole('button', { name: 'Remove key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove key' }).click();
    await page.getByText('Key removed', { exact: true }).waitFor();
    expect(await provider(keyed, 'openai')).to.include({ key_present: false, suppressed: true });
    await page.getByRole('button', { name: 'Use the environment key' }).click();
    await page.getByText('Key set, not tested').waitFor();
    expect(await provider(keyed, 'openai')).to.include({ key_present: true, suppressed: false });
  });

  it('saves another address, says at the field what is wrong with one, and goes back to the usual', async () => {
    const { page } = await chromium.open(at(kernel, '/provider/mistral'));
    const before = (await provider(kernel, 'mistral')).base_url;
    await page.getByRole('textbox', { name: 'Base URL' }).fill('ftp://nowhere.example');
    await page.getByRole('button', { name: 'Save address' }).click();
    await page.getByRole('alert').getByText(/http/).waitFor();
    expect(await page.getByRole('textbox', { name: 'Base URL' }).inputValue()).to.equal('ftp://nowhere.example');
    await page.getByRole('textbox', { name: 'Base URL' }).fill(`${server.url}/v1`);
    await page.getByRole('button', { name: 'Save address' }).click();
    await page.getByText('The server responds.').waitFor();
    expect((await provider(kernel, 'mistral')).base_url).to.equal(`${server.url}/v1`);
    await page.getByRole('button', { name: 'Reset to default address' }).click();
    await page.getByText('The default address is used again.').waitFor();
    expect((await provider(kernel, 'mistral')).base_url).to.equal(before);
  });

  it('shows what the server lists, and describes one of those that the catalog does not know', async () => {
    await give('openai');
    const { page } = await chromium.open(at(kernel, '/provider/openai'));
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('button', { name: 'Add to catalog: house-model-7' }).click();
    await page.getByLabel('Input price').fill('half');
    await page.getByText('Enter a number').waitFor();
    await page.getByLabel('Input price').fill('0.5');
    await page.getByLabel('Output price').fill('2');
    await expectWellMade(page, 'a model described');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('region', { name: 'Models', exact: true }).getByText('house-model-7').first().waitFor();
    const { models } = await provider(kernel, 'openai');
    expect(models.find(({ id }: { id: string }) => id === 'house-model-7')).to.include({ input_cost_per_1m: 0.5, output_cost_per_1m: 2, source: 'custom' });
    await page.goto(at(kernel, '/own'));
    await page.getByRole('button', { name: 'Remove model: house-model-7' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove model' }).click();
    await page.getByText('No custom models yet.').waitFor();
  });

  it('adds a provider of a person, and removes it', async () => {
    const { page } = await chromium.open(at(kernel));
    await page.getByRole('button', { name: 'Add a provider' }).click();
    await page.getByLabel('Name').fill('house');
    await page.getByRole('dialog').getByLabel('Base URL').fill(`${server.url}/v1`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'house', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('house responds.').waitFor();
    expect(await provider(kernel, 'house')).to.include({ base_url: `${server.url}/v1`, is_custom: true, reachable: true });
    await page.getByRole('button', { name: 'Remove provider' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove provider' }).click();
    await page.getByRole('heading', { name: 'Default model' }).waitFor();
    expect((await kernel.http.get('/api/providers/house')).status).to.equal(404);
  });

  it('finds a model among all by words, and lets it answer for default', async () => {
    await give('openai');
    const { page } = await chromium.open(at(kernel, '/list'));
    await page.getByRole('searchbox', { name: 'Search models' }).fill('openai gpt-5 nano');
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('link', { name: /gpt-5-nano/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Price per million tokens').waitFor();
    await expectWellMade(page, 'a model');
    await page.reload();
    await dialog.getByRole('button', { name: 'Set as default' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await kernel.http.get('/api/providers')).body.default).to.include({ provider: 'openai', model: 'gpt-5-nano', chosen_by: 'person' });
    await page.getByRole('searchbox', { name: 'Search models' }).fill('no such model anywhere');
    await page.getByRole('button', { name: 'Clear search' }).click();
    await page.getByText(/^100 of \d+$/).waitFor();
  });

  it('chooses who answers, and leaves that to config.toml where that names one', async () => {
    await give('openai');
    await give('groq');
    const { page } = await chromium.open(at(kernel));
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').getByLabel('Provider').selectOption('groq');
    await page.getByRole('dialog').getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByRole('link', { name: /from Groq/ }).waitFor();
    expect((await kernel.http.get('/api/providers')).body.default).to.include({ provider: 'groq', chosen_by: 'person' });

    await configure(keyed, `${OPEN_RATE}[default_model]\nprovider = "openai"\nmodel = "gpt-5"\n${urls()}`);
    await page.goto(at(keyed));
    await page.getByText('Set in config.toml, which overrides a choice made here.').waitFor();
    expect(await page.getByRole('button', { name: 'Change' }).count()).to.equal(0);
  });

  it('gives a model another name and takes it away; a name that is taken is said in the form', async () => {
    const { page } = await chromium.open(at(kernel, '/own'));
    const add = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Add alias' }).click();
      await page.getByLabel('Alias', { exact: true }).fill(name);
      await page.getByRole('dialog').getByLabel('Model', { exact: true }).fill('gpt-5-nano');
      await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    };
    await add('tiny');
    await page.getByRole('button', { name: 'Remove alias: tiny' }).waitFor();
    expect((await kernel.http.get('/api/models/aliases')).body).to.deep.include({ custom: ['tiny'] });
    await add('tiny');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByLabel('Alias', { exact: true }).inputValue()).to.equal('tiny');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove alias: tiny' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove alias' }).click();
    await page.getByText('No aliases yet.').waitFor();
    expect((await kernel.http.get('/api/models/aliases')).body).to.deep.include({ custom: [] });
  });

  it('finds a model server on this machine', async () => {
    await configure(kernel, OPEN_RATE + urls({ ollama: server.url }));
    const { page } = await chromium.open(at(kernel));
    await page.getByRole('button', { name: 'Check again' }).click();
    const found = page.getByRole('list', { name: 'Local model servers' });
    await found.getByText('1 model', { exact: true }).waitFor();
    await page.getByText('1 model: qwen3:8b').waitFor();
    await expectWellMade(page, 'servers found');
    await configure(kernel, OPEN_RATE + urls());
  });

  it('shows a viewer everything and lets them change nothing, and says why', async () => {
    // Without a browser it is skipped here, before anybody needs a key.
    const { page } = await chromium.open(kernel.url);
    await configure(kernel, OPEN_RATE + person('vera', 'viewer') + urls());
    await page.goto(at(kernel, '/provider/openai'));
    await logInAs(page, 'vera');
    for (const name of ['Test', 'Save and test', 'Save address', 'Reset to default address']) {
      const button = page.getByRole('button', { name, exact: true });
      await button.waitFor();
      expect(await button.isDisabled(), name).to.equal(true);
      expect(await button.getAttribute('title'), name).to.contain('viewer');
    }
    expect(await page.getByLabel('New key').isDisabled()).to.equal(true);
    await configure(kernel, OPEN_RATE + urls());
  });

  it('says what went wrong in the words of the daemon, and tries again', async () => {
    const { page } = await chromium.open(kernel.url);
    await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
    await page.goto(at(kernel, '/provider/nobody'));
    await page
      .getByRole('alert')
      .getByText(/nobody/)
      .waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await expectWellMade(page, 'a provider that is not there');
  });

  it('shows names and addresses of third parties as the text that they are', async () => {
    const id = `x${'<img/src=x/onerror=document.title="owned">'}`;
    await kernel.http.expect(201, 'POST', '/api/models/custom', { id, provider: 'openai', display_name: `\u0627\u0644${'W'.repeat(150)}<b>bold</b>` });
    const { page } = await chromium.open(at(kernel, `/list?q=bold`));
    await page.getByText('1 of 1').waitFor();
    await expectWellMade(page, 'hostile names');
    expect(await page.locator('b').count()).to.equal(0);
    expect(await page.title()).to.not.equal('owned');
    await kernel.http.expect(200, 'DELETE', `/api/models/custom/${encodeURIComponent(id)}`);
    expect(await readFile(join(kernel.home, 'config.toml'), 'utf8')).to.not.contain(KEY);
  });
});
