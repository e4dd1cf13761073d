/** The base URLs that the adapter to models opens for: those of the list as it was last made. */
import type { Disposable, Egress } from '@svc/api';

export interface AllowedUrls {
  /** To be called before the list is looked up. What it gives allows the list's base URLs, unless a later look has done so already. */
  look(): (baseUrls: readonly AllowedUrl[]) => void;
}

export interface AllowedUrl {
  readonly url: string;
  /** The proxy that leads there. */
  readonly proxy: string | undefined;
}

export const createAllowedUrls = (egress: Pick<Egress, 'allow'>): AllowedUrls => {
  const standing = new Map<string, Disposable>();
  let looks = 0;
  let newest = 0;
  const set = (baseUrls: readonly AllowedUrl[]): void => {
    const wanted = new Map(baseUrls.map((one) => [`${one.url} ${one.proxy ?? ''}`, one]));
    // New ones before old ones go: what both have is never closed.
    for (const [key, { url, proxy }] of wanted) if (!standing.has(key)) standing.set(key, egress.allow(url, 'model', { proxy }));
    for (const [key, entry] of standing) {
      if (wanted.has(key)) continue;
      standing.delete(key);
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
