/**
 * Whether a call would carry something from where it came to where it must not go. A pure function of what the conversation has
 * read and of the call.
 *
 * F1  A call that acts passes where each address, account, id, path and command in it is trusted, or stands in no text from outside.
 * F2  Free text passes, wherever it comes from: what counts is where it goes and what addresses it holds.
 * F3  A link is followed as it was read. One whose host was read and whose rest was not would carry something out.
 * F4  Secrets and personal details leave in a request, and secrets in a message, only where the person wrote them.
 * F5  After text from outside that tried to give orders, a call that acts passes only where all its values are the person's words.
 * F6  Files in the agent's own workspace are no destination: what is written there keeps its labels (files.ts).
 * F7  A call that destroys, pays or changes who has access passes only where one of its values is the person's, or none stands in text
 *     from outside (grave.ts).
 */
import type { TaintLabel, ToolRequest } from '@svc/api';
import { isTooDeep, type Leaf, leavesOf } from './arguments.js';
import { addressWords, bareCommand, commandForms, runsText } from './commands.js';
import { type Corpus, isTrusted, outsideSourceOf, type Source } from './corpus.js';
import { detect } from './detectors.js';
import { isGrave } from './grave.js';
import { addressesIn, type Identifier, namesIn } from './identifiers.js';
import { bareWord, decodedForms, readable, squeezed } from './normal-text.js';

export const SINKS = ['shell_exec', 'net_fetch', 'agent_message', 'tool_call'] as const;
export type Sink = (typeof SINKS)[number];

export interface Flow {
  readonly sink: Sink;
  readonly label: TaintLabel;
  readonly source: string;
  /** What of the call it is, in words that go before "from SOURCE" or stand alone. Never the value of a secret. */
  readonly what: string;
  /** Of detectors and injection rules. */
  readonly rules: readonly string[];
}

type Call = Pick<ToolRequest, 'tool' | 'args' | 'needs'>;

/** What a tool's own words do not tell: it hands its text to a program. */
const SHELL_TOOLS: ReadonlySet<string> = new Set(['process_write']);
const DETECTED: Readonly<Record<Sink, ReadonlySet<TaintLabel>>> = {
  shell_exec: new Set(),
  net_fetch: new Set<TaintLabel>(['Secret', 'Pii']),
  agent_message: new Set<TaintLabel>(['Secret']),
  tool_call: new Set(),
};
const TOO_LONG: Source = { labels: ['ExternalNetwork'], name: 'a conversation that is too long to compare' };
const MAX_SPLIT_CHARS = 4_000;
/** A longer value is free text and no part of an address. */
const MAX_PART_CHARS = 300;
const MIN_WORDS_CHARS = 4;
const WORD = /[\p{L}\p{N}_@.+-]+/gu;

/** Undefined for a call that only reads. */
export const sinkOf = ({ tool }: Pick<Call, 'tool'>): Sink | undefined => {
  if (tool.risk === 'exec' || SHELL_TOOLS.has(tool.name)) return 'shell_exec';
  if (tool.risk === 'network' || (tool.risk === 'read' && tool.openWorld !== false)) return 'net_fetch';
  if (tool.risk === 'agent') return 'agent_message';
  return tool.risk === 'write' ? 'tool_call' : undefined;
};

/** It changes nothing but files of the agent's workspace. */
const staysInWorkspace = ({ tool, needs }: Call): boolean => tool.risk === 'write' && needs.length > 0 && needs.every(({ capability }) => capability === 'file_system');

export const flowOf = (corpora: readonly Corpus[], call: Call): Flow | undefined => {
  const sink = sinkOf(call);
  if (sink === undefined) return undefined;
  const leaves = leavesOf(call.args);
  return fromDetectors(corpora, sink, call, leaves) ?? fromOutside(corpora, sink, call, leaves) ?? afterInjection(corpora, sink, call, leaves);
};

