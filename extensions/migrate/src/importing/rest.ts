/** Identity files, memories, skills, jobs, and what is only named: channels, tools, secrets. */
import { isSvcError } from '@svc/api';
import type { ItemKind } from '../contract.js';
import { namesIn, reasonOf } from '../sources/files.js';
import type { SourceAgent, SourceCron, SourceMemory, SourceSecret, SourceSkill } from '../sources/model.js';
import type { Outcome } from '../store.js';
import { chosen, type Import, itemOf, KNOWN, NOT_CHOSEN, settle, type Target } from './context.js';

const MAX_IDENTITY_BYTES = 32_768;
const MAX_SKILL_FILES = 500;
const MAX_SKILL_BYTES = 10 * 1_048_576;
const MEMORY_BATCH = 50;
const MAX_FOLDERS = 6;

interface Work {
  readonly kind: ItemKind;
  readonly key: string;
  readonly name: string;
  readonly agentId?: string;
  /** Says why not, before anything is done. */
  refusal?(): Promise<string | undefined> | string | undefined;
  /** Answers where it went. Throws what the area refuses. */
  work(): Promise<string>;
}

/** An item is done once: in this import, and in all others. What comes between is safe to do twice. */
const perform = async (run: Import, kind: ItemKind, works: readonly Work[]): Promise<void> => {
  const [done, known] = [await run.store.done(run.id, kind), await run.store.items(run.actor.ownerId, run.source.type, kind)];
  for (const one of works) {
    run.alive();
    if (done.has(one.key)) continue;
    const outcome = await outcomeOf(run, one, known.has(one.key));
    await settle(run, [outcome], outcome.imported ? [itemOf(run, kind, one.key, { agent_id: one.agentId ?? null, target: outcome.detail.slice(0, 300) })] : []);
  }
};

const outcomeOf = async (run: Import, { kind, key, name, refusal, work }: Work, isKnown: boolean): Promise<Outcome> => {
  const skipped = (detail: string): Outcome => ({ kind, key, name, imported: false, detail });
  if (isKnown) return skipped(KNOWN);
  const why = await refusal?.();
  if (why !== undefined) return skipped(why);
  if (run.isDry) return { kind, key, name, imported: true, detail: 'would be imported' };
  try {
    return { kind, key, name, imported: true, detail: await work() };
  } catch (error) {
    if (isSvcError(error) && error.status >= 500 && error.status !== 507) throw error;
    return skipped(reasonOf(error));
  }
};

const keyOf = ({ source }: Import, key: string): string => `${source.dir.path}#${key}`;

const ofAgent = (run: Import, agent: SourceAgent, isWanted: boolean | undefined): { target: Target | undefined; refusal: () => string | undefined } => {
  const target = run.targets.get(agent.key);
  return { target, refusal: () => (isWanted === false || !chosen(run, agent.name) ? NOT_CHOSEN : target === undefined ? 'its agent was not imported' : undefined) };
};

export const importWorkspaces = (run: Import): Promise<void> =>
  perform(
    run,
    'Workspace',
    run.source.agents.flatMap((agent) => {
      const { target, refusal } = ofAgent(run, agent, run.options.import_agents);
      return agent.files.map(
        ({ path, to }): Work => ({
          kind: 'Workspace',
          key: keyOf(run, path),
          name: path,
          ...(target && target.id !== '' ? { agentId: target.id } : {}),
          refusal,
          work: async () => {
            const bytes = await run.source.dir.read(path);
            const place = bytes.length > MAX_IDENTITY_BYTES ? to.replace('.identity/', 'imported/') : to;
            await run
              .workspaces()
              .dir(target?.id ?? '')
              .write(place, bytes, { noLinks: true });
            return `${place} in the workspace of ${target?.name ?? ''}`;
          },
        }),
      );
    }),
  );

export const importMemories = async (run: Import): Promise<void> => {
  const [done, known] = [await run.store.done(run.id, 'Memory'), await run.store.items(run.actor.ownerId, run.source.type, 'Memory')];
  for (const agent of run.source.agents) {
    const { target, refusal } = ofAgent(run, agent, run.options.import_memory);
    const memory = run.memory.value;
    const why = refusal() ?? (memory ? undefined : 'the extension memory is off');
    const waiting = agent.memories.filter(({ key }) => !done.has(keyOf(run, key)));
    const fresh = waiting.filter(({ key }) => !known.has(keyOf(run, key)));
    await settle(
      run,
      waiting.filter((one) => why !== undefined || known.has(keyOf(run, one.key))).map((one) => memoryOutcome(run, one, false, why ?? KNOWN)),
    );
    if (why === undefined && target) for (let at = 0; at < fresh.length; at += MEMORY_BATCH) await addMemories(run, target, fresh.slice(at, at + MEMORY_BATCH));
    await importPairs(run, agent, target, why, done);
  }
};

