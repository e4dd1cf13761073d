import { type Actor, createTables, defineExtension, DoctorCheck, securityProbe, SecurityReport } from '@svc/api';
import { AgentReview, Agents } from '@svc/ext-agents/contract';
import { RunContext } from '@svc/ext-runs/contract';
import { CommandFolders } from '@svc/ext-tools/contract';
import { agentSkillRoutes } from './agent-routes.js';
import { createAssigned } from './assigned.js';
import { SkillsSection } from './config.js';
import * as contract from './contract.js';
import { findingsOf } from './doctor.js';
import { createProposals } from './evolve/proposals.js';
import { SkillProposals } from './evolve/resources.js';
import { evolveHandlers, proposalRoutes } from './evolve/routes.js';
import { evolveTools } from './evolve/tools.js';
import { createInstalls } from './installs.js';
import { createLibrary, type Library } from './library.js';
import { createPromptList } from './prompt.js';
import { readRegistry } from './registry.js';
import { SkillsResource } from './resources.js';
import { foldersNamed } from './run/named-folders.js';
import { skillRoutes } from './skill-routes.js';
import { createScriptOffer } from './run/script-tools.js';
import { createMeteringLook } from './run/wasm-tools.js';
import { WasmRun } from './workers/wasm-worker.js';
import { tapSlashWords } from './slash.js';
import { readSkillTool } from './tool.js';

const FLUSH_MS = 30_000;

const running = new WeakMap<object, Library>();

export default defineExtension({
  contract,
  tables: [contract.SkillRows, contract.ProposalRows],
  migrations: [createTables('0001_tables', [contract.SkillRows, contract.ProposalRows], { replaces: ['0001_init', '0002_proposals'] })],
  capabilities: [contract.SkillsPropose],
  resources: [SkillsResource, SkillProposals],
  config: [SkillsSection],
  workers: [WasmRun],
  commandWords: [
    {
      word: 'skills',
      summary: 'skills of agents: read, install, update, remove',
      usage: 'skills list|get|check|install|update|create|rewrite|patch|diff|rollback|proposals|approve|reject|remove|registry|reload',
      order: 35,
      module: 'skills',
      synonyms: [
        { word: 'skill', means: 'skills' },
        { word: 'skill install', means: 'skills install' },
        { word: 'skill list', means: 'skills list' },
        { word: 'skills show', means: 'skills get', runs: true, takesArguments: true },
        { word: 'skills search', means: 'skillhub find', runs: true, takesArguments: true },
      ],
    },
  ],
  completions: [{ name: 'skills', fields: ['name'], operation: 'listSkills', rows: 'skills', value: 'name' }],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const section = () => ctx.config.get(SkillsSection);
    const isDisabled = (name: string): boolean => section().disabled.includes(name);
    const renew = (name: string, state: string): void => {
      prompts.clear();
      void scripts.refresh().catch((error: unknown) => ctx.log.warn('the programs of skills could not be offered', { cause: error }));
      if (name !== '') ctx.events.publish(contract.SkillsChanged, { name, state });
    };
    const { db, files, clock, ids, log, exec } = ctx;
    const library: Library = createLibrary({ db, files, clock, ids, log, exec, changed: renew });
    const assigned = createAssigned(library, isDisabled);
    const prompts = createPromptList(assigned, () => section().listing_tokens);
    const scripts = createScriptOffer({ ctx, library, assigned, agents });
    const installs = createInstalls({ ctx, library });
    const registry = () => readRegistry(ctx.files.root('registry'));
    const proposals = createProposals({ ctx, library });
    ctx.routes.add(
      ...proposalRoutes(proposals),
      ...skillRoutes({ library, installs, evolve: evolveHandlers(library), registry, isDisabled, exec, secrets: ctx.secrets }),
      ...agentSkillRoutes({ agents, library, prompts }),
    );
    ctx.tools.add(readSkillTool({ library, assigned, agents }), ...evolveTools({ proposals, assigned, agents }));
    ctx.services.provide(contract.Skills, {
      hubs: () => ({ url: section().hub_url, mirrorUrl: section().hub_mirror_url }),
      installed: () => library.list().map(({ name, skill, source }) => ({ name, version: skill?.version ?? '', slug: source.slug ?? null })),
      registry: async () => (await registry()).filter(({ error }) => error === null).map(({ name, description, version, author, tags }) => ({ name, description, version, author, tags: [...tags] })),
      planDownload: async (_actor: Actor, download) => library.plan(await installs.ofHub(download)),
      installFiles: async (actor, folder, choices) => installs.put(actor, installs.ofFiles(folder), choices, undefined),
      installDownload: async (actor, download, choices) => installs.put(actor, await installs.ofHub(download), choices, undefined),
    });
    ctx.hooks.tap(RunContext, (system, { agent }) => {
      const text = prompts.of(agent.id, agent.manifest);
      return text === '' ? system : system === '' ? text : `${system}\n\n${text}`;
    });
    tapSlashWords(ctx.hooks, { library, assigned });
    ctx.hooks.tap(CommandFolders, async ({ actor, agentId, command }) => foldersNamed(library, assigned, (await agents.get(actor, agentId)).manifest, command));
    ctx.hooks.tap(SecurityReport, securityProbe('wasm_dual_metering', createMeteringLook({ ctx })));
    ctx.hooks.tap(DoctorCheck, () => findingsOf(library, isDisabled, exec));
    ctx.hooks.tap(AgentReview, ({ manifest: { skills: wanted = [] } }) => wanted.filter((name) => !library.find(name)).map((name) => `skills names "${name}", but there is no such skill now.`));
    ctx.config.onChange(SkillsSection, () => renew('', 'changed'));
    ctx.timers.every('flush-uses', FLUSH_MS, () => library.flushUses());
    running.set(ctx, library);
  },
  start: async (ctx) => void (await running.get(ctx)?.load()),
});
