/** A list of any length, of which only what is seen (and a little around it) is in the document. Rows have one height. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const AROUND = 8;

export const LongList = <T,>({
  rows,
  rowHeight,
  keyOf,
  row,
  label,
  current,
  isAtEnd = false,
  onAtEnd,
}: {
  rows: readonly T[];
  rowHeight: number;
  keyOf: (row: T) => string;
  row: (row: T, index: number) => VNode;
  label: string;
  current?: number;
  /** The last row stays in view as rows are added; else what is in view stays where it is, whatever goes before it. */
  isAtEnd?: boolean;
  /** The person scrolled to the end, or away from it. */
  onAtEnd?: (isAtEnd: boolean) => void;
}) => {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ from: 0, to: 40 });
  const measure = (): void => {
    const element = frame.current;
    if (!element) return;
    const from = Math.max(0, Math.floor(element.scrollTop / rowHeight) - AROUND);
    const to = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + AROUND;
    setView((before) => (before.from === from && before.to === to ? before : { from, to }));
  };
  const sticks = useRef(false);
  sticks.current = isAtEnd && onAtEnd !== undefined;
  useLayoutEffect(() => {
    measure();
    const watch = new ResizeObserver(() => {
      if (sticks.current && frame.current) frame.current.scrollTop = frame.current.scrollHeight;
      measure();
    });
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, [rows.length, rowHeight]);
  const top = useRef<{ key: string; offset: number }>(undefined);
  const scrolled = (): void => {
    measure();
    const element = frame.current;
    if (!element || !onAtEnd) return;
    const index = Math.floor(element.scrollTop / rowHeight);
    const first = rows[index];
    top.current = first === undefined ? undefined : { key: keyOf(first), offset: element.scrollTop - index * rowHeight };
    const now = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight / 2;
    if (now !== isAtEnd) onAtEnd(now);
  };
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || !onAtEnd) return;
    if (isAtEnd) element.scrollTop = element.scrollHeight;
    else if (top.current) {
      const { key, offset } = top.current;
      const index = rows.findIndex((one) => keyOf(one) === key);
      if (index >= 0) element.scrollTop = index * rowHeight + offset;
    }
    measure();
  }, [rows, rowHeight, isAtEnd]);
  // Rows without a link or button are scrolled with the keyboard all the same.
  useLayoutEffect(() => {
    if (frame.current?.querySelector('a, button, input')) frame.current.removeAttribute('tabindex');
    else frame.current?.setAttribute('tabindex', '0');
  }, [rows, view]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || current === undefined || current < 0) return;
    const top = current * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [current, rowHeight]);
  return (
    <div class="long-list" ref={frame} onScroll={scrolled}>
      <ul aria-label={label} style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(view.from, view.to).map((one, offset) => {
          const index = view.from + offset;
          return (
            <li key={keyOf(one)} style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }} aria-setsize={rows.length} aria-posinset={index + 1}>
              {row(one, index)}
            </li>
          );
        })}
      </ul>
    </div>
  );
};