const memoryOutcome = (run: Import, { key, content }: SourceMemory, imported: boolean, detail: string): Outcome => ({
  kind: 'Memory',
  key: keyOf(run, key),
  name: content.slice(0, 80),
  imported,
  detail,
});

const addMemories = async (run: Import, target: Target, memories: readonly SourceMemory[]): Promise<void> => {
  run.alive();
  const to = `memory of ${target.name}`;
  if (run.isDry)
    return settle(
      run,
      memories.map((one) => memoryOutcome(run, one, true, to)),
    );
  const outcomes = await addEach(run, target, memories);
  await settle(
    run,
    memories.map((one, index) => memoryOutcome(run, one, outcomes[index] === undefined, outcomes[index] ?? to)),
    memories.flatMap((one, index) => (outcomes[index] === undefined ? [itemOf(run, 'Memory', keyOf(run, one.key), { agent_id: target.id, target: to })] : [])),
  );
};

/** Why each was not added; all at once, and one by one where one of them is refused. */
const addEach = async (run: Import, target: Target, memories: readonly SourceMemory[]): Promise<Array<string | undefined>> => {
  const rows = memories.map(({ content, createdAt, category }) => ({
    content,
    ...(createdAt === undefined ? {} : { created_at: createdAt }),
    ...(category === undefined ? {} : { category: category.slice(0, 100) }),
  }));
  try {
    const added = (await run.memory.value?.add(run.actor, target.id, rows)) ?? [];
    return added.map((isNew) => (isNew ? undefined : 'the agent remembers it already'));
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    if (memories.length === 1) return [reasonOf(error)];
    const each: Array<string | undefined> = [];
    for (const one of memories) each.push(...(await addEach(run, target, [one])));
    return each;
  }
};

const importPairs = async (run: Import, agent: SourceAgent, target: Target | undefined, why: string | undefined, done: ReadonlySet<string>): Promise<void> => {
  const works = agent.pairs
    .map(
      ({ key, value }): Work => ({
        kind: 'Memory',
        key: keyOf(run, `${agent.key}/${key}`),
        name: `${agent.name}: ${key}`,
        ...(target && target.id !== '' ? { agentId: target.id } : {}),
        refusal: () => why ?? (value === undefined ? 'its value is neither JSON nor MessagePack' : undefined),
        work: async () => {
          await run.memory.value?.setPairs(run.actor, target?.id ?? '', { [key]: value });
          return `key ${key} in the memory of ${target?.name ?? ''}`;
        },
      }),
    )
    .filter(({ key }) => !done.has(key));
  if (works.length > 0) await perform(run, 'Memory', works);
};

export const importSkills = async (run: Import): Promise<void> => {
  const installed = new Set((await run.skills.value?.installed(run.actor))?.map(({ name }) => name) ?? []);
  await perform(
    run,
    'Skill',
    run.source.skills.map(
      (skill): Work => ({
        kind: 'Skill',
        key: keyOf(run, skill.path),
        name: skill.name,
        refusal: () =>
          run.options.import_skills === false
            ? NOT_CHOSEN
            : run.skills.value === undefined
              ? 'the extension skills is off'
              : installed.has(skill.name)
                ? 'a skill of this name is installed'
                : undefined,
        work: async () => {
          const made = await run.skills.value?.installFiles(
            run.actor,
            { from: `${run.source.dir.path}/${skill.path}`, folder: skill.name, files: await skillFiles(run, skill) },
            { verify: true, replace: false, discardEdits: false, acceptFindings: false },
          );
          return `skill ${made?.name ?? skill.name}`;
        },
      }),
    ),
  );
};

