/**
 * The skills of this daemon.
 *
 * L1  An installed skill is a folder with a name of its own, and a row that says which folder counts. The commit of the row is the install: before it there is nothing, after it all.
 * L2  A folder that somebody put into `skills` of the home counts too. What cannot be loaded stays in the list, with file and line.
 * L3  Changes come one after the other. Folders that no row names are removed when skills are loaded.
 * L4  A critical finding keeps a skill out; an owner may accept it. A wrong SHA-256 always does.
 * L5  An update keeps files that were changed by hand, unless it is sent with the wish to discard them.
 */
import { type Actor, createTurns, didYouMean, isSvcError } from '@svc/api';
import { BUNDLED } from './bundled.js';
import type { InstallChoices, SkillPlan, SkillRow } from './contract.js';
import { skillErrors } from './errors.js';
import { type BadSkill, isBad, readSkill, type Skill, writtenSkill } from './format/skill.js';
import { nameOf, readSkillFile } from './format/skill-file.js';
import { digestOf, hashesOf, type PackFile, sha256 } from './install/pack.js';
import { planOf } from './install/plan.js';
import { type Finding, saidOf, scanFiles, worstOf } from './install/scan.js';
import type { FetchedSkill, SkillSource } from './install/sources.js';
import { createSkillStore, type StoreContext } from './store.js';

const MAX_SKILLS = 2_000;
const MAX_FILES = 2_500;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_VERSIONS = 10;
const AT_ONCE = 16;
/** They may be started by their name. */
const PROGRAM_FILE = /^scripts\/|\.(?:sh|py|js|mjs)$/;
/** Of a folder that an install made: the name and part of its digest. */
const INSTALLED_FOLDER = '@';

export interface SkillVersion {
  readonly version: string;
  readonly timestamp: string;
  readonly changelog: string;
  readonly content_hash: string;
  /** Where its files are; not of versions before the last 10. */
  readonly folder?: string;
}

/** One skill of the list, whether or not it could be loaded. */
export interface Entry {
  readonly name: string;
  readonly source: SkillSource;
  /** Below `skills` of the home; empty for one that comes with svc. */
  readonly folder: string;
  readonly skill?: Skill;
  readonly fault?: BadSkill;
  readonly findings: readonly Finding[];
  readonly row?: SkillRow;
}

export interface Library {
  list(): readonly Entry[];
  find(name: string): Entry | undefined;
  /** Throws `skills_not_found`. */
  get(name: string): Entry;
  /** Reads all folders anew; answers how many skills there are. */
  load(): Promise<number>;
  plan(fetched: FetchedSkill): Promise<SkillPlan>;
  install(actor: Actor, fetched: FetchedSkill, choices: InstallChoices): Promise<Entry>;
  create(actor: Actor, draft: { name: string; description: string; prompt_context: string; tags: readonly string[] }): Promise<Entry>;
  /** Its files as they are now; none of one that comes with svc. */
  files(entry: Entry): Promise<PackFile[]>;
  /** Those of a stored version. Throws `skills_version_not_found`. */
  filesOfVersion(entry: Entry, contentHash: string): Promise<PackFile[]>;
  /** Other files for a skill that is there, or a new skill. `more`: what is to be found in it besides. */
  change(actor: Actor, name: string, files: readonly PackFile[], changelog: string, more?: readonly Finding[]): Promise<Entry>;
  /** The version before becomes the one that counts. */
  rollBack(name: string): Promise<Entry>;
  uninstall(name: string): Promise<void>;
  /** Absolute; empty for one that comes with svc. */
  pathOf(entry: Entry): string;
  text(entry: Entry, path: string, maxBytes: number): Promise<{ text: string; isCut: boolean }>;
  /** Rejects for what is no file, or has more bytes. */
  bytes(entry: Entry, path: string, maxBytes: number): Promise<Uint8Array>;
  used(name: string): void;
  flushUses(): Promise<void>;
}

export interface LibraryDeps extends StoreContext {
  changed(name: string, state: string): void;
}

interface State {
  readonly deps: LibraryDeps;
  readonly store: ReturnType<typeof createSkillStore>;
  entries: ReadonlyMap<string, Entry>;
  readonly uses: Map<string, number>;
}

