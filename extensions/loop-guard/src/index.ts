import { type SecurityLook, SecurityReport, ToolAfter, ToolBefore, ToolMissed, type ToolOutput, type ToolRequest, type Verdict, defineExtension, securityProbe } from '@svc/api';
import { BLOCK_AT, BREAK_AT_BLOCKED, checkRepetition, type CountedCall, WARN_AT } from './repetition.js';

const STAGE = -50;

export default defineExtension({
  activate(ctx) {
    ctx.hooks.tap(ToolBefore, validate, { stage: STAGE });
    ctx.hooks.tap(ToolMissed, countMissed);
    ctx.hooks.tap(ToolAfter, warn);
    ctx.hooks.tap(SecurityReport, securityProbe('loop_guard', lookAtGuard));
  },
});

/** What of a call is looked at. */
interface Call {
  readonly tool: Pick<ToolRequest['tool'], 'name'>;
  readonly digest: string;
  readonly earlier: readonly CountedCall[];
}

/** A call that reaches no tool: the model reads why, and from the third on that it repeats itself. */
const countMissed = ({ name, digest, reason, earlier }: { readonly name: string; readonly digest: string; readonly reason: string; readonly earlier: readonly CountedCall[] }): Verdict | undefined => {
  const repetition = checkRepetition(digest, earlier, true);
  switch (repetition.verdict) {
    case 'break':
      return { deny: breakText(repetition.blocked), code: 'loop_guard_break' };
    case 'block':
      return { deny: `Blocked: this is the ${ordinal(repetition.identical)} call in this run that reaches no tool. ${reason} Use a listed tool, or answer without one.`, code: 'loop_guard_blocked' };
    case 'warn':
      return { deny: `${reason}\n\n[loop guard] ${repetition.identical} calls such as this one (${name.slice(0, 100)}) reached no tool. Change the approach.` };
    default:
      return undefined;
  }
};

const breakText = (blocked: number): string => `The run ends here: ${blocked} of its tool calls were blocked because they repeated earlier ones.`;

const validate = ({ tool, digest, earlier }: Call): Verdict | undefined => {
  const repetition = checkRepetition(digest, earlier);
  switch (repetition.verdict) {
    case 'break':
      return { deny: breakText(repetition.blocked), code: 'loop_guard_break' };
    case 'block':
      return {
        deny: `Blocked: this is the ${ordinal(repetition.identical)} time that ${tool.name} was called with exactly these arguments. Another call gives the same result. Use the earlier result, try other arguments or another tool, or explain what blocks you.`,
        code: 'loop_guard_blocked',
      };
    default:
      return undefined;
  }
};

const warn = (output: ToolOutput, { tool, digest, earlier }: Call): ToolOutput | undefined => {
  const repetition = checkRepetition(digest, earlier);
  if (repetition.verdict !== 'warn') return undefined;
  const note = `[loop guard] ${tool.name} was called ${repetition.identical} times with exactly these arguments; from the ${ordinal(BLOCK_AT)} time on it is blocked. Change the approach.`;
  return { ...output, content: `${output.content}\n\n${note}` };
};

const ordinal = (n: number): string => `${n}${['th', 'st', 'nd', 'rd'][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? 'th'}`;

/** A run that makes the same call again and again, shown to the two functions that every call is shown to. */
const lookAtGuard = (): SecurityLook => {
  const after = (calls: number): Call => ({ tool: { name: 'probe' }, digest: 'same', earlier: Array.from({ length: calls }, () => ({ digest: 'same' })) });
  const codeAfter = (calls: number): string | undefined => {
    const verdict = validate(after(calls));
    return verdict && 'deny' in verdict ? verdict.code : undefined;
  };
  const [warnAt, blockAt, breakAt] = [WARN_AT, BLOCK_AT, BLOCK_AT + BREAK_AT_BLOCKED - 1];
  const faults = [
    ...(codeAfter(0) === undefined ? [] : ['the first call was blocked']),
    ...(warn({ content: '' }, after(warnAt - 1)) === undefined ? [`the ${ordinal(warnAt)} was not warned about`] : []),
    ...(codeAfter(blockAt - 1) === 'loop_guard_blocked' ? [] : [`the ${ordinal(blockAt)} was not blocked`]),
    ...(codeAfter(breakAt - 1) === 'loop_guard_break' ? [] : [`the ${ordinal(breakAt)} did not end the run`]),
  ];
  if (faults.length > 0) return { state: 'failed', detail: `Of identical calls ${faults.join(', ')}.` };
  return { state: 'active', detail: `Of identical calls the ${ordinal(warnAt)} was warned about, the ${ordinal(blockAt)} blocked, and the ${ordinal(breakAt)} ended the run.` };
};
