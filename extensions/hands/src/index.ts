import { Agents, Templates } from '@svc/ext-agents/contract';
import { Memory } from '@svc/ext-memory/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Schedules } from '@svc/ext-schedules/contract';
import { Tools } from '@svc/ext-tools/contract';
import { type Actor, defineExtension, DoctorCheck, type ExtensionContext, openResource } from '@svc/api';
import { handTables } from '../migrations/0001_init.js';
import { commandWords } from './commands.js';
import { HandInstances, Hands } from './contract.js';
import * as contract from './contract.js';
import { createDefinitions, type Definition, type Definitions } from './definitions.js';
import { handErrors, reasonOf } from './errors.js';
import { findingsOf } from './findings.js';
import { inLanguage } from './hand-file.js';
import { createInstaller, type Installer } from './install-deps.js';
import { type Activated, createInstances, type Instances } from './instances.js';
import { createRequirements, isMetAll, type Requirements } from './requirements.js';
import { manifestOf, remarksOf, roleAgents } from './role-agents.js';
import { effectiveValues, unknownValues } from './settings.js';
import { handDetail, handItem, instanceItem, platformOf, settingsShown, wholeRequirements } from './shown.js';
import { statsOf } from './stats.js';
import { DepsInstall, HandsChanged, InstanceRows, SettingRows } from './tables.js';
import { handTools } from './tools.js';

const REPAIR_MS = 60_000;
const FIRST_REPAIR_MS = 1_000;
const NO_BROWSER = 'Agents have no browser in this version of svc.';

interface Parts {
  readonly ctx: ExtensionContext;
  readonly definitions: Definitions;
  readonly instances: Instances;
  readonly requirements: Requirements;
  readonly installer: Installer;
  remarks(definition: Definition): Promise<readonly string[]>;
}

export default defineExtension({
  contract: { ...contract, DepsInstall },
  tables: [InstanceRows, SettingRows],
  migrations: [handTables],
  resources: [Hands, HandInstances],
  commandWords,
  completions: [
    { name: 'hands', fields: ['hand', 'hand-id'], operation: 'listHands', rows: 'hands', value: 'id' },
    { name: 'hand-instances', fields: ['instance'], operation: 'listActiveHands', rows: 'instances', value: 'id' },
  ],
  activate(ctx) {
    const { db, events, clock, ids, log, actors, files } = ctx;
    const agents = ctx.services.require(Agents);
    const schedules = ctx.services.optional(Schedules);
    const tools = ctx.services.optional(Tools);
    const folder = async (): Promise<string> => {
      if (!(await files.data.stat('work/.svc'))) await files.data.write('work/.svc', 'The folder in which svc starts programs that install what a hand needs.\n');
      return files.data.dir('work').path;
    };
    const definitions = createDefinitions({
      assets: files.assets,
      hands: files.root('hands'),
      registry: files.root('registry'),
      schemas: ctx.schemas,
      check: (definition) => checkRoles(definition, async (text) => void (await agents.read(text))),
    });
    const requirements = createRequirements({ exec: ctx.exec, secrets: ctx.secrets, clock, folder });
    const installer = createInstaller({
      exec: ctx.exec,
      secrets: ctx.secrets,
      clock,
      folder,
      journal: ctx.journal,
      wall: clock,
      log,
      closing: ctx.signal,
      platform: platformOf(process.platform),
      requirements,
    });
    const instances = createInstances({ db, events, clock, ids, log, actors, definitions, agents, schedules, templates: ctx.services.optional(Templates), tools });
    const parts: Parts = {
      ...{ ctx, definitions, instances, requirements, installer },
      remarks: async ({ hand }) => {
        const all = await tools.value?.all();
        return remarksOf(hand, { tools: all && new Set(all.map(({ name }) => name)), hasSchedules: schedules.value !== undefined });
      },
    };
    const hands = openHands(parts);
    const active = openResource(HandInstances, {
      list: async ({ actor }) => (await instances.list(actor)).map(instanceItem),
      get: async ({ actor, key }) => instanceItem(await instances.get(actor, key)),
      delete: async ({ actor, key }) => {
        await instances.deactivate(actor, key);
        return { status: 'deactivated' as const, instance_id: key.toLowerCase() };
      },
      actions: {
        pause: async ({ actor, key }) => instanceItem(await instances.setPaused(actor, key, true)),
        resume: async ({ actor, key }) => instanceItem(await instances.setPaused(actor, key, false)),
        stats: async ({ actor, key }) => statsOf({ runs: ctx.services.require(Runs), memory: ctx.services.optional(Memory), definitions, clock }, actor, await instances.get(actor, key)),
        browser: async ({ actor, key }) => {
          await instances.get(actor, key);
          return { active: false, reason: NO_BROWSER };
        },
      },
    });
    ctx.routes.add(...hands.routes, ...active.routes);
    ctx.tools.add(...handTools({ agents, definitions, instances }));
    ctx.hooks.tap(DoctorCheck, async () => findingsOf(await definitions.faults()));
    schedules.onChange((service) => {
      if (service) void instances.repair().catch((error: unknown) => log.warn('active hands could not be brought in line with their rows', { cause: error }));
    });
    ctx.timers.after('first-repair', FIRST_REPAIR_MS, () => instances.repair());
    ctx.timers.every('repair-hands', REPAIR_MS, () => instances.repair());
  },
});

