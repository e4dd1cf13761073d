/** What the newest model call of each agent was sent beside its conversation. It is counted when somebody asks: a message pays nothing for it. */
import { tokensOfChars } from '@svc/api';
import type { ToolSchema } from '@svc/ext-llm/contract';

export interface SentTokens {
  readonly instructionTokens: number;
  readonly toolTokens: number;
  readonly tools: number;
}

export interface Sent {
  note(agentId: string, system: string, tools: readonly ToolSchema[]): void;
  /** Undefined where the agent was asked nothing since the start. */
  of(agentId: string): SentTokens | undefined;
}

const MAX_AGENTS = 200;

export const createSent = (): Sent => {
  const newest = new Map<string, { readonly chars: number; readonly tools: readonly ToolSchema[] }>();
  return {
    note: (agentId, system, tools) => {
      newest.delete(agentId);
      newest.set(agentId, { chars: system.length, tools });
      if (newest.size <= MAX_AGENTS) return;
      for (const oldest of newest.keys()) {
        newest.delete(oldest);
        break;
      }
    },
    of: (agentId) => {
      const found = newest.get(agentId);
      return found && countSent(found.chars, found.tools);
    },
  };
};

export const countSent = (chars: number, tools: readonly ToolSchema[]): SentTokens => ({
  instructionTokens: tokensOfChars(chars),
  toolTokens: tools.length === 0 ? 0 : tokensOfChars(JSON.stringify(tools).length),
  tools: tools.length,
});
