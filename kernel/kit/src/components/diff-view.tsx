/** What is different between two texts, line by line; long stretches that are the same are folded away. The code that compares is loaded with the first one. */
import { useMemo } from 'preact/hooks';
import { kitWords } from '../kit-words.js';
import { besideKit, useCode } from '../later-code.js';
import { Failure, Loading } from './states.js';

type Diff = typeof import('../diff/index.js');
const loadDiff = (): Promise<Diff> => besideKit('/ui/diff.js');

const SIGNS = { same: ' ', added: '+', removed: '-', folded: '⋯' } as const;

export const DiffView = ({ before, after, label }: { before: string; after: string; label: string }) => {
  const { code: diff, error } = useCode(loadDiff);
  const lines = useMemo(() => diff?.linesOf(before, after), [diff, before, after]);
  if (before === after) return <p class="muted">{kitWords('same')}</p>;
  if (error !== undefined) return <Failure error={error} />;
  if (!lines) return <Loading lines={4} label={label} />;
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        <div key={index} class={`diff-line ${line.kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[line.kind]}
          </span>
          {(line.kind === 'added' || line.kind === 'removed') && <span class="off-screen">{kitWords(line.kind)} </span>}
          <span>{line.kind === 'folded' ? kitWords('lines', { count: line.count }) : line.text}</span>
        </div>
      ))}
    </div>
  );
};
