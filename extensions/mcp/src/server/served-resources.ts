/**
 * Conversations and workspace files as resources of MCP clients.
 *
 * V4  A caller sees those that the routes of sessions and files would show them, and nothing of anybody else: an address of another's says no more than one of nothing.
 */
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { type Actor, isSvcError, isUuid } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { WorkspacesService } from '@svc/ext-files/contract';
import { type Entry, type SessionsService, textOfParts } from '@svc/ext-sessions/contract';
import type { Caller } from './served-prompts.js';

const AGENTS_A_PAGE = 10;
const SESSIONS_OF_AN_AGENT = 50;
const FILES_OF_AN_AGENT = 200;
const ENTRIES_AT_ONCE = 500;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_URI_CHARS = 4_000;
const TALK = 'text/markdown';
/** A type that says nothing is left out: a client then looks at what it reads. */
const UNKNOWN = 'application/octet-stream';

export interface ResourceDeps {
  readonly agents: Pick<AgentsService, 'list' | 'get'>;
  readonly sessions: () => SessionsService | undefined;
  readonly workspaces: () => WorkspacesService | undefined;
  /** Whether the caller may do what this route does. */
  may(actor: Actor, routeId: string, permission: string): Promise<boolean>;
}

export const RESOURCE_PATTERNS: readonly ResourceTemplateType[] = [
  { uriTemplate: 'svc://sessions/{id}', name: 'conversation', title: 'A conversation', description: 'What people and an agent wrote', mimeType: TALK },
  { uriTemplate: 'svc://agents/{id}/files/{+path}', name: 'workspace file', title: 'A file of an agent', description: 'A file in the workspace of an agent, up to 4 MiB' },
];

const sessionUri = (id: string): string => `svc://sessions/${id}`;
const fileUri = (agentId: string, name: string): string => `svc://agents/${agentId}/files/${name.split('/').map(encodeURIComponent).join('/')}`;

const maySessions = ({ may }: ResourceDeps, actor: Actor): Promise<boolean> => may(actor, 'getSessionById', 'sessions.read');
const mayFiles = ({ may }: ResourceDeps, actor: Actor): Promise<boolean> => may(actor, 'getAgentFile', 'files.read');

/** Some agents a page, in one order. Undefined for a cursor that is none of ours. */
export const resourcesOf = async (deps: ResourceDeps, caller: Caller, cursor: unknown): Promise<{ resources: Resource[]; nextCursor?: string } | undefined> => {
  if (cursor !== undefined && !isUuid(String(cursor))) return undefined;
  if (caller === undefined) return { resources: [] };
  const [isTalkShown, areFilesShown] = await Promise.all([maySessions(deps, caller), mayFiles(deps, caller)]);
  if (!isTalkShown && !areFilesShown) return { resources: [] };
  const all = (await deps.agents.list(caller)).toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => cursor === undefined || id > String(cursor));
  const page = all.slice(0, AGENTS_A_PAGE);
  const resources: Resource[] = [];
  for (const agent of page) {
    if (isTalkShown) resources.push(...(await conversationsOf(deps, caller, agent)));
    if (areFilesShown) resources.push(...(await filesOf(deps, caller, agent)));
  }
  return { resources, ...(all.length > page.length ? { nextCursor: page.at(-1)?.id ?? '' } : {}) };
};

const conversationsOf = async ({ sessions }: ResourceDeps, actor: Actor, { id, name, sessionId }: Agent): Promise<Resource[]> =>
  ((await sessions()?.recent(actor, { id, sessionId }, SESSIONS_OF_AN_AGENT)) ?? []).map((one) => ({
    uri: sessionUri(one.id),
    name: `${name}: ${one.label ?? one.id}`,
    description: `A conversation with ${name}, ${one.messages} messages, begun ${one.createdAt}`,
    mimeType: TALK,
  }));

