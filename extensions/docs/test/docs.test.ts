/** The page in a real browser at a real daemon, and its files as HTTP gives them. Each promise of src/routes.ts by its name. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, expectWellMade, useBrowser } from '@svc/test/page/browser';

const KEY = 'svc_key-of-the-docs-test';
const CONFIG = `[extensions]\npreset = "full"\n${OPEN_RATE}`;
/** With the areas that it does not need switched off, it is still the whole page: the one at / among them. */
const ALONE = `[extensions]\npreset = "minimal"\nenable = ["docs"]\ndisable = ["webchat"]\n${OPEN_RATE}`;
const MAX_SCRIPT_BYTES = 45_000;

describe('the files of /docs', () => {
  after(stopTestKernels);
  let open: TestKernel;
  before(async () => {
    open = await bootTestKernel({ config: CONFIG });
  });

  it('are compressed as the caller takes them, with an ETag that answers 304, and small', async () => {
    const { http } = open;
    const sizes = new Map<string, number>();
    for (const coding of ['br', 'gzip', 'identity', 'gzip;q=0, br;q=0']) {
      const answer = await http.raw('GET', '/docs/docs.js', undefined, { 'accept-encoding': coding });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-encoding'), coding).to.equal(['br', 'gzip'].includes(coding) ? coding : null);
      expect(answer.headers.get('vary')).to.equal('accept-encoding');
      expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      sizes.set(coding, Number(answer.headers.get('content-length')));
      const etag = answer.headers.get('etag') ?? '';
      expect(await answer.text()).to.contain('getOpenapi');
      expect((await http.get('/docs/docs.js', { 'accept-encoding': coding, 'if-none-match': etag })).status, `${coding} ${etag}`).to.equal(304);
    }
    expect(sizes.get('br')).to.be.below(MAX_SCRIPT_BYTES);
    expect(sizes.get('identity')).to.equal(sizes.get('gzip;q=0, br;q=0'));
  });

  it('need no key and hold nothing of the daemon; the document needs it', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${CONFIG}` });
    for (const path of ['/docs', '/docs/docs.js', '/docs/docs.css']) {
      const { status, text } = await kernel.http.get(path);
      expect(status, path).to.equal(200);
      expect(text).to.not.contain(kernel.home).and.not.contain(KEY);
    }
    expect((await kernel.http.get('/api/openapi.json')).status).to.equal(401);
  });

  it('are those that there are: other names are refused, whatever they point at', async () => {
    for (const name of ['nothing.js', '..%2findex.js', 'docs.js.br', '%2e%2e%2f%2e%2e%2frelease.json', 'constructor']) expect((await open.http.get(`/docs/${name}`)).status, name).to.equal(404);
  });

  it('D2: a policy lets no other script run and nobody else be asked', async () => {
    const { headers, text } = await open.http.get('/docs');
    expect(headers.get('content-security-policy')).to.contain("default-src 'none'").and.contain("script-src 'self'").and.contain("connect-src 'self'").and.not.contain('unsafe');
    expect(text).to.not.match(/\son\w+=|style="|<script>|<style>|https?:\/\//);
  });
});

describe('the page at /docs', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let open: TestKernel;
  before(async () => {
    open = await bootTestKernel({ config: CONFIG });
  });
  after(stopTestKernels);

  const visit = (at: TestKernel, place = '') => chromium.open(`${at.url}/docs${place}`);
  const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const index = (page: Page) => page.getByRole('navigation', { name: 'Operations by area' });

  it('D2: shows every area and each of its operations, also without the page at /, and asks nobody else', async () => {
    const alone = await bootTestKernel({ config: ALONE });
    const asked: string[] = [];
    const { page, mistakes } = await visit(alone);
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await title(page, 'API reference').waitFor();
    const { tags, paths } = (await alone.http.expect(200, 'GET', '/api/openapi.json')).body;
    expect(await page.getByRole('list', { name: 'Areas' }).getByRole('listitem').count()).to.equal(tags.length);
    await index(page)
      .getByRole('link', { name: /^agents/ })
      .click();
    await title(page, 'agents').waitFor();
    const ofAgents = Object.values<Record<string, { tags: string[] }>>(paths).flatMap((methods) => Object.values(methods).filter((one) => one.tags[0] === 'agents'));
    expect(await index(page).getByRole('list', { name: 'agents' }).getByRole('listitem').count()).to.equal(ofAgents.length);
    expect(asked.filter((url) => !url.startsWith(`${alone.url}/`) && !url.startsWith('data:'))).to.deep.equal([]);
    expect(mistakes).to.deep.equal([]);
  });

  it('says of an operation what it takes, answers and refuses, and how to call it, at its own address', async () => {
    const { page, mistakes } = await visit(open, '#/agents/spawnAgent');
    await title(page, 'Create an agent').waitFor();
    expect(await page.title()).to.equal('Create an agent · svc API');
    for (const part of ['Parameters', 'Body', 'Answer', 'Errors', 'Code', 'Try it']) await page.getByRole('heading', { level: 2, name: part, exact: true }).waitFor();
    await page
      .locator('.api-field')
      .filter({ has: page.getByText('manifest_toml', { exact: true }) })
      .first()
      .waitFor();
    await page.getByRole('list', { name: 'Errors' }).getByText('409').waitFor();
    const code = page.getByRole('region', { name: 'curl' });
    expect(await code.innerText()).to.contain(`curl '${open.url}/api/agents'`);
    await page.getByRole('tab', { name: 'Python' }).click();
    expect(await page.getByRole('region', { name: 'Python' }).innerText()).to.contain('requests.post(');
    await page.getByText('Show an example').first().click();
    expect(await page.getByRole('region', { name: 'Example 201' }).innerText()).to.contain('"agent_id"');
    await expectWellMade(page, 'docs, an operation', { isWhole: true });
    await page.reload();
    await page.getByRole('tab', { name: 'Python', selected: true }).waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('leads from what a description names to that operation, and says where one is gone', async () => {
    const { page } = await visit(open, '#/agents/updateAgent');
    await page.locator('.prose').getByRole('link', { name: 'GET /api/agents/{id}' }).first().click();
    await title(page, 'Get an agent').waitFor();
    expect(new URL(page.url()).hash).to.equal('#/agents/getAgent');
    await page.goto(`${open.url}/docs#/agents/noSuchThing`);
    await title(page, 'No such operation').waitFor();
  });

  it('tries an operation at this daemon, under whichever name it is visited', async () => {
    const { page, mistakes } = await chromium.open(`${open.url.replace('127.0.0.1', 'localhost')}/docs#/system/getVersion`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^200 OK in \d+ ms$/).waitFor();
    expect(JSON.parse(await page.getByRole('region', { name: 'Received answer' }).innerText())).to.include({ name: 'svc' });
    expect(mistakes).to.deep.equal([]);
  });

  it('sends what was typed, refuses a body that is no JSON, and fills in nothing that may be left out', async () => {
    const { page } = await visit(open, '#/agents/spawnAgent');
    const form = page.getByRole('form', { name: 'Try it' });
    expect(await form.getByLabel('Idempotency-Key').inputValue()).to.equal('');
    await form.getByLabel('Body').fill('{"name": "tried here"');
    await form.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/The body is not valid JSON/).waitFor();
    await form.getByLabel('Body').fill('{"name": "tried here"}');
    await form.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^201 Created in/).waitFor();
    const { agents } = (await open.http.expect(200, 'GET', '/api/agents')).body;
    expect(agents.map(({ name }: { name: string }) => name)).to.include('tried here');
  });

  it('D1: asks for the key, says when it is wrong, uses it, and stores it nowhere', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${CONFIG}`, key: KEY });
    const { page, mistakes } = await visit(kernel, '#/system/getStatus');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const dialog = page.getByRole('dialog', { name: 'This daemon asks for its API key' });
    await dialog.waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('That key was refused.').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.type(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^200 OK in/).waitFor();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
    expect(kept).to.not.contain(KEY);
    expect(asked.join(' ')).to.not.contain(KEY);
    await page.reload();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Without the key of this daemon there is nothing to show.').waitFor();
    // The refusals are the browser's own lines.
    expect(mistakes.filter((text) => !text.includes('401'))).to.deep.equal([]);
  });

  it('says that the daemon is gone, and tries again on demand', async () => {
    const { page } = await visit(open);
    await page.route('**/api/openapi.json', (route) => route.abort());
    await page.reload();
    await page.getByText('cannot be reached').waitFor();
    await page.unroute('**/api/openapi.json');
    await page.getByRole('button', { name: 'Try again' }).click();
    await title(page, 'API reference').waitFor();
  });

  it('is used by keyboard alone: from the search to an operation that is read from its title on', async () => {
    const { page } = await visit(open);
    await title(page, 'API reference').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).to.equal('Skip to the content');
    for (let steps = 0; steps < 10 && !(await page.evaluate<boolean>("document.activeElement?.type === 'search'")); steps++) await page.keyboard.press('Tab');
    await page.keyboard.type('stream the answer');
    await index(page)
      .getByRole('link', { name: /Send a message and stream the answer/ })
      .waitFor();
    for (let steps = 0; steps < 10 && !(await page.evaluate<boolean>("document.activeElement?.getAttribute('href') === '#/runs/streamMessage'")); steps++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await title(page, 'Send a message and stream the answer').waitFor();
    expect(await page.locator(':focus').innerText()).to.equal('Send a message and stream the answer');
  });

  it('has its index behind a button on a phone, which closes where one arrives', async () => {
    const { page } = await visit(open);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectWellMade(page, 'docs', { isWhole: true });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await index(page).isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Operations' }).click();
    await index(page).getByRole('searchbox').fill('list agents');
    await index(page)
      .getByRole('link', { name: /List agents$/ })
      .click();
    await title(page, 'List agents').waitFor();
    expect(await index(page).isVisible()).to.equal(false);
  });

  it('unfolds what is nested, and speaks the language of the browser', async () => {
    const { page } = await chromium.open(`${open.url}/docs#/runs/streamMessage`, { locale: 'zh-CN' });
    await page.getByRole('heading', { level: 2, name: '参数' }).waitFor();
    const phase = page
      .locator('.api-field')
      .filter({ has: page.locator('.field-name', { hasText: /^phase$/ }) })
      .first();
    await phase.getByText('字段').click();
    await phase.locator('.field-name', { hasText: /^data$/ }).waitFor();
  });
});
