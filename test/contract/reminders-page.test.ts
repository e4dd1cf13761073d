/** What a declaration gives people: the page of the fixture area `reminders`. */
import { fixtureArea, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';
import { expectWellMade, useBrowser } from '../page/browser.js';
import { keyOf, logInAs } from '../page/callers.js';

const KEY = keyOf('root');

describe('the page of a resource', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  after(stopModelKernels);

  it('says why it is empty, offers the first action, takes a name for an agent and a secret, opens a row, and acts on it', async () => {
    const area = await fixtureArea('reminders');
    const { kernel } = await bootWithModel(undefined, { config: `api_key = "${KEY}"\n${OPEN_RATE}[extensions]\nenable = ["reminders"]\n`, key: KEY, extra: [area.installed] });
    const owner = kernel.as(KEY);
    const agent = (await owner.expect(201, 'POST', '/api/agents', { manifest: { name: 'gardener' } })).body.agent_id;
    const { page, mistakes } = await chromium.open(`${kernel.url}/`);
    await logInAs(page, 'root');
    mistakes.length = 0;
    await page.goto(`${kernel.url}/#/reminders`);
    const empty = page.getByText('No reminders yet.');
    await empty.waitFor();
    await page.getByRole('main').getByRole('button', { name: 'New reminder' }).last().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Title').fill('Water the plants');
    await form.getByLabel('Due at').fill('2099-12-01T09:00');
    await form.getByLabel('Repeat every').fill('1h 30m');
    await form.getByLabel('Agent id').selectOption({ label: 'gardener' });
    await form.getByLabel('Webhook key').fill('geheim');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'Water the plants' }).waitFor();
    await form.waitFor({ state: 'detached' });
    const [made] = (await owner.expect(200, 'GET', '/api/reminders')).body.reminders;
    expect(made).to.include({ agent_id: agent, repeat_every: 90, has_webhook_key: true });
    await expectWellMade(page, 'a list with actions');
    // The last cell has buttons; any other opens the row.
    await page.getByRole('cell', { name: 'gardener' }).click();
    await page.getByRole('heading', { name: 'Water the plants', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Snooze: Water the plants' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Snooze' }).click();
    await page.getByText('Put off until').waitFor();
    expect((await owner.expect(200, 'GET', `/api/reminders/${made.id}`)).body.due_at < '2099').to.equal(true);
    await expectWellMade(page, 'one item');
    expect(mistakes).to.deep.equal([]);
  });
});
