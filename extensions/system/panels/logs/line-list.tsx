/** The lines, the newest last. Arrows go from one unfolded line to the next. */
import { LongList, useEffect, useRef, useState } from '@svc/kit';
import type { Kept } from './lines.js';
import { t } from './words.js';

const NARROW = '(max-width: 40rem)';
const HEIGHTS = { narrow: 52, wide: 30 } as const;

const useNarrow = (): boolean => {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const list = matchMedia(NARROW);
    const follow = (): void => setNarrow(list.matches);
    list.addEventListener('change', follow);
    return () => list.removeEventListener('change', follow);
  }, []);
  return isNarrow;
};

const two = (value: number): string => String(value).padStart(2, '0');

/** By the clock of this browser, to the millisecond. */
const clockOf = (iso: string): string => {
  const time = new Date(iso);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`;
};

interface LineListProps {
  readonly lines: readonly Kept[];
  readonly open: string | undefined;
  readonly onOpen: (key: string | undefined) => void;
  readonly entryId: string;
  readonly isAtEnd: boolean;
  readonly onAtEnd: (isAtEnd: boolean) => void;
}

export const LineList = ({ lines, open, onOpen, entryId, isAtEnd, onAtEnd }: LineListProps) => {
  const frame = useRef<HTMLDivElement>(null);
  const isMoving = useRef(false);
  const at = open === undefined ? -1 : lines.findIndex(({ key }) => key === open);
  useEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    frame.current?.querySelector<HTMLElement>(`[data-line="${open}"]`)?.focus();
  }, [open]);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Escape') onOpen(undefined);
    const next = step === 0 || at < 0 ? undefined : lines[at + step];
    if (!next) return;
    event.preventDefault();
    isMoving.current = true;
    onOpen(next.key);
  };
  return (
    <div class="log-lines" ref={frame} onKeyDown={move}>
      <LongList
        label={t('lines')}
        rows={lines}
        rowHeight={useNarrow() ? HEIGHTS.narrow : HEIGHTS.wide}
        keyOf={({ key }) => key}
        isAtEnd={isAtEnd}
        onAtEnd={onAtEnd}
        {...(at < 0 ? {} : { current: at })}
        row={({ key, line, isFirst }) => (
          <button
            type="button"
            class={`log-line ${line.level}${isFirst ? ' first' : ''}`}
            data-line={key}
            aria-expanded={key === open}
            aria-controls={key === open ? entryId : undefined}
            title={isFirst ? t('restarted') : undefined}
            onClick={() => onOpen(key === open ? undefined : key)}
          >
            <span class="log-time">{clockOf(line.timestamp)}</span>
            <span class={`log-level ${line.level}`}>{line.level}</span>
            <span class="log-area cut">{line.target}</span>
            <span class="log-text cut">{line.message}</span>
          </button>
        )}
      />
    </div>
  );
};
