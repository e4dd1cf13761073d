/** What `svc plugins test` gives a hook that nothing else is named for. */
import type { HookName } from '../manifest/manifest.js';

export const SAMPLE = 'Hello. I live in Lisbon and like short answers.';
const MESSAGES = [
  { index: 0, role: 'user', content: SAMPLE },
  { index: 1, role: 'assistant', content: 'Noted.' },
  { index: 2, role: 'user', content: 'Where do I live?' },
];
const WINDOW = 8_000;

export const sampleOf = (hook: HookName): object => SAMPLES[hook] ?? {};

const SAMPLES: Readonly<Partial<Record<HookName, object>>> = {
  after_turn: { messages: MESSAGES.slice(0, 2).map(({ role, content }) => ({ role, content })) },
  bootstrap: { context_window_tokens: WINDOW, stable_prefix_mode: false, max_recall_results: 50 },
  assemble: { system_prompt: 'You are helpful.', messages: MESSAGES, context_window_tokens: WINDOW },
  compact: { messages: MESSAGES, model: 'default', context_window_tokens: WINDOW, token_pressure: { used_tokens: 6_000, max_tokens: WINDOW, pressure: 0.75, recommendation: 'moderate' } },
  transform_tool_result: { tool_name: 'file_read', tool_use_id: 'call_1', input: { path: 'notes.txt' }, content: 'The first line.', is_error: false, status: 'completed' },
  prepare_subagent: { parent_id: 'parent', child_id: 'child' },
  merge_subagent: { parent_id: 'parent', child_id: 'child' },
  on_event: { event: { name: 'sample', payload: {}, source_plugin: 'sample' } },
};
