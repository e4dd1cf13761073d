/** Counts from outside what a story of deaths has lost, repeated or left standing. */
import type { Effects } from '../countable-tools.js';
import type { Message, Seen } from '../entry-points.js';
import type { EntryRow, Ledger } from './ledger.js';
import { answerTo, type Plan } from '../planned-model.js';

/** One message and everything its client ever saw of it, oldest first. */
export interface Story {
  readonly message: Message;
  readonly plan: Plan;
  readonly seen: Seen[];
}

export interface Account {
  acknowledged: number;
  lost: number;
  repeated: number;
  unknownReported: number;
  stuck: number;
  answeredTwice: number;
  /** One line for each of the above that should be 0, and for whatever else is not as it must be. */
  readonly problems: string[];
}

export const emptyAccount = (): Account => ({ acknowledged: 0, lost: 0, repeated: 0, unknownReported: 0, stuck: 0, answeredTwice: 0, problems: [] });

export const addAccounts = (into: Account, one: Account): void => {
  for (const key of ['acknowledged', 'lost', 'repeated', 'unknownReported', 'stuck', 'answeredTwice'] as const) into[key] += one[key];
  into.problems.push(...one.problems);
};

/** Everything but the next messages, which somebody has to send first (`stuck`). */
export const settle = (stories: readonly Story[], ledger: Ledger, effects: Effects): Account => {
  const account = emptyAccount();
  for (const story of stories) countMessage(account, story, ledger);
  countRuns(account, stories, ledger);
  countEffects(account, ledger, effects);
  countPairs(account, ledger);
  if (ledger.integrity !== 'ok') account.problems.push(`the database is damaged: ${ledger.integrity}`);
  return account;
};

const countMessage = (account: Account, { message, plan, seen }: Story, ledger: Ledger): void => {
  const acknowledged = seen.filter((one) => one.acknowledged);
  const ids = new Set(acknowledged.flatMap((one) => one.runId ?? []));
  const what = `${message.entryPoint} ${plan.mark}`;
  if (acknowledged.length > 0) account.acknowledged += 1;
  else if (message.key !== undefined) account.problems.push(`${what} was sent ${seen.length} times and never taken: ${seen.map((one) => one.problem).join('; ')}`);
  if (ids.size > 1) fault(account, 'answeredTwice', `${what} was run ${ids.size} times under one key`);
  const rows = ledger.runs.filter((run) => (message.key === undefined ? ids.has(run.id) : run.request_key === message.key));
  if (acknowledged.length > 0 && message.key !== undefined && rows.length === 0) fault(account, 'lost', `${what} was acknowledged and has no row`);
  // A run that failed for no reason of its own is as good as lost: nothing in this story but the deaths goes wrong.
  for (const run of rows) if (run.status !== 'done') fault(account, 'lost', `${what} ended as ${run.status} (${run.error ?? 'no error'})`);
  if (acknowledged.length > 0) countAnswers(account, what, { message, plan, seen }, ledger);
};

const countAnswers = (account: Account, what: string, { message, plan, seen }: Story, ledger: Ledger): void => {
  const answers = new Set(seen.flatMap((one) => one.answer ?? []));
  for (const answer of answers) if (!answer.endsWith(answerTo(plan.mark))) fault(account, 'lost', `${what} was answered "${answer}"`);
  if (message.key !== undefined && answers.size === 0) fault(account, 'lost', `${what} never got its answer: ${seen.map((one) => one.problem).join('; ')}`);
  if (message.key === undefined && !wasSaid(ledger, answerTo(plan.mark))) fault(account, 'lost', `${what} was acknowledged, and its session has no answer`);
};

const wasSaid = (ledger: Ledger, text: string): boolean => ledger.entries.some((entry) => entry.kind === 'assistant' && (entry.body.parts ?? []).some((part) => part.text?.endsWith(text)));