export const createLibrary = (deps: LibraryDeps): Library => {
  const state: State = { deps, store: createSkillStore(deps), entries: bundledEntries(), uses: new Map() };
  const turns = createTurns();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns('library', work);
  const find = (name: string): Entry | undefined => state.entries.get(name) ?? state.entries.get(nameOf(name));
  const get = (name: string): Entry => {
    const found = find(name);
    if (!found) throw skillErrors.not_found(name, didYouMean(name, [...state.entries.keys()]));
    return found;
  };
  return {
    list: () => [...state.entries.values()],
    find,
    get,
    load: () => inTurn(() => load(state)),
    plan: (fetched) => plan(state, fetched),
    install: (actor, fetched, choices) => inTurn(() => install(state, actor, fetched, choices)),
    create: (actor, draft) => inTurn(() => create(state, actor, draft)),
    files: (entry) => (entry.folder === '' ? Promise.resolve([]) : filesIn(state, entry.folder)),
    filesOfVersion: (entry, hash) => filesOfVersion(state, entry, hash),
    change: (actor, name, files, changelog, more = []) => inTurn(() => install(state, actor, { source: find(name)?.source ?? { type: 'local' }, files, folder: name }, CHANGE, { changelog, more })),
    rollBack: (name) => inTurn(() => rollBack(state, get(name))),
    uninstall: (name) => inTurn(() => uninstall(state, get(name))),
    pathOf: (entry) => (entry.folder === '' ? '' : `${deps.files.root('skills').path}/${entry.folder}`),
    text: (entry, path, maxBytes) => textOf(state, entry, path, maxBytes),
    bytes: (entry, path, maxBytes) => deps.files.root('skills').dir(entry.folder).read(path, { maxBytes }),
    used: (name) => void state.uses.set(name, (state.uses.get(name) ?? 0) + 1),
    flushUses: () => inTurn(() => flushUses(state)),
  };
};

const bundledEntries = (): Map<string, Entry> => new Map(BUNDLED.map((text) => bundledEntry(readSkillFile(text, ''))).map((entry) => [entry.name, entry]));

const bundledEntry = (text: ReturnType<typeof readSkillFile>): Entry => ({
  name: text.name,
  source: { type: 'bundled' },
  folder: '',
  skill: { ...text, runtime: 'PromptOnly', program: undefined, file: 'SKILL.md', paths: ['SKILL.md'] },
  findings: [],
});

const load = async (state: State): Promise<number> => {
  const { deps, store } = state;
  const root = deps.files.root('skills');
  const rows = await store.all();
  const byFolder = new Set(rows.flatMap((row) => [row.folder, ...versionsOf(row).map(({ folder }) => folder)]));
  const entries = new Map(bundledEntries());
  const folders = (await root.list('', { limit: MAX_SKILLS * 2 })).filter(({ kind, name }) => kind === 'dir' && !name.startsWith('.'));
  const orphans = folders.filter(({ name }) => name.includes(INSTALLED_FOLDER) && !byFolder.has(name));
  for (const { name } of orphans) await root.remove(name);
  const there = new Set(folders.map(({ name }) => name));
  const own = folders.filter(({ name }) => !name.includes(INSTALLED_FOLDER)).map(({ name }) => ({ folder: name, row: undefined }));
  const all = [...rows.map((row) => ({ folder: row.folder, row })), ...own].slice(0, MAX_SKILLS);
  for (let start = 0; start < all.length; start += AT_ONCE) {
    const read = await Promise.all(all.slice(start, start + AT_ONCE).map(({ folder, row }) => (row && !there.has(folder) ? missing(row) : entryOf(state, folder, row))));
    for (const entry of read) {
      const other = entries.get(entry.name);
      if (!other) entries.set(entry.name, entry);
      else deps.log.warn('two folders have a skill of the same name, and only the first one counts', { name: entry.name, first: other.folder, second: entry.folder });
    }
  }
  state.entries = entries;
  deps.changed('', 'loaded');
  return entries.size;
};

