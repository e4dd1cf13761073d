/** A button with a list of things to do under it. Arrows move, Enter does, Escape closes. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
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

export const Menu = ({
  label,
  icon = 'ellipsis',
  children,
  items,
  align = 'end',
}: {
  label: string;
  icon?: IconName;
  children?: ComponentChildren;
  items: readonly MenuItem[];
  align?: 'start' | 'end';
}) => {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  const entries = (): HTMLElement[] => [...(frame.current?.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])') ?? [])];
  const close = (): void => {
    setOpen(false);
    frame.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    entries()[0]?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
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
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {children === undefined ? <Icon name={icon} /> : children}
      </button>
      {isOpen && (
        <div class={`menu-list ${align}`} role="menu" id={id} aria-label={label}>
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
