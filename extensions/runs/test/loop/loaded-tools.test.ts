/** Which tools a model call names, where an agent loads them. */
import type { JournalStep } from '@svc/api';
import type { ToolInfo } from '@svc/ext-tools/contract';
import { expect } from 'chai';
import { sentTools } from '../../src/loop/loaded-tools.js';
import { loadedIn } from '../../src/run-input.js';

const info = (name: string, deferred?: true): ToolInfo => ({
  name,
  description: '',
  input_schema: {},
  source: 'builtin',
  risk: 'read',
  replay: 'safe',
  parallel: true,
  ...(deferred ? { deferred } : {}),
});
const TOOLS = [info('a', true), info('b', true), info('core')];
const step = (kind: string, intent: unknown): JournalStep => ({ seq: 1, kind, key: 'k', replay: 'safe', status: 'done', intent, outcome: null }) as unknown as JournalStep;
const called = (name: string, args: unknown) => ({ role: 'assistant' as const, parts: [{ type: 'tool_call' as const, id: 'c', name, args }] });
const names = (tools: readonly ToolInfo[]): string[] => tools.map(({ name }) => name);

describe('the tools of a model call', () => {
  it('are the list itself where nothing is left out', () => {
    const all = [info('x'), info('y')];
    expect(sentTools(all, [called('tool_load', { name: 'z' })], new Set())).to.equal(all);
  });

  it('are those that are sent at first, those that were loaded and those that were called', () => {
    expect(names(sentTools(TOOLS, [], new Set()))).to.deep.equal(['core']);
    expect(names(sentTools(TOOLS, [called('tool_load', { name: 'b' })], new Set()))).to.deep.equal(['b', 'core']);
    expect(names(sentTools(TOOLS, [called('a', {})], new Set()))).to.deep.equal(['a', 'core']);
    for (const args of [null, 'b', { name: 5 }, { name: 'unknown' }, {}]) expect(names(sentTools(TOOLS, [called('tool_load', args)], new Set())), JSON.stringify(args)).to.deep.equal(['core']);
  });

  it('stay loaded in a run that goes on elsewhere, when the messages do not say it any more', () => {
    const loaded = new Set<string>();
    sentTools(TOOLS, [called('tool_load', { name: 'a' })], loaded);
    const steps = [step('model', { provider: 'p', loaded: [...loaded] }), step('tool', { tool: 'x' }), step('model', null)];
    expect(names(sentTools(TOOLS, [], new Set(loadedIn(steps))))).to.deep.equal(['a', 'core']);
  });
});