const missing = async (row: SkillRow): Promise<Entry> => ({
  name: row.name,
  ...{ row, folder: row.folder, source: sourceOf(row), findings: [] },
  fault: { file: 'SKILL.md', line: 1, message: 'its folder is not on this machine' },
});

const sourceOf = (row: SkillRow): SkillSource => JSON.parse(row.source) as SkillSource;

/** Of a folder without a row its files are scanned: nobody has agreed to them. */
const entryOf = async (state: State, folder: string, row: SkillRow | undefined): Promise<Entry> => {
  const dir = state.deps.files.root('skills').dir(folder);
  const common = { folder, source: row ? sourceOf(row) : ({ type: 'local' } as const), ...(row ? { row } : {}) };
  try {
    const listed = await dir.list('', { recursive: true, limit: MAX_FILES });
    const paths = listed.filter(({ kind }) => kind === 'file').map(({ name }) => name);
    const skill = await readSkill({ name: row?.name ?? folder, paths, text: (path, maxBytes) => dir.readText(path, { maxBytes }) });
    const name = row?.name ?? (isBad(skill) ? nameOf(folder) || folder : skill.name);
    if (isBad(skill)) return { ...common, name, fault: skill, findings: [] };
    if (row) return { ...common, name, skill, findings: JSON.parse(row.findings) as Finding[] };
    const findings = scanFiles(await Promise.all(paths.map(async (path) => ({ path, bytes: await dir.read(path, { maxBytes: MAX_FILE_BYTES }) }))));
    const [worst] = findings.filter(({ severity }) => severity === 'critical');
    if (!worst) return { ...common, name, skill, findings };
    return {
      ...common,
      name,
      findings,
      fault: { file: worst.file, line: worst.line, message: `${worst.rule}: ${worst.message.replace(/\.$/, '')}. Install it with \`svc skills install\` to accept that` },
    };
  } catch (error) {
    const why = isSvcError(error) ? error.message.replace(/\.$/, '') : String((error as Error).message);
    return { ...common, name: row?.name ?? (nameOf(folder) || folder), fault: { file: 'SKILL.md', line: 1, message: why }, findings: [] };
  }
};

const read = async (fetched: FetchedSkill): Promise<Skill> => {
  const byPath = new Map(fetched.files.map((file) => [file.path, file]));
  const skill = await readSkill({ name: fetched.folder, paths: [...byPath.keys()], text: async (path, maxBytes) => textIn(byPath.get(path), maxBytes) });
  if (isBad(skill)) throw skillErrors.bad_skill(skill.file, skill.line, skill.message);
  return skill;
};

