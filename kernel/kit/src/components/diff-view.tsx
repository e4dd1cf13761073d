/** What is different between two texts, line by line; long stretches that are the same are folded away. */
import { diffLines } from 'diff';
import { useMemo } from 'preact/hooks';
import { kitWords } from '../kit-words.js';

const AROUND = 3;
/** Two texts that differ nearly everywhere are not worth the wait. */
const TIMEOUT_MS = 500;

interface Line {
  readonly kind: 'same' | 'added' | 'removed' | 'folded';
  readonly text: string;
}

const linesOf = (before: string, after: string): Line[] => {
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  return parts.flatMap(({ added, removed, value }, index) => {
    const lines = value.replace(/\n$/, '').split('\n');
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    if (kind !== 'same') return lines.map((text): Line => ({ kind, text }));
    const head = index === 0 ? [] : lines.slice(0, AROUND);
    const tail = index === parts.length - 1 ? [] : lines.slice(-AROUND);
    if (head.length + tail.length >= lines.length) return lines.map((text): Line => ({ kind, text }));
    const folded: Line = { kind: 'folded', text: kitWords('lines', { count: lines.length - head.length - tail.length }) };
    return [...head.map((text): Line => ({ kind, text })), folded, ...tail.map((text): Line => ({ kind, text }))];
  });
};

const SIGNS = { same: ' ', added: '+', removed: '-', folded: '⋯' } as const;

export const DiffView = ({ before, after, label }: { before: string; after: string; label: string }) => {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  if (before === after) return <p class="muted">{kitWords('same')}</p>;
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        <div key={index} class={`diff-line ${kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[kind]}
          </span>
          {(kind === 'added' || kind === 'removed') && <span class="off-screen">{kitWords(kind)} </span>}
          <span>{text}</span>
        </div>
      ))}
    </div>
  );
};
