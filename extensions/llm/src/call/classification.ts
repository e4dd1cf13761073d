/**
 * What kind of failure an answer of a provider stands for.
 *
 * K1  The provider's own code decides, where its driver knows it (each driver has a table); then its words; then the status.
 * K3  A single request above what a minute may have is sent as a limit of the rate; no waiting makes it fit.
 * K2  A code that says less than the words or the status (`invalid_request_error`, `server_error`) is in no table.
 */
import { isTable } from '@svc/api';
import type { ModelErrorClass } from '../contract.js';

/** Codes of one protocol, in lower case. */
export type Codes = Readonly<Record<string, ModelErrorClass>>;

export const NO_CODES: Codes = {};

const MAX_CODES = 20;
const MAX_DEPTH = 4;
/** Members that hold a code: of OpenAI (`code`, `type`), of Google (`status`, `reason`), of Azure (`innererror.code`). */
const CODE_MEMBERS = ['code', 'type', 'status', 'reason'] as const;

/** The class of an HTTP status, read together with what the body says, because providers share few conventions. */
export const classify = (status: number, said: string, codes: readonly string[] = [], known: Codes = NO_CODES): ModelErrorClass => {
  if (isLargerThanLimit(said) && status < 500) return 'context_too_long';
  for (const code of codes) {
    const found = known[code.toLowerCase()];
    if (found !== undefined) return found;
  }
  return classifyWords(status, said);
};

const classifyWords = (status: number, said: string): ModelErrorClass => {
  if (isAboutContent(said) && status < 500) return 'content';
  // Gemini refuses a key with 400.
  if (status === 401 || status === 403 || /API key not valid|API_KEY_INVALID/i.test(said)) return 'auth';
  if (status === 402 || /insufficient_quota|insufficient balance|credit balance|billing|exceeded your current quota|reached your specified (?:workspace )?API usage limits/i.test(said))
    return 'credit';
  if (status === 429) return 'rate_limit';
  if (status === 413 || isTooLong(said)) return 'context_too_long';
  if (status === 529 || status === 503 || /overloaded/i.test(said)) return 'overloaded';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 404 || (/model/i.test(said) && /not[ _]found|does not exist|not supported/i.test(said))) return 'model_not_found';
  return status >= 500 ? 'server' : 'bad_request';
};

/** OpenAI, vLLM and LM Studio, llama.cpp, Ollama, Anthropic, Gemini, Bedrock, Mistral and xAI, in this order. */
const TOO_LONG = [
  /context.{0,10}(?:length|size|limit)|maximum context|context window|max_model_len/i,
  /exceeds? the available context|n_ctx|n_keep|context (?:overflow|is full)/i,
  /input length exceeds|exceed(?:s|ed)? (?:the )?(?:max(?:imum)? )?context/i,
  /(?:prompt|input|request|conversation) (?:is|are|was) too (?:long|large)|too many (?:input )?tokens|request[ _]too[ _]large/i,
  /exceeds the maximum number of tokens|token count.{0,60}exceeds|maximum prompt length|input is too long|too large for model|reduce the length of the (?:messages|prompt)/i,
] as const;

const isTooLong = (said: string): boolean => TOO_LONG.some((pattern) => pattern.test(said));

/** A single request above the tokens of a minute: no waiting makes it fit. */
const isLargerThanLimit = (said: string): boolean => /request too large/i.test(said);

const isAboutContent = (said: string): boolean =>
  /content[ _](?:filter|management policy|policy[ _]violation)|blocked by content filtering|flagged by (?:our )?(?:safety|moderation)|requires moderation|input was flagged/i.test(said);

/** The codes that an error body names, the innermost last. */
export const codesIn = (value: unknown): readonly string[] => {
  const found: string[] = [];
  collect(value, found, 0);
  return found;
};

const collect = (value: unknown, found: string[], depth: number): void => {
  if (depth > MAX_DEPTH || found.length >= MAX_CODES) return;
  if (Array.isArray(value)) {
    for (const one of value.slice(0, MAX_CODES)) collect(one, found, depth + 1);
    return;
  }
  if (!isTable(value)) return;
  for (const member of CODE_MEMBERS) {
    const code = value[member];
    if (typeof code === 'string' && code.length <= 80) found.push(code);
  }
  for (const member of ['error', 'innererror', 'details', 'metadata']) collect(value[member], found, depth + 1);
};
