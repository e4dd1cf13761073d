/** The newest panels, with rows in them, at the widths of a desk and of a phone: no mistake, nothing cut off, nothing that axe finds. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { bootTestKernel, OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, clippedText, cutOff, settled, useBrowser } from './browser.js';

const KEY = 'key-of-the-newest-panels';
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

/** A hub of skills, and an agent of another server. */
const startElsewhere = async (): Promise<{ url: string; server: Server }> => {
  const skill = { slug: 'weather', displayName: 'The weather', summary: 'About weather', topics: [], tags: { latest: '1.2.0' }, stats: { downloads: 7, stars: 3 }, createdAt: 1, updatedAt: 1 };
  const server = createServer((request, response) => {
    const { url } = elsewhere;
    const card = { name: 'Travel', description: 'Trains', version: '2', skills: [], supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] };
    const answer = request.url?.includes('well-known') ? card : { items: [{ ...skill, latestVersion: { version: '1.2.0', createdAt: 1, changelog: '' } }], nextCursor: null };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const elsewhere = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  return elsewhere;
};

const config = (hub: string): string => `api_key = "${KEY}"
${OPEN_RATE}[extensions]
preset = "full"
[web.fetch]
ssrf_allowed_hosts = ["127.0.0.1"]
[skills]
hub_url = "${hub}/api/v1/"
hub_mirror_url = ""
[auto_dream]
enabled = true
[terminal]
enabled = true
shell = "/bin/bash"
[inbox]
enabled = true
[prompt_intelligence]
enabled = true
`;

/** One or two rows of each area. */
const fill = async (http: TestHttp, elsewhere: string): Promise<string> => {
  const post = async (path: string, body: object = {}) => {
    const answer = await http.send('POST', path, body);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.be.within(200, 299);
    return answer.body;
  };
  const capabilities = { tools: ['*'], agent_message: ['*'], memory_read: ['*'], memory_write: ['*'] };
  const writer = (await post('/api/agents', { manifest: { name: 'writer', auto_dream_enabled: true, capabilities } })).agent_id;
  await post('/api/channels/webhook/configure', { fields: { secret_env: 'a secret of the tests, long enough', callback_url: 'http://127.0.0.1:9/replies' } });
  await post('/api/bindings', { agent: 'writer', match_rule: { channel: 'webhook' } });
  await post('/api/plugins/scaffold', { name: 'where', runtime: 'bash', description: 'Says where the agent is.' });
  await post('/api/hands/folder-watcher/activate');
  await post('/api/skills/create', { name: 'notes', description: 'Take notes: briefly.', prompt_context: 'Write one line.', tags: ['writing'] });
  await post('/api/triggers', { agent_id: writer, pattern: { content_match: { substring: 'report.ready' } } });
  await post('/api/comms/task', { title: 'Sum up the tickets of the week', assigned_to: writer });
  const versions = [];
  for (const system_prompt of ['Be brief.', 'Be long.']) versions.push((await post(`/api/agents/${writer}/prompts/versions`, { system_prompt })).id);
  await post(`/api/agents/${writer}/prompts/experiments`, { name: 'tone', variants: versions.map((prompt_version_id) => ({ name: 'arm', prompt_version_id })), traffic_split: [50, 50] });
  await post('/api/schedules', { agent_id: 'writer', cron: '0 9 * * 1-5', prompt: 'good morning', name: 'Morning' });
  await post('/api/workflows', { name: 'Review', steps: [{ name: 'write', agent: 'writer', prompt: 'Write of {{input}}' }] });
  await post('/api/webhooks', { name: 'My log', url: 'https://example.com/hook', events: ['agent_error'] });
  await post('/api/a2a/discover', { url: elsewhere });
  await post('/api/mcp/servers', { name: 'odd', transport: { type: 'stdio', command: process.execPath, args: [resolve('extensions/mcp/test/odd-server.mjs'), 'plain'] } });
  await post('/api/memory', { content: 'The mascot is an ocelot', agent_id: writer });
  const { pairing_code } = await post('/api/pairing/request');
  await post('/api/pairing/complete', { pairing_code, display_name: 'Phone of Ada', platform: 'ios' });
  return writer;
};

/** Each panel by its address, with what stands in it. */
const panelsOf = (writer: string): ReadonlyArray<readonly [address: string, shows: string | RegExp]> => [
  ['channels', 'Webhook'],
  ['media', 'minimax'],
  ['plugins', 'where'],
  ['hands', 'Folder watcher'],
  ['active-hands', 'Folder watcher'],
  ['auto-dream', 'writer'],
  ['skills', 'notes'],
  ['skillhub', 'weather'],
  ['devices', 'Phone of Ada'],
  ['terminal', 'Windows that stay'],
  ['triggers', 'writer'],
  ['comms', 'Sum up the tickets of the week'],
  ['inbox', /become messages/],
  ['tasks', 'Sum up the tickets of the week'],
  [`prompts?agent_id=${writer}`, 'Saved when the prompt changed'],
  [`experiments?agent_id=${writer}`, 'tone'],
  ['schedules', 'Morning'],
  ['workflows', 'Review'],
  ['webhooks', 'My log'],
  ['a2a', 'Travel'],
  ['peers', 'The network is off'],
  ['mcp', 'odd'],
  ['memory', 'The mascot is an ocelot'],
];

describe('the newest panels', function () {
  this.timeout(120_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  let elsewhere: Awaited<ReturnType<typeof startElsewhere>>;
  let writer: string;
  before(async () => {
    elsewhere = await startElsewhere();
    world = await bootWithModel({ text: 'Good.' }, { key: KEY, config: config(elsewhere.url) });
    writer = await fill(world.http, elsewhere.url);
  });
  after(async () => {
    await stopModelKernels();
    elsewhere.server.close();
  });

  const logIn = async (page: Page, key = KEY): Promise<void> => {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
  };
  const open = async () => {
    const visit = await chromium.open(world.kernel.url);
    const refused: string[] = [];
    await logIn(visit.page);
    // Who is not logged in yet is refused.
    visit.mistakes.length = 0;
    visit.page.on('response', (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
    return { ...visit, refused };
  };

  it('are well made with rows, on a desk and on a phone', async () => {
    const { page, mistakes, refused } = await open();
    for (const [address, shows] of panelsOf(writer)) {
      await page.setViewportSize(DESK);
      await page.goto(`${world.kernel.url}/#/${address}`);
      await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor();
      for (const [size, scheme] of [
        [DESK, 'light'],
        [PHONE, 'dark'],
      ] as const) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme: scheme });
        await settled(page);
        const what = `${address} at ${size.width} px, ${scheme}`;
        expect(await cutOff(page), what).to.deep.equal([]);
        expect(await clippedText(page), what).to.deep.equal([]);
        expect(await axeFindings(page, { isWhole: false }), what).to.deep.equal([]);
      }
      expect([...mistakes, ...refused], address).to.deep.equal([]);
    }
  });

  it('show what their areas draw by hand above a list', async () => {
    const { page } = await open();
    await page.goto(`${world.kernel.url}/#/tasks`);
    await page.getByText('Completed in the last minute').waitFor();
    await page.goto(`${world.kernel.url}/#/devices`);
    await page.getByRole('button', { name: 'Get a code' }).click();
    const code = await page.locator('main strong code').textContent();
    const browser = await chromium.open(world.kernel.url);
    await logIn(browser.page, code ?? '');
    const { devices } = (await world.http.expect(200, 'GET', '/api/pairing/devices')).body;
    expect(devices.map(({ platform }: { platform: string }) => platform)).to.have.members(['ios', 'web']);
    await page.getByText('Phone of Ada').waitFor();
    await page
      .getByText(/paired/i)
      .first()
      .waitFor();
  });

  it('let each dialog be left by Escape', async () => {
    const { page } = await open();
    for (const [address, button] of [
      ['channels', 'Add rule'],
      ['plugins', 'Create plugin'],
      ['hands', 'Install'],
      ['skills', 'New skill'],
      ['triggers', 'New trigger'],
      ['comms', 'Send a message'],
      ['tasks', 'Post a task'],
      ['schedules', 'New schedule'],
      ['workflows', 'New workflow'],
      ['webhooks', 'New webhook'],
      ['a2a', 'Add by URL'],
      ['mcp', 'Add server'],
      ['memory', 'Add'],
    ] as const) {
      await page.goto(`${world.kernel.url}/#/${address}`);
      await page.locator('main').getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('run a shell that follows the size of its screen', async () => {
    const { page, mistakes } = await open();
    await page.goto(`${world.kernel.url}/#/terminal`);
    await page.getByRole('button', { name: 'Open a shell' }).click();
    await page.getByText(/process \d+/).waitFor();
    const screen = page.frameLocator('main iframe').frameLocator('iframe');
    const sizeNow = async (): Promise<string> => {
      await screen.locator('textarea').focus();
      await page.keyboard.type('clear; echo size $(stty size)\n');
      const shown = screen.locator('.xterm-rows');
      await shown.getByText(/^size \d+ \d+/).waitFor();
      return (await shown.innerText()).match(/^size (\d+ \d+)/m)?.[1] ?? '';
    };
    const wide = await sizeNow();
    await page.setViewportSize(PHONE);
    await page.waitForTimeout(300);
    const narrow = await sizeNow();
    expect(Number(narrow.split(' ')[1])).to.be.lessThan(Number(wide.split(' ')[1]));
    expect(mistakes).to.deep.equal([]);
  });

  it('say how the terminal is switched on where it is off', async () => {
    const off = await bootTestKernel({ key: KEY, config: `api_key = "${KEY}"\n${OPEN_RATE}[extensions]\npreset = "full"\n` });
    const { page } = await chromium.open(off.url);
    await logIn(page);
    await page.goto(`${off.url}/#/terminal`);
    await page.getByText('The terminal is switched off.').waitFor();
    await page.getByText('write enabled = true below [terminal] in config.toml').waitFor();
    expect(await page.getByRole('button', { name: 'Open a shell' }).count()).to.equal(0);
    await off.stop();
  });

  it('name no trigger by an id', async () => {
    const { page } = await open();
    await page.goto(`${world.kernel.url}/#/triggers`);
    await page.getByRole('button', { name: 'Edit trigger' }).click();
    await page.getByRole('dialog', { name: 'Edit trigger' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('main button').evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent).filter((name) => /[0-9a-f]{8}-/.test(name ?? '')))).to.deep.equal([]);
  });
});
