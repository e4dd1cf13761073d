/** `svc chat`: a conversation. Ctrl-C stops the run, not the program; a second one at an idle prompt leaves. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Command } from 'commander';
import { type AgentRow, findAgent, listAgents } from '../daemon/agent-lookup.js';
import { createAnswerPrinter } from '../terminal/answer-printer.js';
import { choose } from '../terminal/asking.js';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { duration } from '../terminal/layout.js';
import { stopRun, streamMessage } from '../daemon/run-stream.js';
import { typed } from '../typed-command.js';

const HISTORY_LINES = 500;
/** Lines typed while an answer comes; the oldest wait, more are refused aloud. */
const MAX_TYPED_AHEAD = 20;

export const define = (program: Command, action: Action): void => {
  program
    .command('chat')
    .description('Talk with an agent. /help lists the commands an agent knows; /exit leaves.')
    .argument('[agent]', 'name or id; without one you are asked, or the only one is taken')
    .action(action((cli, agent: string | undefined) => chat(cli, agent)));
};

const chat = async (cli: Cli, wanted: string | undefined): Outcome => {
  if (cli.json) throw usageFailure('chat is for people; it has no --json.', 'svc message AGENT TEXT --json');
  const daemon = await cli.daemon();
  const agent = wanted === undefined ? await pickAgent(cli, daemon) : await findAgent(daemon, wanted);
  if (cli.out.isTty)
    cli.out.note(`${cli.out.bold(agent.name)}  ${cli.out.dim(`${agent.model_provider} / ${agent.model_name}`)}\n${cli.out.dim('/help lists commands, Ctrl-C stops an answer, /exit leaves')}`);
  return converse(cli, daemon, agent);
};

const pickAgent = async (cli: Cli, daemon: DaemonClient): Promise<AgentRow> => {
  const agents = await listAgents(daemon);
  const [first] = agents;
  if (first === undefined) throw new Failure('There are no agents yet.', { code: 'cli_no_agents', mend: 'svc agent spawn MANIFEST.toml' });
  if (agents.length === 1) return first;
  if (!cli.out.canAsk) throw usageFailure(`There are ${agents.length} agents; name one.`, `svc chat ${first.name}`);
  return choose(
    'Which agent?',
    agents.map((agent) => ({ value: agent, label: agent.name, hint: `${agent.model_provider} / ${agent.model_name}` })),
  );
};

/** What the prompt knows between lines. */
interface Talk {
  readonly typed: string[];
  isAnswering: boolean;
  isLeaving: boolean;
  /** A first Ctrl-C at the idle prompt came; the next leaves. */
  isWarned: boolean;
  wake: () => void;
}

const converse = async (cli: Cli, daemon: DaemonClient, agent: AgentRow): Outcome => {
  const talk: Talk = { typed: [], isAnswering: false, isLeaving: false, isWarned: false, wake: () => undefined };
  const lines = openPrompt(cli, talk, agent);
  lines.on('SIGINT', () => interrupt(cli, daemon, agent, talk, lines));
  let failed = false;
  while (true) {
    const text = await nextLine(cli, talk, lines);
    if (text === undefined) break;
    if (text === '') continue;
    if (['/exit', '/quit'].includes(text)) break;
    talk.isAnswering = true;
    failed = !(await answer(cli, daemon, agent, text));
    talk.isAnswering = false;
  }
  lines.close();
  saveHistory(cli, lines);
  // With piped input a script wants to know; a person has seen it.
  return failed && !cli.out.isTty ? EXIT.failed : EXIT.ok;
};

const openPrompt = (cli: Cli, talk: Talk, agent: AgentRow): Interface => {
  const lines = createInterface({
    input: process.stdin,
    ...(cli.out.canAsk ? { output: process.stdout, history: readHistory(cli), historySize: HISTORY_LINES, removeHistoryDuplicates: true } : {}),
    prompt: `${cli.out.cyan(`you → ${agent.name}`)} `,
  });
  lines.on('line', (line) => {
    talk.isWarned = false;
    if (cli.out.canAsk && talk.typed.length >= MAX_TYPED_AHEAD) cli.out.note('  … too many lines at once; this one is left out');
    else talk.typed.push(line.trim());
    talk.wake();
  });
  lines.on('close', () => {
    talk.isLeaving = true;
    talk.wake();
  });
  return lines;
};

/** Undefined when the person leaves or the input ends. */
const nextLine = async (cli: Cli, talk: Talk, lines: Interface): Promise<string | undefined> => {
  if (talk.typed.length === 0 && !talk.isLeaving) {
    if (cli.out.canAsk) lines.prompt();
    await new Promise<void>((resolve) => {
      talk.wake = resolve;
    });
  }
  return talk.typed.shift();
};

const interrupt = (cli: Cli, daemon: DaemonClient, agent: AgentRow, talk: Talk, lines: Interface): void => {
  if (talk.isAnswering) {
    cli.out.note(cli.out.dim('\n  … stopping'));
    stopRun(daemon, agent.id).catch((error: unknown) => complain(cli, error));
  } else if (talk.isWarned) {
    lines.close();
  } else {
    talk.isWarned = true;
    cli.out.note(cli.out.dim('\n  Ctrl-C again leaves'));
    lines.prompt();
  }
};

/** False when it failed; the conversation goes on either way. */
const answer = async (cli: Cli, daemon: DaemonClient, agent: AgentRow, text: string): Promise<boolean> => {
  const printer = createAnswerPrinter(cli.out);
  const startedAt = Date.now();
  try {
    for await (const event of streamMessage(daemon, agent.id, text, new AbortController().signal)) {
      printer.show(event);
      if (event.type === 'error') throw new Failure(event.data.error, { code: event.data.code ?? 'run_failed', mend: event.data.hint });
      if (event.type === 'done' && cli.out.isTty && (event.data.usage?.output_tokens ?? 0) > 0) {
        cli.out.note(cli.out.dim(`  ${event.data.usage?.input_tokens} → ${event.data.usage?.output_tokens} tokens, ${duration((Date.now() - startedAt) / 1000)}`));
      }
    }
    return true;
  } catch (error) {
    printer.close();
    complain(cli, error);
    return false;
  }
};

const complain = (cli: Cli, error: unknown): void => {
  cli.out.note(`${cli.out.red('Error')}  ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof Failure && error.mend !== undefined) cli.out.note(`  mend  ${cli.out.cyan(typed(error.mend))}`);
};

const historyFile = (cli: Cli): string => path.join(cli.settings.home, 'chat-history');

/** Newest first, as readline keeps it. */
const readHistory = (cli: Cli): string[] =>
  existsSync(historyFile(cli))
    ? readFileSync(historyFile(cli), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .slice(-HISTORY_LINES)
        .reverse()
    : [];

const saveHistory = (cli: Cli, lines: Interface): void => {
  // readline keeps its history on the interface; the type leaves that out.
  const history = 'history' in lines ? lines.history : undefined;
  if (!cli.out.canAsk || !Array.isArray(history) || !existsSync(cli.settings.home)) return;
  writeFileSync(historyFile(cli), `${[...history].reverse().join('\n')}\n`, { mode: 0o600 });
};
