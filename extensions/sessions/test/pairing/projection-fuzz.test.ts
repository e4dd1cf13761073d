/** Sessions never end up in a state that a provider refuses: random logs, as crashes and several runs leave them, against the rules of each protocol. */
import type { DriverTarget, ModelMessage, ModelRequest } from '@svc/ext-llm/contract';
import type { Entry } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { anthropicBody } from '../../../llm/src/drivers/anthropic-body.js';
import { geminiBody } from '../../../llm/src/drivers/gemini/gemini-body.js';
import { openaiBody } from '../../../llm/src/drivers/openai-body.js';
import { cutOf, cutThatFits } from '../../src/compaction/cut.js';
import { createProjection, projectEntries } from '../../src/projection.js';
import { RULES } from './pairing-rules.js';

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 300);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);

/** mulberry32 */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

interface Dice {
  /** An integer below. */
  below(count: number): number;
  of<T>(...options: readonly T[]): T;
  happens(share: number): boolean;
}

const diceOf = (seed: number): Dice => {
  const random = randomOf(seed);
  const below = (count: number): number => Math.floor(random() * count);
  return { below, of: (...options) => options[below(options.length)] as never, happens: (share) => random() < share }; // there is one at least
};

/** As providers make them, and as they should not. */
const idOf = (dice: Dice, number: number): string =>
  dice.of(
    `call_${number}abcdefghijklmnopqrstuv`,
    `toolu_01${number}`,
    `functions.read_file:${number}`,
    `${number}`,
    `chatcmpl-tool-${'0123456789abcdef'.repeat(2)}${number}`,
    `größe ${number}`,
    `a${String(number).padStart(8, '0')}`,
  );
const textOf = (dice: Dice): string => dice.of('hello', ' ', '\n', 'a'.repeat(dice.below(400)), 'cut \ud83d', '\udc00 here', 'whole \ud83d\ude00', '"quoted" \\ud800 \\\\');
/** A message with no letter at all is refused (`run_empty_message`), so no log has one; a model may answer with nothing. */
const messageOf = (dice: Dice): string => textOf(dice) || 'hello';
const argsOf = (dice: Dice): unknown => dice.of<unknown>({}, { path: 'a.txt' }, null, 'text', ['a', 1], 7, { deep: { text: 'cut \ud83d' } });

/** Runs one after another, each cut off anywhere; their steps may be between those of others, and a summary may stand anywhere. */
const randomLog = (dice: Dice): Entry[] => {
  const log: Entry[] = [];
  let calls = 0;
  const add = (draft: Partial<Entry> & Pick<Entry, 'kind'>): void => void log.push({ runId: 'r', ...draft, seq: log.length + 1, at: '2026-01-01T00:00:00.000Z' });
  const runs = 1 + dice.below(6);
  const late: Array<() => void> = [];
  for (let run = 0; run < runs; run++) {
    // A log may begin in the middle of a run: it is read from its newest 4,000 entries.
    if (run > 0 || dice.happens(0.8))
      add({
        kind: 'user',
        parts: dice.of(
          [{ type: 'text', text: messageOf(dice) }],
          [
            { type: 'text', text: 'see' },
            { type: 'image', mediaType: 'image/png', data: 'aGk=' },
          ],
        ),
      });
    for (let step = dice.below(5); step > 0; step--) {
      if (dice.happens(0.5)) add({ kind: 'assistant', parts: [{ type: 'text', text: textOf(dice) }] });
      const round = Array.from({ length: dice.below(4) }, () => ({
        callId: dice.happens(0.03) && calls > 0 ? idOf(dice, dice.below(calls)) : idOf(dice, calls++),
        tool: dice.of('file_read', 'shell', 'no such tool', '', '9lives', 'x'.repeat(80)),
      }));
      for (const call of round) add({ kind: 'tool_call', ...call, args: argsOf(dice) });
      const results = round.map((call) => () => add({ kind: 'tool_result', ...call, content: dice.of('done', '', 'y'.repeat(dice.below(4_000)), 'cut \ud83d'), isError: dice.happens(0.2) }));
      if (dice.happens(0.3)) results.reverse();
      for (const result of results) {
        if (dice.happens(0.1)) continue; // lost
        if (dice.happens(0.1)) late.push(result);
        else result();
      }
      if (dice.happens(0.1)) break; // a crash
    }
    if (dice.happens(0.7)) add({ kind: 'assistant', parts: [{ type: 'text', text: textOf(dice) }] });
    if (dice.happens(0.1)) add({ kind: 'note', content: 'The run failed' });
    while (late.length > 0 && dice.happens(0.5)) late.shift()?.();
  }
  if (dice.happens(0.1)) add({ kind: 'tool_result', callId: 'ghost', tool: 'x', content: '?' });
  // The model is asked because somebody spoke, or because tools that it called have answered.
  if (!(log.some(isCall) && ['tool_result', 'tool_call'].includes(log.at(-1)?.kind ?? ''))) add({ kind: 'user', parts: [{ type: 'text', text: 'and now?' }] });
  return log;
};

