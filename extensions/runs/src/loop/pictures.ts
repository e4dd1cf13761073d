/**
 * Pictures that a conversation names are put into the request that shows them to the model.
 *
 * P1  The newest come first, and as many as a request should carry: what is beyond, is gone, or is for a model that takes
 *     no pictures, gives way to a note. The conversation itself stays as it is.
 * P2  A picture is read once for a run, and a message made once for as long as it stays the same: so is its text on the wire.
 */
import type { Actors, OptionalHandle } from '@svc/api';
import type { ContentPart, ModelMessage } from '@svc/ext-llm/contract';
import type { UploadsService } from '../contract.js';

/** In base64, of all of a request. Providers refuse bodies of more than about 30 MB. */
const MAX_PICTURE_CHARS = 24_000_000;

export interface PictureDeps {
  readonly uploads: OptionalHandle<UploadsService>;
  readonly actors: Actors;
}

/** What a run has read, and made of its messages; it goes with the run. */
export interface Shown {
  readonly pictures: Map<string, string | undefined>;
  readonly messages: WeakMap<ModelMessage, ModelMessage>;
}

export const nothingShown = (): Shown => ({ pictures: new Map(), messages: new WeakMap() });

const namesPicture = (part: ContentPart): boolean => part.type === 'image' && part.upload !== undefined;
const hasNamed = ({ parts }: ModelMessage): boolean => parts.some(namesPicture);

/** False for nearly every conversation: then nothing is asked and nothing is made. */
export const hasPictures = (messages: readonly ModelMessage[]): boolean => messages.some(hasNamed);

/** The messages as the model gets them. `canSee` false: it is known to take no pictures. */
export async function withPictures({ uploads, actors }: PictureDeps, shown: Shown, messages: readonly ModelMessage[], canSee: boolean | null): Promise<readonly ModelMessage[]> {
  // Whoever sent them was asked then: what stands in the conversation is its own.
  const actor = actors.system('pictures');
  let room = canSee === false ? 0 : MAX_PICTURE_CHARS;
  const take = async (id: string): Promise<string | undefined> => {
    if (room > 0 && !shown.pictures.has(id)) shown.pictures.set(id, await fitting(uploads.value?.picture(actor, id), room));
    const data = room > 0 ? shown.pictures.get(id) : undefined;
    if (data === undefined || data.length > room) return undefined;
    room -= data.length;
    return data;
  };
  const made: ModelMessage[] = [];
  for (const message of [...messages].reverse()) {
    const known = shown.messages.get(message);
    if (known) room -= charsOf(known);
    const ready = known ?? (hasNamed(message) ? await filled(message, take) : message);
    if (ready !== message) shown.messages.set(message, ready);
    made.push(ready);
  }
  return made.reverse();
}

/** What does not fit is not kept: the room of one request is all that a run holds. */
const fitting = async (read: Promise<string | undefined> | undefined, room: number): Promise<string | undefined> => {
  const data = await read;
  return data !== undefined && data.length <= room ? data : undefined;
};

const charsOf = ({ parts }: ModelMessage): number => parts.reduce((sum, part) => sum + (part.type === 'image' ? part.data.length : 0), 0);

const filled = async (message: ModelMessage, take: (id: string) => Promise<string | undefined>): Promise<ModelMessage> => {
  const parts: ContentPart[] = [];
  for (const part of message.parts) parts.push(part.type === 'image' && part.upload !== undefined ? shownPart(part.mediaType, await take(part.upload)) : part);
  // What drivers make of a message they keep for as long as it cannot change.
  return Object.freeze({ role: message.role, parts: Object.freeze(parts) });
};

const shownPart = (mediaType: string, data: string | undefined): ContentPart =>
  data === undefined
    ? { type: 'text', text: '[There was a picture here. It is not shown because it was deleted, is too old, or this model does not support pictures.]' }
    : { type: 'image', mediaType, data };
