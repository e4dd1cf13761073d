/**
 * A button with a list of things to do beside it. Arrows move, Enter does, Escape closes. The list lies above everything else
 * and within the window, wherever the button stands: nothing that scrolls or is drawn later cuts it off.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { failed } from './failures.js';
import { Icon, type IconName } from './icon.js';

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly disabled?: boolean;
  /** One of several, and the chosen one. */
  readonly isChosen?: boolean;
  readonly onChoose: () => unknown;
}

const GAP_PX = 4;
const EDGE_PX = 8;

/** Under its button, or above it where there is more room; as near to its edge as the window lets it. */
const place = (list: HTMLElement, button: Element, align: 'start' | 'end'): void => {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const [room, roomAbove] = [innerHeight - bottom - GAP_PX - EDGE_PX, top - GAP_PX - EDGE_PX];
  list.style.maxHeight = '';
  const { width, height } = list.getBoundingClientRect();
  const isAbove = height > room && roomAbove > room;
  list.style.maxHeight = `${Math.min(height, isAbove ? roomAbove : room)}px`;
  const isToRight = (align === 'start') === (getComputedStyle(list).direction === 'ltr');
  list.style.left = `${Math.max(EDGE_PX, Math.min(isToRight ? left : right - width, innerWidth - width - EDGE_PX))}px`;
  list.style.top = `${isAbove ? Math.max(EDGE_PX, top - GAP_PX - height) : bottom + GAP_PX}px`;
};

export const Menu = ({
  label,
  icon = 'ellipsis',
  children,
  items,
  align = 'end',
  tabIndex,
}: {
  label: string;
  icon?: IconName;
  children?: ComponentChildren;
  items: readonly MenuItem[];
  align?: 'start' | 'end';
  /** -1 where arrows lead to it (useRoving). */
  tabIndex?: number;
}) => {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const entries = (): HTMLElement[] => [...(frame.current?.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])') ?? [])];
  const close = (): void => {
    setOpen(false);
    frame.current?.querySelector('button')?.focus();
  };
  useLayoutEffect(() => {
    const [shown, button] = [list.current, frame.current?.querySelector('button')];
    if (!isOpen || !shown || !button) return;
    // Above dialogs too. A browser without it draws the list where it stands, fixed all the same.
    shown.showPopover?.();
    place(shown, button, align);
    // Before the next key: a focus that came after it would choose another item than the one a quick person meant.
    entries()[0]?.focus();
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) setOpen(false);
    };
    // What it belongs to goes elsewhere, and it would stay.
    const moved = (event: Event): void => {
      if (!(event.target instanceof Node && list.current?.contains(event.target))) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    addEventListener('scroll', moved, { capture: true, passive: true });
    addEventListener('resize', moved);
    return () => {
      removeEventListener('pointerdown', outside);
      removeEventListener('scroll', moved, { capture: true });
      removeEventListener('resize', moved);
    };
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    if (event.key === 'Tab') setOpen(false);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement); // an element, or none of these
    all[(at + step + all.length) % all.length]?.focus();
  };
  const choose = (item: MenuItem): void => {
    close();
    const work = item.onChoose();
    if (work instanceof Promise) work.catch(failed);
  };
  return (
    <div class="menu" ref={frame} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={children === undefined ? 'button icon-only quiet' : 'button quiet'}
        aria-label={children === undefined ? label : undefined}
        title={label}
        tabIndex={tabIndex}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {children === undefined ? <Icon name={icon} /> : children}
      </button>
      {isOpen && (
        <div class="menu-list" popover="manual" ref={list} role="menu" id={id} aria-label={label}>
          {items.map((item) => (
            <button
              key={item.id}
              type="button"
              role={item.isChosen === undefined ? 'menuitem' : 'menuitemradio'}
              aria-checked={item.isChosen}
              class={item.isDangerous ? 'danger' : undefined}
              disabled={item.disabled}
              tabIndex={-1}
              onClick={() => choose(item)}
            >
              {item.icon ? <Icon name={item.icon} size={16} /> : item.isChosen !== undefined && <span class="check-mark">{item.isChosen && <Icon name="check" size={16} />}</span>}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
};
