/** Shows in a chat that an answer is being written, as long as its run goes on. Best effort: nothing waits for it, and nothing fails with it. */
import type { Clock } from '@svc/api';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import type { Adapter, Connection } from './adapters/adapter.js';
import type { DeliveryRow } from './contract.js';

export interface Typing {
  show(row: DeliveryRow, runId: string): void;
  end(runId: string): void;
}

export interface TypingDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly accounts: Accounts;
  readonly closing: AbortSignal;
  connectionTo(account: Account, adapter: Adapter, signal: AbortSignal): Connection;
}

/** Platforms show it for five to ten seconds. */
const AGAIN_MS = 8_000;
const MOST_TIMES = 75;
const MOST_AT_ONCE = 500;

export const createTyping = (deps: TypingDeps): Typing => {
  const shown = new Map<string, AbortController>();
  const end = (runId: string): void => {
    shown.get(runId)?.abort();
    shown.delete(runId);
  };
  return {
    show: (row, runId) => {
      if (shown.has(runId) || shown.size >= MOST_AT_ONCE || !deps.accounts.adapterOf(row.channel).typing) return;
      const stop = new AbortController();
      shown.set(runId, stop);
      // The platform may refuse it; the answer comes all the same.
      repeat(deps, row, AbortSignal.any([stop.signal, deps.closing]))
        .catch(() => undefined)
        .finally(() => end(runId));
    },
    end,
  };
};

const repeat = async ({ accounts, clock, connectionTo }: TypingDeps, row: DeliveryRow, signal: AbortSignal): Promise<void> => {
  const account = await accounts.find(row.channel);
  const adapter = accounts.adapterOf(row.channel);
  if (!account || !adapter.typing) return;
  const connection = connectionTo(account, adapter, signal);
  for (let times = 0; times < MOST_TIMES && !signal.aborted; times += 1) {
    await adapter.typing(connection, { chat: row.chat, ...(row.thread === null ? {} : { thread: row.thread }) });
    await clock.sleep(AGAIN_MS, signal);
  }
};
