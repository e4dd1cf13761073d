/** `svc message`: one message, the answer as it comes. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, readStdin, usageFailure } from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import { createAnswerPrinter } from './answer/answer-printer.js';
import { type RunEvent, stopRun, streamMessage } from './answer/run-stream.js';

export const define = (program: Command, action: Action): void => {
  program
    .command('message')
    .description('Send one message and stream the answer. Ctrl-C stops the run. "-" reads the message from stdin.')
    .argument('<agent>', 'name or id')
    .argument('<text...>', 'the message; put -- before a text that starts with a dash')
    .option('--incognito', 'store neither the message nor the answer')
    .action(action((cli, agent: string, words: string[], flags: Flags) => message(cli, agent, words, flags)));
};

interface Flags {
  readonly incognito?: boolean;
}

const message = async (cli: Cli, wanted: string, words: readonly string[], { incognito }: Flags): Outcome => {
  const text = words.length === 1 && words[0] === '-' ? await readStdin() : words.join(' ');
  if (text.trim() === '') throw usageFailure('The message is empty.');
  const daemon = await cli.daemon();
  const agent = await findAgent(daemon, wanted);
  const wasInterrupted = stopOnInterrupt(cli, daemon, agent.id);
  const printer = createAnswerPrinter(cli.out);
  const events: RunEvent[] = [];
  for await (const event of streamMessage(daemon, agent.id, { message: text, ...(incognito === true ? { incognito } : {}) }, new AbortController().signal)) {
    events.push(event);
    if (!cli.json) printer.show(event);
  }
  printer.close();
  const last = events.at(-1);
  if (last?.type === 'error') throw new Failure(last.data.error, { code: last.data.code ?? 'run_failed', fix: last.data.hint });
  if (cli.json) cli.out.json({ agent_id: agent.id, agent: agent.name, ...summary(events) });
  return wasInterrupted() ? EXIT.interrupted : EXIT.ok;
};

/** First Ctrl-C: stop the run and show how it ends. Second: leave at once; the daemon goes on stopping it. */
const stopOnInterrupt = (cli: Cli, daemon: DaemonClient, agentId: string): (() => boolean) => {
  let isStopping = false;
  process.on('SIGINT', () => {
    if (isStopping) process.exit(EXIT.interrupted);
    isStopping = true;
    cli.out.note(cli.out.dim('\n  … stopping the run'));
    stopRun(daemon, agentId).catch((error: unknown) => {
      cli.out.note(cli.out.red(`  the run could not be stopped: ${error instanceof Error ? error.message : String(error)}`));
    });
  });
  return () => isStopping;
};

/** Stable keys of `--json`. */
const summary = (events: readonly RunEvent[]): Record<string, unknown> => {
  const last = events.at(-1);
  const result = last?.type === 'done' ? last.data.result : undefined;
  const text = events.map((event) => (event.type === 'chunk' ? event.data.content : '')).join('');
  return {
    response: typeof result?.response === 'string' ? result.response : text,
    usage: last?.type === 'done' ? (last.data.usage ?? null) : null,
    tools: events.flatMap((event) => (event.type === 'tool_result' ? [event.data] : [])),
    result: result ?? null,
  };
};
