/** The parts of health/detail that other areas know: null where the area is off. */
import { type Actor, type KernelView, type OptionalHandle, seesAll, tableOf } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import type { EmbedderService } from '@svc/ext-memory/contract';
import type { ModelsService } from '@svc/ext-models/contract';

export interface HealthPartsDeps {
  readonly kernel: Pick<KernelView, 'extensions' | 'settings' | 'metrics'>;
  readonly embedder: OptionalHandle<EmbedderService>;
  readonly llm: OptionalHandle<LlmService>;
  readonly models: OptionalHandle<ModelsService>;
}

const MICROS = 1_000_000;
const BUILT_IN = 'auto';
const NOBODY = 'none';

/** From the settings, and from what answers: the built-in embedder isn't loaded to be asked for its name. */
export const memoryHealth = async ({ embedder, kernel }: HealthPartsDeps) => {
  if (!kernel.extensions().some(({ id, state }) => id === 'memory' && state === 'active')) return null;
  const { tree } = await kernel.settings.read();
  const [memory, proactive] = [tableOf(tree.memory), tableOf(tree.proactive_memory)];
  const provider = textOf(memory.embedding_provider) ?? BUILT_IN;
  const isNobody = provider === NOBODY || memory.fts_only === true || (provider === BUILT_IN && embedder.value === undefined);
  return {
    embedding_available: !isNobody,
    embedding_provider: isNobody ? null : provider === BUILT_IN ? 'builtin' : provider,
    embedding_model: isNobody || provider === BUILT_IN ? null : (textOf(memory.embedding_model) ?? null),
    proactive_memory_enabled: proactive.enabled !== false,
    extraction_model: textOf(proactive.extraction_model) ?? null,
  };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

type Costs = Awaited<ReturnType<LlmService['standing']>>['costs'];

/** What everybody spent is for whoever sees all. */
export const budgetHealth = async ({ llm }: HealthPartsDeps, actor: Actor) => {
  const standing = seesAll(actor) ? await llm.value?.standing(null) : undefined;
  if (!standing) return null;
  const { costs } = standing;
  const [hour, day, month] = [spendOf(costs, 'hour'), spendOf(costs, 'day'), spendOf(costs, 'month')];
  return {
    hourly_spend_usd: hour.spend,
    hourly_limit_usd: hour.limit,
    hourly_spend_percent: hour.percent,
    daily_spend_usd: day.spend,
    daily_limit_usd: day.limit,
    daily_spend_percent: day.percent,
    monthly_spend_usd: month.spend,
    monthly_limit_usd: month.limit,
    monthly_spend_percent: month.percent,
    alert_threshold: standing.alertThreshold,
  };
};

const spendOf = (costs: Costs, period: Costs[number]['period']): { spend: number; limit: number; percent: number | null } => {
  const { limitMicros = 0, usedMicros = 0 } = costs.find((one) => one.period === period) ?? {};
  return { spend: usedMicros / MICROS, limit: limitMicros / MICROS, percent: limitMicros === 0 ? null : (usedMicros / limitMicros) * 100 };
};

export const llmHealth = async ({ llm, models }: HealthPartsDeps) => {
  const [calls, catalog] = await Promise.all([llm.value?.calls(), models.value?.list()]);
  if (!calls) return null;
  return { total_calls: calls.total, avg_latency_ms: calls.averageMs, max_latency_ms: calls.slowestMs, model_count: catalog?.length ?? 0 };
};

export const droppedEvents = ({ kernel }: HealthPartsDeps): number => {
  const found = kernel.metrics().find(({ name }) => name === 'svc_events_dropped_total');
  return found !== undefined && 'value' in found ? found.value : 0;
};
