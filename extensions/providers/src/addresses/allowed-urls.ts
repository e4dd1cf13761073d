/** The base URLs that the adapter to models opens for: those of the list as it was last made. */
import type { Disposable, Egress } from '@svc/api';

export interface AllowedUrls {
  /** To be called before the list is looked up. What it gives allows the list's base URLs, unless a later look has done so already. */
  look(): (baseUrls: readonly string[]) => void;
}

export const createAllowedUrls = (egress: Pick<Egress, 'allow'>): AllowedUrls => {
  const standing = new Map<string, Disposable>();
  let looks = 0;
  let newest = 0;
  const set = (baseUrls: readonly string[]): void => {
    const wanted = new Set(baseUrls);
    // New ones before old ones go: what both have is never closed.
    for (const url of wanted) if (!standing.has(url)) standing.set(url, egress.allow(url));
    for (const [url, entry] of standing) {
      if (wanted.has(url)) continue;
      standing.delete(url);
      void entry.dispose();
    }
  };
  return {
    look: () => {
      const look = ++looks;
      return (baseUrls) => {
        if (look < newest) return;
        newest = look;
        set(baseUrls);
      };
    },
  };
};
