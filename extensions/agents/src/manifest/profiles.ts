/** Sets of tools that a manifest can name instead of listing them. They grant nothing else: hosts, commands and the like stand under [capabilities]. */

export const PROFILE_NAMES = ['minimal', 'coding', 'research', 'messaging', 'automation', 'full'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

export interface Profile {
  readonly name: ProfileName;
  readonly description: string;
  /** As people see them. */
  readonly tools: readonly string[];
  /** As [capabilities] tools says it, where none is every tool. */
  readonly grants: readonly string[];
}

const CODING = ['file_read', 'file_write', 'file_list', 'shell_exec', 'web_fetch'];
const MESSAGING = ['agent_send', 'agent_list', 'channel_send', 'memory_store', 'memory_list', 'memory_recall'];

const SETS: Readonly<Record<ProfileName, { readonly description: string; readonly tools: readonly string[] }>> = {
  minimal: { description: 'Looks at the files of its workspace.', tools: ['file_read', 'file_list'] },
  coding: { description: 'Reads and writes files, runs commands that [capabilities] shell grants, and fetches pages.', tools: CODING },
  research: { description: 'Searches and fetches pages, and keeps what it finds in files.', tools: ['web_fetch', 'web_search', 'file_read', 'file_write'] },
  messaging: { description: 'Writes to agents and channels, and remembers.', tools: MESSAGING },
  automation: { description: 'Everything of coding and messaging, and web search.', tools: [...CODING, 'web_search', ...MESSAGING] },
  full: { description: 'Every tool that the rest of the manifest lets it use.', tools: ['*'] },
};

export const PROFILES: readonly Profile[] = PROFILE_NAMES.map((name) => ({ name, ...SETS[name], grants: name === 'full' ? [] : SETS[name].tools }));

export const profileNamed = (name: string): Profile | undefined => PROFILES.find((profile) => profile.name === name);
