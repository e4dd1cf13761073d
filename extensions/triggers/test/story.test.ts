/**
 * The story of automation, from end to end: a signed webhook arrives, a trigger starts a workflow of three agents, one step waits
 * for a person over a restart, the person answers on the page, and the result is posted out, signed.
 */
import { sign } from '@octokit/webhooks-methods';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';

const SECRET = 'the secret that the forge signs with';
const OUT = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PUSH = JSON.stringify({ action: 'published', release: { tag_name: 'v2.0', body: 'Faster, and two fixes.' } });

describe('a webhook that ends in a webhook', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let home: string;
  let receiver: Server;
  const received: Array<{ body: string; headers: IncomingHttpHeaders }> = [];
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-story-'));
    receiver = createServer((req, res) => {
      let body = '';
      req.on('data', (piece) => {
        body += piece;
      });
      req.on('end', () => {
        received.push({ body, headers: req.headers });
        res.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await stopModelKernels();
    receiver.close();
    rmSync(home, { recursive: true, force: true });
  });

  const boot = (): Promise<ModelKernel> =>
    bootWithModel(
      ({ body }) => {
        const { content } = body.messages.at(-1);
        const said: string = typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('');
        return { text: said.replace(/^(\w+): /, '$1 made ') };
      },
      { home, config: `api_key = "${keyOf('root')}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n${person('ann', 'user')}`, key: keyOf('root') },
    );
  const until = async <T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };

  it('passes three agents, a restart and a person', async () => {
    const first = await boot();
    const ann = first.kernel.as(keyOf('ann'));
    const ids = new Map<string, string>();
    for (const name of ['reader', 'writer', 'editor']) ids.set(name, (await ann.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id);
    const steps = [
      { name: 'facts', agent: 'reader', input: 'facts: {{input}}' },
      { name: 'draft', agent: 'writer', input: 'draft: {{facts}}' },
      { name: 'review', mode: 'operator', actions: ['approve', 'reject'] },
      { name: 'final', agent: 'editor', input: 'final: {{draft}}' },
    ];
    const workflow = (await ann.expect(201, 'POST', '/api/workflows', { name: 'Announce a release', steps })).body.workflow_id;
    const pattern = { webhook: { scheme: 'github', where: { action: 'published' } } };
    const trigger = { agent_id: ids.get('reader'), pattern, secret: SECRET, workflow_id: workflow, prompt_template: '{{release.tag_name}} {{release.body}}' };
    const { hook_path: path } = (await ann.expect(201, 'POST', '/api/triggers', trigger)).body;
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    await ann.expect(200, 'POST', '/api/webhooks', { name: 'out', url, events: ['workflow_completed'], secret: OUT });

    const headers = { 'x-hub-signature-256': await sign(SECRET, PUSH), 'x-github-delivery': 'one', 'content-type': 'application/json' };
    expect((await first.kernel.as('').expect(200, 'POST', path, PUSH, headers)).body.status).to.equal('accepted');
    const waiting = await until(async () => (await ann.expect(200, 'GET', '/api/workflows/operator/pending')).body.pending[0], 'the question');
    expect(waiting).to.deep.include({ step_name: 'review', input: 'draft made facts made v2.0 Faster, and two fixes.' });
    await stopTestKernels();
    expect(received).to.deep.equal([]);

    const second = await boot();
    const { page, mistakes } = await chromium.open(`${second.kernel.url}/`);
    await logInAs(page, 'ann');
    mistakes.length = 0;
    await page.goto(`${second.kernel.url}/#/workflows/${workflow}/${waiting.run_id}`);
    await page.getByRole('link', { name: 'review: waits' }).waitFor();
    await page.goto(`${second.kernel.url}/#/workflows`);
    await page.getByRole('cell', { name: 'draft made facts made v2.0' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    const sent = await until(() => received[0], 'the result');
    new Webhook(OUT).verify(sent.body, sent.headers as Record<string, string>);
    const output = 'final made draft made facts made v2.0 Faster, and two fixes.';
    expect(JSON.parse(sent.body)).to.deep.include({ type: 'workflow_completed', data: { workflow_id: workflow, run_id: waiting.run_id, workflow_name: 'Announce a release', output } });
    await page.goto(`${second.kernel.url}/#/workflows/${workflow}/${waiting.run_id}`);
    await page.getByRole('link', { name: /^final: done/ }).click();
    await page.getByText(output).first().waitFor();
    expect(mistakes).to.deep.equal([]);
    expect(received.length).to.equal(1);
  });
});
