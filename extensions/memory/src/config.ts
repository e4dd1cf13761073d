/** What is remembered, for how long, and how it is found. */
import { defineConfig, type Plain, Type } from '@svc/api';

const Decay = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether entries that nobody used for the days below are deleted' }),
    session_ttl_days: Type.Integer({ minimum: 1, maximum: 36_500, default: 7, description: 'Of the level session, since they were last used' }),
    agent_ttl_days: Type.Integer({ minimum: 1, maximum: 36_500, default: 30, description: 'Of the level agent, since they were last used. Those of the level user stay' }),
    decay_interval_hours: Type.Integer({ minimum: 1, maximum: 720, default: 1, description: 'How often decayed scores are computed and old entries are deleted' }),
  },
  { additionalProperties: false, default: {} },
);

const Memory = Type.Object(
  {
    embedding_provider: Type.String({
      default: 'auto',
      description: 'Who makes vectors. `auto`: the built-in embedder, which needs no key and no network; `none`: nobody; else the name of a provider, such as `openai` or `vllm`',
    }),
    embedding_model: Type.String({ default: '', description: "The provider's embedding model; empty for its usual one. No effect with `auto`" }),
    fts_only: Type.Boolean({ default: false, description: 'true: entries are found by their words alone, without vectors' }),
    soft_delete_retention_days: Type.Integer({ minimum: 0, maximum: 36_500, default: 30, description: 'How long archived entries are stored. Entries that a person deletes are erased at once' }),
    decay: Decay,
  },
  {
    additionalProperties: false,
    default: {},
    'x-waiting': {
      sqlite_path: 'memory is in the database of the daemon',
      pool_size: 'memory uses the connections of the daemon',
      embedding_api_key_env: 'the key is the one of the provider: `svc providers set-key`',
      consolidation_threshold: 'nothing is consolidated by itself: POST /api/memory/agents/{id}/consolidate does it',
      consolidation_interval_hours: 'nothing is consolidated by itself: POST /api/memory/agents/{id}/consolidate does it',
      decay_rate: '[proactive_memory] confidence_decay_rate is used',
    },
  },
);
export type MemoryConfig = Plain<typeof Memory>;
export const MemorySection = defineConfig('memory', Memory);

const Proactive = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: 'false: nothing is taken from conversations, and nothing recalled into them. Routes and tools stay' }),
    auto_memorize: Type.Boolean({ default: true, description: 'Whether facts are taken from what people and agents say, after the answer' }),
    auto_retrieve: Type.Boolean({ default: true, description: 'Whether entries that fit a message are given to the model with it' }),
    max_retrieve: Type.Integer({ minimum: 0, maximum: 100, default: 10, description: 'How many entries are recalled for a message at most' }),
    max_retrieve_tokens: Type.Integer({ minimum: 0, maximum: 100_000, default: 1_500, description: 'How many tokens they may take' }),
    extraction_threshold: Type.Number({ minimum: 0, maximum: 1, default: 0.7, description: 'How sure a fact must be to be stored' }),
    extraction_model: Type.Optional(Type.String({ description: 'PROVIDER/MODEL that takes facts from conversations, within the budget of the agent. Without it, rules do, at no cost' })),
    session_ttl_hours: Type.Integer({ minimum: 1, maximum: 87_600, default: 24, description: 'How long entries of the level session are stored' }),
    duplicate_threshold: Type.Number({ minimum: 0.5, maximum: 1, default: 0.85, description: 'How similar two entries must be to count as duplicates' }),
    confidence_decay_rate: Type.Number({ minimum: 0, maximum: 10, default: 0.01, description: 'How fast confidence falls, per day without use' }),
    max_memories_per_agent: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000, description: 'Entries of one agent; beyond that, those of the lowest confidence are archived' }),
  },
  { additionalProperties: false, default: {} },
);
export type ProactiveConfig = Plain<typeof Proactive>;
export const ProactiveSection = defineConfig('proactive_memory', Proactive);