const fromOutside = (corpora: readonly Corpus[], sink: Sink, call: Call, leaves: readonly Leaf[]): Flow | undefined => {
  if (sink === 'shell_exec') return ofCommand(corpora, lineOf(call, leaves));
  if (corpora.every(({ outside }) => outside.length === 0)) return undefined;
  if (isTooDeep(leaves)) return { ...flow(sink, 'arguments too large to compare with text', TOO_LONG) };
  if (staysInWorkspace(call) || call.tool.name === 'agent_send') return undefined;
  if (sink === 'net_fetch') return ofAddresses(corpora, sink, leaves) ?? (call.tool.risk === 'network' ? ofSplitAddress(corpora, sink, leaves) : undefined);
  return ofAddresses(corpora, sink, leaves) ?? ofSplitAddress(corpora, sink, leaves) ?? ofGraveCall(corpora, sink, call, leaves);
};

const ofGraveCall = (corpora: readonly Corpus[], sink: Sink, { tool }: Call, leaves: readonly Leaf[]): Flow | undefined => {
  const values = leaves.filter(({ text }) => squeezed(text) !== '');
  if (!isGrave(tool.name) || values.some(({ text }) => isPersons(corpora, text))) return undefined;
  for (const { text } of values) {
    const source = text.length <= MAX_PART_CHARS ? sourceIn(corpora, squeezed(text)) : undefined;
    if (source) return flow(sink, 'what is to be deleted, paid or allowed, which', source);
  }
  return undefined;
};

const ofAddresses = (corpora: readonly Corpus[], sink: Sink, leaves: readonly Leaf[]): Flow | undefined => {
  for (const { text } of leaves) {
    for (const form of [text, ...decodedForms(text)]) {
      for (const one of [...addressesIn(form), ...(sink === 'tool_call' || sink === 'agent_message' ? namesIn(form) : [])]) {
        const source = originOf(corpora, one, sink === 'net_fetch');
        if (source) return flow(sink, `${WHAT[one.kind]} that`, source);
      }
    }
  }
  return undefined;
};

const WHAT: Readonly<Record<Identifier['kind'], string>> = {
  url: 'an address',
  host: 'a host',
  email: 'an email address',
  account: 'an account or phone number',
  id: 'an id',
  path: 'a path',
  token: 'a value',
};

/** Undefined where it may go. */
const originOf = (corpora: readonly Corpus[], one: Identifier, isFetch: boolean): Source | undefined => {
  if (isTrusted(corpora, one)) return undefined;
  const whole = sourceIn(corpora, one.value);
  if (isFetch && (one.kind === 'url' || one.kind === 'host')) {
    // A link that was read may be followed (F3).
    if (whole && whole !== TOO_LONG) return undefined;
    return one.host === undefined ? whole : hostSource(corpora, one.host);
  }
  return whole ?? (one.host === undefined ? undefined : hostSource(corpora, one.host));
};

/** Of the host, or of one above it: `notes.evil.example` tells whoever answers for `evil.example` what stands before it. */
const hostSource = (corpora: readonly Corpus[], host: string): Source | undefined => {
  const direct = sourceIn(corpora, host);
  if (direct) return direct;
  const labels = host.split('.');
  for (let at = 1; at < labels.length - 1; at += 1) {
    const above = labels.slice(at).join('.');
    for (const { hosts } of corpora) {
      const source = hosts.get(above);
      if (source) return source;
    }
  }
  return undefined;
};

const sourceIn = (corpora: readonly Corpus[], value: string): Source | undefined => outsideSourceOf(corpora, value) ?? (corpora.some(({ isFull }) => isFull) ? TOO_LONG : undefined);

/** An address that no argument has, and all of them together have. */
const ofSplitAddress = (corpora: readonly Corpus[], sink: Sink, leaves: readonly Leaf[]): Flow | undefined => {
  const values = leaves.filter(({ text }) => text.length <= MAX_PART_CHARS).map(({ text }) => squeezed(text));
  const joined = values.join('');
  if (values.length < 2 || joined.length > MAX_SPLIT_CHARS) return undefined;
  // Between the parts of an address, a tool puts these.
  const forms = [joined, values.join('.'), values.join('@'), values.join('/')];
  for (const { addresses } of corpora)
    for (const [address, source] of addresses)
      if (forms.some((form) => form.includes(address)) && !values.some((value) => value.includes(address)) && !isTrusted(corpora, asIdentifier(address)))
        return flow(sink, 'an address, in parts, that', source);
  return undefined;
};

