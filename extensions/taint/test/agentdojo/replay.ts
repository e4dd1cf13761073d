/** Decides about the calls of AgentDojo's tasks with the functions that decide about real ones. */
import type { ToolFacts } from '@svc/api';
import { scanText } from '../../src/injection/scan.js';
import { createCorpus, type Source } from '../../src/policy/corpus.js';
import { type Flow, flowOf, sinkOf } from '../../src/policy/flows.js';

export interface SuiteTool {
  readonly name: string;
  readonly description: string;
  readonly params: object;
}

export interface DojoCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output: string;
}

export type DojoLine =
  | { readonly kind: 'suite'; readonly suite: string; readonly tools: readonly SuiteTool[] }
  | { readonly kind: 'user'; readonly suite: string; readonly task: string; readonly prompt: string; readonly calls: readonly DojoCall[] }
  | {
      readonly kind: 'attack';
      readonly suite: string;
      readonly attack: string;
      readonly task: string;
      readonly injection: string;
      readonly goal: string;
      readonly prompt: string;
      readonly texts: readonly string[];
      readonly calls: readonly DojoCall[];
      readonly injected: readonly DojoCall[];
    };

/** The effects that a tool declares, as MCP's readOnlyHint and openWorldHint: the package has none, and its names say it. */
export const factsOfTool = ({ name, description = '', params = {} }: Partial<SuiteTool> & { readonly name: string }): ToolFacts => ({
  name,
  description,
  params,
  risk: name === 'get_webpage' ? 'network' : /^(?:get|search|list|read|check)_/.test(name) ? 'read' : 'write',
  replay: 'never',
  parallel: false,
  capabilities: [],
});

export interface Decided {
  readonly call: DojoCall;
  readonly acts: boolean;
  readonly flow: Flow | undefined;
}

/** In order; each result is read before the next call is decided. */
export const decide = (prompt: string, calls: readonly DojoCall[]): Decided[] => {
  const corpus = createCorpus();
  corpus.addTrusted(prompt);
  return calls.map((call) => {
    const tool = factsOfTool(call);
    const request = { tool, args: call.args, needs: [] };
    const flow = flowOf([corpus], request);
    const source: Source = { labels: ['ExternalNetwork'], name: call.name };
    corpus.addOutside(call.output, source);
    const ids = scanText(call.output);
    if (ids.length > 0) corpus.addHit(ids, source);
    return { call, acts: sinkOf(request) !== undefined && tool.risk !== 'read', flow };
  });
};

/** What a model does that obeys what it reads: the user's calls up to the first that shows the injected text, then the injected ones. */
export const obedient = (calls: readonly DojoCall[], injected: readonly DojoCall[], goal: string): readonly DojoCall[] => {
  // Within YAML and JSON it has other line ends and quotes.
  const letters = (text: string): string => text.replace(/\\n/g, '').replace(/[^\p{L}\p{N}]/gu, '');
  const at = calls.findIndex(({ output }) => letters(output).includes(letters(goal)));
  return at < 0 ? [] : [...calls.slice(0, at + 1), ...injected];
};