const openHands = ({ ctx, definitions, instances, requirements, installer, remarks }: Parts) => {
  const platform = platformOf(process.platform);
  const isActive = async (actor: Actor, id: string): Promise<boolean> => (await instances.list(actor, id)).some(({ ownerId }) => ownerId === actor.ownerId);
  const detail = async (actor: Actor, definition: Definition) => {
    const checked = await requirements.of(definition.hand);
    return handDetail(definition, { checked, plan: await installer.plan(checked), isActive: await isActive(actor, definition.hand.id), platform, requirements, remarks: await remarks(definition) });
  };
  const publishChange = (id: string) => ctx.events.publish(HandsChanged, { id, change: 'definition' });
  const localized = (definition: Definition, header: string | undefined): Definition => ({ ...definition, hand: inLanguage(definition.hand, header) });
  return openResource(Hands, {
    list: async ({ actor, req }) => {
      const [all, active] = await Promise.all([definitions.list(), instances.list(actor)]);
      const own = new Set(active.filter(({ ownerId }) => ownerId === actor.ownerId).map(({ handId }) => handId));
      return Promise.all(all.map(async (one) => handItem(localized(one, req.headers['accept-language']), await requirements.of(one.hand), own.has(one.hand.id))));
    },
    get: async ({ actor, key, req }) => detail(actor, localized(await definitions.get(key), req.headers['accept-language'])),
    delete: async ({ key }) => {
      await definitions.get(key);
      const count = await instances.countOf(key);
      if (count > 0) throw handErrors.in_use(key, count);
      await definitions.remove(key);
      publishChange(key);
      return { status: 'ok' as const, hand_id: key };
    },
    actions: {
      install: async ({ actor, body }) => {
        const { toml_content, manifest, slug, hand_id, skill_content, accept_findings = false } = body;
        const made = await definitions.install({ text: toml_content ?? manifest, slug: slug ?? hand_id, skill: skill_content, acceptsFindings: accept_findings });
        publishChange(made.hand.id);
        return detail(actor, made);
      },
      reload: async () => ({ status: 'ok' as const, ...(await definitions.reload()) }),
      activate: async ({ actor, key, body, receipt }) => {
        const { config = {}, instance_id, network, shell, mounts } = body ?? {};
        const also = (made: Activated) => receipt(activatedAnswer(made));
        return activatedAnswer(await instances.activate(actor, key, { config, instanceId: instance_id, grants: { network, shell, mounts }, also }));
      },
      checkDeps: async ({ actor, key }) => {
        const { hand } = await definitions.get(key);
        requirements.forget();
        const checked = await requirements.of(hand);
        const [plan, active] = [await installer.plan(checked), await isActive(actor, key)];
        return {
          hand_id: key,
          requirements_met: isMetAll(checked),
          active,
          degraded: active && checked.some(({ satisfied }) => !satisfied),
          server_platform: platform,
          requirements: wholeRequirements(checked, plan),
          plan,
          progress: [...(installer.progress(key) ?? [])],
        };
      },
      installDeps: async ({ actor, key }) => {
        const { hand } = await definitions.get(key);
        const results = [...(await installer.install(actor, hand))];
        const checked = await requirements.of(hand);
        return { hand_id: key, results, requirements_met: isMetAll(checked), requirements: wholeRequirements(checked, results) };
      },
      settings: async ({ actor, key }) => {
        const { hand } = await definitions.get(key);
        const values = await instances.settings(actor, key);
        return {
          hand_id: key,
          settings: await settingsShown(requirements, hand.settings),
          current_values: { ...values },
          effective_values: { ...effectiveValues(hand, values) },
          unknown_values: { ...unknownValues(hand, values) },
        };
      },
      setSettings: async ({ actor, key, body }) => {
        const { hand } = await definitions.get(key);
        const values = await instances.setSettings(actor, key, body);
        const own = (await instances.list(actor, key)).find(({ ownerId }) => ownerId === actor.ownerId);
        return { status: 'ok' as const, hand_id: key, instance_id: own?.id ?? null, config: { ...effectiveValues(hand, values) } };
      },
    },
  });
};

const activatedAnswer = ({ instance, remarks }: Activated) => {
  const { instance_id, hand_id, status, agent_id, agent_name, activated_at } = instanceItem(instance);
  return { instance_id, hand_id, status, agent_id, agent_name, activated_at, warnings: [...remarks] };
};

/** Each role has to be an agent that could be created, whoever activates the hand. Throws `hands_bad_manifest`. */
const checkRoles = async (definition: Definition, read: (text: string) => Promise<void>): Promise<void> => {
  const { default: toml } = await import('@iarna/toml');
  const place = { ownerId: 'nobody', instanceId: '00000000-0000-4000-8000-000000000000', slot: '' };
  const agents = roleAgents(definition, place);
  for (const role of definition.hand.roles) {
    const manifest = manifestOf(role, agents, { definition, config: {}, grants: {}, place, base: {} });
    try {
      await read(toml.stringify(manifest as Parameters<typeof toml.stringify>[0])); // what TOML gave, with texts and lists added
    } catch (error) {
      throw handErrors.bad_manifest(`the role ${role.role}: ${reasonOf(error)}`);
    }
  }
};
