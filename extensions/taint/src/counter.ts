/** What was held and found, for the metrics, and when commands began. Lost with the process: the facts are in the log and the audit trail. */
import type { Metric } from '@svc/api';
import type { Taint } from './config.js';
import type { Source } from './policy/corpus.js';
import type { Sink } from './policy/flows.js';

export interface BegunCall {
  readonly atMs: number;
  /** Of a file with text from outside that it names: it may be elsewhere when it ends. */
  readonly source: Source | undefined;
}

export interface Counter {
  flow(sink: Sink, action: Taint['mode']): void;
  injection(ids: readonly string[]): void;
  begin(callId: string, call: BegunCall): void;
  begun(callId: string): BegunCall | undefined;
  metrics(): Metric[];
}

const MAX_BEGUN = 1_000;
const MAX_RULES = 200;

export const createCounter = (): Counter => {
  const flows = new Map<string, { readonly sink: Sink; readonly action: string; count: number }>();
  const rules = new Map<string, number>();
  const begun = new Map<string, BegunCall>();
  return {
    flow: (sink, action) => {
      const key = `${sink} ${action}`;
      flows.set(key, { sink, action, count: (flows.get(key)?.count ?? 0) + 1 });
    },
    injection: (ids) => {
      for (const id of ids) if (rules.has(id) || rules.size < MAX_RULES) rules.set(id, (rules.get(id) ?? 0) + 1);
    },
    begin: (callId, call) => {
      begun.set(callId, call);
      const [oldest] = begun.keys();
      if (begun.size > MAX_BEGUN && oldest !== undefined) begun.delete(oldest);
    },
    begun: (callId) => begun.get(callId),
    metrics: () => [
      ...[...flows.values()].map(
        ({ sink, action, count }): Metric => ({
          name: 'svc_taint_flows_total',
          help: 'Calls that would carry something from outside, by sink and what became of them',
          type: 'counter',
          labels: { sink, action },
          value: count,
        }),
      ),
      ...[...rules].map(
        ([rule, count]): Metric => ({ name: 'svc_prompt_injections_total', help: 'Results of tools that gave orders to the model, by rule', type: 'counter', labels: { rule }, value: count }),
      ),
    ],
  };
};
