/**
 * Facts in plain sentences, by rules: what is said of whom, where only one value holds at a time.
 *
 * X1  Two sentences with the same fact and another value: the later one replaces the earlier one, which is kept and says so.
 * X2  What people like or own can be many things at once: such sentences replace nothing.
 */
import { foldedText } from '@svc/api';

export interface Fact {
  /** Who and what: `me|residence`. */
  readonly key: string;
  readonly value: string;
}

type Rule = readonly [pattern: RegExp, relation: string | ((match: RegExpMatchArray) => string), value: number, subject?: number];

/** Stand between who and what, and are no part of a name. */
const BETWEEN = 'now|currently|just|recently|also|still|always|never|no|really';
const SUBJECT = String.raw`(?<who>i|we|he|she|[\p{L}][\p{L}'’-]{1,30}(?: (?!(?:${BETWEEN}) )[\p{L}][\p{L}'’-]{1,30})?)`;
const en = (body: string): RegExp => new RegExp(`^${SUBJECT} ${body}$`, 'u');

/** Of one sentence, folded, without its full stop. */
const RULES: readonly Rule[] = [
  [en(`(?:now |currently |just |recently )?(?:live|lives|reside|resides|moved|relocated|am living|is living|are living|have moved|has moved)(?: now| back)? (?:in|to) (.+)`), 'residence', 2],
  [en(`(?:now |currently )?(?:work|works|am working|is working)(?: now)? (?:at|for) (.+)`), 'employer', 2],
  [en(String.raw`(?:am|is|'m|just turned|turned) (\d{1,3})(?: years old)?`), 'age', 2],
  [en(`(?:was|were) born (?:in|on) (.+)`), 'birth', 2],
  [/^(?:my name is|call me|i am called|i'm called) (.+)$/u, 'name', 1],
  [/^(?:my|our) ([\p{L} '’-]{2,40}?) (?:is|are|was changed to|is now|changed to) (?:now )?(.+)$/u, ([, what = '']) => what, 2],
  [/^(?<who>[\p{L}][\p{L}'’-]{1,30})['’]s ([\p{L} '’-]{2,40}?) (?:is|are|is now|changed to) (?:now )?(.+)$/u, (match) => match[2] ?? '', 3],
  [/^the ([\p{L} '’-]{2,40}?) of (?<who>[\p{L}\p{N} '’-]{2,40}?) (?:is|are|is now) (?:now )?(.+)$/u, (match) => match[1] ?? '', 3],
  [/^(?:我|本人)(?:现在|目前)?(?:住在|搬到了?|搬去了?|居住在)(.+)$/u, 'residence', 1],
  [/^(?:我|本人)(?:现在|目前)?在(.+?)(?:工作|上班)$/u, 'employer', 1],
  [/^(?:我叫|我的名字(?:是|叫)|叫我)(.+)$/u, 'name', 1],
  [/^我(?:今年)?(\d{1,3})岁$/u, 'age', 1],
  [/^我的(.{1,12}?)(?:现在)?是(.+)$/u, ([, what = '']) => what, 2],
  [/^(?<who>[\p{L}]{2,4})(?:现在|目前)?(?:住在|搬到了?|搬去了?)(.+)$/u, 'residence', 2],
];
/** Begin a sentence like a name and are none. */
const NO_NAME: ReadonlySet<string> = new Set('he she it this that there they you what who when where how the a an and but so if my our your'.split(' '));

export const factOf = (content: string): Fact | undefined => {
  const sentence = foldedText(content)
    .replace(/\s+/g, ' ')
    .replace(/(?<![.!。！])[.!。！]+$/u, '')
    .trim();
  if (sentence.length > 200 || /[?？]/.test(sentence)) return undefined;
  for (const [pattern, relation, at] of RULES) {
    const match = sentence.match(pattern);
    if (!match) continue;
    const who = match.groups?.who ?? 'me';
    if (NO_NAME.has(who.split(' ')[0] ?? '')) continue;
    const named = typeof relation === 'string' ? relation : relation(match).trim();
    const value = (match[at] ?? '').trim();
    if (named === '' || value === '') continue;
    return { key: `${who === 'i' || who === 'we' ? 'me' : who}|${named.replace(/^favorite/, 'favourite')}`, value };
  }
  return undefined;
};

const MAX_OBJECT = 80;
const NAMING = /^(?:called|named|叫)\s*/u;
/** What an entity of a relation is; others are things. */
const TYPES: ReadonlyMap<string, string> = new Map<string, string>(Object.entries({ residence: 'place', employer: 'company', birth: 'time', age: 'number', name: 'name' }));

export interface FactTriple {
  readonly subject: string;
  readonly subjectType: string;
  readonly relation: string;
  readonly object: string;
  readonly objectType: string;
}

/** A fact for the graph: who, relation, value, as the text writes them. */
export const tripleOf = (content: string): FactTriple | undefined => {
  const fact = factOf(content);
  if (!fact) return undefined;
  const [subject = '', relation = ''] = fact.key.split('|');
  const object = fact.value.replace(NAMING, '').trim();
  if (object === '' || object.length > MAX_OBJECT) return undefined;
  return { subject: asWritten(content, subject), subjectType: 'person', relation, object: asWritten(content, object), objectType: TYPES.get(relation) ?? 'thing' };
};

/** Facts are folded; a name keeps its capitals where the text has it letter by letter. */
const asWritten = (content: string, folded: string): string => {
  const lower = content.toLowerCase();
  const at = lower.length === content.length ? lower.lastIndexOf(folded) : -1;
  return at < 0 || folded === 'me' ? folded : content.slice(at, at + folded.length);
};
