import { Providers } from '@svc/ext-providers/contract';
import { Models } from '@svc/ext-models/contract';
import { Llm } from '@svc/ext-llm/contract';
import { MessageIntercept, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { Agents } from '@svc/ext-agents/contract';
import { defineExtension, nearest } from '@svc/api';
import { COMMANDS, type CommandDeps } from './commands.js';
import { commandErrors } from './errors.js';

export default defineExtension({
  activate(ctx) {
    const deps: CommandDeps = {
      agents: ctx.services.require(Agents),
      sessions: ctx.services.require(Sessions),
      runs: ctx.services.require(Runs),
      llm: ctx.services.require(Llm),
      models: ctx.services.require(Models),
      providers: ctx.services.require(Providers),
      commit: (writes) => ctx.db.commit(writes),
      clock: ctx.clock,
      log: ctx.log,
    };
    ctx.hooks.tap(MessageIntercept, async ({ actor, agent, sessionId, text }) => {
      const [, word, args = ''] = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
      if (word === undefined) return undefined;
      const name = word.toLowerCase();
      const command = COMMANDS.find((one) => one.name === name);
      if (!command) {
        const [near] = nearest(
          name,
          COMMANDS.map((one) => one.name),
        );
        throw commandErrors.unknown(name, near);
      }
      return { command: name, ...(await command.run(deps, { actor, agent, sessionId, args: args.trim() })) };
    });
  },
});
