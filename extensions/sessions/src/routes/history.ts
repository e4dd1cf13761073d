/** The conversation as people read it: messages with their tool calls folded in, as `GET /api/agents/{id}/session` answers. */
import { Nullable, Type, Uuid } from '@svc/api';
import type { Version } from '../branching/version-store.js';
import { type Entry, type Part, type SessionRef, Via } from '../contract.js';
import { countTokens, projectEntries } from '../projection.js';

export const History = Type.Object(
  {
    session_id: Uuid,
    agent_id: Uuid,
    message_count: Type.Integer(),
    context_window_tokens: Type.Integer({ description: "Estimated tokens of the model's input" }),
    label: Nullable(Type.String(), { description: 'The label. Lists show the beginning of the conversation if there is none' }),
    title: Nullable(Type.String(), { description: 'What lists show: the label, else the title that a model made, else the beginning of the first message' }),
    is_titled: Type.Boolean({ description: 'Whether a model made a title' }),
    is_archived: Type.Boolean(),
    tags: Type.Array(Type.String()),
    model: Nullable(Type.Object({ provider: Type.String(), model: Type.String() }), { description: "The model of this session, if it has one of its own; null means the agent's" }),
    compacted_summary: Nullable(Type.String(), { description: 'The summary that a model reads instead of the older messages' }),
    conversation_id: Nullable(Uuid, { description: 'As lists show it; null if the conversation has only this version' }),
    versions: Type.Optional(
      Type.Array(
        Type.Object({
          session_id: Uuid,
          branched_from: Nullable(Uuid),
          through_seq: Type.Integer({ description: 'The last entry that it has in common with the session that it was branched from' }),
          last_seq: Type.Integer({ description: 'Its newest entry; 0 if it is empty' }),
          created_at: Type.String(),
          is_chosen: Type.Boolean(),
        }),
        { description: 'All versions of the conversation, this one too, the oldest first. Missing if there is only this one' },
      ),
    ),
    messages: Type.Array(
      Type.Object({
        seq: Type.Integer({ description: 'Number of its entry in the log' }),
        run_id: Nullable(Type.String(), { description: 'The run that created it; see `GET /api/sessions/{id}/runs`' }),
        role: Type.String(),
        content: Type.String(),
        thinking: Type.Optional(Type.String({ description: "The model's thinking before this message, if the model shows it" })),
        tools: Type.Optional(
          Type.Array(
            Type.Object({
              id: Type.String(),
              name: Type.String(),
              input: Type.Unknown({ description: "The arguments of the call, by the tool's schema" }),
              running: Type.Boolean(),
              expanded: Type.Boolean(),
              result: Type.Optional(Type.String()),
              is_error: Type.Optional(Type.Boolean()),
              files: Type.Optional(Type.Array(Type.Object({ file_id: Type.String(), filename: Type.String(), content_type: Type.String() }), { description: 'Uploads that the call gave' })),
            }),
          ),
        ),
        images: Type.Optional(
          Type.Array(
            Type.Object({
              media_type: Type.String(),
              data: Type.Optional(Type.String({ description: 'Base64, where the picture came inside the message' })),
              file_id: Type.Optional(Uuid),
              filename: Type.Optional(Type.String()),
            }),
            { description: 'Pictures: inside the message, or by the upload that was attached' },
          ),
        ),
        attachments: Type.Optional(
          Type.Array(Type.Object({ file_id: Uuid, filename: Type.String(), content_type: Type.String(), size: Type.Integer() }), { description: 'Uploads that were attached, but pictures' }),
        ),
        via: Type.Optional(Type.Object(Via.properties, { description: 'The way the message came, if a channel said so' })),
        recalled: Type.Optional(
          Type.Array(Type.Object({ id: Type.String(), by: Type.String({ description: 'The extension that remembers' }), source: Type.String(), content: Type.String() }), {
            description: 'What was recalled for this message; the model read it before the message',
          }),
        ),
        timestamp: Type.String(),
      }),
    ),
  },
  { 'x-name': 'SessionHistory' },
);

interface HistoryTool {
  id: string;
  name: string;
  input: unknown;
  running: boolean;
  expanded: boolean;
  result?: string;
  is_error?: boolean;
  files?: Array<{ file_id: string; filename: string; content_type: string }>;
}

interface HistoryMessage {
  seq: number;
  run_id: string | null;
  role: 'User' | 'Assistant' | 'System';
  content: string;
  thinking?: string;
  tools?: HistoryTool[];
  images?: Array<{ media_type: string; data: string } | { media_type: string; file_id: string; filename: string }>;
  attachments?: Array<{ file_id: string; filename: string; content_type: string; size: number }>;
  via?: Via;
  recalled?: Recalled[];
  timestamp: string;
}

interface Recalled {
  id: string;
  by: string;
  source: string;
  content: string;
}

const MAX_RESULT_CHARS = 100 * 1024;

