/**
 * What a conversation has read, in the form in which arguments are compared with it.
 *
 * C1  Text from outside and trusted text are two sets. What stands in both is trusted: a person named it.
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
  readonly trusted: ReadonlySet<string>;
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
  /** `echoed`: the arguments of the call whose result it is. What stands in them was not learned from the result. */
  addTrusted(text: string, echoed?: string): void;
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
  return {
    outside,
    addresses,
    hosts,
    trusted,
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
    addTrusted: (text, echoed) => {
      const echo = echoed === undefined ? undefined : squeezed([echoed, ...decodedForms(echoed)].join(' '));
      const isNew = (value: string): boolean => echo === undefined || !echo.includes(value);
      for (const one of identifiersIn(text)) {
        if (isNew(one.value)) trusted.add(one.value);
        if (one.host !== undefined && isNew(one.host)) trusted.add(one.host);
      }
      // Only what a person wrote is an instruction, and only its words count as theirs.
      if (echoed !== undefined) return;
      for (const [word] of readable(text).toLowerCase().matchAll(WORD)) words.add(bareWord(word));
      trustedText += `\n${squeezed(text)}`;
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

export const isTrusted = (corpora: readonly Corpus[], { value, host }: Identifier): boolean => corpora.some(({ trusted }) => trusted.has(value) || (host !== undefined && trusted.has(host)));