const skillFiles = async ({ source: { dir } }: Import, { path }: SourceSkill): Promise<Array<{ path: string; data: string }>> => {
  const files: Array<{ path: string; data: string }> = [];
  let bytes = 0;
  const walk = async (below: string, depth: number): Promise<void> => {
    const folder = below === '' ? path : `${path}/${below}`;
    for (const name of await namesIn(dir, folder, 'file')) {
      const read = await dir.read(`${folder}/${name}`, { maxBytes: MAX_SKILL_BYTES });
      bytes += read.length;
      if (files.length >= MAX_SKILL_FILES || bytes > MAX_SKILL_BYTES) throw new Error(`it has more than ${MAX_SKILL_FILES} files or ${MAX_SKILL_BYTES / 1_048_576} MiB`);
      files.push({ path: below === '' ? name : `${below}/${name}`, data: Buffer.from(read).toString('base64') });
    }
    if (depth < MAX_FOLDERS) for (const name of await namesIn(dir, folder, 'dir')) if (name !== '.git' && name !== 'node_modules') await walk(below === '' ? name : `${below}/${name}`, depth + 1);
  };
  await walk('', 0);
  return files;
};

export const importCrons = (run: Import): Promise<void> =>
  perform(
    run,
    'Cron',
    run.source.crons.map((cron): Work => {
      const agent = run.source.agents.find(({ key }) => key === cron.agent);
      const target = agent && run.targets.get(agent.key);
      return {
        kind: 'Cron',
        key: keyOf(run, cron.key),
        name: cron.name,
        ...(target && target.id !== '' ? { agentId: target.id } : {}),
        refusal: () => (run.options.import_crons === false || (agent && !chosen(run, agent.name)) ? NOT_CHOSEN : target === undefined ? 'its agent was not imported' : undefined),
        work: () => (target && run.schedules.value ? schedule(run, cron, target) : toWorkspace(run, cron, target)),
      };
    }),
  );

/** While the source runs, its jobs fire there: those here are switched off. */
const schedule = async (run: Import, cron: SourceCron, { id, name }: Target): Promise<string> => {
  const { schedules, actor } = run;
  const wanted = {
    agentId: id,
    name: cron.name.slice(0, 128),
    schedule: cron.schedule,
    message: cron.message.slice(0, 16_000),
    enabled: cron.isEnabled && !run.isRunning,
    ...(cron.tz === undefined ? {} : { tz: cron.tz }),
  };
  // It was made, and the daemon died before that was noted.
  const there = (await schedules.value?.of(actor, id))?.find((job) => job.name === wanted.name && job.message === wanted.message);
  const job = there ?? (await schedules.value?.create(actor, wanted));
  return `job ${job?.id ?? ''} of ${name}${wanted.enabled ? '' : ', switched off'}`;
};

const toWorkspace = async (run: Import, cron: SourceCron, target: Target | undefined): Promise<string> => {
  const place = `imported/jobs/${Buffer.from(cron.key).toString('hex').slice(0, 64)}.json`;
  await run
    .workspaces()
    .dir(target?.id ?? '')
    .write(place, `${JSON.stringify(cron, undefined, 2)}\n`, { noLinks: true });
  return `${place} in the workspace of ${target?.name ?? ''}, because the extension schedules is off`;
};

export const importSecrets = (run: Import): Promise<void> =>
  perform(
    run,
    'Secret',
    run.source.secrets.map(
      (secret): Work => ({
        kind: 'Secret',
        key: keyOf(run, secret.name),
        name: secret.name,
        refusal: () => secretRefusal(run, secret),
        work: async () => {
          await run.providers.value?.storeKey(secret.provider ?? '', secret.value);
          return `key of ${secret.provider ?? ''} in the vault`;
        },
      }),
    ),
  );

const secretRefusal = async ({ options, providers }: Import, { provider }: SourceSecret): Promise<string | undefined> => {
  if (options.import_secrets !== true) return 'secrets are imported only with import_secrets';
  const record = provider === null ? undefined : await providers.value?.get(provider);
  if (!record) return 'it is no key of a provider of this daemon';
  return record.auth_status === 'missing' || record.auth_status === 'invalid_key' ? undefined : `${record.name} has a key, or needs none`;
};

/** Channels and what else the source has that does not come along: named, with the reason. */
export const nameTheRest = (run: Import): Promise<void> =>
  settle(run, [
    ...run.source.channels.map(
      (name): Outcome => ({
        kind: 'Channel',
        key: keyOf(run, name),
        name,
        imported: false,
        detail: `channels stay off, because two programs with one bot lose messages; stop the source, then set it up: svc channels setup ${/^[a-z][a-z0-9_-]*$/.test(name) ? name : 'NAME'}`,
      }),
    ),
    ...run.source.remarks.map(({ kind, name, reason }, index): Outcome => ({ kind, key: keyOf(run, `remark ${index}: ${name.slice(0, 100)}`), name, imported: false, detail: reason })),
  ]);
