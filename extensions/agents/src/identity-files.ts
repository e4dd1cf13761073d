/** Files of a workspace that say who the agent is: in `.identity/`, or at the top. People write them; the model reads them. */

/** By name, in the order the model reads them. HEARTBEAT.md is for agents that wake by themselves: kept, and not read. */
export const IDENTITY_FILES = ['SOUL.md', 'IDENTITY.md', 'USER.md', 'TOOLS.md', 'MEMORY.md', 'AGENTS.md', 'BOOTSTRAP.md', 'HEARTBEAT.md'] as const;

/** Bytes of one. A model reads them with every message. */
export const MAX_IDENTITY_BYTES = 32_768;

const FOLDER = '.identity';

/** Where a file of this name may be; the first that is there counts. */
export const identityPaths = (name: string): readonly [string, string] => [`${FOLDER}/${name}`, name];

/** `path`: from the workspace, with slashes. In either case: on some file systems they are the same file. */
export const saysWhoTheAgentIs = (path: string): boolean => {
  const lower = path.toLowerCase();
  return lower === FOLDER || lower.startsWith(`${FOLDER}/`) || NAMES.has(lower);
};

const NAMES: ReadonlySet<string> = new Set(IDENTITY_FILES.map((name) => name.toLowerCase()));
