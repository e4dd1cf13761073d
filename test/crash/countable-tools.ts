/** Tools whose effects stand in files outside the daemon's home, where they can be counted after any death of it. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyTool, type ExtensionContext, type Replay, Type, defineTool } from '@svc/api';
import type { InstalledFiles } from '@svc/daemon';
import { fixtureExtension } from '@svc/testing/fixture-extension';
import type { CrashPoints } from './crash-points.js';

export const COUNTABLE = 'countable';

/** How long a call waits for the other of its pair. */
const PAIR_MS = 200;

const REPLAYS: readonly Replay[] = ['never', 'keyed', 'safe'];

/** count_never, count_keyed, count_safe: each declares what its name says. Their effects are crash points too. */
export const countableTools = (points: CrashPoints, folder: string): InstalledFiles =>
  fixtureExtension({
    id: COUNTABLE,
    contributions: { tools: REPLAYS.map((replay) => ({ name: `count_${replay}`, risk: 'write', replay })).sort((a, b) => (a.name < b.name ? -1 : 1)) },
    definition: {
      activate: (ctx) => {
        ctx.tools.add(...REPLAYS.map((replay) => countTool(ctx, points, folder, replay)));
      },
    },
  });

const countTool = (ctx: ExtensionContext, points: CrashPoints, folder: string, replay: Replay): AnyTool =>
  defineTool({
    name: `count_${replay}`,
    description: `Counts once under its mark; declared ${replay}.`,
    params: Type.Object({ mark: Type.String(), pause_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })), pair: Type.Optional(Type.String()) }),
    risk: 'write',
    replay,
    // One kind that runs in turn, two that run beside each other.
    parallel: replay !== 'never',
    run: async ({ mark, pause_ms: pauseMs, pair }, call) => {
      if (pauseMs !== undefined) await ctx.clock.sleep(pauseMs, call.signal);
      if (pair !== undefined) await bothOf(pair);
      points.reach(`before effect ${replay}`);
      if (replay === 'keyed') receiveOnce(folder, call.callId, mark);
      else appendFileSync(join(folder, `${replay}.log`), `${call.callId} ${mark}\n`);
      points.reach(`after effect ${replay}`);
      return `counted ${mark}`;
    },
  });

const pairs = new Map<string, { readonly met: Promise<void>; meet(): void }>();

/** Two calls of one pair go on in the same moment, so that they end together. After a death one of them may be called alone: it does not wait long. */
const bothOf = (pair: string): Promise<void> => {
  const other = pairs.get(pair);
  if (other) {
    other.meet();
    return other.met;
  }
  let meet = (): void => undefined;
  const met = new Promise<void>((resolve) => {
    meet = resolve;
  }).finally(() => pairs.delete(pair));
  pairs.set(pair, { met, meet });
  setTimeout(meet, PAIR_MS);
  return met;
};

/** As a receiver does that honours idempotency keys: the same key again changes nothing. */
const receiveOnce = (folder: string, callId: string, mark: string): void => {
  const receipts = join(folder, 'keyed');
  mkdirSync(receipts, { recursive: true });
  appendFileSync(join(folder, 'keyed-attempts.log'), `${callId} ${mark}\n`);
  const receipt = join(receipts, callId);
  if (existsSync(receipt)) return;
  // Killed between creating and filling the file, a receiver would keep an empty receipt and take the resend for known.
  const draft = join(folder, `receipt-${process.pid}-${callId}`);
  writeFileSync(draft, mark);
  renameSync(draft, receipt);
};

export interface Effects {
  /** Marks of the effects that happened, one per effect. */
  readonly never: readonly string[];
  readonly keyed: readonly string[];
  readonly keyedAttempts: number;
}

export const readEffects = (folder: string): Effects => ({
  never: linesOf(join(folder, 'never.log')).map((line) => line.slice(line.indexOf(' ') + 1)),
  keyed: existsSync(join(folder, 'keyed')) ? readdirSync(join(folder, 'keyed')).map((name) => readFileSync(join(folder, 'keyed', name), 'utf8')) : [],
  keyedAttempts: linesOf(join(folder, 'keyed-attempts.log')).length,
});

export const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