const fault = (account: Account, column: 'lost' | 'repeated' | 'answeredTwice' | 'stuck', line: string): void => {
  account[column] += 1;
  account.problems.push(`${column}: ${line}`);
};

const countRuns = (account: Account, stories: readonly Story[], ledger: Ledger): void => {
  const keys = new Set(stories.flatMap(({ message }) => message.key ?? []));
  const keyed = ledger.runs.filter((run) => run.request_key !== null && keys.has(run.request_key));
  if (keyed.length !== keys.size) account.problems.push(`${keys.size} keys were sent and there are ${keyed.length} runs of them`);
  const unkeyed = stories.filter(({ message }) => message.key === undefined && message.entryPoint === 'ws');
  const reported = unkeyed.filter(({ seen }) => seen.some((one) => one.acknowledged)).length;
  // A call of agent_send is a run too, under a key of its own.
  const others = ledger.runs.filter((run) => run.request_key === null).length;
  if (others < reported || others > unkeyed.length) account.problems.push(`${reported} of ${unkeyed.length} messages without a key were acknowledged and there are ${others} runs of them`);
  for (const run of ledger.runs.filter(({ status }) => ['queued', 'running', 'waiting'].includes(status))) fault(account, 'stuck', `run ${run.id} is ${run.status} for ever`);
  const done = new Set(ledger.runs.filter(({ status }) => status === 'done').map(({ id }) => id));
  for (const step of ledger.steps) if (done.has(step.run_id) && step.status === 'intent') account.problems.push(`step ${step.kind} ${step.key} of a run that is done has no outcome`);
};

const countEffects = (account: Account, ledger: Ledger, effects: Effects): void => {
  for (const [mark, times] of timesOf(effects.never)) if (times > 1) fault(account, 'repeated', `count_never ${mark} happened ${times} times`);
  for (const [mark, times] of timesOf(effects.keyed)) if (times > 1) fault(account, 'repeated', `count_keyed ${mark} came under ${times} call ids`);
  const happened = new Set([...effects.never, ...effects.keyed]);
  for (const { mark, said, statuses } of callsIn(ledger)) {
    if (statuses.length !== 1) account.problems.push(`the call ${mark} has ${statuses.length} results`);
    if (statuses[0] === 'outcome_unknown') account.unknownReported += 1;
    else if (statuses[0] !== 'completed') account.problems.push(`the call ${mark} ended as ${statuses[0]}: ${said}`);
    else if (!happened.has(mark)) account.problems.push(`the call ${mark} is said to be completed and never happened`);
  }
};

/** Counted calls with the statuses of their results. */
const callsIn = (ledger: Ledger): Array<{ mark: string; statuses: string[]; said: string }> =>
  ledger.entries
    .filter((entry) => entry.kind === 'tool_call' && /^count_(never|keyed)$/.test(entry.body.tool ?? ''))
    .map((call) => {
      const results = ledger.entries.filter((entry) => entry.kind === 'tool_result' && isOf(entry, call)).map(({ body }) => body);
      return { mark: call.body.args?.mark ?? '', statuses: results.map(({ status }) => status ?? 'none'), said: JSON.stringify(results[0] ?? {}).slice(0, 300) };
    });

const isOf = (result: EntryRow, call: EntryRow): boolean => result.session_id === call.session_id && result.body.callId === call.body.callId;

/** Every call has exactly one result, in one session. */
const countPairs = (account: Account, ledger: Ledger): void => {
  for (const call of ledger.entries.filter((entry) => entry.kind === 'tool_call')) {
    const results = ledger.entries.filter((entry) => entry.kind === 'tool_result' && isOf(entry, call)).length;
    if (results !== 1) account.problems.push(`the call ${call.body.callId} (${call.body.tool}) has ${results} results in its session`);
  }
};

const timesOf = (marks: readonly string[]): Map<string, number> => {
  const times = new Map<string, number>();
  for (const mark of marks) times.set(mark, (times.get(mark) ?? 0) + 1);
  return times;
};
