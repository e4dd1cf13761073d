/** A daemon that has been used for four weeks: agents, conversations, runs that failed and one that waits. */
import { readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bootTestKernel, OPEN_RATE, type TestKernel } from '@svc/testing';
import { systemClock, type TimerClock } from '@svc/platform/clock/clock';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { answerOf, FILES } from './answers.js';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const DAYS = 27;
/** How much faster time passes than here, where models answer at once. */
const SPEED = 40;

export interface Inhabited {
  readonly kernel: TestKernel;
  /** Ids of agents by name. */
  readonly agents: Readonly<Record<string, string>>;
  /** The conversation to show, and the run that answered in it. */
  readonly sessionId: string;
  readonly runId: string;
  close(): Promise<void>;
}

const PEOPLE = [
  { name: 'bookkeeper', color: '#7a5ea8', description: 'Reads invoices and keeps the ledger', model: { provider: 'openai', model: 'gpt-5-mini' } },
  { name: 'gardener', color: '#3f7d4e', description: 'Plans the garden and reminds', model: { provider: 'openai', model: 'gpt-5-mini' } },
  { name: 'researcher', color: '#3b6ea5', description: 'Finds things out and names its sources', model: { provider: 'anthropic', model: 'claude-sonnet-4-5' } },
  { name: 'reviewer', color: '#a8552f', description: 'Reviews changes before they are merged', model: { provider: 'openai', model: 'gpt-5' } },
] as const;

const DAYS_TOLD = 6;
/** Hours before now, who is asked, and what. */
type Asked = readonly [hoursAgo: number, name: (typeof PEOPLE)[number]['name'], message: string];
const TALKS: readonly [Asked, ...Asked[]] = [
  [137, 'researcher', 'Which rivers of Europe are longer than 1,000 km?'],
  [130, 'bookkeeper', 'Sort the invoices of August by supplier'],
  [115, 'reviewer', 'Review the change to the login page'],
  [112, 'researcher', 'Compare three ways to store dates'],
  [109, 'reviewer', 'Try it with the old endpoint'],
  [92, 'gardener', 'What can be sown in November?'],
  [90, 'bookkeeper', 'Which subscriptions renew this month?'],
  [88, 'researcher', 'Summarise the paper on soil and water'],
  [70, 'reviewer', 'Review the migration of the orders table'],
  [67, 'researcher', 'Who makes bicycles in small series?'],
  [66, 'bookkeeper', 'Prepare the report for the tax office'],
  [44, 'gardener', 'Make a calendar for the beds'],
  [43, 'reviewer', 'Is this regular expression safe?'],
  [42, 'researcher', 'What does the new standard change?'],
  [41, 'reviewer', 'Use the old endpoint once more'],
  [21, 'bookkeeper', 'Match the payments of last week'],
  [20, 'researcher', 'Find three sources on heat pumps'],
  [19, 'gardener', 'Which plants need frost protection?'],
  [8, 'reviewer', 'Review the new error messages'],
  [6, 'researcher', 'Translate the abstract into plain words'],
  [5, 'bookkeeper', 'What is still unpaid?'],
  [4, 'reviewer', 'Is the old endpoint gone?'],
  [3, 'gardener', 'How much rain fell this week?'],
  [2, 'researcher', 'Draft an outline for the talk'],
];

/** The weeks before, of which only the charts tell. */
const EARLIER = Array.from({ length: 3 * (DAYS - DAYS_TOLD) }, (_, index) => {
  const [, name, message] = TALKS[(index * 5) % TALKS.length] ?? TALKS[0];
  return [(DAYS - Math.floor(index / 3)) * DAY_HOURS - 3 * (index % 3), name, message] as const;
});

interface MovedClock extends TimerClock {
  /** From there it goes on, so many times as fast as real time. */
  moveTo(ms: number, speed: number): void;
}

const movedClock = (): MovedClock => {
  const real = systemClock();
  let from = { real: real.mono(), now: real.now(), mono: 0, speed: 1 };
  const passed = (): number => (real.mono() - from.real) * from.speed;
  const now = (): number => Math.round(from.now + passed());
  const mono = (): number => from.mono + passed();
  return {
    ...real,
    now,
    iso: () => new Date(now()).toISOString(),
    mono,
    moveTo: (ms, speed) => {
      from = { real: real.mono(), now: ms, mono: mono(), speed };
    },
  };
};

