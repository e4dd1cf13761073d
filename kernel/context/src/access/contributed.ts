/** Routes, sockets, tools and slash commands at the access check: registered as they are read once, so that none changes its name, path or rules afterwards. */
import type { AnyTool, Disposable, ExtensionContext, RouteDecl, SlashAnswer, SlashCall, SlashCommand, ToolCall } from '@svc/api';
import { type ActorRegistry, type ContractValidator, type ContributionRegistry, type Contributor, plainCopy } from '@svc/core';
import type { PlatformParts } from '../parts.js';
import { type Grants, still } from './grants-policy.js';

interface ContributedParts extends Pick<PlatformParts, 'http'> {
  readonly tools: ContributionRegistry<AnyTool>;
  readonly slashCommands: ContributionRegistry<SlashCommand>;
  readonly validator: ContractValidator;
  readonly actors: ActorRegistry;
}

type Adding<T> = (...decls: readonly T[]) => Disposable;

const adding =
  <T extends object>(registry: Pick<ContributionRegistry<T>, 'add'>, owner: Contributor, made: (decl: T) => T = still): Adding<T> =>
  (...decls) =>
    together(decls.map((decl) => registry.add(owner, made(decl))));

export const contributed = (
  parts: ContributedParts,
  owner: Contributor,
  grants: Pick<Grants, 'need'>,
): Pick<ExtensionContext, 'routes' | 'tools' | 'slashCommands'> & { sockets: Adding<Parameters<ExtensionContext['sockets']['add']>[0]> } => ({
  routes: { add: adding(parts.http.routes, owner, (decl) => withCallers(still(decl), grants)) },
  sockets: adding(parts.http.sockets, owner),
  tools: { add: adding(parts.tools, owner, parts.validator.isForeign(owner) ? (tool) => strange(still(tool), parts) : still) },
  slashCommands: { add: adding(parts.slashCommands, owner, parts.validator.isForeign(owner) ? (command) => foreignSlash(still(command), parts) : still) },
});

/** Who names callers lets people in. */
const withCallers = (decl: RouteDecl, grants: Pick<Grants, 'need'>): RouteDecl => {
  if (decl.callers !== undefined) grants.need('callers');
  return decl;
};

/** A tool of another build gets a copy of its arguments, and the actor of the call handed over. */
const strange = (tool: AnyTool, { actors }: ContributedParts): AnyTool =>
  Object.freeze({
    ...tool,
    run: (args: Parameters<AnyTool['run']>[0], call: ToolCall) => tool.run(plainArgs(tool, args), { ...call, actor: actors.hand(call.actor) }),
  });

/** A command of another build gets the actor handed over, and its answer is copied. */
const foreignSlash = (command: SlashCommand, { actors }: ContributedParts): SlashCommand =>
  Object.freeze({ ...command, run: async (call: SlashCall) => plainCopy(await command.run({ ...call, actor: actors.hand(call.actor) }), `The answer of /${command.name}`) as SlashAnswer });

const plainArgs = (tool: AnyTool, args: Parameters<AnyTool['run']>[0]): Parameters<AnyTool['run']>[0] =>
  // A copy has the members of what it copies.
  plainCopy(args, `The arguments of ${tool.name}`) as Parameters<AnyTool['run']>[0];

const together = (handles: readonly Disposable[]): Disposable => ({
  dispose: async () => {
    for (const handle of [...handles].reverse()) await handle.dispose();
  },
});
