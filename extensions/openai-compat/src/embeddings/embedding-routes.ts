/** /v1/embeddings: vectors of texts by a provider's embedding model, charged to an agent. */
import { documented, Nullable, reply, type RouteDecl, routeGroup, type Static, Type, type Db } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import { openAiErrors } from '../answer/error-object.js';
import { warningOf } from '../answer/warning.js';
import type { CompatDeps } from '../asking.js';
import { agentNamed } from '../conversation/model-ids.js';
import { compatErrors } from '../errors.js';

const MAX_TEXTS = 1_024;
const MAX_BODY_BYTES = 16 * 1_048_576;
const FLOAT_BYTES = 4;

const EmbeddingRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 512,
      description: "`svc:<agent>`: the usual embedding model of that agent's provider. Any other name is an embedding model, such as `openai/text-embedding-3-small`, charged to the first agent",
    }),
    input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown(documented({ type: 'string', minLength: 1 })), { minItems: 1, maxItems: MAX_TEXTS })], { description: 'A text, or up to 1,024 texts. Lists of tokens are refused' }),
    dimensions: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 16_384 }))),
    encoding_format: Type.Optional(Nullable(Type.Union([Type.Literal('float'), Type.Literal('base64')]), { description: '`base64`: 32-bit floats, little-endian' })),
  },
  { additionalProperties: true, 'x-name': 'EmbeddingRequest' },
);

const Embeddings = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Type.Object({ object: Type.Literal('embedding'), index: Type.Integer(), embedding: Type.Union([Type.Array(Type.Number()), Type.String()]) })),
    model: Type.String({ description: 'Who made them: vectors of different models cannot be compared' }),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { 'x-name': 'Embeddings' },
);

export interface EmbeddingDeps extends Pick<CompatDeps, 'agents'> {
  readonly llm: Pick<LlmService, 'embed'>;
  readonly commit: Db['commit'];
}

const route = routeGroup({ area: 'agents' });

export const embeddingRoute = (deps: EmbeddingDeps): RouteDecl =>
  route({
    id: 'createOpenaiEmbeddings',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'Create embeddings',
    description:
      'Vectors of texts, from providers that have an embedding model. They count against the limits of the agent. The built-in provider gives hashes of words instead, and `X-Svc-Warning` says so.',
    examples: {
      'One text': { model: 'svc:assistant', input: 'The spare key is under the blue pot.' },
      'Several, from a model by its name': { model: 'openai/text-embedding-3-small', input: ['one', 'two'], dimensions: 256 },
      'As the openai package asks': { model: 'svc:assistant', input: ['one'], encoding_format: 'base64' },
    },
    permission: 'runs.send',
    cost: 10,
    body: EmbeddingRequest,
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [404, 412, 429, 500, 503],
    responses: { 200: Embeddings },
    handler: async ({ actor, body, id, signal }) => {
      const { agent } = await agentNamed(deps.agents, actor, body.model);
      const choice = body.model.startsWith('svc:') ? { provider: agent.manifest.model.provider, model: 'default' } : { provider: 'default', model: body.model };
      const request = { ...choice, texts: textsOf(body.input), ...(typeof body.dimensions === 'number' ? { dimensions: body.dimensions } : {}) };
      const { vectors, provider, model, substitute, usage, settle } = await deps.llm.embed(request, { actor, agentId: agent.id, runId: id, purpose: 'embedding', begunBy: 'person' }, { signal });
      await deps.commit(settle);
      const isText = body.encoding_format === 'base64';
      return reply(
        200,
        {
          object: 'list',
          data: vectors.map((vector, index) => ({ object: 'embedding' as const, index, embedding: isText ? toBase64(vector) : vector })),
          model: `${provider}/${model}`,
          usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens },
        },
        substitute === undefined ? {} : warningOf([{ parameter: 'model', why: substitute }]),
      );
    },
  });

const textsOf = (input: Static<typeof EmbeddingRequest>['input']): string[] =>
  (typeof input === 'string' ? [input] : input).map((text, index) => {
    if (typeof text !== 'string' || text === '') throw compatErrors.unsupported_value(`input.${index} must be a text that is not empty. Lists of tokens are not supported.`);
    return text;
  });

const toBase64 = (vector: readonly number[]): string => {
  const buffer = Buffer.alloc(vector.length * FLOAT_BYTES);
  for (const [index, value] of vector.entries()) buffer.writeFloatLE(value, index * FLOAT_BYTES);
  return buffer.toString('base64');
};
