/**
 * Where the focus goes when what had it is taken away: a row that was deleted, a button whose work is done, a view that was left.
 *
 * F1  It goes to what stands in that place now, else to what is before it, else to the content, and never to nothing: who uses the
 *     keyboard goes on from there, and a screen reader stays where it was.
 * F2  What a component, a dialog or a person focuses stays: only a focus that is nowhere is given back.
 */
/** A row of a list with one Tab stop (useRoving) is one of them, whichever bears the stop now. */
const FOCUSABLE = ':is(a[href], button, input, select, textarea, summary, [tabindex]):not(:disabled, [tabindex="-1"]:not([data-row]), [hidden])';

/** The element in focus and what is around it, from the inside out, each with its place among its siblings. */
type Trail = ReadonlyArray<{ readonly element: Element; readonly index: number }>;

const trailOf = (from: Element, content: Element): Trail => {
  const trail = [];
  for (let at: Element | null = from; at && at !== content; at = at.parentElement) trail.push({ element: at, index: at.parentElement ? [...at.parentElement.children].indexOf(at) : 0 });
  return trail;
};

const isUsable = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
const firstIn = (element: Element | undefined): HTMLElement | undefined => {
  const found = element?.matches(FOCUSABLE) ? element : element?.querySelector(FOCUSABLE);
  return found instanceof HTMLElement && isUsable(found) ? found : undefined;
};

/** What stands where the first of the trail stood; undefined where all around it is gone. */
const heirOf = (trail: Trail): HTMLElement | undefined => {
  for (const [inner, outer] of trail.map((step, at) => [step, trail[at + 1]] as const)) {
    if (!outer?.element.isConnected) continue;
    const siblings = [...outer.element.children];
    const after = siblings.slice(inner.index);
    const found = [...after, ...siblings.slice(0, inner.index).reverse()].map(firstIn).find((one) => one !== undefined);
    if (found) return found;
  }
  return undefined;
};

/** Watches the content for a focus that was lost. Returns what ends that. */
export const keepFocus = (content: HTMLElement): (() => void) => {
  let trail: Trail = [];
  /** Whoever pressed with a mouse or a finger looks at what they pressed: nothing is scrolled for them. */
  let isByKeys = false;
  let isAsked = false;
  const follow = ({ target }: FocusEvent): void => {
    if (!(target instanceof Element) || target === content || target.closest('dialog')) return;
    trail = trailOf(target, content);
    isByKeys = target.matches(':focus-visible');
  };
  const forget = (): void => {
    trail = [];
  };
  const check = (): void => {
    const isNowhere = document.activeElement === null || document.activeElement === document.body;
    if (!isNowhere || trail.length === 0 || content.closest('[inert]') || document.querySelector('dialog:modal')) return;
    const heir = heirOf(trail) ?? content;
    trail = [];
    heir.focus({ preventScroll: heir === content || !isByKeys });
  };
  // What is disabled loses the focus with the next frame.
  const observer = new MutationObserver(() => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      // What is disabled from here on loses the focus with the frame after this one.
      isAsked = false;
      setTimeout(check);
    });
  });
  observer.observe(content, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'hidden'] });
  content.addEventListener('focusin', follow);
  // Who presses somewhere with a mouse or a finger has left what had the focus.
  addEventListener('pointerdown', forget, { capture: true });
  return () => {
    observer.disconnect();
    content.removeEventListener('focusin', follow);
    removeEventListener('pointerdown', forget, { capture: true });
  };
};
