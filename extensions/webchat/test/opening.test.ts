/** How the page comes up: whole where the daemon answers at once, step by step where it does not. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startOpenAiServer, type ProviderServer } from '@svc/fixtures/providers/openai-server';
import { modelConfig } from '@svc/test/clients/model-kernel';
import { useBrowser } from '@svc/test/page/browser';

describe('a page that opens', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let model: ProviderServer;
  let kernel: TestKernel;
  let page: Page;
  before(async () => {
    model = await startOpenAiServer(() => ({ text: 'Here I am.' }));
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${modelConfig(model.url)}`, env: { OPENAI_API_KEY: 'sk-test' } });
  });
  after(async () => {
    await stopTestKernels();
    await model?.close();
  });
  beforeEach(async () => {
    ({ page } = await chromium.open('about:blank'));
  });

  const composer = () => page.getByRole('textbox', { name: /^Message to/ });
  const newAgent = async (name: string): Promise<string> => (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
  /** A conversation in which something was said. */
  const newConversation = async (agent: string): Promise<string> => (await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'are you there?' })).body.session_id;
  /** Answers to these wait until what is returned is called. */
  const held = async (url: RegExp): Promise<() => void> => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(url, async (route) => {
      await released;
      await route.continue().catch(() => undefined); // asked by a page that is gone
    });
    return release;
  };

  for (const [what, place] of [
    ['what one began with', async () => ''],
    ['an agent', async () => `#/chat/${await newAgent('opened by its name')}`],
    [
      'a conversation',
      async () => {
        const agent = await newAgent('opened where it was left');
        return `#/chat/${agent}/${await newConversation(agent)}`;
      },
    ],
  ] as const)
    it(`with ${what} is drawn once, with a field to type in, when all of it is there`, async () => {
      // No clock ticks: what is drawn is not drawn because one waited. A page whose clock was set is of no use to others.
      ({ page } = await chromium.open('about:blank', {}));
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      await page.goto(`${kernel.url}/${await place()}`);
      await composer().waitFor();
      expect(await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link').count()).to.be.greaterThan(5);
      await composer().fill('at once');
    });

  it('leads back to the conversation that is meant, however often one asks for it', async () => {
    await page.goto(kernel.url);
    for (let time = 0; time < 3; time += 1) {
      await composer().waitFor();
      await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Chat' }).click();
    }
    await composer().waitFor();
  });

  it('leaves one where one went before it knew what to open', async () => {
    const release = await held(/\/api\/agents\/[^/]+\/sessions\?/);
    const asked = page.waitForRequest(/\/api\/agents\/[^/]+\/sessions\?/);
    await page.goto(kernel.url);
    const request = await asked;
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { level: 1, name: /Agents/ }).waitFor();
    release();
    await request.response();
    await page.getByRole('link', { name: 'Agents', exact: true }).and(page.locator('[aria-current]')).first().waitFor();
    expect(new URL(page.url()).hash).to.equal('#/agents');
  });

  it('shows that it waits for a daemon that thinks, and goes on when it answers', async () => {
    const release = await held(/\/api\/agents\?/);
    await page.goto(kernel.url);
    await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
    expect(await composer().count()).to.equal(0);
    release();
    await composer().waitFor();
  });

  it('asks again for what failed while nothing was drawn', async () => {
    const agent = await newAgent('asked for twice');
    let asked = 0;
    await page.route(new RegExp(`/api/agents/${agent}$`), (route) => (++asked === 1 ? route.fulfill({ status: 404, json: { error: 'not yet' } }) : route.continue()));
    await page.goto(`${kernel.url}/#/chat/${agent}`);
    await composer().waitFor();
  });

  it('lets one write and send before what was said in a conversation is there', async () => {
    const agent = await newAgent('slow to remember');
    const session = await newConversation(agent);
    const release = await held(new RegExp(`/api/agents/${agent}/sessions/${session}$`));
    await page.goto(`${kernel.url}/#/chat/${agent}/${session}`);
    await composer().fill('and now?');
    await composer().press('Enter');
    const said = page.locator('.bubble');
    await said.getByText('and now?').waitFor();
    release();
    await said.getByText('are you there?').waitFor();
    await page.locator('.answered .figures').nth(1).waitFor();
    expect(await said.allInnerTexts()).to.deep.equal(['are you there?', 'and now?']);
  });
});
