/**
 * What a shared page shows of a conversation. Everything that leaves by a link passes through `sharedMessages`.
 *
 * P1  Shown are the texts that people and agents wrote, up to the last entry of the snapshot.
 * P2  Never shown: tools with their arguments and results, thoughts, summaries, notes, ids, names of people and agents, the label,
 *     and files: of those, only how many there were.
 * P3  A message beside the conversation has no entry in it, so no link shows it.
 */
import type { Entry, Part } from '../contract.js';

export interface SharedMessage {
  readonly who: 'person' | 'agent';
  readonly text: string;
  /** Attachments of the message, pictures too. */
  readonly files: number;
}

export const sharedMessages = (entries: readonly Entry[], throughSeq: number): readonly SharedMessage[] => {
  const shown: SharedMessage[] = [];
  for (const { kind, parts = [], seq } of entries) {
    if (seq > throughSeq || (kind !== 'user' && kind !== 'assistant')) continue;
    const message = messageOf(kind === 'user' ? 'person' : 'agent', parts);
    const last = shown.at(-1);
    // What an agent wrote between its tool calls is one answer.
    if (message.who === 'agent' && last?.who === 'agent') shown[shown.length - 1] = joined(last, message);
    else if (message.text !== '' || message.files > 0) shown.push(message);
  }
  return shown;
};

/** Of what a model named it or how it began, never the label, which is a note of its person. */
export const sharedTitle = ({ title, firstWords }: { readonly title: string | null; readonly firstWords: string | null }): string => title ?? firstWords ?? '';

const messageOf = (who: SharedMessage['who'], parts: readonly Part[]): SharedMessage => ({
  who,
  text: parts
    .flatMap((part) => (part.type === 'text' && !part.file ? [part.text] : []))
    .join('\n')
    .trim(),
  files: new Set(parts.flatMap((part, index) => (part.file ? [part.file.id] : part.type === 'image' ? [String(index)] : []))).size,
});

const joined = (one: SharedMessage, next: SharedMessage): SharedMessage => ({
  who: one.who,
  text: [one.text, next.text].filter((text) => text !== '').join('\n\n'),
  files: one.files + next.files,
});
