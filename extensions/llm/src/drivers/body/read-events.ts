/**
 * The events of an answer, whatever form the server gives it.
 *
 * E1  A stream of server-sent events: with a mark of byte order, comments, any line ends, several events without a blank line between them, lines of
 *     JSON without `data:`, and without the blank line after the last.
 * E2  JSON instead of a stream is events too: one whole answer, a list of them, one after the other, one a line.
 * E3  An event named `error` is a failure with the provider's words, whatever its form.
 * E4  A page, and a text that is neither, is garbage that names its beginning: asking again is no use.
 */
import type { FetchResponse } from '@svc/api';
import { createParser } from 'eventsource-parser';
import type { Codes } from '../../call/classification.js';
import { failureInStream, ModelFailure } from '../../call/model-failure.js';
import { withoutSecrets } from '../../call/secret-words.js';
import { createLineEnds } from '../line-ends.js';
import { objectsIn, tableIn } from './json-values.js';
import { createUnpacker } from './unpacker.js';

/** One event of a model is a few hundred bytes; a line that never ends is not a stream. */
const MAX_EVENT_CHARS = 4_000_000;
/** Some 200,000 tokens, each an event of its own. Without it a stream of thoughts or of comments may go on for as long as its deadline. */
const MAX_STREAM_BYTES = 64 * 1_048_576;
const MAX_TAIL_BYTES = 65_536;
const MAX_WHOLE_CHARS = 16_000_000;
const MAX_UNREAD_CHARS = 20_000;
const MAX_SHOWN_CHARS = 300;

interface Meaning {
  readonly codes: Codes;
  readonly statuses?: Readonly<Record<string, number>>;
}

/** Told the data of each event as it comes; true when it was the protocol's last one. What it throws ends the exchange. */
export type OnEvent = (data: string) => boolean;

/** One form of an answer, fed with its text. */
interface Reader {
  feed(text: string): void;
  /** The body has ended. */
  end(): void;
}

export const readEvents = (response: FetchResponse, meaning: Meaning, onEvent: OnEvent): Promise<void> =>
  new Promise((resolve, reject) => {
    // One decoder for the whole body: a letter may be cut in two by a packet. It drops a mark of byte order.
    const decoder = new TextDecoder();
    const lineEnds = createLineEnds();
    const state = { isComplete: false };
    let reader: Reader | undefined;
    let bytes = 0;
    let tailBytes = 0;
    const deliver = (data: string): void => {
      if (!state.isComplete) state.isComplete = onEvent(data);
    };
    const feed = (text: string): void => {
      if (reader === undefined) {
        const begun = text.trimStart();
        if (begun === '') return;
        reader = readerOf(begun, response.headers['content-type'] ?? '', meaning, deliver, state);
      }
      reader.feed(text);
    };
    const take = (piece: Uint8Array): void => {
      if (state.isComplete) {
        skipTail(piece);
        return;
      }
      bytes += piece.byteLength;
      if (bytes > MAX_STREAM_BYTES) throw new ModelFailure('garbage', 'the answer is longer than 64 MB', { httpStatus: 200 });
      feed(lineEnds(decoder.decode(piece, { stream: true })));
      if (state.isComplete) resolve();
    };
    /**
     * What follows the last event, usually the end of the body alone, is read so that the connection serves the next call.
     * Nobody waits for it: a server that keeps the body open is ended by the exchange's own deadlines.
     */
    const skipTail = (piece: Uint8Array): void => {
      tailBytes += piece.byteLength;
      if (tailBytes > MAX_TAIL_BYTES) throw new RangeError('the body goes on after its last event');
    };
    const end = (): void => {
      if (!state.isComplete) reader?.end();
      resolve();
    };
    createUnpacker(response.headers['content-encoding'], take).all(response).then(end).catch(reject);
  });

const readerOf = (begun: string, type: string, meaning: Meaning, deliver: (data: string) => void, state: { readonly isComplete: boolean }): Reader => {
  if (begun.startsWith('<')) return pageReader(type);
  return begun.startsWith('{') || begun.startsWith('[') ? jsonReader(deliver) : eventReader(meaning, deliver, state);
};

