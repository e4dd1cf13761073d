/** What a page hears of: the events of the areas, each as what has changed and whose it is. */
import { AuthChanged, ConfigChanged, type Events, ExtensionChanged } from '@svc/api';
import { AgentChanged, AgentKilled, AgentSpawned } from '@svc/ext-agents/contract';
import { FilesChanged } from '@svc/ext-files/contract';
import { ModelsChanged } from '@svc/ext-models/contract';
import { ProviderChanged } from '@svc/ext-providers/contract';
import { RunChanged, RunEnded, RunStarted } from '@svc/ext-runs/contract';
import { SessionChanged } from '@svc/ext-sessions/contract';
import { VaultReset } from '@svc/ext-vault/contract';

/** What can change, and what one must be allowed to do to hear of it: the same as to read it. */
export const PERMISSIONS = {
  agent: 'agents.read',
  session: 'sessions.read',
  run: 'runs.read',
  files: 'files.read',
  extension: 'extensions.read',
  config: 'config.read',
  models: 'models.read',
  provider: 'providers.read',
  vault: 'vault.admin',
  auth: 'webchat.read',
} as const;
export type What = keyof typeof PERMISSIONS;

/** As it is sent. It names what to read again and holds nothing of it. */
export interface Shown {
  readonly what: What;
  readonly id?: string;
  readonly agent_id?: string;
  readonly session_id?: string;
  readonly state?: string;
}

export interface Change {
  /** Left out where it is nobody's: then the permission alone decides who hears of it. */
  readonly ownerId?: string;
  readonly shown: Shown;
}

/** One listener for all sockets. */
export const hearChanges = (events: Events, heard: (shown: Shown, ownerId?: string) => void): void => {
  for (const [event, state] of [
    [AgentSpawned, 'spawned'],
    [AgentChanged, 'changed'],
    [AgentKilled, 'killed'],
  ] as const)
    events.on(event, ({ agentId, ownerId }) => heard({ what: 'agent', id: agentId, agent_id: agentId, state }, ownerId));
  events.on(SessionChanged, ({ sessionId, agentId, ownerId, change }) =>
    heard({ what: 'session', ...(sessionId === undefined ? {} : { id: sessionId, session_id: sessionId }), agent_id: agentId, state: change }, ownerId),
  );
  const run = ({ runId, agentId, sessionId, ownerId }: { runId: string; agentId: string; sessionId: string; ownerId: string }, state: string): void =>
    heard({ what: 'run', id: runId, agent_id: agentId, session_id: sessionId, state }, ownerId);
  events.on(RunStarted, (fact) => run(fact, 'running'));
  events.on(RunChanged, (fact) => run(fact, fact.status));
  events.on(RunEnded, (fact) => run(fact, fact.status));
  events.on(FilesChanged, ({ agentId, ownerId }) => heard({ what: 'files', ...(agentId === null ? {} : { agent_id: agentId }) }, ownerId));
  events.on(ExtensionChanged, ({ id, state }) => heard({ what: 'extension', id, state }));
  events.on(ConfigChanged, ({ sections }) => {
    for (const id of sections) heard({ what: 'config', id });
  });
  events.on(ModelsChanged, ({ what, name }) => heard({ what: 'models', id: name, state: what }));
  events.on(ProviderChanged, ({ name }) => heard({ what: 'provider', id: name }));
  events.on(VaultReset, () => heard({ what: 'vault' }));
  events.on(AuthChanged, () => heard({ what: 'auth' }));
};

/** Of two changes of the same thing a page that has heard neither needs the later one. */
export const subjectOf = ({ what, id, agent_id: agentId }: Shown): string => `${what} ${id ?? ''} ${agentId ?? ''}`;
