import { SecurityReport, ToolAfter, ToolBefore, type ToolOutput, type ToolRequest, type Verdict, defineExtension } from '@svc/api';
import { BLOCK_AT, BREAK_AT_BLOCKED, checkRepetition, WARN_AT } from './repetition.js';

const STAGE = -50;

export default defineExtension({
  activate(ctx) {
    ctx.hooks.tap(ToolBefore, validate, { stage: STAGE });
    ctx.hooks.tap(ToolAfter, warn);
    ctx.hooks.tap(SecurityReport, () => ({ name: 'loop_guard', state: guardHolds() ? 'active' : 'degraded' }));
  },
});

const validate = ({ tool, digest, earlier }: ToolRequest): Verdict | undefined => {
  const repetition = checkRepetition(digest, earlier);
  switch (repetition.verdict) {
    case 'break':
      return { deny: `The run ends here: ${repetition.blocked} of its tool calls were blocked because they repeated earlier ones.`, code: 'loop_guard_break' };
    case 'block':
      return {
        deny: `Blocked: this is the ${ordinal(repetition.identical)} time that ${tool.name} was called with exactly these arguments. Another call gives the same result. Use the earlier result, try other arguments or another tool, or explain what blocks you.`,
        code: 'loop_guard_blocked',
      };
    default:
      return undefined;
  }
};

const warn = (output: ToolOutput, { tool, digest, earlier }: ToolRequest): ToolOutput | undefined => {
  const repetition = checkRepetition(digest, earlier);
  if (repetition.verdict !== 'warn') return undefined;
  const note = `[loop guard] ${tool.name} was called ${repetition.identical} times with exactly these arguments; from the ${ordinal(BLOCK_AT)} time on it is blocked. Change the approach.`;
  return { ...output, content: `${output.content}\n\n${note}` };
};

const ordinal = (n: number): string => `${n}${['th', 'st', 'nd', 'rd'][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? 'th'}`;

/** What /api/security shows: a made-up run of identical calls, validated at its turning points. */
const guardHolds = (): boolean => {
  const after = (calls: number) =>
    checkRepetition(
      'same',
      Array.from({ length: calls }, () => ({ digest: 'same' })),
    ).verdict;
  return after(0) === 'run' && after(WARN_AT - 1) === 'warn' && after(BLOCK_AT - 1) === 'block' && after(BLOCK_AT - 1 + BREAK_AT_BLOCKED - 1) === 'break';
};
