/** What all ways of fetching share. */

/** A step of an installation, as it goes on. `done` and `total` are bytes; `total` is left out where it is not known. */
export interface Progress {
  readonly step: 'resolve' | 'fetch' | 'unpack' | 'judge' | 'store';
  /** What is fetched or stored, without secrets. */
  readonly what?: string;
  readonly done?: number;
  readonly total?: number;
}

export interface FetchContext {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: Progress) => void;
}
