import { MessageIntercept } from '@svc/ext-runs/contract';
import { Agents } from '@svc/ext-agents/contract';
import { HttpAuthorize, SlashAnswer, defineExtension } from '@svc/api';
import { CLIENT_COMMANDS, checkArgs, createCommandList, helpCommand } from './commands.js';
import * as contract from './contract.js';
import { commandErrors } from './errors.js';
import { commandRoutes } from './routes.js';
import { createWords } from './words.js';

/** A letter follows the slash, and no other slash comes before the next space: a path is no command. */
const COMMAND = /^\/(\p{L}[^\s/]*)(?:\s+([\s\S]*))?$/u;
const MAX_NAME_CHARS = 64;

export default defineExtension({
  contract,
  activate(ctx) {
    const commands = createCommandList(() => ctx.kernel.slashCommands().map(({ command }) => command));
    const agents = ctx.services.require(Agents);
    const words = createWords(ctx.hooks.define(contract.SlashWords), commands, ctx.log);
    const said = ctx.hooks.define(contract.SlashSaid);
    const authorize = ctx.hooks.use(HttpAuthorize);
    ctx.hooks.tap(MessageIntercept, async ({ actor, agent, sessionId, text }, { signal }) => {
      const [, name, rest = ''] = COMMAND.exec(text.trimEnd()) ?? [];
      if (name === undefined) return undefined;
      const command = commands.find(name);
      if (!command) {
        const known = said.isEmpty() ? undefined : await said.call({ actor, agent, name: name.toLowerCase() });
        if (known) return { command: name.toLowerCase(), message: '', prompt: known.prompt };
        throw commandErrors.unknown(name.slice(0, MAX_NAME_CHARS), await words.like(name, { actor, agent }));
      }
      const refusal = await authorize.call({ actor, method: 'POST', routeId: `command:${command.name}`, permission: command.permission });
      if (refusal) throw commandErrors.not_allowed(command.name, 'deny' in refusal ? refusal.deny : refusal.suspend.reason);
      const args = rest.trim();
      checkArgs(command, args);
      const answer = await command.run({ actor, agentId: agent.id, sessionId, args, signal });
      const checked = await ctx.schemas.check(SlashAnswer, answer, 'answer');
      if (!checked.ok) throw commandErrors.bad_answer(command.name, checked.message);
      const { message, data } = answer;
      return { command: command.name, message, ...(data === undefined ? {} : { data }) };
    });
    ctx.slashCommands.add(
      helpCommand(commands, async ({ actor, agentId }) => words.of({ actor, agent: await agents.get(actor, agentId) })),
      ...CLIENT_COMMANDS,
    );
    ctx.routes.add(...commandRoutes({ commands, words, agents }));
  },
});
