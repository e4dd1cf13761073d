/**
 * Keys that do something: each is registered once, by what it belongs to, for as long as that is shown. The page listens for all of
 * them, and lists them (`?`).
 */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export interface Shortcut {
  /** As the list shows them: `Ctrl K`. */
  readonly keys: string;
  /** In the chosen language. */
  readonly label: () => string;
  /** Left out where the part itself listens: the list shows it all the same. */
  readonly fits?: (event: KeyboardEvent) => boolean;
  readonly run?: (event: KeyboardEvent) => void;
}

export interface ShortcutGroup {
  readonly title: () => string;
  readonly shortcuts: readonly Shortcut[];
}

export const shortcutGroups = signal<readonly ShortcutGroup[]>([]);

/** A constant, or one that is made once: another one is registered anew. */
export const useShortcuts = (group: ShortcutGroup): void => {
  useEffect(() => {
    shortcutGroups.value = [...shortcutGroups.peek(), group];
    return () => {
      shortcutGroups.value = shortcutGroups.peek().filter((other) => other !== group);
    };
  }, [group]);
};

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Keys without Ctrl or Command are letters where somebody types. */
export const runShortcut = (event: KeyboardEvent): void => {
  if (event.isComposing || (isTyping(event.target) && !event.ctrlKey && !event.metaKey)) return;
  for (const { shortcuts } of shortcutGroups.peek()) {
    const found = shortcuts.find(({ fits, run }) => run && fits?.(event));
    if (!found) continue;
    event.preventDefault();
    found.run?.(event);
    return;
  }
};

/** With Ctrl, or with Command on a Mac. */
export const withCtrl =
  (key: string, shift = false) =>
  (event: KeyboardEvent): boolean =>
    (event.ctrlKey || event.metaKey) && event.shiftKey === shift && event.key.toLowerCase() === key;
