/** @svc/kit/diff: what `DiffView` compares with. Loaded with the first difference. */
import { diffLines } from 'diff';

const AROUND = 3;
/** Two texts that differ nearly everywhere are not worth the wait. */
const TIMEOUT_MS = 500;

/** Of `folded` ones, how many there are instead of their text. */
export type Line = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string } | { readonly kind: 'folded'; readonly count: number };

export const linesOf = (before: string, after: string): Line[] => {
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  return parts.flatMap(({ added, removed, value }, index) => {
    const lines = value.replace(/\n$/, '').split('\n');
    const kind: 'same' | 'added' | 'removed' = added ? 'added' : removed ? 'removed' : 'same';
    if (kind !== 'same') return lines.map((text): Line => ({ kind, text }));
    const head = index === 0 ? [] : lines.slice(0, AROUND);
    const tail = index === parts.length - 1 ? [] : lines.slice(-AROUND);
    if (head.length + tail.length >= lines.length) return lines.map((text): Line => ({ kind, text }));
    const folded: Line = { kind: 'folded', count: lines.length - head.length - tail.length };
    return [...head.map((text): Line => ({ kind, text })), folded, ...tail.map((text): Line => ({ kind, text }))];
  });
};
