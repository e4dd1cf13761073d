/** What each provider sends when it refuses, as its documentation and its clients' tests show it, and what the gateway makes of that. */
import { expect } from 'chai';
import type { Codes } from '../../src/call/classification.js';
import { failureInStream, failureOfAnswer } from '../../src/call/model-failure.js';
import type { ModelErrorClass } from '../../src/contract.js';
import { ANTHROPIC_CODES, ANTHROPIC_STATUSES } from '../../src/drivers/anthropic-codes.js';
import { GEMINI_CODES } from '../../src/drivers/gemini/gemini-codes.js';
import { OPENAI_CODES, OPENAI_STATUSES } from '../../src/drivers/openai-codes.js';

type Case = readonly [who: string, status: number, body: unknown, expected: ModelErrorClass];

const openai = (message: string, type: string, code: string | null = null) => ({ error: { message, type, param: null, code } });
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' });
const google = (code: number, status: string, message: string, details: readonly object[] = []) => ({ error: { code, message, status, details } });

const holds = (codes: Codes, cases: readonly Case[]): void => {
  for (const [who, status, body, expected] of cases) {
    const { errorClass } = failureOfAnswer(status, {}, typeof body === 'string' ? body : JSON.stringify(body), 0, codes);
    expect(errorClass, `${who} ${status}`).to.equal(expected);
  }
};

