import { expect } from 'chai';
import { waitBefore } from '../src/call/backoff.js';
import { canThink, effortOf, withRoom } from '../src/call/thinking.js';
import { request } from './gateway-rig.js';

describe('the wait before a model is asked again', () => {
  const config = { request_timeout_secs: 1, turn_timeout_secs: 60, idle_timeout_secs: 1, max_retries: 9, retry_base_ms: 1_000, max_wait_ms: 20_000, prompt_caching: true };
  const wait = (retry: number, fields: { hintMs?: number; random?: number; hasNextModel?: boolean } = {}) =>
    waitBefore({ retry, hintMs: fields.hintMs, random: fields.random ?? 0.5, hasNextModel: fields.hasNextModel ?? false }, config);

  it('doubles from the configured first one to the longest', () => {
    expect([1, 2, 3, 4, 5, 6].map((retry) => wait(retry))).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 20_000]);
  });

  it('is left to chance by half of it either way', () => {
    expect(wait(1, { random: 0 })).to.equal(500);
    expect(wait(3, { random: 0.999_999 })).to.equal(6_000);
  });

  it('is never less than the provider asked for, and no use where that is more than the longest', () => {
    expect(wait(1, { hintMs: 9_000 })).to.equal(9_000);
    expect(wait(1, { hintMs: 20 })).to.equal(1_000);
    expect(wait(1, { hintMs: 20_000 })).to.equal(20_000);
    expect(wait(1, { hintMs: 20_001 })).to.equal(undefined);
  });

  it('is at most ten seconds of hint where another model stands ready', () => {
    expect(wait(1, { hintMs: 10_000, hasNextModel: true })).to.equal(10_000);
    expect(wait(1, { hintMs: 10_001, hasNextModel: true })).to.equal(undefined);
    expect(wait(6, { hasNextModel: true })).to.equal(20_000);
  });
});

describe('thinking before an answer', () => {
  it('is asked only of models that take the words for it', () => {
    const thinks: ReadonlyArray<readonly [string, string]> = [
      ['anthropic', 'claude-3-7-sonnet'],
      ['anthropic', 'claude-sonnet-4-6'],
      ['anthropic', 'Claude-Opus-4'],
      ['openai', 'o1'],
      ['openai', 'o3-mini'],
      ['openai', 'gpt-5-mini'],
      ['openai', 'openai/gpt-5'],
      ['openai', 'gpt-oss-120b'],
    ];
    const not: ReadonlyArray<readonly [string, string]> = [
      ['anthropic', 'claude-instant-1'],
      ['anthropic', 'claude-2'],
      ['anthropic', 'claude-2.1'],
      ['anthropic', 'claude-3-opus'],
      ['anthropic', 'claude-3-5-sonnet'],
      ['anthropic', 'gpt-5'],
      ['openai', 'gpt-4o'],
      ['openai', 'claude-sonnet-4-6'],
      ['openai', 'foo1'],
      ['builtin', 'gpt-5'],
    ];
    expect(thinks.filter(([wire, model]) => !canThink(wire, wire, model))).to.deep.equal([]);
    expect(not.filter(([wire, model]) => canThink(wire, wire, model))).to.deep.equal([]);
  });

  const room = (maxTokens: number, budgetTokens: number | undefined, model: { canThink?: boolean; maxOutputTokens?: number } = {}) => {
    const fitted = withRoom(request({ maxTokens, ...(budgetTokens === undefined ? {} : { thinking: { budgetTokens } }) }), {
      canThink: model.canThink ?? true,
      maxOutputTokens: model.maxOutputTokens,
    });
    return { maxTokens: fitted.maxTokens, thinking: fitted.thinking?.budgetTokens };
  };

  it('has its room beside the answer, within what the model can give', () => {
    expect(room(1_000, 4_000)).to.deep.equal({ maxTokens: 5_000, thinking: 4_000 });
    expect(room(1_000, 4_000, { maxOutputTokens: 5_000 })).to.deep.equal({ maxTokens: 5_000, thinking: 4_000 });
    expect(room(1_000, 4_000, { maxOutputTokens: 3_000 })).to.deep.equal({ maxTokens: 3_000, thinking: 2_488 });
  });

  it('is left out where it has no room, or nobody asked for it, or the model cannot', () => {
    expect(room(1_000, 1_024)).to.deep.equal({ maxTokens: 2_024, thinking: 1_024 });
    expect(room(1_000, 1_023)).to.deep.equal({ maxTokens: 1_000, thinking: undefined });
    expect(room(1_000, 4_000, { maxOutputTokens: 1_535 })).to.deep.equal({ maxTokens: 1_000, thinking: undefined });
    expect(room(1_000, 4_000, { maxOutputTokens: 1_536 })).to.deep.equal({ maxTokens: 1_536, thinking: 1_024 });
    expect(room(1_000, undefined, { maxOutputTokens: 800 })).to.deep.equal({ maxTokens: 800, thinking: undefined });
    expect(room(1_000, 4_000, { canThink: false })).to.deep.equal({ maxTokens: 1_000, thinking: undefined });
  });

  it('has three amounts in the words of the chat-completions protocol', () => {
    expect([1_024, 4_095, 4_096, 8_191, 8_192].map((budgetTokens) => effortOf({ budgetTokens }))).to.deep.equal(['low', 'low', 'medium', 'medium', 'high']);
  });
});