const filesOf = async ({ workspaces }: ResourceDeps, actor: Actor, { id, name: agent }: Agent): Promise<Resource[]> =>
  ((await workspaces()?.list(actor, id))?.files ?? []).slice(0, FILES_OF_AN_AGENT).map(({ name, sizeBytes, contentType, modifiedAt }) => ({
    uri: fileUri(id, name),
    name,
    description: `A file of ${agent}`,
    ...(contentType === UNKNOWN ? {} : { mimeType: contentType }),
    size: sizeBytes,
    annotations: { lastModified: modifiedAt },
  }));

/** Undefined where there is none, or none that the caller may see. */
export const readResourceOf = async (deps: ResourceDeps, caller: Caller, uri: unknown): Promise<ReadResourceResult | undefined> => {
  if (caller === undefined || typeof uri !== 'string' || uri.length > MAX_URI_CHARS) return undefined;
  const [, sessionId] = /^svc:\/\/sessions\/([^/?#]+)$/.exec(uri) ?? [];
  if (sessionId !== undefined) return isUuid(sessionId) && (await maySessions(deps, caller)) ? missingIsNone(() => conversation(deps, caller, uri, sessionId.toLowerCase())) : undefined;
  const [, agentId, path] = /^svc:\/\/agents\/([^/?#]+)\/files\/([^?#]+)$/.exec(uri) ?? [];
  if (agentId === undefined || path === undefined || !isUuid(agentId) || !(await mayFiles(deps, caller))) return undefined;
  const name = decoded(path);
  return name === undefined ? undefined : missingIsNone(() => file(deps, caller, uri, agentId.toLowerCase(), name));
};

const decoded = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};

/** Too large a file is there, and its reader is told so. */
const missingIsNone = async <T>(read: () => Promise<T | undefined>): Promise<T | undefined> => {
  try {
    return await read();
  } catch (error) {
    if (isSvcError(error) && [400, 403, 404].includes(error.status)) return undefined;
    throw error;
  }
};

const file = async ({ workspaces }: ResourceDeps, actor: Actor, uri: string, agentId: string, wanted: string): Promise<ReadResourceResult | undefined> => {
  const found = await workspaces()?.read(actor, agentId, wanted);
  if (!found) return undefined;
  const { contentType: mimeType, encoding, content } = found;
  return { contents: [encoding === 'base64' ? { uri, mimeType, blob: content } : { uri, mimeType, text: content }] };
};

const conversation = async ({ sessions }: ResourceDeps, actor: Actor, uri: string, id: string): Promise<ReadResourceResult | undefined> => {
  const service = sessions();
  if (!service) return undefined;
  // Throws for whoever may not see it.
  await service.get(actor, id);
  const texts: string[] = [];
  let chars = 0;
  for (let after = 0; ; ) {
    const entries = await service.entries(actor, id, { after, limit: ENTRIES_AT_ONCE });
    for (const entry of entries) {
      const text = saidIn(entry);
      if (text === undefined) continue;
      chars += text.length;
      if (chars > MAX_TEXT_CHARS) return { contents: [{ uri, mimeType: TALK, text: [...texts, `[The rest is left out: more than ${MAX_TEXT_CHARS.toLocaleString('en')} characters.]`].join('\n\n') }] };
      texts.push(text);
    }
    const last = entries.at(-1)?.seq;
    if (last === undefined || entries.length < ENTRIES_AT_ONCE) break;
    after = last;
  }
  return { contents: [{ uri, mimeType: TALK, text: texts.join('\n\n') }] };
};

/** As people read it: who wrote what, and which tools were used. */
const saidIn = ({ kind, at, parts, tool }: Entry): string | undefined => {
  if (kind === 'tool_call') return `[${tool ?? 'a tool'} was called]`;
  if (kind !== 'user' && kind !== 'assistant') return undefined;
  const text = textOfParts(parts);
  return text === '' ? undefined : `## ${kind}, ${at}\n\n${text}`;
};
