/**
 * What of @svc/api goes, and when: each a record, never a word in passing. It stands here from the version that says so
 * until the one that removes it; VERSIONS.md says how long that is at least.
 */
export interface Deprecation {
  /** As an extension uses it: an export, a member such as `ctx.env`, a field of extension.json, a grant. */
  readonly what: string;
  /** The version of @svc/api that said so first. */
  readonly since: string;
  /** The version that no longer has it. */
  readonly removedIn: string;
  /** What to write instead, as a sentence. */
  readonly instead: string;
}

export const DEPRECATIONS: readonly Deprecation[] = [];