const textIn = (file: PackFile | undefined, maxBytes: number): string => {
  if (!file || file.bytes.length > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
  return Buffer.from(file.bytes).toString('utf8');
};

/** Paths of files that differ from what was installed. */
const editsOf = async ({ deps }: State, { row, folder }: Entry): Promise<string[]> => {
  if (!row) return [];
  const hashes = JSON.parse(row.hashes) as Record<string, string>;
  const dir = deps.files.root('skills').dir(folder);
  const listed = await dir.list('', { recursive: true, limit: MAX_FILES });
  const paths = new Set([...Object.keys(hashes), ...listed.filter(({ kind }) => kind === 'file').map(({ name }) => name)]);
  const edited: string[] = [];
  for (const path of paths) {
    const bytes = await dir.read(path, { maxBytes: MAX_FILE_BYTES }).catch(() => undefined);
    if (bytes === undefined || sha256(bytes) !== hashes[path]) edited.push(path);
  }
  return edited.sort();
};

const plan = async (state: State, fetched: FetchedSkill): Promise<SkillPlan> => {
  const skill = await read(fetched);
  const entry = state.entries.get(skill.name);
  const known = entry?.row && {
    version: entry.skill?.version ?? '',
    hashes: JSON.parse(entry.row.hashes) as Record<string, string>,
    edited: await editsOf(state, entry),
    ...{ files: await filesIn(state, entry.folder).catch(() => []), findings: entry.findings, skill: entry.skill },
  };
  return planOf(state.deps.exec, fetched, skill, scanFiles(fetched.files), known);
};

const CHANGE: InstallChoices = { verify: false, replace: true, discardEdits: true, acceptFindings: false };

const install = async (state: State, actor: Actor, fetched: FetchedSkill, choices: InstallChoices, change?: { changelog: string; more: readonly Finding[] }): Promise<Entry> => {
  const skill = await read(fetched);
  const hashes = hashesOf(fetched.files);
  const digest = digestOf(hashes);
  const { expectedSha256: expected } = choices;
  if (choices.verify && expected !== undefined && expected !== digest && expected !== fetched.downloadSha256) throw skillErrors.wrong_hash(expected, fetched.downloadSha256 ?? digest);
  const findings = [...scanFiles(fetched.files), ...(change?.more ?? [])];
  if (worstOf(findings) === 'critical') {
    if (!choices.acceptFindings) throw skillErrors.refused(skill.name, saidOf(findings.filter(({ severity }) => severity === 'critical')));
    if (actor.role !== 'owner') throw skillErrors.owners_only();
    state.deps.log.warn('an owner installed a skill in spite of critical findings', { name: skill.name, findings: saidOf(findings, 20) });
  }
  const before = state.entries.get(skill.name);
  if (before?.source.type === 'bundled') throw skillErrors.bundled(skill.name);
  if (before && !(choices.replace || before.folder === '')) throw skillErrors.exists(skill.name);
  if (before && !choices.discardEdits) {
    const edited = before.row ? await editsOf(state, before) : ['SKILL.md'];
    if (edited.length > 0) throw skillErrors.edited(skill.name, edited.slice(0, 10).join(', '));
  }
  if (!before && state.entries.size >= MAX_SKILLS) throw skillErrors.too_many(MAX_SKILLS);
  return put(state, actor, { skill, files: fetched.files, source: fetched.source, hashes, digest, findings, changelog: change?.changelog }, before);
};

interface Accepted {
  readonly skill: Skill;
  readonly files: readonly PackFile[];
  readonly source: SkillSource;
  readonly hashes: Readonly<Record<string, string>>;
  readonly digest: string;
  readonly findings: readonly Finding[];
  readonly changelog: string | undefined;
}

/** Writes the folder, then the row; folders of versions that are no longer stored go last. */
const put = async (state: State, actor: Actor, { skill, files, source, hashes, digest, findings, changelog }: Accepted, before: Entry | undefined): Promise<Entry> => {
  const { deps, store } = state;
  const folder = `${skill.name}${INSTALLED_FOLDER}${digest.slice(0, 12)}-${deps.ids.hex(3)}`;
  const root = deps.files.root('skills');
  const dir = root.dir(folder);
  const now = deps.clock.iso();
  const version: SkillVersion = {
    version: skill.version,
    timestamp: now,
    changelog: changelog ?? (before ? `Updated from ${before.skill?.version ?? 'a version that could not be loaded'}.` : 'Installed.'),
    content_hash: digest,
    folder,
  };
  const earlier = before?.row ? storedOf(before.row) : [];
  const row: SkillRow = {
    name: skill.name,
    folder,
    source: JSON.stringify(source),
    digest,
    hashes: JSON.stringify(hashes),
    findings: JSON.stringify(findings),
    versions: JSON.stringify([version, ...earlier].slice(0, MAX_VERSIONS)),
    use_count: before?.row?.use_count ?? 0,
    installed_by: actor.id,
    created_at: before?.row?.created_at ?? now,
    updated_at: now,
  };
  try {
    for (const { path, bytes, isProgram } of files) await dir.write(path, bytes, { mode: isProgram ? 0o755 : 0o644 });
    await store.put(row, before?.row !== undefined);
  } catch (error) {
    await root.remove(folder);
    throw error;
  }
  // One that a person put there has no row, and no versions.
  if (before && !before.row && before.folder !== '') await root.remove(before.folder);
  for (const { folder: dropped } of earlier.slice(MAX_VERSIONS - 1)) if (dropped !== undefined) await root.remove(dropped);
  const entry: Entry = { name: skill.name, source, folder, skill, findings, row };
  state.entries = new Map([...state.entries, [skill.name, entry]]);
  deps.changed(skill.name, before ? 'updated' : 'installed');
  return entry;
};

/** With the folder of the newest, which rows of earlier releases name only once. */
const storedOf = (row: SkillRow): SkillVersion[] => versionsOf(row).map((version, index) => (index === 0 ? { ...version, folder: row.folder } : version));

const filesIn = async ({ deps }: State, folder: string): Promise<PackFile[]> => {
  const dir = deps.files.root('skills').dir(folder);
  const listed = await dir.list('', { recursive: true, limit: MAX_FILES });
  const files: PackFile[] = [];
  for (const { name } of listed.filter(({ kind }) => kind === 'file')) {
    files.push({ path: name, bytes: await dir.read(name, { maxBytes: MAX_FILE_BYTES }), isProgram: PROGRAM_FILE.test(name) });
  }
  return files;
};

const filesOfVersion = async (state: State, entry: Entry, hash: string): Promise<PackFile[]> => {
  const folder = entry.row && storedOf(entry.row).find((version) => version.content_hash === hash)?.folder;
  if (folder === undefined) throw skillErrors.version_not_found(entry.name, hash);
  return filesIn(state, folder);
};

const rollBack = async (state: State, entry: Entry): Promise<Entry> => {
  const [current, before, ...rest] = entry.row ? storedOf(entry.row) : [];
  if (!entry.row || !current || before?.folder === undefined) throw skillErrors.no_version(entry.name);
  const files = await filesIn(state, before.folder);
  const hashes = hashesOf(files);
  const row: SkillRow = {
    ...entry.row,
    folder: before.folder,
    digest: digestOf(hashes),
    hashes: JSON.stringify(hashes),
    findings: JSON.stringify(scanFiles(files)),
    versions: JSON.stringify([before, ...rest]),
    updated_at: state.deps.clock.iso(),
  };
  await state.store.put(row, true);
  if (current.folder !== undefined) await state.deps.files.root('skills').remove(current.folder);
  const next = await entryOf(state, before.folder, row);
  state.entries = new Map([...state.entries, [entry.name, next]]);
  state.deps.changed(entry.name, 'rolled back');
  return next;
};

export const versionsOf = (row: SkillRow): SkillVersion[] => JSON.parse(row.versions) as SkillVersion[];

const create = (state: State, actor: Actor, { name, description, prompt_context: body, tags }: Parameters<Library['create']>[1]): Promise<Entry> => {
  const text = writtenSkill({ name, description, tags, body });
  const files = [{ path: 'SKILL.md', bytes: Buffer.from(text), isProgram: false }];
  return install(state, actor, { source: { type: 'local' }, files, folder: name }, { verify: true, replace: false, discardEdits: false, acceptFindings: false });
};

const uninstall = async (state: State, entry: Entry): Promise<void> => {
  if (entry.source.type === 'bundled') throw skillErrors.bundled(entry.name);
  if (entry.row) await state.store.remove(entry.name);
  for (const folder of new Set([entry.folder, ...(entry.row ? versionsOf(entry.row).flatMap((version) => version.folder ?? []) : [])])) await state.deps.files.root('skills').remove(folder);
  state.entries = new Map([...state.entries].filter(([name]) => name !== entry.name));
  state.deps.changed(entry.name, 'uninstalled');
};

const textOf = async ({ deps }: State, entry: Entry, path: string, maxBytes: number): Promise<{ text: string; isCut: boolean }> => {
  if (entry.folder === '') return { text: entry.skill?.body ?? '', isCut: false };
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of deps.files
    .root('skills')
    .dir(entry.folder)
    .readStream(path, { maxBytes: maxBytes + 4 })) {
    parts.push(part);
    size += part.length;
  }
  const whole = Buffer.concat(parts);
  if (size <= maxBytes) return { text: whole.toString('utf8'), isCut: false };
  let end = maxBytes;
  // Not in the middle of a character.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: whole.subarray(0, end).toString('utf8'), isCut: true };
};

const flushUses = async (state: State): Promise<void> => {
  for (const [name, count] of state.uses) {
    state.uses.delete(name);
    const entry = state.entries.get(name);
    if (!entry?.row) continue;
    const row = { ...entry.row, use_count: entry.row.use_count + count };
    await state.store.put(row, true);
    state.entries = new Map([...state.entries, [name, { ...entry, row }]]);
  }
};
