/**
 * What a conversation has read, in the form in which arguments are compared with it.
 *
 * C1  Text from outside and trusted text are two sets. What stands in both is trusted where a person named it. What only a file of the
 *     agent names, and text from outside too, is from outside: it may have come into the file from there.
 * C2  Trust needs the whole identifier; for text from outside a part of a longer one is enough.
 * C3  A conversation that is too long to be compared counts as holding everything: nothing that is not in trusted text passes.
 */
import type { Origin, TaintLabel } from '@svc/api';
import { addressesIn, type Identifier, namesIn } from './identifiers.js';
import { bareWord, decodedForms, readable, squeezed } from './normal-text.js';

export interface Source {
  readonly labels: readonly TaintLabel[];
  /** What to call it: the tool, and the host or file behind it. */
  readonly name: string;
}

export const sourceOf = ({ labels, source }: Pick<Origin, 'labels' | 'source'>): Source => ({ labels, name: source });

export interface Corpus {
  readonly outside: ReadonlyArray<{ readonly text: string; readonly source: Source }>;
  /** Addresses in text from outside, for whoever splits one over several arguments. */
  readonly addresses: ReadonlyMap<string, Source>;
  /** Hosts in text from outside. */
  readonly hosts: ReadonlyMap<string, Source>;
  /** What a person named. */
  readonly trusted: ReadonlySet<string>;
  /** What results of tools named that read the agent's own files. */
  readonly own: ReadonlySet<string>;
  /** Words of trusted text. */
  readonly words: ReadonlySet<string>;
  /** Trusted text as it is compared: for whole commands. */
  readonly trustedText: string;
  /** Ids of rules that text from outside broke, with where. */
  readonly hits: ReadonlyArray<{ readonly ids: readonly string[]; readonly source: Source }>;
  readonly isFull: boolean;
}

export interface GrowingCorpus extends Corpus {
  addOutside(text: string, source: Source): void;
  /** What the person wrote. */
  addTrusted(text: string): void;
  /** What the person had the agent be: it names what may be used, and gives no order. */
  addInstructions(text: string): void;
  /** A result of a tool that reads the agent's own files. What stands in the arguments of its call (`echoed`) was not learned from it. */
  addOwn(text: string, echoed: string): void;
  addHit(ids: readonly string[], source: Source): void;
  readonly chars: number;
}

const MAX_CHARS = 4_000_000;
const MAX_ADDRESSES = 4_000;
const MIN_ADDRESS_CHARS = 6;
const WORD = /[\p{L}\p{N}_@.+-]+/gu;

export const createCorpus = (): GrowingCorpus => {
  const outside: Array<{ text: string; source: Source }> = [];
  const addresses = new Map<string, Source>();
  const hosts = new Map<string, Source>();
  const trusted = new Set<string>();
  const own = new Set<string>();
  const words = new Set<string>();
  const hits: Array<{ ids: readonly string[]; source: Source }> = [];
  let trustedText = '';
  let chars = 0;
  const note = (text: string, source: Source): void => {
    const form = squeezed(text);
    chars += form.length;
    if (chars <= MAX_CHARS) outside.push({ text: form, source });
    for (const { value, host } of addressesIn(text)) {
      if (addresses.size < MAX_ADDRESSES && value.length >= MIN_ADDRESS_CHARS && !addresses.has(value)) addresses.set(value, source);
      if (host !== undefined && hosts.size < MAX_ADDRESSES && !hosts.has(host)) hosts.set(host, source);
    }
  };
  const name = (names: Set<string>, text: string, isNew: (value: string) => boolean = () => true): void => {
    for (const { value, host } of identifiersIn(text)) {
      if (isNew(value)) names.add(value);
      if (host !== undefined && isNew(host)) names.add(host);
    }
  };
  return {
    outside,
    addresses,
    hosts,
    trusted,
    own,
    words,
    hits,
    get trustedText() {
      return trustedText;
    },
    get isFull() {
      return chars > MAX_CHARS;
    },
    get chars() {
      return chars + trustedText.length;
    },
    addOutside: (text, source) => {
      note(text, source);
      for (const form of decodedForms(text)) note(form, source);
    },
    addTrusted: (text) => {
      name(trusted, text);
      // Only what a person wrote is an instruction, and only its words count as theirs.
      for (const [word] of readable(text).toLowerCase().matchAll(WORD)) words.add(bareWord(word));
      trustedText += `\n${squeezed(text)}`;
    },
    addInstructions: (text) => name(trusted, text),
    addOwn: (text, echoed) => {
      const echo = squeezed([echoed, ...decodedForms(echoed)].join(' '));
      name(own, text, (value) => !echo.includes(value));
    },
    addHit: (ids, source) => void hits.push({ ids, source }),
  };
};

/** All that a longer text names: its addresses, and the names among its words. */
const identifiersIn = (text: string): Identifier[] => [...addressesIn(text), ...text.split(/[\s"'`,;()<>]+/).flatMap(namesIn)];

/** Where text from outside says this; undefined where it does not. */
export const outsideSourceOf = (corpora: readonly Corpus[], value: string): Source | undefined => {
  for (const { outside } of corpora) {
    const found = outside.find(({ text }) => text.includes(value));
    if (found) return found.source;
  }
  return undefined;
};

/** By a person, or by a file of the agent that says what no text from outside says (C1). */
export const isTrusted = (corpora: readonly Corpus[], { value, host }: Identifier): boolean =>
  [value, ...(host === undefined ? [] : [host])].some(
    (one) => corpora.some(({ trusted }) => trusted.has(one)) || (corpora.some(({ own }) => own.has(one)) && outsideSourceOf(corpora, one) === undefined),
  );
