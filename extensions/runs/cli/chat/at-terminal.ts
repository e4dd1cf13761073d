/** A conversation with a person who sees it. */
import type { Cli, DaemonClient } from '@svc/cli/area';
import type { AgentRow } from '@svc/ext-agents/cli';
import { createChatDaemon } from './chat-daemon.js';
import { createConversation } from './conversation.js';
import { openHistory } from './history.js';
import { createScreen } from './view/screen.js';
import { coloursFor } from './view/colours.js';

/** A second Ctrl-C leaves when it comes this soon. */
const TWICE_MS = 2_000;

export const chatAtTerminal = async (cli: Cli, client: DaemonClient, agent: AgentRow, showsCost: boolean): Promise<void> => {
  const daemon = createChatDaemon(client);
  const history = openHistory(cli.settings.home);
  const now = (): number => performance.now();
  const cwd = process.cwd();
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let warnedAt = Number.NEGATIVE_INFINITY;
  const interrupt = (typed: string): void => {
    const isTwice = now() - warnedAt < TWICE_MS;
    warnedAt = now();
    if (isTwice) leave();
    else if (conversation.stop()) return;
    else if (typed !== '') screen.clearTyped();
    else screen.view.note('Press Ctrl-C again to leave');
  };
  const screen = createScreen(
    {
      daemon,
      cwd,
      history,
      now,
      agentId: () => conversation.agent.id,
      colours: coloursFor(cli.out.isColoured),
      onSubmit: (text) => conversation.submit(text),
      onInterrupt: interrupt,
      onLeave: () => leave(),
    },
    agent,
  );
  const conversation = createConversation({ daemon, view: screen.view, cwd, now, remember: history.add, leave: () => leave() }, agent, showsCost);
  screen.start();
  try {
    await left;
  } finally {
    await screen.stop();
  }
};