const asIdentifier = (value: string): Identifier => ({ kind: 'url', value, host: value.slice(value.indexOf('@') + 1).split('/')[0] ?? value });

const lineOf = ({ needs }: Call, leaves: readonly Leaf[]): string => needs.find(({ capability }) => capability === 'shell')?.target ?? leaves.map(({ text }) => text).join(' ');

const ofCommand = (corpora: readonly Corpus[], line: string): Flow | undefined => {
  if (corpora.some(({ trustedText }) => trustedText.includes(squeezed(line)))) return undefined;
  if (runsText(line)) return flow('shell_exec', 'a command that runs what it downloads or decodes', { labels: ['ExternalNetwork'], name: '' });
  if (corpora.every(({ outside }) => outside.length === 0)) return undefined;
  for (const text of [line, ...decodedForms(line)]) {
    const bare = bareCommand(text);
    const named = [...addressesIn(bare), ...addressWords(bare).flatMap((word) => addressesIn(word.includes('://') ? word : `http://${word}`))];
    for (const one of named) {
      const source = originOf(corpora, one, false);
      if (source) return flow('shell_exec', `${WHAT[one.kind]} that`, source);
    }
    for (const form of commandForms(text)) {
      if (corpora.some(({ trustedText }) => trustedText.includes(form))) continue;
      const source = sourceIn(corpora, form);
      if (source) return flow('shell_exec', 'a command that', source);
    }
  }
  return ofHiddenAddress(corpora, line);
};

/** `e v i l . c o m`, or in pieces that the shell puts together. */
const ofHiddenAddress = (corpora: readonly Corpus[], line: string): Flow | undefined => {
  if (line.length > MAX_SPLIT_CHARS) return undefined;
  const form = squeezed(line).replace(/[${}+,();=]/g, '');
  for (const { addresses } of corpora)
    for (const [address, source] of addresses)
      if (form.includes(address.replace(/[${}+,();=]/g, '')) && !isTrusted(corpora, asIdentifier(address))) return flow('shell_exec', 'an address that', source);
  return undefined;
};

const fromDetectors = (corpora: readonly Corpus[], sink: Sink, call: Call, leaves: readonly Leaf[]): Flow | undefined => {
  const labels = call.tool.name.startsWith('mcp_') ? DETECTED.net_fetch : call.tool.risk === 'read' ? DETECTED.tool_call : DETECTED[sink];
  if (labels.size === 0) return undefined;
  const found = detect(leaves, labels).filter(({ value }) => !corpora.some(({ trustedText }) => trustedText.includes(squeezed(value))));
  const [first] = found;
  if (!first) return undefined;
  const what = first.label === 'Secret' ? 'what looks like a secret' : 'personal details';
  return { sink, label: first.label, source: '', what, rules: [...new Set(found.map(({ rule }) => rule))] };
};

const afterInjection = (corpora: readonly Corpus[], sink: Sink, call: Call, leaves: readonly Leaf[]): Flow | undefined => {
  if (call.tool.risk === 'read') return undefined;
  const hit = corpora.flatMap(({ hits }) => hits)[0];
  if (!hit || isAllPersons(corpora, leaves)) return undefined;
  return { ...flow(sink, 'values that you did not write, after instructions that', hit.source), rules: hit.ids };
};

/** All words are the person's, and at least one value says enough to be recognised as theirs. */
const isAllPersons = (corpora: readonly Corpus[], leaves: readonly Leaf[]): boolean => {
  return !isTooDeep(leaves) && leaves.some(({ text }) => squeezed(text).length >= MIN_WORDS_CHARS && /\p{L}/u.test(text)) && leaves.every(({ text }) => isPersons(corpora, text));
};

/** Whether the person wrote each of its words. */
const isPersons = (corpora: readonly Corpus[], text: string): boolean => [...readable(text).toLowerCase().matchAll(WORD)].every(([word]) => corpora.some(({ words }) => words.has(bareWord(word))));

const flow = (sink: Sink, what: string, { labels, name }: Source): Flow => ({ sink, label: labels[0] ?? 'ExternalNetwork', source: name, what, rules: [] });
