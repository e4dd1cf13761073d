/**
 * One Tab stop for a list: arrows, Home and End move between its rows, which bear `data-row` and `tabIndex={-1}`. The arrow to the side
 * goes to the button beside a row, and back.
 */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const ROW = '[data-row]';

const rowsOf = (list: HTMLElement): HTMLElement[] => [...list.querySelectorAll<HTMLElement>(ROW)];

const stepOf = (key: string, at: number, count: number): number | undefined => {
  if (key === 'ArrowDown') return Math.min(count - 1, at + 1);
  if (key === 'ArrowUp') return Math.max(0, at - 1);
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
};

const toSide = (list: HTMLElement, key: string): HTMLElement | null | undefined => {
  const focused = document.activeElement;
  const isRow = focused?.matches(ROW);
  const isInwards = key === (getComputedStyle(list).direction === 'ltr' ? 'ArrowRight' : 'ArrowLeft');
  if (isInwards && isRow) return focused?.parentElement?.querySelector<HTMLElement>('button');
  // A menu that is open beside it has arrows of its own.
  return !isInwards && !isRow && focused?.getAttribute('aria-expanded') !== 'true' ? focused?.closest('li')?.querySelector<HTMLElement>(ROW) : undefined;
};

/** For a list whose rows may come and go: the one that is current, or that was last in focus, is the one that Tab reaches. */
export const useRoving = (list: RefObject<HTMLElement | null>): { onKeyDown: (event: KeyboardEvent) => void; onFocusIn: (event: FocusEvent) => void } => {
  const last = useRef<Element>(null);
  const mark = (): void => {
    if (!list.current) return;
    const rows = rowsOf(list.current);
    const stop = rows.find((row) => row === last.current) ?? rows.find((row) => row.getAttribute('aria-current') === 'page') ?? rows[0];
    for (const row of rows) row.tabIndex = row === stop ? 0 : -1;
  };
  useLayoutEffect(mark);
  return {
    onFocusIn: (event) => {
      if (!(event.target instanceof Element) || !event.target.matches(ROW)) return;
      last.current = event.target;
      mark();
    },
    onKeyDown: (event) => {
      const element = list.current;
      if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
      const rows = rowsOf(element);
      const at = rows.findIndex((row) => row.matches(':focus'));
      const next = at === -1 ? undefined : stepOf(event.key, at, rows.length);
      const target = next === undefined ? (/^Arrow(Left|Right)$/.test(event.key) ? toSide(element, event.key) : undefined) : rows[next];
      if (!target) return;
      event.preventDefault();
      target.focus();
    },
  };
};
