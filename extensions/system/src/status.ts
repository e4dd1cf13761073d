/** What the daemon says of itself: shapes of health, status and version. */
import type { Actor, Clock, DoctorCheck, DoctorFinding, ExtensionContext, HealthProbe, HookHandle, KernelView, OptionalHandle, Probe } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { budgetHealth, droppedEvents, type HealthPartsDeps, llmHealth, memoryHealth } from './health-parts.js';

export interface StatusDeps extends HealthPartsDeps {
  readonly kernel: KernelView;
  readonly clock: Clock;
  readonly probe: HookHandle<typeof HealthProbe>;
  readonly doctor: HookHandle<typeof DoctorCheck>;
  readonly agents: OptionalHandle<AgentsService>;
  readonly providers: OptionalHandle<ProvidersService>;
  readonly runs: OptionalHandle<RunsService>;
  readonly sessions: OptionalHandle<SessionsService>;
  readonly log: ExtensionContext['log'];
}

export const API_VERSIONS: { current: string; supported: string[]; deprecated: string[] } = { current: 'v1', supported: ['v1'], deprecated: [] };
/** How a request names a version without a prefix in its path. */
export const NEGOTIATION = { header: 'Accept', media_type_pattern: 'application/vnd.svc.<version>+json', example: 'application/vnd.svc.v1+json' };

export const uptimeSeconds = (deps: Pick<StatusDeps, 'kernel' | 'clock'>): number => Math.max(0, Math.floor((deps.clock.now() - Date.parse(deps.kernel.startedAt)) / 1_000));

/** Redacted: whoever may not authenticate learns that it lives, and no more than that. */
export async function health(deps: StatusDeps) {
  const checks = (await probes(deps)).map(({ name, status }) => ({ name, status }));
  return { status: overall(checks), version: deps.kernel.version, uptime_seconds: uptimeSeconds(deps), checks };
}

export async function healthDetail(deps: StatusDeps, actor: Actor) {
  const [{ checks, findings, problems }, agents, runs, sessionCount, memory, budget, llm] = await Promise.all([
    lookAround(deps),
    deps.agents.value?.list(actor),
    deps.runs.value?.list(actor, { active: true }),
    deps.sessions.value?.total(actor),
    memoryHealth(deps),
    budgetHealth(deps, actor),
    llmHealth(deps),
  ]);
  const extensions = deps.kernel.extensions();
  const database = checks.find((check) => check.name === 'database');
  return {
    status: problems.length === 0 ? overall(checks) : ('degraded' as const),
    version: deps.kernel.version,
    uptime_seconds: uptimeSeconds(deps),
    panic_count: extensions.reduce((sum, one) => sum + one.strikes, 0),
    restart_count: 0,
    agent_count: agents?.length ?? 0,
    active_agent_count: new Set(runs?.map((run) => run.agentId)).size,
    session_count: sessionCount ?? null,
    memory_used_mb: memoryUsedMb(deps),
    // A warning is about what it holds, not about whether it answers.
    database: database && database.status !== 'error' ? ('connected' as const) : ('error' as const),
    config_warnings: settingsSaid(deps, false).map((problem) => problem.message),
    config_notices: settingsSaid(deps, true).map((problem) => problem.message),
    memory,
    event_bus: { dropped_events: droppedEvents(deps) },
    budget,
    llm,
    checks,
    extensions: extensions.filter((one) => one.state !== 'active' && one.state !== 'inactive').map((one) => ({ id: one.id, state: one.state, reason: one.reason })),
    problems,
    doctor: findings,
  };
}