/** E1, E3. */
const eventReader = (meaning: Meaning, deliver: (data: string) => void, state: { readonly isComplete: boolean }): Reader => {
  let lastLine = '';
  let hasEvents = false;
  let unread = '';
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data, event }) => {
      hasEvents = true;
      if (state.isComplete || data === '') return;
      if (event === 'error') throw failureInStream(errorOf(data), meaning.codes, meaning.statuses);
      if (event === 'ping' || event === 'keepalive' || event === 'keep-alive') return;
      for (const one of eventsIn(data)) deliver(one);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new ModelFailure('garbage', 'an event is larger than 4 MB', { httpStatus: 200 });
      if (error.type !== 'unknown-field' || error.line === undefined) return;
      const line = error.line.trim();
      if (line.startsWith('{') && tableIn(line)) {
        hasEvents = true;
        deliver(line);
      } else if (unread.length + line.length < MAX_UNREAD_CHARS) unread += `${line}\n`;
    },
  });
  return {
    feed: (text) => {
      const at = text.lastIndexOf('\n');
      lastLine = at < 0 ? lastLine + text : text.slice(at + 1);
      parser.feed(text);
    },
    end: () => {
      // Some servers leave out the blank line after their last event. A line that does not end was cut off and is none, unless it is whole JSON.
      const isField = /^(?:data|event|id|retry)?:/.test(lastLine);
      if (lastLine === '' || !isField || tableIn(lastLine.replace(/^data:/, ''))) parser.feed('\n\n');
      if (state.isComplete || unread === '') return;
      const { objects } = objectsIn(unread);
      for (const one of objects) if (tableIn(one)) deliver(one);
      if (!hasEvents && objects.length === 0) throw new ModelFailure('garbage', `the answer is not a stream of events: ${shown(unread)}`, { httpStatus: 200 });
    },
  };
};

/** Servers that leave the blank lines out make one event of several; others write the field's name twice. */
const eventsIn = (data: string): string[] => {
  const lines = data.includes('\n') && tableIn(data) === undefined ? data.split('\n') : [data];
  return lines.map((line) => line.replace(/^(?:data:\s{0,4}){1,3}/, '').trim()).filter((line) => line !== '');
};

/** A text, or the error itself, or what stands around it. */
const errorOf = (data: string): unknown => {
  const value = tableIn(data);
  return value === undefined ? data : (value.error ?? value);
};

/** E2. Lines are handed on as they come, for as long as each is an object. */
const jsonReader = (deliver: (data: string) => void): Reader => {
  let held = '';
  let isByLine = true;
  const takeLines = (): void => {
    for (let at = held.indexOf('\n'); isByLine && at >= 0; at = held.indexOf('\n')) {
      const line = held
        .slice(0, at)
        .trim()
        .replace(/^data:\s{0,4}/, '')
        .replace(/,$/, '');
      if (line !== '' && line !== '[DONE]' && tableIn(line) === undefined) isByLine = false;
      else {
        held = held.slice(at + 1);
        if (line !== '') deliver(line);
      }
    }
  };
  return {
    feed: (text) => {
      held += text;
      if (held.length > MAX_WHOLE_CHARS) throw new ModelFailure('garbage', 'the answer is larger than 16 MB', { httpStatus: 200 });
      if (isByLine && text.includes('\n')) takeLines();
    },
    end: () => {
      const { objects, rest } = objectsIn(held);
      for (const one of objects) deliver(one);
      if (objects.length === 0 && rest.trim() !== '' && !rest.includes('{')) throw new ModelFailure('garbage', `the answer is not a stream of events: ${shown(rest)}`, { httpStatus: 200 });
    },
  };
};

/** E4. */
const pageReader = (type: string): Reader => {
  let page = '';
  return {
    feed: (text) => {
      if (page.length < MAX_UNREAD_CHARS) page += text;
    },
    end: () => {
      const kind = /html|xml/.test(type) ? type.split(';')[0] : 'a page';
      const title = /<title[^<>]{0,200}>([^<]{1,200})/i.exec(page.slice(0, MAX_UNREAD_CHARS))?.[1]?.trim();
      throw new ModelFailure('garbage', `the answer is ${kind}, not a stream of events${title ? `: ${shown(title)}` : ''}`, { httpStatus: 200 });
    },
  };
};

const shown = (text: string): string => withoutSecrets(text.trim().slice(0, MAX_SHOWN_CHARS));
