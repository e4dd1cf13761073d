/** What a plain sentence asks for, as far as the rehearsal mock provider understands it: a list of steps. */
import { calculate } from './arithmetic.js';

export type Step = { readonly do: 'call'; readonly tool: string; readonly args: Readonly<Record<string, string>> } | { readonly do: 'say'; readonly text: string };

const MAX_STEPS = 8;
/** The patterns below look for the end of a request from each of its words: they take the square of this. */
const MAX_CHARS = 3_000;
/** Between two words they try every division of a run of blanks. */
const LONG_BLANKS = /[^\S\n]{4,}|\s{12,}/g;
const FILE = String.raw`["'\x60]?([\w][\w./-]*\.\w+|[\w-]+\/[\w./-]+|(?<=file\s+(?:named\s+|called\s+)?)[\w.-]+)["'\x60]?`;

const WRITE_TO = new RegExp(String.raw`\b(?:write|save|put|store)\s+(.+?)\s+(?:in|to|into)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?${FILE}`, 'is');
const CREATE_WITH = new RegExp(
  String.raw`\b(?:create|make|write|save)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?${FILE}\s+(?:with|containing|saying|that\s+says)\s*:?\s+(?:the\s+(?:text|content|words?)\s+)?(.+)`,
  'is',
);
const READ = new RegExp(String.raw`\b(?:read|show|open|print|cat)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(?:named\s+|called\s+)?${FILE}`, 'i');
const READ_IT = /\b(?:read|show|open|print)\s+(?:me\s+)?(?:it|that|the\s+file)\b/i;
const LIST = /\b(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:the\s+|my\s+)?(?:files|directory|folder|workspace)(?:\s+(?:in|of|under)\s+(?:the\s+)?["'`]?([\w][\w./-]*)["'`]?)?|\bls\b|\bwhat\s+files\b/i;
const TIME = /\bwhat(?:'s|\s+is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date)\b|\b(?:tell|give)\s+(?:me\s+)?the\s+(?:time|date)\b|\bcurrent\s+time\b/i;
const SUM = /\b(?:calculate|compute|work\s+out|what(?:'s|\s+is)|how\s+much\s+is)\s+([-+(.\d][-+*/%^().\d\s×÷]*)/i;
const QUOTED = /^(["'`“])([\s\S]*)(["'`”])$/;

/** `write hello to notes.txt then read it` is two steps. An empty list: nothing was understood. */
export const stepsOf = (text: string): Step[] => {
  const steps: Step[] = [];
  let file: string | undefined;
  for (const clause of clausesOf(text.slice(0, MAX_CHARS).replace(LONG_BLANKS, '   ')).slice(0, MAX_STEPS)) {
    const step = stepOf(clause, file);
    if (!step) continue;
    if (step.do === 'call' && step.args.path !== undefined && step.tool !== 'file_list') file = step.args.path;
    steps.push(step);
  }
  return steps;
};

const BETWEEN = /(?:[,;.]\s*|\s+)(?:and\s+)?(?:then|after\s+that|afterwards)\s+|;\s+|\s+and\s+(?=(?:read|list|show|tell|calculate|compute|print)\b)/i;
/** Quotes that hold what would end a clause; others, such as quoted file names, are left alone. */
const QUOTED_CLAUSE = /(["`])(?=[^"`]*(?:;|\bthen\b|\band\b))[^"`]*\1|“[^“”]*”/gi;

/** What stands in quotes is one thing, whatever words are in it. */
const clausesOf = (text: string): string[] => {
  const kept: string[] = [];
  const masked = text.replaceAll('\uE000', '').replace(QUOTED_CLAUSE, (quote) => `\uE000${kept.push(quote) - 1}\uE000`);
  return masked.split(BETWEEN).map((clause) => clause.replace(/\uE000(\d+)\uE000/g, (_, index: string) => kept[Number(index)] ?? ''));
};

const stepOf = (clause: string, file: string | undefined): Step | undefined => {
  const create = CREATE_WITH.exec(clause);
  if (create) return { do: 'call', tool: 'file_write', args: { path: create[1] ?? '', content: unquoted(create[2] ?? '') } };
  const write = WRITE_TO.exec(clause);
  if (write) return { do: 'call', tool: 'file_write', args: { path: write[2] ?? '', content: unquoted(write[1] ?? '') } };
  const list = LIST.exec(clause);
  if (list) return { do: 'call', tool: 'file_list', args: { path: list[1] ?? '.' } };
  const read = READ.exec(clause);
  if (read) return { do: 'call', tool: 'file_read', args: { path: read[1] ?? '' } };
  if (file !== undefined && READ_IT.test(clause)) return { do: 'call', tool: 'file_read', args: { path: file } };
  if (TIME.test(clause)) return { do: 'call', tool: 'system_time', args: {} };
  return sumStep(clause);
};

const sumStep = (clause: string): Step | undefined => {
  const asked = SUM.exec(clause)?.[1]
    ?.trim()
    .replace(/(?<![.\s])[.\s]+$/, '');
  const value = asked === undefined ? undefined : calculate(asked);
  return value === undefined ? undefined : { do: 'say', text: `${asked} = ${value}` };
};

const unquoted = (text: string): string => QUOTED.exec(text.trim())?.[2] ?? text.trim();
