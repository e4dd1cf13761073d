/** When a page that slept, or had no network, should look whether its daemon is there. */

interface Wakes {
  addEventListener?(type: string, fn: () => void): void;
  removeEventListener?(type: string, fn: () => void): void;
}

/** Of a browser; elsewhere there is nothing to hear. Returns what ends it. */
export const onWake = (fn: () => void): (() => void) => {
  // Node has neither a window nor a document.
  const page = globalThis as Wakes & { readonly document?: Wakes & { readonly visibilityState?: string } };
  const { document } = page;
  const seen = (): void => {
    if (document?.visibilityState === 'visible') fn();
  };
  const received: ReadonlyArray<readonly [Wakes | undefined, string, () => void]> = [
    [page, 'online', fn],
    [page, 'offline', fn],
    [document, 'visibilitychange', seen],
    // Of a page that a phone froze, and of one that a step back brought again.
    [document, 'resume', fn],
    [page, 'pageshow', fn],
  ];
  for (const [where, type, receive] of received) where?.addEventListener?.(type, receive);
  return () => {
    for (const [where, type, receive] of received) where?.removeEventListener?.(type, receive);
  };
};
