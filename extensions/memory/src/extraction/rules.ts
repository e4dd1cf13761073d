/**
 * Facts in what people say, by rules: they cost nothing and never invent.
 *
 * X3  A fact is a whole sentence of somebody, as they said it; never a whole exchange.
 * X4  Questions, greetings, commands, code, quotations and secrets are no facts.
 */
import { foldedText } from '@svc/api';
import { factOf } from '../entries/facts.js';
import { secretIn } from '../entries/secrets.js';

export interface SaidMessage {
  readonly role: string;
  readonly content: string;
}

export interface ExtractedFact {
  readonly content: string;
  readonly category: string | null;
  readonly confidence: number;
  readonly role: string;
}

const MIN_CHARS = 6;
const MAX_CHARS = 300;
const MAX_FACTS = 20;
const MAX_SENTENCES = 400;
/** A model's own statements are not what a person said. */
const OWN_SHARE = 0.55;

type Pattern = readonly [pattern: RegExp, category: string | null, confidence: number];

/** Of a sentence, folded. */
const PATTERNS: readonly Pattern[] = [
  [/^(?:please |and |also )?(?:remember|note|keep in mind|don't forget|do not forget)(?: that|:| this:)? .{4,}/u, null, 1],
  [/^(?:请)?(?:记住|记得|别忘了)[，,：: ]?.{2,}/u, null, 1],
  [/\b(?:call me|answer me|reply to me|talk to me|speak to me|address me)\b/u, 'communication_style', 0.9],
  [
    /\b(?:i|we) (?:(?:really|also|always|usually|still|do|absolutely|would) )*(?:like|love|enjoy|prefer|adore|hate|dislike|can't stand|cannot stand|don't like|do not like|don't eat|do not eat|never eat|avoid)\b/u,
    'preference',
    0.85,
  ],
  [/\bmy (?:favou?rite|preferred)\b/u, 'preference', 0.9],
  [/\b(?:i am|i'm) (?:\w+ )?(?:allergic|vegan|vegetarian|intolerant|diabetic|left-handed|colou?r ?blind|married|divorced|retired|pregnant)\b/u, 'personal_detail', 0.95],
  [
    /\b(?:i|we) (?:have|own|got|adopted|bought) (?:a|an|two|three|four|some|my) (?:\w+ )?(?:dog|cat|son|daughter|child|children|kid|kids|brother|sister|house|flat|car|bike|boat|garden|\w+)\b/u,
    'personal_detail',
    0.75,
  ],
  [/\b(?:i am|i'm) (?:a|an) [\p{L} -]{3,40}(?: at | for | in |$)/u, 'personal_detail', 0.8],
  [
    /\bmy (?:wife|husband|partner|son|daughter|mother|father|mum|mom|dad|brother|sister|boss|manager|team|company|dog|cat|birthday|name|phone|flat|house|car|doctor|office|landlord|neighbou?r|colleague|friend|time ?zone|native language)\b.{0,30}\b(?:is|are|was|lives|works|likes|has|moved)\b/u,
    'personal_detail',
    0.85,
  ],
  [
    /\b(?:i|we) (?:work|am working|are working|study|am studying|am learning|speciali[sz]e|build|am building|are building|run|manage|lead|maintain)\b(?: (?:at|for|on|in|as|with|a|an|the))/u,
    'work_style',
    0.8,
  ],
  [
    /\b(?:the|our|my) (?:deadline|meeting|launch|release|appointment|flight|wedding|exam|trip|project|budget|interview|conference|review)\b.{0,60}\b(?:is|are|was|moved|starts|begins|ends|changed)\b/u,
    'project_context',
    0.85,
  ],
  [/\b(?:i|we) (?:decided|agreed|chose|switched|moved|use|are using|started using|stopped using)\b/u, 'project_context', 0.75],
  [
    /^(?:i|we) (?:(?:also|always|usually|often|still|only|never|mostly) )*(?:drive|ride|play|speak|collect|wear|drink|cook|bake|sing|grow|teach|own|rent|commute|volunteer|smoke|was born|were born|grew up|quit|gave up) /u,
    'personal_detail',
    0.75,
  ],
  [/(?:我|我们)(?:很|最|不|非常|特别|更|比较)*(?:喜欢|爱|讨厌|偏好|爱吃|爱喝|不吃|不喝)/u, 'preference', 0.85],
  [/我对.{1,12}过敏|我是.{2,20}|我有(?:一|两|三|个|只|条).{1,20}|我的.{1,12}(?:是|叫|在).{1,30}/u, 'personal_detail', 0.85],
];
const GREETING = /^(?:hi|hello|hey|thanks|thank you|good (?:morning|evening|night)|bye|ok|okay|yes|no|sure|great|你好|谢谢|早上好|再见|好的)\b[\s\S]{0,20}$/iu;
const HYPOTHETICAL = /^(?:if|imagine|suppose|pretend|what if|let's say|assume|for example|e\.g\.|假设|如果)\b/iu;
const REPORTED = /\b(?:he|she|they|it|somebody|someone|the (?:page|article|author|text|document|email)) (?:said|says|wrote|writes|claims?|told)\b/iu;

/** At least `threshold` sure; each fact once. */
export const factsIn = (messages: readonly SaidMessage[], threshold: number): ExtractedFact[] => {
  const found = new Map<string, ExtractedFact>();
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'assistant') continue;
    for (const sentence of sentencesOf(content)) {
      const fact = factIn(sentence, role);
      if (!fact || fact.confidence < threshold || found.has(foldedText(fact.content))) continue;
      found.set(foldedText(fact.content), fact);
      if (found.size === MAX_FACTS) return [...found.values()];
    }
  }
  return [...found.values()];
};

/** Without code, quotations and what is a command to svc. */
const sentencesOf = (content: string): string[] => {
  if (content.trimStart().startsWith('/')) return [];
  const prose = content
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/^[^\S\n]*>.*$/gm, '')
    .replace(/<[^>\n]{1,200}>/g, ' ');
  return prose
    .split(/(?<=[.!?。！？；])\s*(?=\S)|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '')
    .slice(0, MAX_SENTENCES);
};

const factIn = (sentence: string, role: string): ExtractedFact | undefined => {
  const length = [...sentence].length;
  if (length < MIN_CHARS || length > MAX_CHARS || /[?？]\s*$/.test(sentence) || GREETING.test(sentence) || HYPOTHETICAL.test(sentence) || REPORTED.test(sentence)) return undefined;
  if (secretIn(sentence) !== undefined) return undefined;
  const folded = foldedText(sentence).replace(/[’]/g, "'");
  if (/^(?:can|could|would|will|do|does|did|is|are|what|when|where|who|why|how|which|should|have you)\b/.test(folded)) return undefined;
  const share = role === 'user' ? 1 : OWN_SHARE;
  const known = PATTERNS.find(([pattern]) => pattern.test(folded));
  const fact = factOf(sentence);
  if (!known && !fact) return undefined;
  const [, category, confidence] = known ?? [undefined, 'personal_detail', 0.85];
  return { content: contentOf(sentence), category: category ?? (fact ? 'personal_detail' : null), confidence: Math.max(confidence, fact ? 0.85 : 0) * share, role };
};

/** "Remember that X" says X. */
const contentOf = (sentence: string): string => {
  const what = sentence
    .replace(/^(?:please |and |also )?(?:remember|note|keep in mind|don['’]t forget|do not forget)(?: that\b|:| this:)?\s+/iu, '')
    .replace(/^(?:请)?(?:记住|记得|别忘了)[，,：: ]?/u, '');
  return what === sentence || what === '' ? sentence : what.charAt(0).toUpperCase() + what.slice(1);
};
