/** Usage and budgets over HTTP and on the page. gpt-5-mini costs 0.25 US dollars per million tokens of input and 2 of output. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { expect } from 'chai';
import { lastDays, periodBegan } from '../src/periods.js';

const CALL_MICROS = 450;
const CALL_USD = CALL_MICROS / 1_000_000;

describe('usage and budgets', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  let [owner, alice, bob, viewer]: TestHttp[] = [];
  before(async () => {
    const config = `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('alice', 'user')}${person('bob', 'user')}${person('vera', 'viewer')}[budget]\ndefault_max_llm_tokens_per_hour = 90_000\n`;
    world = await bootWithModel(() => ({ text: 'done', usage: { input: 1_000, output: 100 } }), { config, key: keyOf('root') });
    [owner, alice, bob, viewer] = ['root', 'alice', 'bob', 'vera'].map((name) => world.kernel.as(keyOf(name)));
  });
  after(stopModelKernels);

  const of = (http: TestHttp | undefined): TestHttp => http ?? world.http;
  const spawn = async (name: string, http = alice, model = 'gpt-5-mini'): Promise<string> =>
    (await of(http).expect(201, 'POST', '/api/agents', { manifest: { name, model: { provider: 'openai', model, max_tokens: 100 } } })).body.agent_id;
  const say = (id: string, http = alice) => of(http).post(`/api/agents/${id}/message`, { message: 'hello' });
  const read = async (path: string, http = owner) => (await of(http).expect(200, 'GET', path)).body;

  it('sum what was used, each person’s own, and everybody’s for an owner', async () => {
    const [hers, his] = [await spawn('hers'), await spawn('his', bob)];
    for (const [id, http] of [
      [hers, alice],
      [hers, alice],
      [his, bob],
    ] as const)
      expect((await say(id, http)).status).to.equal(200);
    const total = (calls: number, agents: number, period = 'day') => ({
      period,
      total_input_tokens: 1_000 * calls,
      total_output_tokens: 100 * calls,
      total_cost_usd: (CALL_MICROS * calls) / 1_000_000,
      request_count: calls,
      active_agents: agents,
      estimated_count: 0,
    });
    expect(await read('/api/usage')).to.deep.equal(total(3, 2));
    expect(await read('/api/usage?period=hour', alice)).to.deep.equal(total(2, 1, 'hour'));
    expect(await read('/api/usage?period=week', viewer)).to.deep.equal(total(0, 0, 'week'));
    expect((await read('/api/usage/by-model?period=month', bob)).models).to.deep.equal([
      { provider: 'openai', model: 'gpt-5-mini', input_tokens: 1_000, output_tokens: 100, cost_usd: CALL_USD, request_count: 1 },
    ]);
    const modelCalls = async (query: string, http = owner) => (await read(`/api/usage/by-model?${query}`, http)).models.map(({ request_count }: { request_count: number }) => request_count);
    expect([await modelCalls('days=1'), await modelCalls(`days=7&agent_id=${his}`), await modelCalls(`days=7&agent_id=${his}`, alice)]).to.deep.equal([[3], [1], []]);
    expect((await of(owner).get('/api/usage/by-model?days=0')).status).to.equal(400);
    const { days, today_cost_usd, first_event_date } = await read('/api/usage/daily?days=3', alice);
    expect(days.map(({ calls }: { calls: number }) => calls)).to.deep.equal([0, 0, 2]);
    expect([today_cost_usd, first_event_date]).to.deep.equal([2 * CALL_USD, days[2].date]);
    expect((await read(`/api/usage/daily?agent_id=${his}`)).today_cost_usd).to.equal(CALL_USD);
    expect((await read(`/api/usage/daily?agent_id=${his}`, alice)).today_cost_usd).to.equal(0);
    const groups = async (by: string, http = owner) => (await read(`/api/usage/daily?days=2&group_by=${by}`, http)).groups;
    expect(await groups('agent')).to.deep.equal([
      { agent_id: hers, cost_usd: [0, 2 * CALL_USD], tokens: [0, 2_200] },
      { agent_id: his, cost_usd: [0, CALL_USD], tokens: [0, 1_100] },
    ]);
    expect(await groups('model', bob)).to.deep.equal([{ provider: 'openai', model: 'gpt-5-mini', cost_usd: [0, CALL_USD], tokens: [0, 1_100] }]);
    const timeline = await read('/api/usage/timeline?period=hour', alice);
    expect([timeline.period, timeline.interval_seconds, timeline.intervals.length]).to.deep.equal(['hour', 60, 60]);
    expect(timeline.intervals.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0)).to.equal(2);
    expect((await read(`/api/usage/timeline?agent_id=${his}`)).intervals.at(-1)).to.include({ input_tokens: 1_000, output_tokens: 100, cost_usd: CALL_USD, calls: 1 });
    expect((await read(`/api/usage/timeline?agent_id=${his}`, alice)).intervals.at(-1).calls).to.equal(0);
    const { today, quota } = await read('/api/usage/summary', alice);
    expect(today).to.deep.equal({ input_tokens: 2_000, output_tokens: 200, cost_usd: 2 * CALL_USD, requests: 2 });
    expect(quota).to.include({ hourly_token_limit: 90_000, hourly_tokens_used: 2_200 });
    expect((await of(owner).get('/api/usage?period=year')).body.code).to.equal('invalid_request');
  });

  it('mark what a model without a price cost as an estimate, at a dollar and three per million tokens', async () => {
    const before = await read('/api/usage');
    await say(await spawn('unpriced', alice, 'gpt-of-tomorrow'));
    const after = await read('/api/usage');
    expect([after.estimated_count - before.estimated_count, Math.round((after.total_cost_usd - before.total_cost_usd) * 1_000_000)]).to.deep.equal([1, 1_300]);
  });

  it('rank agents by what they spent, with those that spent nothing and those that are gone', async () => {
    const [busy, idle, gone] = [await spawn('busy', bob), await spawn('idle', bob), await spawn('gone', bob)];
    for (const id of [busy, busy, gone]) await say(id, bob);
    await of(bob).expect(200, 'DELETE', `/api/agents/${gone}`);
    const rows: Array<{ agent_id: string; agent_name: string | null; total_cost_usd: number; today_cost_usd: number }> = await read('/api/budget/agents', bob);
    const shown = rows.filter(({ agent_id: id }) => [busy, idle, gone].includes(id)).map(({ agent_name: name, total_cost_usd: total, today_cost_usd: today }) => [name, total, today]);
    expect(shown).to.deep.equal([
      ['busy', 2 * CALL_USD, 2 * CALL_USD],
      [null, CALL_USD, CALL_USD],
      ['idle', 0, 0],
    ]);
    expect((await read('/api/budget/agents', alice)).map(({ agent_name: name }: { agent_name: string }) => name)).to.not.include('busy');
  });

  it('hold an agent to its limit from the next call on, and say when it goes on', async () => {
    const id = await spawn('held');
    expect((await say(id)).status).to.equal(200);
    const changed = (await of(alice).expect(200, 'PUT', `/api/budget/agents/${id}`, { daily_limit_usd: CALL_USD, hourly_limit_usd: null })).body;
    expect(changed).to.deep.include({
      agent_id: id,
      agent_name: 'held',
      daily_limit_usd: CALL_USD,
      monthly_limit_usd: 0,
      today_spent_usd: CALL_USD,
      status: 'exceeded',
      hourly_token_limit: 90_000,
      hourly_tokens_used: 1_100,
    });
    const refused = await say(id);
    expect([refused.status, refused.body.code, refused.body.details?.period, refused.body.details.reset_at]).to.deep.equal([429, 'budget_exceeded', 'day', changed.daily_reset_at]);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 86_400);
    expect((await of(alice).expect(200, 'PUT', `/api/budget/agents/${id}`, { daily_limit_usd: 1 })).body.status).to.equal('ok');
    expect((await say(id)).status).to.equal(200);
    expect((await of(alice).get(`/api/agents/${id}`)).body.manifest_toml).to.match(/max_cost_per_day_usd = 1/);
    expect((await read('/api/budget/agents/held', alice)).agent_id).to.equal(id);
    expect((await of(alice).expect(200, 'PUT', '/api/budget/agents/held', { daily_limit_usd: 2 })).body).to.include({ agent_id: id, daily_limit_usd: 2 });
    expect((await of(bob).get('/api/budget/agents/held')).body).to.include({ code: 'budget_agent_unknown', error: '"held" is not the id of an agent, and no agent of yours has this name.' });
  });

  it('hold an agent to its limit when a hundred messages come at once', async () => {
    const id = await spawn('stormed');
    const limit = 5 * CALL_USD;
    await of(alice).expect(200, 'PUT', `/api/budget/agents/${id}`, { daily_limit_usd: limit });
    const asked = (number: number) => ({
      model: `svc:${id}`,
      messages: [
        { role: 'user', content: `a ${number}` },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: `c ${number}` },
      ],
    });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, number) => of(alice).post('/v1/chat/completions', asked(number))));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200, 429]));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(passed).to.be.within(1, 5);
    const { today_spent_usd: spent } = await read(`/api/budget/agents/${id}`, alice);
    expect([Math.round(spent * 1_000_000), spent <= limit]).to.deep.equal([passed * CALL_MICROS, true]);
  });

  it('hold all agents together, write the limit into config.toml, and are set by admins alone', async () => {
    const id = await spawn('one of all');
    for (const http of [alice, viewer]) expect((await of(http).send('PUT', '/api/budget', { daily_limit_usd: 1 })).status).to.equal(403);
    const { month_spent_usd: before } = await read('/api/budget');
    const changed = (await of(owner).expect(200, 'PUT', '/api/budget', { monthly_limit_usd: before, idle_limit_usd: 0.5, alert_threshold: 0.9 })).body;
    expect(changed).to.include({ daily_limit_usd: 0, monthly_limit_usd: before, month_spent_usd: before, idle_limit_usd: 0.5, alert_threshold: 0.9, status: 'exceeded', reserved_usd: 0 });
    const refused = await say(id);
    expect([refused.status, refused.body.details.scope, refused.body.details.period]).to.deep.equal([429, 'all', 'month']);
    expect((await read('/api/config')).budget).to.include({ monthly_limit: before, default_max_llm_tokens_per_hour: 90_000 });
    expect((await of(owner).expect(200, 'PUT', '/api/budget', { monthly_limit_usd: before * 1.05 })).body.status).to.equal('warning');
    expect((await of(owner).expect(200, 'PUT', '/api/budget', { monthly_limit_usd: 0 })).body.status).to.equal('ok');
    expect((await say(id)).status).to.equal(200);
  });

  it('hold where config.toml has something else that is wrong, which the answer names', async () => {
    const file = join(world.kernel.home, 'config.toml');
    const before = await readFile(file, 'utf8');
    await writeFile(file, `${before}\n[log]\nlevle = "info"\n`);
    await world.kernel.daemon.reloadConfig();
    const changed = (await of(owner).expect(200, 'PUT', '/api/budget', { daily_limit_usd: 77 })).body;
    expect([changed.daily_limit_usd, changed.warnings.length, (await read('/api/budget')).daily_limit_usd]).to.deep.equal([77, 1, 77]);
    expect(changed.warnings[0]).to.contain('levle');
    await writeFile(file, before);
    await world.kernel.daemon.reloadConfig();
    expect((await of(owner).expect(200, 'PUT', '/api/budget', { daily_limit_usd: 0 })).body.warnings).to.deep.equal([]);
  });

  it('refuse limits that are none, and agents that are not there or of others', async () => {
    const id = await spawn('of alice');
    for (const body of [{}, { daily_limit_usd: -1 }, { daily_limit_usd: '5' }, { daily_limit_usd: 1e10 }, { daily_limit_usd: 0.0000004 }, { weekly_limit_usd: 5 }]) {
      expect((await of(owner).send('PUT', '/api/budget', body)).status, JSON.stringify(body)).to.equal(400);
      expect((await of(alice).send('PUT', `/api/budget/agents/${id}`, body)).status, JSON.stringify(body)).to.equal(400);
    }
    expect((await of(owner).send('PUT', '/api/budget', { daily_limit_usd: -1 })).body.error).to.equal('daily_limit_usd in the body must be a number from 0 to 1000000000, or null, got -1.');
    expect((await of(owner).send('PUT', '/api/budget', '{"daily_limit_usd": NaN}')).status).to.equal(400);
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? { daily_limit_usd: 1 } : undefined;
      expect((await of(bob).send(method, `/api/budget/agents/${id}`, body)).status).to.equal(404);
      expect((await of(bob).send(method, '/api/budget/agents/00000000-0000-7000-8000-000000000000', body)).status).to.equal(404);
    }
    expect((await of(viewer).send('PUT', `/api/budget/agents/${id}`, { daily_limit_usd: 1 })).status).to.equal(403);
  });

  it('are shown on the page, which sets the limits', async () => {
    const id = await spawn('on the page', owner);
    await say(id, owner);
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/`);
    await logInAs(page, 'root');
    // Until then nobody was logged in.
    mistakes.length = 0;
    await page.goto(`${world.kernel.url}/#/usage`);
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await page.getByRole('cell', { name: 'openai/gpt-5-mini' }).waitFor();
    await page.getByRole('cell', { name: 'on the page' }).waitFor();
    await expectWellMade(page, 'usage');
    await page.getByRole('button', { name: 'Edit limits' }).first().click();
    await page.getByRole('textbox', { name: 'US dollars in a day' }).fill('many');
    await page.getByText('Enter a number, 0 or greater.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).to.equal(true);
    await page.getByRole('textbox', { name: 'US dollars in a day' }).fill('5');
    await page.getByRole('textbox', { name: 'US dollars of each agent without a person' }).fill('2.5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('of $5.00').waitFor();
    expect(await read('/api/budget')).to.include({ daily_limit_usd: 5, idle_limit_usd: 2.5 });
    // The limit is a line of the chart of costs, and one range and one agent hold for all that is shown.
    await page.getByText('Limit of a day').waitFor();
    await page.getByRole('combobox', { name: 'Time range' }).selectOption('Last 7 days');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('on the page');
    expect(new URL(page.url()).hash)
      .to.match(/days=7/)
      .and.match(/agent=[0-9a-f-]{36}/);
    await page.getByText('Limit of a day').waitFor({ state: 'detached' });
    const calls = page
      .getByRole('region', { name: 'Usage by model' })
      .getByRole('row', { name: /gpt-5-mini/ })
      .getByRole('cell')
      .last();
    await calls.filter({ hasText: /^1$/ }).waitFor();
    // Grouped by agent, the chart names it.
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('Agent');
    await page.locator('.chart-legend').getByText('on the page').first().waitFor();
    await page.reload();
    await page.locator('.chart-legend').getByText('on the page').first().waitFor();
    await calls.filter({ hasText: /^1$/ }).waitFor();
    expect(mistakes).to.deep.equal([]);
  });
});

describe('the periods of usage', () => {
  const now = Date.parse('2026-03-01T00:30:00.000Z');
  it('begin 60 minutes ago, at midnight UTC, 7 days ago, and with the month', () => {
    expect((['hour', 'day', 'week', 'month'] as const).map((period) => periodBegan(period, now))).to.deep.equal([
      '2026-02-28T23:30:00.000Z',
      '2026-03-01T00:00:00.000Z',
      '2026-02-22T00:30:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ]);
    expect(lastDays(3, now)).to.deep.equal(['2026-02-27', '2026-02-28', '2026-03-01']);
  });
});