export async function status(deps: StatusDeps, actor: Actor) {
  const agents = (await deps.agents.value?.list(actor)) ?? [];
  const [model, { problems }, answering = [], sessionCount] = await Promise.all([
    deps.providers.value?.shownDefault(),
    lookAround(deps),
    deps.agents.value?.modelsOf(agents),
    deps.sessions.value?.total(actor),
  ]);
  const isKnown = model !== undefined && model.problem === null;
  const active = new Set((await deps.runs.value?.list(actor, { active: true }))?.map((run) => run.agentId));
  return {
    status: 'running' as const,
    version: deps.kernel.version,
    uptime_seconds: uptimeSeconds(deps),
    preset: deps.kernel.preset,
    agent_count: agents.length,
    active_agent_count: active.size,
    session_count: sessionCount ?? null,
    default_provider: isKnown ? model.provider : null,
    default_model: isKnown ? model.model : null,
    default_model_why: model?.why ?? null,
    default_model_stand_in: model?.isMock ?? false,
    default_model_chosen_by: model?.chosen_by ?? null,
    default_model_chosen_at: model?.chosen_at ?? null,
    default_model_problem: model?.trouble ?? null,
    memory_used_mb: memoryUsedMb(deps),
    ...deps.kernel.facts(),
    network_enabled: isMounted(deps, '/api/network/status') && (await deps.kernel.settings.read()).tree.network_enabled === true,
    terminal_enabled: isMounted(deps, '/api/terminal/ws'),
    config_problems: settingsSaid(deps, false),
    // Those of the settings stand one by one in config_problems.
    health_problems: problems.filter(({ check }) => check !== SETTINGS_CHECK).map(({ check, message, fix }) => `${check}: ${message}${fix === undefined ? '' : ` Fix: ${fix}`}`),
    problems,
    agents: agents.map((agent, index) => ({
      id: agent.id,
      name: agent.name,
      state: agent.state,
      mode: agent.mode,
      created_at: agent.createdAt,
      model_provider: answering[index]?.provider ?? agent.manifest.model.provider,
      model_name: answering[index]?.model ?? agent.manifest.model.model,
      profile: agent.manifest.profile ?? null,
    })),
  };
}

/** Notices are of settings that wait for their area; the rest are problems. */
const settingsSaid = (deps: StatusDeps, isNotice: boolean) => deps.kernel.configProblems().filter(({ severity }) => (severity === 'notice') === isNotice);

const memoryUsedMb = (deps: StatusDeps): number => Math.round(deps.kernel.facts().rss_bytes / 1_048_576);

/** An area is there when what it answers is. */
const isMounted = (deps: StatusDeps, path: string): boolean => deps.kernel.routes().some((route) => route.path === path);

const SETTINGS_CHECK = 'ConfigTomlSchemaCheck';

/** The one look that health/detail, status and `svc doctor` tell of: degraded is what has a finding that fails. */
async function lookAround(deps: StatusDeps) {
  const [rows, checked] = await Promise.all([deps.probe.call(undefined), deps.doctor.call(undefined)]);
  const found = checked.map(({ owner, value, error }) => ({ owner, findings: value ?? (error ? [unanswered(owner, error)] : []) }));
  const saying = new Set(found.flatMap(({ owner, findings }) => (findings.some(({ result }) => result === 'fail') ? [owner] : [])));
  // Whoever says by a finding what is wrong says more than its probe.
  const silent = rows.flatMap((row) => (saying.has(row.owner) ? [] : [probeOf(row)])).filter(({ status }) => status !== 'ok');
  const findings = [
    ...found.flatMap((one) => one.findings),
    ...silent.map(({ name, status, detail }): DoctorFinding => ({ check: name, result: 'fail', message: detail ?? status, fix: 'svc logs --lines 50' })),
  ];
  return { checks: rows.map(probeOf), findings, problems: findings.filter(({ result }) => result === 'fail') };
}

const unanswered = (owner: string, error: string): DoctorFinding => ({ check: owner, result: 'fail', message: error, fix: `svc ext why ${owner}` });

const probeOf = (row: { owner: string; value?: Probe; error?: string }): Probe => row.value ?? { name: row.owner, status: 'error', detail: row.error ?? 'no answer' };

async function probes(deps: StatusDeps): Promise<Probe[]> {
  return (await deps.probe.call(undefined)).map(probeOf);
}

const overall = (checks: ReadonlyArray<{ status: string }>): 'ok' | 'degraded' => (checks.every((check) => check.status === 'ok') ? 'ok' : 'degraded');
