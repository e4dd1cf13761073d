/** What a provider says of a failed call is shown, logged and kept: each key that one may quote goes, and no other word. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { withoutSecrets } from '../src/call/secret-words.js';

const ALPHABETS = {
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  lower: 'abcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  hex: '0123456789abcdef',
  url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
} as const;

/** The same text for the same seed, in each run of the test. */
const randomText = (kind: keyof typeof ALPHABETS, length: number, seed: number): string => {
  const alphabet = ALPHABETS[kind];
  let bytes = Buffer.alloc(0);
  for (let block = 0; bytes.length < length; block++) bytes = Buffer.concat([bytes, createHash('sha512').update(`${kind} ${length} ${seed} ${block}`).digest()]);
  return Array.from(bytes.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join('');
};

const uuid = (seed: number): string => randomText('hex', 32, seed).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** As each of them makes them. */
const KEYS: Readonly<Record<string, (seed: number) => string>> = {
  'OpenAI, of old': (seed) => `sk-${randomText('alnum', 48, seed)}`,
  'OpenAI, of a project': (seed) => `sk-proj-${randomText('url', 74, seed)}T3BlbkFJ${randomText('url', 74, seed + 1)}`,
  'OpenAI, of a service': (seed) => `sk-svcacct-${randomText('url', 60, seed)}`,
  'OpenAI, of a session': (seed) => `sess-${randomText('alnum', 40, seed)}`,
  Anthropic: (seed) => `sk-ant-api03-${randomText('url', 93, seed)}AA`,
  OpenRouter: (seed) => `sk-or-v1-${randomText('hex', 64, seed)}`,
  DeepSeek: (seed) => `sk-${randomText('hex', 32, seed)}`,
  'Google, of old': (seed) => `AIza${randomText('url', 35, seed)}`,
  'Google, now': (seed) => `AQ.Ab8${randomText('url', 50, seed)}`,
  'Google, a service account': (seed) => `ya29.${randomText('url', 120, seed)}`,
  Groq: (seed) => `gsk_${randomText('alnum', 52, seed)}`,
  xAI: (seed) => `xai-${randomText('alnum', 80, seed)}`,
  Mistral: (seed) => randomText('alnum', 32, seed),
  Cohere: (seed) => randomText('alnum', 40, seed),
  Together: (seed) => randomText('hex', 64, seed),
  'Together, now': (seed) => `tgp_v1_${randomText('url', 43, seed)}`,
  Fireworks: (seed) => `fw_${randomText('alnum', 24, seed)}`,
  Cerebras: (seed) => `csk-${randomText('lower', 48, seed)}`,
  Perplexity: (seed) => `pplx-${randomText('alnum', 48, seed)}`,
  NVIDIA: (seed) => `nvapi-${randomText('url', 64, seed)}`,
  'Hugging Face': (seed) => `hf_${randomText('alnum', 34, seed)}`,
  Replicate: (seed) => `r8_${randomText('alnum', 37, seed)}`,
  Voyage: (seed) => `pa-${randomText('url', 43, seed)}`,
  Jina: (seed) => `jina_${randomText('hex', 32, seed)}${randomText('alnum', 28, seed)}`,
  Zhipu: (seed) => `${randomText('hex', 32, seed)}.${randomText('alnum', 16, seed)}`,
  'Azure, of old': (seed) => randomText('hex', 32, seed),
  'Azure, now': (seed) => randomText('alnum', 84, seed),
  'Azure, base64': (seed) => `${randomText('base64', 43, seed)}=`,
  Volcengine: uuid,
  'AWS, its id': (seed) => `AKIA${randomText('upper', 16, seed)}`,
  'AWS, its secret': (seed) => randomText('base64', 40, seed),
  LangSmith: (seed) => `lsv2_pt_${randomText('hex', 32, seed)}_${randomText('hex', 10, seed)}`,
  GitHub: (seed) => `ghp_${randomText('alnum', 36, seed)}`,
  'GitHub, fine-grained': (seed) => `github_pat_${randomText('alnum', 22, seed)}_${randomText('alnum', 59, seed)}`,
  Slack: (seed) => `xoxb-${randomText('lower', 12, seed).replace(/\D/g, '7')}-${randomText('alnum', 24, seed)}`,
  'a JSON web token': (seed) => `eyJ${randomText('url', 33, seed)}.eyJ${randomText('url', 60, seed)}.${randomText('url', 43, seed)}`,
  LiteLLM: (seed) => `sk-${randomText('url', 22, seed)}`,
  Stripe: (seed) => `sk_live_${randomText('alnum', 24, seed)}`,
  Vercel: (seed) => `vck_${randomText('alnum', 56, seed)}`,
  'in groups': (seed) => randomText('lower', 20, seed).replace(/(.{4})(?=.)/g, '$1-'),
};

/** As providers, gateways and proxies quote them. */
const QUOTED: ReadonlyArray<(key: string) => string> = [
  (key) => `Incorrect API key provided: ${key}. You can find your API key at https://platform.openai.com/account/api-keys.`,
  (key) => `Authentication Error, Invalid proxy server token passed. Received API Key = ${key}, Key Hash (Token) =x`,
  (key) => `Your api key: ${key} is invalid`,
  (key) => `the key ${key} was refused`,
  (key) => `invalid header "Authorization: Bearer ${key}"`,
  (key) => `{"detail":"bad","api_key":"${key}","retry":false}`,
  (key) => `upstream https://llm.example.com/v1/chat?key=${key}&alt=sse answered 500`,
  (key) => `could not reach https://user:${key}@gateway.example.com/v1`,
  (key) => `\`${key}\` (api_error)`,
  (key) => `x-api-key=${key}`,
];

/** Eight letters of a key in a row are enough to tell it from others, and a step to guess it. */
const heldIn = (key: string, text: string): string | undefined => {
  for (let at = 0; at + 8 <= key.length; at++) if (text.includes(key.slice(at, at + 8))) return key.slice(at, at + 8);
  return undefined;
};

describe('what providers say, without secrets', () => {
  for (const [of, keyOf] of Object.entries(KEYS))
    it(`holds no part of a key of ${of}, however it is quoted`, () => {
      for (let seed = 0; seed < 25; seed++)
        for (const aboutKeys of [false, true])
          for (const quote of QUOTED) {
            const said = quote(keyOf(seed));
            const shown = withoutSecrets(said, aboutKeys);
            // What begins many keys says nothing of this one.
            const random = keyOf(seed).replace(/^(sk-ant-api03-|sk-or-v1-|sk-proj-|sk-svcacct-|github_pat_|lsv2_pt_|tgp_v1_|sk_live_)/, '');
            expect(heldIn(random, shown), `${said} → ${shown}`).to.equal(undefined);
            expect(shown, said).to.contain('[removed]');
          }
    });

  it('holds no part that is left of a masked key', () => {
    for (const masked of ['sk-proj-****************************a1B2', 'sk-p...Q2fA', 'AIza…x9Zq', '****************wXyz', 'abcd****wxyz', 'gsk_****9f3d', 'hf_****', 'sk-***'])
      expect(withoutSecrets(`Incorrect API key provided: ${masked}.`, true), masked).to.match(/^Incorrect API key provided: \[removed\]/);
  });

  it('holds no short key that somebody made up, where an answer refuses it', () => {
    for (const said of ['wrong key hunter12 given', 'Invalid API Key: s3cret', 'password: "letmein"', 'api_key=letmein', "token 'Tr0ub4dor' is unknown"])
      expect(withoutSecrets(said, true), said)
        .to.contain('[removed]')
        .and.not.match(/hunter12|s3cret|letmein|Tr0ub4dor/);
  });

  it('keeps all words of errors as providers send them', () => {
    const plain = [
      'The server had an error processing your request (api_error)',
      'Overloaded (overloaded_error)',
      'Number of requests has exceeded your rate limit (rate_limit_error)',
      'messages.0.content: Input should be a valid list (invalid_request_error)',
      'invalid x-api-key (authentication_error)',
      'Incorrect API key provided (invalid_api_key)',
      'You exceeded your current quota, please check your plan and billing details (insufficient_quota)',
      'The model `gpt-5-mini-2025-08-07` does not exist or you do not have access to it. (model_not_found)',
      'model: claude-sonnet-4-5-20250929 is not available, use claude-3-5-haiku-20241022',
      'Model meta-llama/Llama-3.3-70B-Instruct-Turbo is overloaded',
      'model accounts/fireworks/models/llama-v3p1-405b-instruct not found',
      'Qwen/Qwen3-235B-A22B-Instruct-2507 and deepseek-ai/DeepSeek-R1-Distill-Llama-70B are busy',
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. (context_length_exceeded)",
      'API key not valid. Please pass a valid API key. (API_KEY_INVALID)',
      'Missing bearer token or basic auth: upgrade from the Basic plan',
      'Bearer authentication is required',
      'key_not_found: the api_version 2024-10-21 is too old for token-count',
      'Please see https://docs.anthropic.com/en/api/errors and https://console.cloud.google.com/apis/library/generativelanguage.googleapis.com',
      'ThrottlingException: InternalServerError in DeploymentNotFound at us-east-1',
      'Token limit: please send at most 8192 tokens. Secret: none. Password: required.',
      'tool_calls[0].function.arguments is not valid JSON at line 12, column 345',
      'request_id: req_011CSHoEeqs5C35K2UUqR7Fy',
      'Internal error (request id 7f9c24e8-3b12-4fef-91d2-7c4b1f6a9e01)',
      "Unrecognized request argument supplied: parallel_tool_calls, 'max_completion_tokens'",
      'cannot reach 127.0.0.1:11434: connect ECONNREFUSED 127.0.0.1:11434',
      'modelo não encontrado: 未找到模型，请检查密钥',
    ];
    for (const text of plain) expect(withoutSecrets(text), text).to.equal(text);
    const refusals = [
      'invalid x-api-key (authentication_error)',
      'Incorrect API key provided (invalid_api_key)',
      'API key not valid. Please pass a valid API key. (API_KEY_INVALID)',
      'You do not have access to model gpt-4o-mini-2024-07-18 (permission_denied)',
      'Your key may not use the model `qwen2.5-coder:32b` (forbidden_error)',
      'Missing bearer token or basic auth',
      'Please see https://platform.openai.com/account/api-keys',
    ];
    for (const text of refusals) expect(withoutSecrets(text, true), text).to.equal(text);
  });

  it('is quick whatever is said', () => {
    for (const unit of ['sk-', 'key: ', 'a1', 'A', '****', 'x.', 'token=', 'eyJ', '//a:']) {
      // Three times, so that a turn which a busy machine gave to others is not taken for work.
      const took = [1, 2, 3].map(() => {
        const startedAt = performance.now();
        withoutSecrets(unit.repeat(20_000 / unit.length));
        return performance.now() - startedAt;
      });
      expect(Math.min(...took), unit).to.be.below(500);
    }
  });
});