describe('a refusal of a provider', () => {
  it('has its class by the codes and words of the chat-completions protocol, and of those that speak it', () => {
    holds(OPENAI_CODES, [
      ['OpenAI', 401, openai('Incorrect API key provided: sk-12***34.', 'invalid_request_error', 'invalid_api_key'), 'auth'],
      ['OpenAI', 429, openai('Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3.', 'requests', 'rate_limit_exceeded'), 'rate_limit'],
      ['OpenAI', 429, openai('You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota', 'insufficient_quota'), 'credit'],
      ['OpenAI', 400, openai("This model's maximum context length is 8192 tokens.", 'invalid_request_error', 'context_length_exceeded'), 'context_too_long'],
      ['OpenAI', 404, openai('The model `gpt-9` does not exist or you do not have access to it.', 'invalid_request_error', 'model_not_found'), 'model_not_found'],
      ['OpenAI', 400, openai('Your request was rejected as a result of our safety system.', 'invalid_request_error', 'content_policy_violation'), 'content'],
      ['OpenAI', 503, openai('The engine is currently overloaded, please try again later', 'server_error', null), 'overloaded'],
      ['OpenAI', 500, openai('The server had an error while processing your request.', 'server_error'), 'server'],
      ['OpenAI', 400, openai("Unknown parameter: 'foo'.", 'invalid_request_error', 'unknown_parameter'), 'bad_request'],
      ['Azure', 400, { error: { code: 'content_filter', status: 400, message: 'The response was filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } } }, 'content'],
      ['Azure', 404, { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } }, 'model_not_found'],
      ['Groq', 401, openai('Invalid API Key', 'invalid_request_error', 'invalid_api_key'), 'auth'],
      ['DeepSeek', 402, openai('Insufficient Balance', 'unknown_error', 'invalid_request_error'), 'credit'],
      ['Mistral', 429, { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300' }, 'rate_limit'],
      ['Mistral', 401, { detail: 'Unauthorized' }, 'auth'],
      ['OpenRouter', 402, { error: { code: 402, message: 'Insufficient credits' } }, 'credit'],
      ['OpenRouter', 403, { error: { code: 403, message: 'The model requires moderation and your input was flagged', metadata: { reasons: ['violence'] } } }, 'content'],
      ['vLLM', 400, { object: 'error', message: "This model's maximum context length is 4096 tokens. However, you requested 5000.", type: 'BadRequestError', code: 400 }, 'context_too_long'],
      ['OpenAI', 429, openai('Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 50000.', 'tokens', 'rate_limit_exceeded'), 'context_too_long'],
      ['LM Studio', 400, { error: 'The number of tokens to keep from the initial prompt is greater than the context length. n_keep: 9000 >= n_ctx: 4096' }, 'context_too_long'],
      ['llama.cpp', 500, { error: { code: 500, message: 'the request exceeds the available context size. try increasing the context size', type: 'server_error' } }, 'context_too_long'],
      ['Ollama', 400, { error: 'the input length exceeds the context length' }, 'context_too_long'],
      ['Bedrock', 400, { message: 'Input is too long for requested model.' }, 'context_too_long'],
      ['Bedrock', 429, { message: 'Too many tokens, please wait before trying again.' }, 'rate_limit'],
      ['Gemini', 400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' } }, 'context_too_long'],
      ['Anthropic', 400, { error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000' } }, 'context_too_long'],
      ['xAI', 400, { error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }, 'context_too_long'],
      ['llama.cpp', 503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 'overloaded'],
      ['llama.cpp', 400, { error: { code: 400, message: 'the request exceeds the available context size', type: 'exceed_context_size_error' } }, 'context_too_long'],
      ['Ollama', 404, { error: { message: 'model "qwen3" not found, try pulling it first', type: 'api_error' } }, 'model_not_found'],
      ['Ollama', 503, { error: 'server busy, please try again.  maximum pending requests exceeded' }, 'overloaded'],
      ['a proxy', 502, '<html><body><h1>502 Bad Gateway</h1></body></html>', 'server'],
    ]);
  });

  it('has its class by the types of the messages protocol', () => {
    holds(ANTHROPIC_CODES, [
      ['Anthropic', 400, anthropic('invalid_request_error', 'messages: at least one message is required'), 'bad_request'],
      ['Anthropic', 400, anthropic('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'), 'context_too_long'],
      ['Anthropic', 400, anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'), 'credit'],
      ['Anthropic', 400, anthropic('invalid_request_error', 'You have reached your specified API usage limits.'), 'credit'],
      ['Anthropic', 400, anthropic('invalid_request_error', 'Output blocked by content filtering policy'), 'content'],
      ['Anthropic', 401, anthropic('authentication_error', 'invalid x-api-key'), 'auth'],
      ['Anthropic', 402, anthropic('billing_error', 'There is an issue with your billing.'), 'credit'],
      ['Anthropic', 403, anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'), 'auth'],
      ['Anthropic', 404, anthropic('not_found_error', 'model: claude-9'), 'model_not_found'],
      ['Anthropic', 413, anthropic('request_too_large', 'Request exceeds the maximum size'), 'context_too_long'],
      ['Anthropic', 429, anthropic('rate_limit_error', 'Number of request tokens has exceeded your per-minute rate limit'), 'rate_limit'],
      ['Anthropic', 500, anthropic('api_error', 'Internal server error'), 'server'],
      ['Anthropic', 504, anthropic('timeout_error', 'Request timed out'), 'timeout'],
      ['Anthropic', 529, anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
    ]);
  });

  it("has its class by the statuses and reasons of Google's errors", () => {
    const reason = (name: string) => [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: name, domain: 'googleapis.com' }];
    const delay = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }];
    holds(GEMINI_CODES, [
      ['Gemini', 400, google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', reason('API_KEY_INVALID')), 'auth'],
      ['Gemini', 400, google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', reason('API_KEY_EXPIRED')), 'auth'],
      ['Gemini', 400, google(400, 'INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'), 'context_too_long'],
      ['Gemini', 400, google(400, 'INVALID_ARGUMENT', 'Invalid value at contents[0]'), 'bad_request'],
      ['Gemini', 403, google(403, 'PERMISSION_DENIED', 'Requests to this API are blocked.'), 'auth'],
      ['Gemini', 404, google(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta'), 'model_not_found'],
      ['Gemini', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', delay), 'rate_limit'],
      ['Gemini', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'), 'credit'],
      ['Gemini', 429, google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'), 'rate_limit'],
      ['Gemini', 500, google(500, 'INTERNAL', 'An internal error has occurred.'), 'server'],
      ['Gemini', 503, google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'overloaded'],
      ['Gemini', 504, google(504, 'DEADLINE_EXCEEDED', 'The request timed out.'), 'timeout'],
      ['Gemini, as a list', 429, [google(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later.')], 'rate_limit'],
    ]);
  });

  it('has the same class inside a stream, where no status stands beside it', () => {
    expect(failureInStream({ message: 'bad', type: 'invalid_request_error' }, OPENAI_CODES, OPENAI_STATUSES).errorClass).to.equal('bad_request');
    expect(failureInStream({ message: 'slow down', code: 'rate_limit_exceeded' }, OPENAI_CODES, OPENAI_STATUSES).errorClass).to.equal('rate_limit');
    expect(failureInStream({ type: 'overloaded_error', message: 'Overloaded' }, ANTHROPIC_CODES, ANTHROPIC_STATUSES)).to.include({ errorClass: 'overloaded', httpStatus: 529 });
    expect(failureInStream({ code: 503, status: 'UNAVAILABLE', message: 'x' }, GEMINI_CODES)).to.include({ errorClass: 'overloaded', httpStatus: 503 });
    expect(failureInStream({ message: 'it broke' }, OPENAI_CODES, OPENAI_STATUSES).errorClass).to.equal('server');
  });

  it('is read within bounds: codes that nest without end, and codes that are no text, are none', () => {
    let nested: unknown = { code: 'invalid_api_key' };
    for (let depth = 0; depth < 50; depth++) nested = { error: nested };
    expect(failureOfAnswer(500, {}, JSON.stringify(nested), 0, OPENAI_CODES).errorClass).to.equal('server');
    expect(failureOfAnswer(500, {}, JSON.stringify({ error: { code: { invalid_api_key: 1 } } }), 0, OPENAI_CODES).errorClass).to.equal('server');
  });
});
