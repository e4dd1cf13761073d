/** What a conversation needs of the daemon. */
import type { DaemonClient } from '@svc/cli/area';
import { type AgentRow, listAgents } from '@svc/ext-agents/cli';
import type { Approval } from '@svc/ext-approvals/cli';
import { uploadFile } from '@svc/ext-files/cli';
import { type RunEvent, stopRun, streamMessage } from '../answer/run-stream.js';

export interface Attachment {
  readonly file_id: string;
  readonly filename: string;
}

export interface SlashWord {
  /** Without the slash. */
  readonly name: string;
  readonly summary: string;
}

export interface ChatDaemon {
  agents(): Promise<readonly AgentRow[]>;
  /** Commands, and words that the agent knows; empty where the area is off. */
  commands(agentId: string): Promise<readonly SlashWord[]>;
  /** Ids of models whose provider can be used. */
  models(): Promise<readonly string[]>;
  send(agentId: string, message: string, attachments: readonly Attachment[], signal: AbortSignal): AsyncIterable<RunEvent>;
  stop(agentId: string): Promise<void>;
  upload(agentId: string, file: string): Promise<Attachment>;
  /** Adds one grant to an agent; throws the daemon's own refusal where the caller's role may not. */
  grant(agentId: string, need: MissingGrant): Promise<void>;
  /** What a run waits for. */
  approval(id: string): Promise<Approval>;
  approve(id: string, remember?: 'session' | 'always'): Promise<void>;
  reject(id: string): Promise<void>;
}

/** What a refused call lacked, as `[capabilities]` has it. */
export interface MissingGrant {
  readonly capability: string;
  readonly target?: string;
}

export const createChatDaemon = (daemon: DaemonClient): ChatDaemon => ({
  agents: () => listAgents(daemon),
  commands: async (agentId) => {
    const { commands } = await daemon.call('listCommands', { agent_id: agentId });
    return commands.map(({ cmd, desc }) => ({ name: cmd.replace(/^\//, ''), summary: desc }));
  },
  models: async () => {
    const { models } = await daemon.call('listModels', { available: true });
    return models.map(({ id }) => id);
  },
  send: (agentId, message, attachments, signal) => streamMessage(daemon, agentId, { message, ...(attachments.length > 0 ? { attachments: [...attachments] } : {}) }, signal),
  stop: async (agentId) => void (await stopRun(daemon, agentId)),
  upload: async (agentId, file) => {
    const { file_id, filename } = await uploadFile(daemon, agentId, file, 'check the name after the @');
    return { file_id, filename };
  },
  grant: (agentId, need) => grant(daemon, agentId, need),
  approval: (id) => daemon.call('getApproval', { id }),
  approve: async (id, remember) => void (await daemon.call('approveApproval', { id, body: remember === undefined ? {} : { remember: { what: 'call', for: remember } } })),
  reject: async (id) => void (await daemon.call('rejectApproval', { id, body: {} })),
});

/** Lists are added to; what is a yes or no becomes yes. Somebody else's change meanwhile is not written over. */
const grant = async (daemon: DaemonClient, agentId: string, { capability, target }: MissingGrant): Promise<void> => {
  const { capabilities, revision } = await daemon.call('getAgent', { id: agentId });
  const before: unknown = Reflect.get(capabilities, capability);
  const value = Array.isArray(before) ? [...new Set([...before, target ?? '*'])] : true;
  await daemon.call('updateAgent', { id: agentId, body: { capabilities: { [capability]: value }, revision } });
};
