import { defineErrors } from '@svc/api';

const keyHint = 'Set its key with `svc providers set-key <provider>`, or in the environment variable that GET /api/providers names.';
const laterHint = 'Try again in a moment, or name other models under [[fallback_models]] of the agent.';

type Failed = (provider: string, model: string, said: string) => string;
const failed =
  (what: string): Failed =>
  (provider, model, said) =>
    `${provider} ${what} (model ${model}): ${said}`;

export const llmErrors = defineErrors('llm', {
  model_not_found: {
    status: 404,
    retry: false,
    message: (model: string) => `No provider serves a model named "${model}".`,
    hint: 'GET /api/models lists the catalog. For a model outside it, name its provider too.',
  },
  provider_not_found: { status: 404, retry: false, message: (provider: string) => `There is no provider named "${provider}".`, hint: 'GET /api/providers lists them.' },
  provider_unsupported: {
    status: 400,
    retry: false,
    message: (provider: string) => `${provider} uses a protocol that this version does not support. Supported are those of OpenAI, Anthropic and Gemini.`,
    hint: 'Choose a model of another provider, e.g. the same one through openrouter.',
  },
  parameter_unsupported: {
    status: 400,
    retry: false,
    message: (parameter: string, provider: string, model: string, why: string) => `${provider}/${model} cannot be asked with \`${parameter}\`: ${why}.`,
    hint: 'Leave it out, or choose an agent whose model takes it.',
  },
  provider_key_missing: {
    status: 412,
    retry: false,
    message: (provider: string, env: string) => `${provider} has no API key: none is stored, and ${env} is not set. Set it with \`svc providers set-key ${provider}\`.`,
    hint: keyHint,
  },
  provider_key_unreadable: {
    status: 503,
    retry: false,
    message: (provider: string, why: string) => `The key of ${provider} cannot be read. ${why}`,
    hint: '`svc vault status` shows how to open the vault, and `svc vault reset` creates a new one. Keys in the environment keep working.',
  },
  provider_auth: {
    status: 500,
    retry: false,
    message: (provider: string, model: string, said: string) => `${provider} refused the API key (model ${model}): ${said}. Set a working one with \`svc providers set-key ${provider}\`.`,
    hint: keyHint,
  },
  provider_credit: { status: 500, retry: false, message: failed('says the account has no credit'), hint: 'Add credit at the provider, or choose another one.' },
  provider_rate_limited: { status: 500, retry: true, message: failed('is limiting the rate of calls'), hint: laterHint },
  provider_overloaded: { status: 500, retry: true, message: failed('is overloaded'), hint: laterHint },
  provider_model_missing: { status: 500, retry: false, message: failed('does not serve the model'), hint: 'GET /api/models lists the catalog.' },
  context_too_long: { status: 500, retry: false, message: failed('says the conversation is too long'), hint: 'Begin a new session, or choose a model with a larger context window.' },
  content_refused: {
    status: 500,
    retry: false,
    message: failed('refused the content of the request'),
    hint: 'Change the message, or choose another model. The text after the colon comes from the provider.',
  },
  provider_rejected: { status: 500, retry: false, message: failed('rejected the request'), hint: 'The text after the colon comes from the provider.' },
  provider_timeout: { status: 500, retry: true, message: failed('did not answer in time'), hint: laterHint },
  provider_unreachable: {
    status: 500,
    retry: true,
    message: failed('cannot be reached'),
    hint: 'Check the network and the base URL: GET /api/providers shows it, PUT /api/providers/{name}/url changes it.',
  },
  provider_failed: { status: 500, retry: true, message: failed('failed'), hint: laterHint },
  half_stream: { status: 500, retry: true, message: failed('closed the connection in the middle of its answer'), hint: laterHint },
  provider_garbage: { status: 500, retry: true, message: failed('sent an invalid response'), hint: 'Check the base URL: it may point to a proxy or web page instead of the provider.' },
  all_models_failed: { status: 500, retry: true, message: (count: number, tried: string) => `None of the ${count} models could answer. ${tried}`, hint: 'The details list every attempt.' },
  embed_invalid: { status: 400, retry: false, message: (what: string) => `These texts cannot be embedded: ${what}.` },
  embeddings_unsupported: {
    status: 400,
    retry: false,
    message: (provider: string) => `${provider} does not support embeddings.`,
    hint: 'Choose another provider and one of its embedding models, e.g. openai/text-embedding-3-small, or a model that runs at ollama.',
  },
  embedding_model_unnamed: { status: 400, retry: false, message: (provider: string) => `It is not known which model of ${provider} makes embeddings.`, hint: 'Name it.' },
  cancelled: { status: 499, retry: false, message: () => 'The model call was cancelled.' },
});

const usd = (amount: number): string => `${Number(amount.toFixed(6))} USD`;

/** Codes as clients of such daemons know them, without the area's prefix. */
export const quotaErrors = defineErrors('', {
  token_quota_exceeded: {
    status: 429,
    retry: true,
    message: (what: string, limit: number, used: number, freeAt: string) => `The agent has used ${used} of its ${limit} ${what}. It can continue at ${freeAt}.`,
    hint: 'Wait until then, or raise max_llm_tokens_per_hour in its manifest.',
  },
  /** Of an agent, or of all agents together. */
  budget_exceeded: {
    status: 429,
    retry: true,
    message: (whose: 'agent' | 'all', period: string, limit: number, used: number, need: number, freeAt: string) =>
      `${whose === 'agent' ? 'The agent' : 'All agents together'} may spend ${usd(limit)} per ${period} and ${whose === 'agent' ? 'has' : 'have'} spent ${usd(used)}; the next model call may cost ${usd(need)}. ` +
      `${whose === 'agent' ? 'It' : 'They'} can continue at ${freeAt}.`,
    hint: 'Wait until then, lower max_tokens, or raise the limit: `svc budget limit` for an agent, `svc budget set` for all agents together.',
  },
  /** Nothing but a message of a person ends it. */
  budget_root_exceeded: {
    status: 429,
    retry: false,
    message: (limit: number, used: number, need: number) =>
      `What no person began may spend ${usd(limit)} with all runs that it leads to, and has spent ${usd(used)}; the next call may cost ${usd(need)}.`,
    hint: 'Raise max_cost_usd under [roots], or stop what began it.',
  },
  budget_idle_exceeded: {
    status: 429,
    retry: false,
    message: (limit: number, used: number, need: number) =>
      `The agent may spend ${usd(limit)} between messages of people and has spent ${usd(used)} since a person last wrote to it; the next model call may cost ${usd(need)}.`,
    hint: 'Send the agent a message, or raise idle_limit under [budget].',
  },
});
