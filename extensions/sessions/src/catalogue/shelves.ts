/**
 * Where messages stand to be found: each owner has a shelf, and what is said gets the next place on it.
 *
 * H1  A word is kept with its shelf and its span of 8,192 places. So a search reads of one owner's words only, newest spans
 *     first, and costs no more than what one span holds at a time, however common the word and however much others said.
 * H2  Places grow with the order in which messages were read, which is that of their times but for moments.
 */
import { wordsOf } from '@svc/api';

export const SPAN_PLACES = 8_192;
/** A shelf has 2^32 places, and there can be 2^21 shelves: both together are a whole number that is exact. */
const SHELF_PLACES = 2 ** 32;
/** Different words of one message that are kept. */
const MAX_WORDS = 1_000;
/** Of a message, as a search shows it. */
const MAX_TEXT_CHARS = 2_000;

export interface Shelf {
  readonly number: number;
  /** The newest span and how many of its places are taken; undefined on an empty shelf. */
  readonly span: { readonly index: number; readonly size: number; readonly firstAt: string; readonly lastAt: string } | undefined;
}

export interface SaidMessage {
  readonly sessionId: string;
  readonly agentId: string;
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  readonly at: string;
  readonly text: string;
}

export interface ShelvedMessage extends Omit<SaidMessage, 'agentId'> {
  readonly ordinal: number;
  readonly words: readonly string[];
}

export const placeOf = (number: number, ordinal: number): number => number * SHELF_PLACES + ordinal;
export const ordinalOf = (place: number): number => place % SHELF_PLACES;
export const nextOrdinal = ({ span }: Pick<Shelf, 'span'>): number => (span ? span.index * SPAN_PLACES + span.size : 0);

/** One that can be found has its words with the place; what is shown of it is its beginning. */
export const shelved = (shelf: Pick<Shelf, 'number'>, ordinal: number, { agentId, ...message }: SaidMessage): ShelvedMessage => {
  const span = Math.floor(ordinal / SPAN_PLACES);
  const tags = [agentTag(shelf.number, span, agentId), sessionTag(shelf.number, span, message.sessionId)];
  return {
    ...message,
    text: message.text.slice(0, MAX_TEXT_CHARS),
    ordinal,
    words: [...wordsOf(message.text, MAX_WORDS).map((word) => wordTag(shelf.number, span, word)), ...tags],
  };
};

export const wordTag = (number: number, span: number, word: string): string => `${number}w${span}w${word}`;
export const agentTag = (number: number, span: number, agentId: string): string => `${number}a${span}a${tailOf(agentId)}`;
export const sessionTag = (number: number, span: number, sessionId: string): string => `${number}s${span}s${tailOf(sessionId)}`;

/** The part of an id in which ids of one moment differ. Who finds by it still compares the whole id. */
const tailOf = (id: string): string => id.replaceAll('-', '').slice(-16).toLowerCase();
