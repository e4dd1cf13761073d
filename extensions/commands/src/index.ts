import { defineExtension, nearest } from '@svc/api';
import { COMMANDS, type CommandDeps } from './commands.js';
import { commandErrors } from './errors.js';

export default defineExtension({
  activate(ctx) {
    const deps: CommandDeps = {
      agents: ctx.services.require('agents'),
      sessions: ctx.services.require('sessions'),
      runs: ctx.services.require('runs'),
      llm: ctx.services.require('llm'),
      models: ctx.services.require('models'),
      providers: ctx.services.require('providers'),
      commit: (writes) => ctx.db.commit(writes),
      clock: ctx.clock,
      log: ctx.log,
    };
    ctx.hooks.tap('message.intercept', async ({ actor, agent, sessionId, text }) => {
      const match = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/i.exec(text.trim());
      if (!match) return undefined;
      const name = (match[1] as string).toLowerCase();
      const command = COMMANDS.find((one) => one.name === name);
      if (!command) {
        const [near] = nearest(
          name,
          COMMANDS.map((one) => one.name),
        );
        throw commandErrors.unknown(name, near);
      }
      return { command: name, ...(await command.run(deps, { actor, agent, sessionId, args: (match[2] ?? '').trim() })) };
    });
  },
});