interface Headed {
  readonly id: string;
  readonly agentId: string;
  readonly label: string | null;
  /** As lists show it. */
  readonly title?: string | null;
  readonly isTitled?: boolean;
  readonly isArchived?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly model?: SessionRef['model'];
  /** Where it has other versions. */
  readonly conversation?: { readonly id: string; readonly versions: readonly Version[] } | undefined;
}

const shownVersion = ({ id, branchedFrom, through, newest, createdAt, isChosen }: Version) => ({
  session_id: id,
  branched_from: branchedFrom,
  through_seq: through,
  last_seq: newest,
  created_at: createdAt,
  is_chosen: isChosen,
});

export function historyOf(session: Headed, entries: readonly Entry[]) {
  const messages: HistoryMessage[] = [];
  const open = new Map<string, HistoryTool>();
  const recalled: Recalled[] = [];
  for (const entry of entries) {
    if (entry.kind === 'recall') recalled.push({ id: entry.recalled?.id ?? '', by: entry.recalled?.by ?? '', source: entry.origin?.source ?? '', content: entry.content ?? '' });
    else add(messages, open, entry);
    const last = messages.at(-1);
    if (entry.kind === 'user' && last && recalled.length > 0) last.recalled = recalled.splice(0);
  }
  const summary = entries.findLast((entry) => entry.kind === 'summary');
  const read = summary ? [summary, ...entries.filter((entry) => entry.kind !== 'summary' && entry.seq > (summary.coversThrough ?? 0))] : entries;
  const tokens = projectEntries(read, Number.MAX_SAFE_INTEGER).messages.reduce((sum, message) => sum + countTokens(message), 0);
  return {
    session_id: session.id,
    agent_id: session.agentId,
    message_count: messages.length,
    context_window_tokens: tokens,
    label: session.label,
    title: session.title ?? session.label,
    is_titled: session.isTitled ?? false,
    is_archived: session.isArchived ?? false,
    tags: [...(session.tags ?? [])],
    model: session.model ?? null,
    compacted_summary: summary?.content ?? null,
    conversation_id: session.conversation?.id ?? null,
    ...(session.conversation ? { versions: session.conversation.versions.map(shownVersion) } : {}),
    messages,
  };
}

function add(messages: HistoryMessage[], open: Map<string, HistoryTool>, entry: Entry): void {
  // What was read from a file is for the model; people see the file.
  const text = (entry.parts ?? []).flatMap((part) => (part.type === 'text' && !part.file ? [part.text] : [])).join('\n');
  const from = { seq: entry.seq, run_id: entry.runId, timestamp: entry.at };
  if (entry.kind === 'user') messages.push({ ...from, role: 'User', content: text, ...(entry.via === undefined ? {} : { via: entry.via }), ...shownFiles(entry.parts ?? []) });
  else if (entry.kind === 'assistant') messages.push({ ...from, role: 'Assistant', content: text, ...thinkingOf(entry) });
  else if (entry.kind === 'note') messages.push({ ...from, role: 'System', content: entry.content ?? '' });
  else if (entry.kind === 'tool_call') addCall(messages, open, entry);
  else if (entry.kind === 'tool_result') {
    const tool = open.get(entry.callId ?? '');
    if (!tool) return;
    tool.running = false;
    tool.result = (entry.content ?? '').slice(0, MAX_RESULT_CHARS);
    tool.is_error = entry.isError ?? false;
    if (entry.files) tool.files = entry.files.map(({ id, name, mediaType }) => ({ file_id: id, filename: name, content_type: mediaType }));
  }
}

function shownFiles(parts: readonly Part[]): Pick<HistoryMessage, 'images' | 'attachments'> {
  const images = parts.flatMap(({ file, ...part }) => {
    if (part.type !== 'image') return [];
    return [file ? { media_type: part.mediaType, file_id: file.id, filename: file.name } : { media_type: part.mediaType, data: part.data }];
  });
  const attachments = parts.flatMap(({ type, file }) =>
    type === 'text' && file && !file.contentType.startsWith('image/') ? [{ file_id: file.id, filename: file.name, content_type: file.contentType, size: file.sizeBytes }] : [],
  );
  return { ...(images.length > 0 ? { images } : {}), ...(attachments.length > 0 ? { attachments } : {}) };
}

const thinkingOf = ({ thoughts }: Entry): { thinking?: string } => (thoughts === undefined ? {} : { thinking: thoughts });

function addCall(messages: HistoryMessage[], open: Map<string, HistoryTool>, entry: Entry): void {
  let last = messages.at(-1);
  // What was thought between two rounds of tools stands before the second.
  if (last?.role !== 'Assistant' || entry.thoughts !== undefined) {
    last = { seq: entry.seq, run_id: entry.runId, role: 'Assistant', content: '', ...thinkingOf(entry), timestamp: entry.at };
    messages.push(last);
  }
  const tool: HistoryTool = { id: entry.callId ?? '', name: entry.tool ?? '', input: entry.args ?? {}, running: true, expanded: false };
  last.tools = [...(last.tools ?? []), tool];
  open.set(tool.id, tool);
}
