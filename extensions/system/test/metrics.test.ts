/** The figures of the daemon as Prometheus reads them. */
import { execFileSync } from 'node:child_process';
import { stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';

/** Names that dashboards of the interface's other servers ask for. */
const NAMES = [
  'svc_uptime_seconds',
  'svc_agents_active',
  'svc_agents_total',
  'svc_tokens',
  'svc_tokens_input',
  'svc_tokens_output',
  'svc_tool_calls',
  'svc_llm_calls',
  'svc_active_sessions',
  'svc_cost_usd_today',
  'svc_info',
  'svc_panics_total',
  'svc_restarts_total',
  'svc_http_requests_total',
  'svc_http_request_duration_seconds',
];

const promtool = (): string | undefined => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return 'promtool';
  } catch {
    return undefined; // it is not on this machine
  }
};

describe('metrics', () => {
  afterEach(async () => {
    await stopModelKernels();
    await stopTestKernels();
  });

  const scraped = async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'noon', usage: { input: 11, output: 7 } }]);
    await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'what time is it?' });
    await svc.http.get('/api/agents/none');
    const { text } = await svc.http.expect(200, 'GET', '/api/metrics');
    return { svc, text, value: (line: string): number => Number(new RegExp(`^${line} (\\S+)$`, 'm').exec(text)?.[1]) };
  };

  it('have all names of the interface, each with a type and a help text in words', async () => {
    const { text } = await scraped();
    for (const name of NAMES) {
      expect(text, name).to.match(new RegExp(`^# TYPE ${name} (gauge|counter|histogram)$`, 'm'));
      expect(/^# HELP \S+ (.*)$/m.exec(text.slice(text.indexOf(`# HELP ${name} `)))?.[1], name).to.match(/\w+ \w+ \w+/);
    }
    expect(text).to.not.contain('Kernel fact');
  });

  it('count what a message used and what was answered', async () => {
    const { svc, text, value } = await scraped();
    expect(value('svc_llm_calls')).to.equal(2);
    expect(value('svc_tool_calls')).to.equal(1);
    expect(value('svc_tokens_output')).to.be.at.least(7);
    expect(value('svc_cost_usd_today')).to.be.above(0);
    expect(value('svc_agents_total')).to.equal(1);
    expect(value('svc_agents_active')).to.equal(0);
    expect(text).to.match(new RegExp(`^svc_tokens\\{agent="${svc.agent.name}",agent_id="${svc.agent.id}",provider="openai",model="gpt-4o"\\} \\d+$`, 'm'));
    expect(value('svc_http_responses_total\\{status="4xx"\\}')).to.equal(1);
  });

  it('tell how long answers took, in buckets that rise to their count', async () => {
    const { text, value } = await scraped();
    const buckets = [...text.matchAll(/^svc_http_request_duration_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)].map(([, le, count]) => ({ le, count: Number(count) }));
    expect(buckets.at(-1)?.le).to.equal('+Inf');
    expect(buckets.map(({ count }) => count)).to.deep.equal(buckets.map(({ count }) => count).sort((a, b) => a - b));
    expect(buckets.at(-1)?.count).to.equal(value('svc_http_request_duration_seconds_count')).and.to.be.at.least(3);
    expect(value('svc_http_request_duration_seconds_sum')).to.be.above(0);
  });

  it('are clean under promtool', async function () {
    const tool = promtool();
    if (!tool) return this.skip();
    const { text } = await scraped();
    // It wants counters to end in _total and units in names; the names of the interface are what they are.
    const reported = (() => {
      try {
        return execFileSync(tool, ['check', 'metrics'], { input: text, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
      } catch (error) {
        return String((error as { stderr?: string }).stderr);
      }
    })();
    expect(reported.split('\n').filter((line) => line.includes('error') || line.includes('parse'))).to.deep.equal([]);
  });
});
