/** What skills declares to other areas: the skills that are installed, and installing one that was fetched elsewhere. */
import { Actor, defineCapability, defineEvent, defineService, defineTable, method, Nullable, OneOf, type Plain, type RowOf, type Service, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;

/** Skills that people installed. They are of the daemon and nobody's own: owners and admins change them. */
export const SkillRows = defineTable('skills', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    /** Below `skills` of the home. The row decides which folder counts. */
    folder: text,
    /** JSON of a `SkillSource`. */
    source: text,
    digest: text,
    /** JSON: SHA-256 of each file as it was installed. */
    hashes: text,
    /** JSON of findings, as they were when it was installed. */
    findings: text,
    /** JSON: versions, the newest first. */
    versions: text,
    use_count: count,
    /** Id of who installed it. */
    installed_by: text,
    created_at: text,
    updated_at: text,
  },
});
export type SkillRow = RowOf<typeof SkillRows>;

/** Changes of skills that agents propose, until somebody has decided about them. */
export const ProposalRows = defineTable('proposals', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    skill: text,
    /** `create` or `update`. */
    kind: text,
    /** Digest of the files that it is for; empty for a new skill. */
    base: text,
    changelog: text,
    /** JSON of changes. */
    changes: text,
    diff: text,
    /** JSON: names of skills that say nearly the same. */
    alike: text,
    created_at: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
});
export type ProposalRow = RowOf<typeof ProposalRows>;

export const SkillsPropose = defineCapability('skills_propose', '1.0.0', { description: 'Propose skills and changes of skills, which a person decides about', grant: 'flag' });

export const SkillsChanged = defineEvent('skills.changed', '1.0.0', Type.Object({ name: Type.String(), state: Type.String() }), {
  what: 'skills',
  permission: 'skills.read',
  id: 'name',
  state: 'state',
});

export const SkillFinding = Type.Object(
  { rule: Type.String(), severity: OneOf(['info', 'warning', 'critical']), file: Type.String(), line: Type.Integer(), message: Type.String() },
  { 'x-name': 'SkillFinding' },
);

export const InstallChoices = Type.Object({
  verify: Type.Boolean(),
  expectedSha256: Type.Optional(Type.String()),
  replace: Type.Boolean(),
  discardEdits: Type.Boolean(),
  acceptFindings: Type.Boolean(),
});
export type InstallChoices = Plain<typeof InstallChoices>;

export const Installed = Type.Object({ name: Type.String(), version: Type.String(), digest: Type.String(), hasPrograms: Type.Boolean(), file: Type.String(), warnings: Type.Array(Type.String()) });
export type Installed = Plain<typeof Installed>;

/** What would be installed, for a person who decides about it. */
export const SkillPlan = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    runtime: Type.String(),
    digest: Type.String({ description: 'SHA-256 of all files. Send it as `expected_sha256` to install just this' }),
    download_sha256: Nullable(Type.String(), { description: 'Of the download as it came' }),
    installed_version: Nullable(Type.String()),
    files: Type.Array(Type.Object({ path: Type.String(), bytes: Type.Integer(), change: OneOf(['added', 'changed', 'same']) })),
    removed_files: Type.Array(Type.String()),
    edited_files: Type.Array(Type.String(), { description: 'Files of the installed version that were changed by hand' }),
    tools: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
    diff: Type.String({ description: 'From the installed version, in the form of `diff -u`. Empty where none is installed' }),
    adds: Type.Array(Type.String(), { description: 'What it may do or asks for that the installed version does not: tools, programs, variables, hosts and findings' }),
    programs: Type.Array(Type.Object({ name: Type.String(), found: Type.Boolean() })),
    variables: Type.Array(Type.String(), { description: 'Variables that it asks for' }),
    installs: Type.Array(Type.String(), { description: 'What installs missing programs, as its author wrote it' }),
    hosts: Type.Array(Type.String(), { description: 'Hosts that its files name' }),
    findings: Type.Array(SkillFinding),
    risk: OneOf(['none', 'info', 'warning', 'critical']),
    warnings: Type.Array(Type.String()),
  },
  { 'x-name': 'SkillPlan' },
);
export type SkillPlan = Plain<typeof SkillPlan>;

const Download = Type.Object({
  type: OneOf(['skillhub', 'skillhub-cn']),
  slug: Type.String(),
  version: Type.String(),
  owner: Type.Optional(Type.String({ description: 'The publisher that was named' })),
  name: Type.String({ description: 'Name of the file' }),
  /** The download as it came, in base64. */
  data: Type.String(),
});

export const Skills = defineService('skills', '1.1.0', {
  /** Base addresses of hubs, as set; empty where there is none. */
  hubs: method([], Type.Object({ url: Type.String(), mirrorUrl: Type.String() })),
  installed: method([Actor], Type.Array(Type.Object({ name: Type.String(), version: Type.String(), slug: Nullable(Type.String()) })), { what: 'sees which skills are installed' }),
  /** The local registry. */
  registry: method([Actor], Type.Array(Type.Object({ name: Type.String(), description: Type.String(), version: Type.String(), author: Type.String(), tags: Type.Array(Type.String()) })), {
    what: 'sees the skills of the local registry',
  }),
  /** Installs the files of a folder, as POST /api/skills/install does with a local one. */
  installFiles: method(
    [
      Actor,
      Type.Object({
        from: Type.String({ description: 'Where the folder is from, for people' }),
        folder: Type.String({ description: 'Its name, where its file has none' }),
        /** In base64. */
        files: Type.Array(Type.Object({ path: Type.String(), data: Type.String() })),
      }),
      InstallChoices,
    ],
    Installed,
    { what: 'installs skills', changes: true },
  ),
  planDownload: method([Actor, Download], SkillPlan),
  /** Throws what `POST /api/skills/install` answers. */
  installDownload: method([Actor, Download, InstallChoices], Installed),
});
export type SkillsService = Service<typeof Skills>;
