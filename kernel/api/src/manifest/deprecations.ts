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

/** Fields of extension.json that nothing reads: a manifest may name them until they are gone. */
export const UNREAD_FIELDS = ['cli', 'doctor', 'security'] as const;

const INSTEAD: Readonly<Record<(typeof UNREAD_FIELDS)[number], string>> = {
  cli: 'List the commands under "commands" of defineExtension.',
  doctor: 'Nothing: a tap on doctor.check is enough.',
  security: 'Nothing: a tap on security.report is enough.',
};

export const DEPRECATIONS: readonly Deprecation[] = UNREAD_FIELDS.map((field) => ({ what: `"${field}" in extension.json`, since: '0.1.0', removedIn: '0.2.0', instead: INSTEAD[field] }));
