/** Bodies and answers. */
import { Nullable, OneOf, Type, Uuid } from '@svc/api';
import { KINDS, STATES } from './contract.js';
import { SOURCE_TYPES } from './sources/model.js';

const Text = Type.String();
const Count = Type.Integer();
const Path = Type.String({ minLength: 1, maxLength: 4_096, pattern: '^[^\\u0000]+$' });
const SourceType = OneOf(SOURCE_TYPES);

const AgentFound = Type.Object(
  {
    name: Text,
    description: Text,
    format: Text,
    convertible: Type.Boolean(),
    provider: Nullable(Text),
    model: Nullable(Text),
    tool_count: Count,
    has_memory: Type.Boolean(),
    has_sessions: Type.Boolean(),
    has_workspace: Type.Boolean(),
  },
  { 'x-name': 'MigrateAgent' },
);

export const Scan = Type.Object(
  {
    type: SourceType,
    path: Text,
    version: Nullable(Text),
    has_config: Type.Boolean(),
    agents: Type.Array(AgentFound),
    skills: Type.Array(Type.Object({ name: Text, format: Text, convertible: Type.Boolean() })),
    sessions: Type.Integer({ description: 'Conversations; branches of one are not counted here' }),
    memories: Count,
    crons: Count,
    channels: Type.Array(Text),
    secrets: Type.Array(Text, { description: 'Names, never values' }),
    has_memory: Type.Boolean(),
    warnings: Type.Array(Text),
  },
  { 'x-name': 'MigrateScan' },
);

export const Detected = Type.Object({
  detected: Type.Boolean(),
  source: Nullable(Text, { description: 'Type of the first source' }),
  path: Nullable(Text),
  scan: Type.Union([Scan, Type.Null()], { description: 'Of the first source; null where there is none, or where it cannot be read' }),
  sources: Type.Array(
    Type.Object(
      { type: SourceType, path: Text, version: Nullable(Text), agents_found: Count, skills_found: Count, problem: Nullable(Text, { description: 'Why it cannot be read' }) },
      { 'x-name': 'MigrateSource' },
    ),
  ),
});

export const ScanBody = Type.Object({ path: Path }, { additionalProperties: false });

const Choice = (what: string) => Type.Optional(Type.Boolean({ description: `Whether ${what} are imported`, default: true }));

export const MigrateBody = Type.Object(
  {
    source: Type.String({ minLength: 1, maxLength: 4_096, pattern: '^[^\\u0000]+$', description: 'A program (openclaw, librefang, openfang, opensvc, letta, hermes), or the path of its home' }),
    source_dir: Type.Optional(Type.String({ maxLength: 4_096, pattern: '^[^\\u0000]*$', description: 'Its home, where `source` names a program; left out or empty, the usual one' })),
    target_dir: Type.Optional(Type.String({ maxLength: 4_096, description: 'Only empty: an import goes into this daemon' })),
    dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Reads and reports, and changes nothing' })),
    agents: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000, description: 'Names of agents in the source; left out, all' })),
    import_agents: Choice('agents'),
    import_sessions: Choice('conversations'),
    import_memory: Choice('memories'),
    import_skills: Choice('skills'),
    import_crons: Choice('scheduled jobs'),
    import_secrets: Type.Optional(Type.Boolean({ default: false, description: 'Whether keys of providers are stored in the vault. For owners' })),
  },
  { additionalProperties: false },
);

const ByKind = Type.Record(Type.String(), Count, { description: 'By kind of item' });

export const Report = Type.Object(
  {
    id: Uuid,
    status: OneOf(STATES),
    dry_run: Type.Boolean(),
    source: SourceType,
    path: Text,
    progress: Type.Object({ step: Text, done: Count, total: Count }),
    found: ByKind,
    imported_by_kind: ByKind,
    skipped_by_kind: ByKind,
    agents_imported: Count,
    skills_imported: Count,
    sessions_imported: Count,
    messages_found: Count,
    messages_imported: Count,
    memories_imported: Count,
    imported: Type.Array(Type.Object({ kind: OneOf(KINDS), name: Text, destination: Text }), { description: 'The first 5,000' }),
    imported_count: Count,
    skipped: Type.Array(Type.Object({ kind: OneOf(KINDS), name: Text, reason: Text }), { description: 'The first 5,000' }),
    skipped_count: Count,
    warnings: Type.Array(Text),
    report_markdown: Text,
    error: Nullable(Text, { description: 'Why it failed' }),
    created_at: Text,
    ended_at: Nullable(Text),
  },
  { 'x-name': 'MigrateReport' },
);

export const Started = Type.Object({ id: Uuid, status: OneOf(STATES) });
export const ImportPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Id of the import' }) });
