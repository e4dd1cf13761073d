import { Approvals } from '@svc/ext-approvals/contract';
import { Auth } from '@svc/ext-auth/contract';
import { AuditRecorded, auditFact, defineExtension } from '@svc/api';
import { TerminalSection } from './config.js';
import { terminalRoutes, terminalSocket } from './routes.js';
import { createTerminals } from './terminals.js';
import { createTmux } from './tmux.js';

const LOOK_MS = 10_000;

export default defineExtension({
  config: [TerminalSection],
  activate(ctx) {
    const { clock, config, ids, log } = ctx;
    const settings = () => config.get(TerminalSection);
    const auth = ctx.services.require(Auth);
    const approvals = ctx.services.optional(Approvals);
    const home = ctx.env('HOME') ?? '/';
    const shell = (): string => settings().shell || ctx.env('SHELL') || '/bin/sh';
    const tmux = createTmux({
      exec: (...args) => ctx.exec(...args),
      spawn: (...args) => ctx.spawn(...args),
      clock,
      ids,
      log,
      home,
      shell,
      isEnabled: () => settings().tmux_enabled,
      maxWindows: () => settings().max_windows,
    });
    const terminals = createTerminals({
      pty: ctx.pty,
      tmux,
      clock,
      ids,
      log,
      closing: ctx.signal,
      home,
      shell,
      idleMinutes: () => settings().idle_minutes,
      needsCode: async (actor) => (await approvals.value?.hasAuthenticator(actor)) ?? false,
      checkCode: async (actor, code) => approvals.value?.useCode(actor, code),
      note: async (actor, type, details) => void (await ctx.db.commit([ctx.events.event(AuditRecorded, auditFact(ctx, { type, actor, details }))])),
    });
    const deps = { config, auth, tmux, maxWindows: () => settings().max_windows };
    ctx.routes.add(...terminalRoutes(deps));
    ctx.timers.every('end-idle-terminals', LOOK_MS, () => terminals.endIdle());
    ctx.sockets.add(terminalSocket(deps, terminals));
  },
});
