/**
 * Blocks of code that an answer brings, and which of them can be opened beside it. Blocks of one language and title within a
 * conversation are versions of the same artifact.
 */
import type { Token, Tokens } from 'marked';
import { lexed } from './math-tokens.js';
import type { Part } from './live-run.js';
import type { Turn } from './turns.js';

export interface Artifact {
  /** As the fence says, in small letters. */
  readonly language: string;
  /** A file name, or the title that a document gives itself; empty where it has none. */
  readonly title: string;
  readonly text: string;
  /** Its fence is closed. */
  readonly isWhole: boolean;
}

/** From this many lines on, code is read better beside an answer. */
const LONG_LINES = 15;
const MAX_TITLE_CHARS = 120;
const FILE_NAME = /^[\w@()[\]./-]{1,200}\.[A-Za-z0-9]{1,10}$/;
/** The first line of code, where it is a comment that names the file. */
const NAMING_COMMENT = /^(?:\/\/|#|--|;|\/\*|<!--)\s*(?:file(?:name)?:\s*)?(\S+)\s*(?:\*\/|-->)?$/i;

const titleIn = (text: string): string | undefined => /<title>\s*([^<]+?)\s*<\/title>/i.exec(text.slice(0, 10_000))?.[1];

const titleOf = (info: string, language: string, text: string): string => {
  const named = /\b(?:title|file|filename|name)=(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(info);
  const inInfo = named ? (named[1] ?? named[2] ?? named[3]) : info.split(/\s+/).find((word) => FILE_NAME.test(word));
  const inComment = NAMING_COMMENT.exec(text.slice(0, 300).split('\n', 1)[0]?.trim() ?? '')?.[1];
  const found = inInfo ?? (inComment !== undefined && FILE_NAME.test(inComment) ? inComment : undefined) ?? (isMarkup(language) ? titleIn(text) : undefined);
  return (found ?? '').slice(0, MAX_TITLE_CHARS);
};

const isMarkup = (language: string): boolean => language === 'html' || language === 'svg' || language === 'xml';

/** A fence that is not closed reaches to the end of its text. */
const isClosed = ({ raw, codeBlockStyle }: Tokens.Code): boolean => {
  if (codeBlockStyle === 'indented') return true;
  const [, fence = '```'] = /^ {0,3}(`{3,}|~{3,})/.exec(raw) ?? [];
  const last = raw.trimEnd().split('\n').slice(1).at(-1)?.trim() ?? '';
  return last.length >= fence.length && last === fence[0]?.repeat(last.length);
};

export const artifactOf = (token: Tokens.Code): Artifact => {
  const [named = '', ...info] = (token.lang ?? '').split(/\s+/);
  const written = named.toLowerCase();
  // Models call a picture XML as often as SVG.
  const language = written === 'xml' && /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]/.test(token.text.slice(0, 1_000)) ? 'svg' : written;
  return { language, title: titleOf(info.join(' '), language, token.text), text: token.text, isWhole: isClosed(token) };
};

/** Long code, documents, and pictures. */
export const isOpenable = ({ language, text }: Artifact): boolean =>
  language === 'svg' || language === 'mermaid' || (language === 'html' && /<(?:!doctype|html|body)\b/i.test(text.slice(0, 1_000))) || text.split('\n', LONG_LINES + 1).length > LONG_LINES;

/** It can be seen, not only read. */
export const isPreviewed = ({ language }: Pick<Artifact, 'language'>): boolean => language === 'html' || language === 'svg' || language === 'mermaid';

/** All blocks of code, in order, those within lists and quotes among them. */
export const artifactsIn = (text: string): readonly Artifact[] => {
  const found: Artifact[] = [];
  const walk = (tokens: readonly Token[]): void => {
    for (const token of tokens as readonly Tokens.Generic[]) {
      if (token.type === 'code')
        found.push(artifactOf(token as Tokens.Code)); // its type says so
      else for (const inner of [token.tokens, token['items']]) if (inner) walk(inner);
    }
  };
  walk(lexed(text));
  return found;
};

const known = new WeakMap<Part, readonly Artifact[]>();

const ofPart = (part: Part): readonly Artifact[] => {
  if (part.kind !== 'text') return [];
  const found = known.get(part) ?? artifactsIn(part.text);
  known.set(part, found);
  return found;
};

/** Those of a conversation: what is said later is behind what was said before, so that places stay the same. */
export const artifactsOf = (turns: readonly Turn[]): readonly Artifact[] => turns.flatMap(({ parts }) => parts.flatMap(ofPart));

/** Where the block is that somebody saw, which may have grown since. -1: nowhere. */
export const placeOf = (all: readonly Artifact[], { language, text }: Pick<Artifact, 'language' | 'text'>): number => {
  const exact = all.findLastIndex((one) => one.language === language && one.text === text);
  return exact >= 0 ? exact : all.findLastIndex((one) => one.language === language && one.text.startsWith(text));
};

/** Places of all versions of the one at this place; only of itself where it has no title. */
export const versionsOf = (all: readonly Artifact[], place: number): readonly number[] => {
  const one = all[place];
  if (!one || one.title === '') return [place];
  return all.flatMap((other, at) => (at === place || (other.language === one.language && other.title === one.title && isOpenable(other)) ? at : []));
};

const ENDINGS: Readonly<Record<string, string>> = {
  bash: 'sh',
  csharp: 'cs',
  'c++': 'cpp',
  javascript: 'js',
  kotlin: 'kt',
  markdown: 'md',
  mermaid: 'mmd',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  shell: 'sh',
  typescript: 'ts',
  yaml: 'yml',
};

/** Under which it is saved. */
export const fileNameOf = ({ language, title }: Pick<Artifact, 'language' | 'title'>): string => {
  const name = FILE_NAME.test(title) ? title.slice(title.lastIndexOf('/') + 1) : '';
  if (name !== '' && !name.startsWith('.')) return name;
  const base = title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  const ending = ENDINGS[language] ?? (/^[a-z0-9]{1,10}$/.test(language) ? language : 'txt');
  return `${base === '' ? 'code' : base}.${ending}`;
};
