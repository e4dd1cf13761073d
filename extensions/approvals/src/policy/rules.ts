/**
 * Whether a call runs, waits for a person, or is refused: by the settings alone.
 *
 * P1  A rule that denies comes before one that asks, and that before one that allows; `allow` comes before require_approval.
 * P2  A command fits an ask or deny rule however it is spelled: behind wrappers, shells and assignments. A line that nobody can read fits them all.
 * P3  A command fits an allow rule only when it is the one program that the rule names, with nothing around it.
 */
import { matchesAny, matchesPattern, parseCommandLine, type ToolRequest } from '@svc/api';
import { startedPrograms, wordsRefusal } from '@svc/ext-capabilities/contract';
import type { Approval, Rule } from '../config.js';
import { isAtLeast, type Risk } from './risk.js';

export type Ruling = { readonly action: 'run' } | { readonly action: 'ask' | 'deny'; readonly why: string };

const RUN: Ruling = { action: 'run' };
/** What `require_approval = true` stands for. */
const DEFAULT_TOOLS = ['shell_exec', 'process_start', 'file_write', 'file_delete', 'apply_patch', 'skill_evolve_*'];

const required = ({ require_approval: required }: Approval): readonly string[] => (typeof required === 'boolean' ? (required ? DEFAULT_TOOLS : []) : required);

/** False where no call ever waits or is refused: then nothing need be looked at. */
export const isInUse = (settings: Approval): boolean => settings.rules.some(({ action }) => action !== 'allow') || required(settings).length > 0;

export interface Subject {
  readonly request: Pick<ToolRequest, 'tool' | 'args' | 'needs' | 'call'>;
  readonly risk: Risk;
  readonly agentName: string;
}

export const ruleOn = (settings: Approval, subject: Subject): Ruling => {
  const { tool, call } = subject.request;
  const command = readCommand(commandOf(subject.request));
  const fitting = settings.rules.flatMap((rule) => {
    const fit = fitOf(rule, subject, command);
    return fit === undefined ? [] : [{ rule, fit }];
  });
  const denied = fitting.find(({ rule }) => rule.action === 'deny');
  if (denied) return { action: 'deny', why: whyOf(denied.rule, tool.name, denied.fit) };
  if (settings.auto_approve) return RUN;
  const asked = fitting.find(({ rule }) => rule.action === 'ask');
  if (asked) return { action: 'ask', why: whyOf(asked.rule, tool.name, asked.fit) };
  if (fitting.length > 0 || !matchesAny(required(settings), tool.name)) return RUN;
  if (!isAtLeast(subject.risk, 'high') && settings.trusted_senders.some((sender) => [call.actor.id, call.actor.ownerId].includes(sender))) return RUN;
  return { action: 'ask', why: `${tool.name} needs approval` };
};

const whyOf = ({ reason, action, command }: Rule, tool: string, fit: string): string => {
  const what =
    reason ??
    (command === undefined ? `a rule of [approval] ${action === 'deny' ? 'forbids' : 'asks about'} ${tool}` : `a rule of [approval] ${action === 'deny' ? 'forbids' : 'asks about'} ${command}`);
  return fit === '' ? what : `${what} (${fit})`;
};

/** Undefined where the rule does not fit; what to say beside its reason where it does. */
const fitOf = (rule: Rule, { request, risk, agentName }: Subject, command: Command | undefined): string | undefined => {
  if (!matchesPattern(rule.tool, request.tool.name)) return undefined;
  if (rule.agent !== undefined && !matchesPattern(rule.agent, agentName)) return undefined;
  if (rule.risk !== undefined && !isAtLeast(risk, rule.risk)) return undefined;
  for (const [name, pattern] of Object.entries(rule.argument ?? {})) if (!fitsArgument(request.args, name, pattern)) return undefined;
  return rule.command === undefined ? '' : commandFit(rule.action, rule.command, command);
};

const fitsArgument = (args: Readonly<Record<string, unknown>>, name: string, pattern: string): boolean => {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value !== undefined && matchesPattern(pattern, typeof value === 'string' ? value : JSON.stringify(value));
};

/** The command line that a call would start; undefined for a call that starts none. */
export const commandOf = ({ needs }: Pick<ToolRequest, 'needs'>): string | undefined => needs.find(({ capability }) => capability === 'shell')?.target;

/** A command line that is read at most once, however many rules ask for it. */
interface Command {
  readonly line: string;
  readonly started: () => ReturnType<typeof startedPrograms>;
}

const readCommand = (line: string | undefined): Command | undefined => {
  if (line === undefined) return undefined;
  let started: ReturnType<typeof startedPrograms> | undefined;
  return { line, started: () => (started ??= startedPrograms(line)) };
};

const commandFit = (action: Rule['action'], pattern: string, command: Command | undefined): string | undefined => {
  if (command === undefined) return undefined;
  if (action === 'allow') return isCovered(pattern, command) ? '' : undefined;
  const { commands, unknown } = command.started();
  const words = pattern.trim().split(/\s+/);
  if (commands.some((one) => hasInOrder(words, one))) return '';
  return unknown === undefined ? undefined : `this command may start others: ${unknown}`;
};

/** The program, and then each other word of the pattern somewhere behind the one before it: options in between hide nothing. */
const hasInOrder = ([program = '', ...others]: readonly string[], [first = '', ...rest]: readonly string[]): boolean => {
  const name = first.slice(first.lastIndexOf('/') + 1).toLowerCase();
  if (!matchesPattern(program, first) && !matchesPattern(program.toLowerCase(), name)) return false;
  let from = 0;
  for (const word of others.at(-1) === '*' ? others.slice(0, -1) : others) {
    const at = rest.findIndex((part, index) => index >= from && matchesPattern(word, part));
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
};

const isCovered = (pattern: string, { line, started }: Command): boolean => {
  const parsed = parseCommandLine(line);
  return 'words' in parsed && started().commands.length === 1 && wordsRefusal(parsed.words, [pattern, pattern.replace(/ +\*$/, '')]) === undefined;
};
