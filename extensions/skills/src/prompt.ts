/**
 * The list of skills in a prompt.
 *
 * P1  It has the name and description of each assigned skill, within a number of tokens. Descriptions are shortened before a skill is left out, the least used first; what is left out is said.
 * P2  Of a skill with findings only the name is listed: its text is read by the tool, with the label of text from outside.
 * P3  It changes only when skills or the assignment change, so that prompt caches hold.
 */
import { CHARS_PER_TOKEN } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { type Assigned, isTainted, mayRead, READ_TOOL } from './assigned.js';
import type { Entry } from './library.js';

const SHARE = 50;
const DEFAULT_WINDOW = 100_000;
const MAX_DEFAULT_TOKENS = 4_000;
const SHORTEST = 60;

export interface Listing {
  readonly text: string;
  readonly shortened: readonly string[];
  readonly leftOut: readonly string[];
}

export interface PromptList {
  /** Empty where the agent has none. */
  of(agentId: string, manifest: AgentManifest): string;
  listing(manifest: AgentManifest): Listing;
  clear(): void;
}

export const createPromptList = (assigned: Assigned, listingTokens: () => number): PromptList => {
  let cached = new Map<string, { readonly manifest: AgentManifest; readonly text: string }>();
  const listing = (manifest: AgentManifest): Listing => {
    if (!mayRead(manifest)) return { text: '', shortened: [], leftOut: [] };
    const entries = assigned.of(manifest).filter(({ skill }) => skill?.isModelInvocable === true);
    return listed(entries, budgetOf(manifest, listingTokens()) * CHARS_PER_TOKEN);
  };
  return {
    of: (agentId, manifest) => {
      const known = cached.get(agentId);
      if (known?.manifest === manifest) return known.text;
      const { text } = listing(manifest);
      if (cached.size > 1_000) cached = new Map();
      cached.set(agentId, { manifest, text });
      return text;
    },
    listing,
    clear: () => {
      cached = new Map();
    },
  };
};

const budgetOf = ({ model }: AgentManifest, set: number): number => (set > 0 ? set : Math.min(MAX_DEFAULT_TOKENS, Math.floor((model.context_window ?? DEFAULT_WINDOW) / SHARE)));

const HEAD = `You have skills: instructions for special tasks. When a task fits one, first read it with ${READ_TOOL}, then follow it.`;

const listed = (entries: readonly Entry[], maxChars: number): Listing => {
  if (entries.length === 0) return { text: '', shortened: [], leftOut: [] };
  const byUse = [...entries].sort((a, b) => (b.row?.use_count ?? 0) - (a.row?.use_count ?? 0) || (a.name < b.name ? -1 : 1));
  const lines = new Map(byUse.map((entry) => [entry.name, lineOf(entry)]));
  const shortened: string[] = [];
  const leftOut: string[] = [];
  let size = HEAD.length + [...lines.values()].reduce((sum, line) => sum + line.length + 1, 0);
  const leastUsed = [...byUse].reverse();
  for (const { name } of leastUsed) {
    if (size <= maxChars) break;
    const line = lines.get(name) ?? '';
    const short = cut(line, name.length + SHORTEST);
    if (short.length === line.length) continue;
    lines.set(name, short);
    size -= line.length - short.length;
    shortened.push(name);
  }
  for (const { name } of leastUsed) {
    if (size <= maxChars) break;
    size -= (lines.get(name)?.length ?? 0) + 1;
    lines.delete(name);
    leftOut.push(name);
  }
  const rest = leftOut.length > 0 ? [`(${leftOut.length} more are installed; ${READ_TOOL} without a skill lists them all.)`] : [];
  const names = [...lines.keys()].sort();
  return { text: [HEAD, ...names.map((name) => lines.get(name) ?? ''), ...rest].join('\n'), shortened, leftOut };
};

export const lineOf = (entry: Entry): string => {
  if (isTainted(entry)) return `- ${entry.name}`;
  return `- ${entry.name}: ${(entry.skill?.description ?? '').replace(/\s+/g, ' ').trim()}`;
};

const cut = (line: string, length: number): string => (line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`);
