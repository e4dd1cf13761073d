/** A conversation with a program: one message a line, answers on stdout, everything about them on stderr. */
import { type Cli, type DaemonClient, Failure, typed } from '@svc/cli/area';
import type { AgentRow } from '@svc/ext-agents/cli';
import { createInterface } from 'node:readline';
import { streamMessage } from '../answer/run-stream.js';
import { createAnswerPrinter } from '../answer/answer-printer.js';

/** False when the last answer failed: a script wants to know. */
export const chatOverPipe = async (cli: Cli, daemon: DaemonClient, agent: AgentRow): Promise<boolean> => {
  let isWell = true;
  for await (const line of createInterface({ input: process.stdin })) {
    const text = line.trim();
    if (text === '/exit' || text === '/quit') break;
    if (text !== '') isWell = await answer(cli, daemon, agent, text);
  }
  return isWell;
};

const answer = async (cli: Cli, daemon: DaemonClient, agent: AgentRow, text: string): Promise<boolean> => {
  const printer = createAnswerPrinter(cli.out);
  try {
    for await (const event of streamMessage(daemon, agent.id, { message: text }, new AbortController().signal)) {
      printer.show(event);
      if (event.type === 'error') throw new Failure(event.data.error, { code: event.data.code ?? 'run_failed', fix: event.data.hint });
    }
    return true;
  } catch (error) {
    printer.close();
    cli.out.note(`${cli.out.red('Error')}  ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof Failure && error.fix !== undefined) cli.out.note(`  fix   ${cli.out.cyan(typed(error.fix))}`);
    return false;
  }
};
