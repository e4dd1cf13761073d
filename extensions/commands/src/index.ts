import { Providers } from '@svc/ext-providers/contract';
import { Models } from '@svc/ext-models/contract';
import { Llm } from '@svc/ext-llm/contract';
import { MessageIntercept, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { Agents } from '@svc/ext-agents/contract';
import { HttpAuthorize, defineExtension } from '@svc/api';
import { checkArgs, type CommandDeps } from './command.js';
import { commandOf, namesLike } from './commands.js';
import { commandErrors } from './errors.js';
import { commandRoutes } from './routes.js';

/** A letter follows the slash, and no other slash comes before the next space: a path is no command. */
const COMMAND = /^\/(\p{L}[^\s/]*)(?:\s+([\s\S]*))?$/u;
const MAX_NAME_CHARS = 64;

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
    const authorize = ctx.hooks.use(HttpAuthorize);
    ctx.hooks.tap(MessageIntercept, async ({ actor, agent, sessionId, text }) => {
      const [, name, rest = ''] = COMMAND.exec(text.trimEnd()) ?? [];
      if (name === undefined) return undefined;
      const command = commandOf(name);
      if (!command) throw commandErrors.unknown(name.slice(0, MAX_NAME_CHARS), namesLike(name));
      const refusal = await authorize.call({ actor, method: 'POST', routeId: `command:${command.name}`, permission: command.permission });
      if (refusal) throw commandErrors.not_allowed(command.name, 'deny' in refusal ? refusal.deny : refusal.suspend.reason);
      const args = rest.trim();
      checkArgs(command, args);
      return { command: command.name, ...(await command.run(deps, { actor, agent, sessionId, args })) };
    });
    ctx.routes.add(...commandRoutes());
  },
});