const isCall = ({ kind }: Entry): boolean => kind === 'tool_call';

/** What is read after a compaction that covers everything up to there. */
const compacted = (log: readonly Entry[], through: number): Entry[] => [
  { kind: 'summary', runId: 'c', seq: log.length + 1, at: '', content: 'They talked.', coversThrough: through },
  ...log.filter(({ seq, kind }) => kind !== 'summary' && seq > through),
];

const target = (provider: string, model: string): DriverTarget => ({ provider, model, baseUrl: '', timeoutMs: 1 });
const BODIES: Readonly<Record<keyof typeof RULES, (request: ModelRequest) => string>> = {
  openai: (request) => openaiBody(target('openai', 'gpt-4o'), request, {}),
  mistral: (request) => openaiBody(target('mistral', 'mistral-large'), request, { shortIds: true }),
  anthropic: (request) => anthropicBody(target('anthropic', 'claude-sonnet-4-6'), request, {}),
  gemini: (request) => geminiBody(target('gemini', 'gemini-3-pro'), request, {}),
};

const requestOf = (messages: readonly ModelMessage[]): ModelRequest => ({ provider: 'x', model: 'y', fallbacks: [], system: 'You help.', messages: [...messages], tools: [], maxTokens: 100 });

/** Of each protocol, in words. */
const violationsOf = (messages: readonly ModelMessage[]): string[] =>
  Object.entries(RULES).flatMap(([name, rules]) => rules(JSON.parse(BODIES[name as keyof typeof RULES](requestOf(messages)))).map((found) => `${name}: ${found}`)); // the keys are those of RULES

describe('a session, whatever happened to it', function () {
  this.timeout(30_000 + ROUNDS * 50);
  const each = (check: (dice: Dice, seed: number) => void): void => {
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + round;
      try {
        check(diceOf(seed), seed);
      } catch (error) {
        throw new Error(`FUZZ_SEED=${seed} FUZZ_ROUNDS=1 shows it again: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    }
  };

  it(`is taken by every protocol, whole or cut to a budget (seed ${SEED})`, () => {
    each((dice) => {
      const log = randomLog(dice);
      const budget = dice.of(Number.MAX_SAFE_INTEGER, dice.below(3_000), dice.below(200));
      const { messages } = projectEntries(log, budget, dice.of(undefined, 1 + dice.below(8)));
      expect(violationsOf(messages), JSON.stringify(log.map(({ kind, callId }) => (callId === undefined ? kind : `${kind} ${callId}`)))).to.deep.equal([]);
    });
  });

  it('is the same whether its log was read at once or grew, and is taken at every point at which a model can be asked', () => {
    each((dice) => {
      const log = randomLog(dice);
      const growing = createProjection();
      for (const [index, entry] of log.entries()) {
        growing.add([entry]);
        if (entry.kind !== 'user' && entry.kind !== 'tool_result') continue;
        // A result that nobody asked for, before all else, is no reason to ask a model.
        if (entry.kind === 'tool_result' && !log.slice(0, index).some(isCall)) continue;
        const { messages } = growing.within(2_000);
        expect(messages).to.deep.equal(projectEntries(log.slice(0, index + 1), 2_000).messages);
        if (dice.happens(0.2)) expect(violationsOf(messages)).to.deep.equal([]);
      }
    });
  });

  it('is taken after a compaction at any point, which never makes it longer', () => {
    each((dice) => {
      const log = randomLog(dice);
      const budget = 200 + dice.below(2_000);
      const whole = projectEntries(log, Number.MAX_SAFE_INTEGER);
      const through = dice.of(cutThatFits(log, budget), cutOf(log, 81, 1), dice.below(log.length)) ?? 0;
      const after = projectEntries(compacted(log, through), Number.MAX_SAFE_INTEGER);
      expect(violationsOf(after.messages)).to.deep.equal([]);
      // Less the summary itself, and what is said of results that the cut parted from their calls.
      const summaryTokens = 40;
      expect(after.tokens).to.be.at.most(whole.tokens + summaryTokens);
    });
  });

  it('fits its budget, unless the newest request with the least of its results is longer: then it is no longer than that', () => {
    each((dice) => {
      const log = randomLog(dice);
      const budget = 300 + dice.below(3_000);
      const { messages, fittedTokens } = projectEntries(log, budget);
      if (fittedTokens <= budget) return;
      // Nothing is left that could be shortened.
      const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part.content.length] : [])));
      expect(Math.max(0, ...results)).to.be.at.most(420);
      expect(
        messages.slice(1).filter(({ role, parts }) => role === 'user' && parts.some(({ type }) => type !== 'tool_result')),
        'a later message that it could begin with',
      ).to.deep.equal([]);
    });
  });
});
