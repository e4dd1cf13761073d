/** A list of any length, of which only what is seen (and a little around it) is in the document. Rows have one height. */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const AROUND = 8;

export const LongList = <T,>({
  rows,
  rowHeight,
  keyOf,
  row,
  label,
  current,
}: {
  rows: readonly T[];
  rowHeight: number;
  keyOf: (row: T) => string;
  row: (row: T, index: number) => VNode;
  label: string;
  current?: number;
  empty?: ComponentChildren;
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
  useLayoutEffect(() => {
    measure();
    const watch = new ResizeObserver(measure);
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, [rows.length, rowHeight]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || current === undefined || current < 0) return;
    const top = current * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [current, rowHeight]);
  return (
    <div class="long-list" ref={frame} onScroll={measure}>
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
