/**
 * Names of tools that come and go: `<kind>_<owner>_<tool>` in `[a-z0-9_]`, with at most 64 characters, as all providers take them.
 *
 * TN1  Of names that are longer, or equal, each is cut and ends in `_` and 8 hex digits of SHA-256 of `owner/tool`.
 */
const MAX_CHARS = 64;
const DIGEST_CHARS = 8;

export interface NamedTool {
  /** Who brought it: the server, the skill. */
  readonly owner: string;
  readonly tool: string;
}

/** The names in the order of `tools`, which are all tools of this kind. */
export const toolNames = async (kind: string, tools: readonly NamedTool[]): Promise<string[]> => {
  const plain = tools.map(({ owner, tool }) => [kind, owner, tool].map(inForm).join('_'));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Promise.all(plain.map((name, index) => (name.length <= MAX_CHARS && counts.get(name) === 1 ? name : withDigest(name, tools[index]))));
};

const inForm = (text: string): string => text.toLowerCase().replace(/[^a-z0-9_]/g, '_');

const withDigest = async (name: string, { owner, tool } = { owner: '', tool: '' } as NamedTool): Promise<string> => {
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${owner}/${tool}`)));
  const digest = Array.from(hash.subarray(0, DIGEST_CHARS / 2), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${name.slice(0, MAX_CHARS - DIGEST_CHARS - 1)}_${digest}`;
};