const CONFIG = (openai: string, anthropic: string): string => `${OPEN_RATE}
[default_model]
provider = "openai"
model = "gpt-5-mini"
[provider_urls]
openai = "${openai}/v1"
anthropic = "${anthropic}"
[llm]
max_retries = 0
[approval]
timeout_secs = 600000
[[approval.rules]]
action = "ask"
tool = "file_write"
agent = "gardener"
reason = "The plan hangs in the kitchen: look at it before it changes."
`;

export const startInhabited = async (): Promise<Inhabited> => {
  const [openai, anthropic] = await Promise.all([startOpenAiServer(answerOf), startAnthropicServer(answerOf)]);
  const clock = movedClock();
  const begun = Date.now();
  const back = (hours: number): void => clock.moveTo(begun - hours * HOUR_MS, SPEED);
  back((DAYS + 1) * DAY_HOURS);
  const kernel = await bootTestKernel({
    config: CONFIG(openai.url, anthropic.url),
    env: { OPENAI_API_KEY: 'sk-of-the-pictures-0001', ANTHROPIC_API_KEY: 'sk-ant-of-the-pictures-0001' },
    clock,
    stopDrainMs: 0,
  });
  const { http } = kernel;
  const agents: Record<string, string> = {};
  for (const { name, color, description, model } of PEOPLE) {
    const manifest = { name, description, model, capabilities: { tools: ['*'], file_system: true }, tags: [name === 'reviewer' ? 'work' : 'home'] };
    agents[name] = (await http.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;
    await http.expect(200, 'PATCH', `/api/agents/${agents[name]}/identity`, { color });
  }
  const say = (name: string, message: string): ReturnType<typeof http.post> => http.post(`/api/agents/${agents[name]}/message`, { message, session_id: sessions.get(name) });
  const sessions = new Map<string, string>();
  const begin = async (name: string, label: string): Promise<string> => {
    const { session_id } = (await http.expect(200, 'POST', `/api/agents/${agents[name]}/sessions`, { activate: true, label })).body;
    sessions.set(name, session_id);
    return session_id;
  };
  for (const [path, content] of Object.entries(FILES)) await http.expect(200, 'PUT', `/api/agents/${agents['gardener']}/files/${path}`, { content });
  for (const [hoursAgo, name, message] of EARLIER) {
    back(hoursAgo);
    await say(name, message);
  }
  for (const [hoursAgo, name, message] of TALKS) {
    back(hoursAgo);
    await begin(name, message.replaceAll(/[^\w -]/g, ''));
    await say(name, message);
    await say(name, `And in short, please? ${message}`);
  }
  back(0.02);
  await dateFiles(kernel.home, begun);
  await http.expect(200, 'POST', '/api/providers/openai/test');
  await http.expect(200, 'PUT', '/api/budget', { daily_limit_usd: 5, monthly_limit_usd: 60 });
  await http.expect(200, 'PUT', `/api/budget/agents/${agents['reviewer']}`, { daily_limit_usd: 1, monthly_limit_usd: 10 });
  await begin('gardener', 'Water earlier');
  await say('gardener', 'We are watering earlier from now on. Change the plan.');
  const sessionId = await begin('bookkeeper', 'Costs of three months');
  const answered = await say('bookkeeper', 'Which of the last three months cost most? Write the sums to costs.csv.');
  await begin('researcher', 'The whole archive');
  clock.moveTo(Date.now(), 1);
  const unanswered = say('researcher', 'Read the whole archive and list what is missing').catch(() => undefined); // it ends with the daemon
  return {
    kernel,
    agents,
    sessionId,
    runId: answered.body.run_id,
    close: async () => {
      await kernel.stop();
      await unanswered;
      await Promise.all([openai.close(), anthropic.close()]);
    },
  };
};

/** As if they had been written on different days: what a disk stamps does not go by the daemon's clock. */
const dateFiles = async (home: string, now: number): Promise<void> => {
  const names = new Map(Object.keys(FILES).map((path, index) => [basename(path), index]));
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    const index = names.get(entry.name);
    if (index === undefined) continue;
    const at = new Date(now - (index * 31 + 5) * HOUR_MS);
    await utimes(join(entry.parentPath, entry.name), at, at);
  }
};
