/** A request as the Gemini protocol writes it. */
import type { ContentPart, DriverTarget, ModelMessage, ModelRequest, ToolSchema } from '../../contract.js';
import { effortOf } from '../../call/thinking.js';
import { remembered } from '../../remembered.js';
import { type Adaptation, temperatureOf } from '../adaptation.js';
import { bodyText, listText } from '../body-text.js';
import { wirePart } from '../wire-parts.js';
import { geminiSchema } from './gemini-schema.js';

/** From these on a round of calls is refused without the signature of its first one. */
const SIGNS = /gemini-(?:[3-9]|\d\d)/;
/** The protocol's own word for a call of another model, which nobody signed. */
const UNSIGNED = 'skip_thought_signature_validator';

export const geminiBody = (target: Pick<DriverTarget, 'model'>, request: ModelRequest, adaptation: Adaptation): string =>
  bodyText(
    {
      ...(request.system === '' ? {} : { systemInstruction: { parts: [{ text: request.system }] } }),
      generationConfig: generationConfig(target, request, adaptation),
      ...choiceOf(request),
    },
    {
      contents: request.messages.map(SIGNS.test(target.model) ? signedText : messageText),
      ...(request.tools.length > 0 && !adaptation.noTools ? { tools: [toolsText(request.tools)] } : {}),
    },
  );

const generationConfig = ({ model }: Pick<DriverTarget, 'model'>, request: ModelRequest, adaptation: Adaptation): object => {
  const { maxTokens, thinking, parameters: { topP, presencePenalty, frequencyPenalty, stop, seed, format } = {} } = request;
  const temperature = temperatureOf(request, adaptation);
  return {
    maxOutputTokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(stop === undefined ? {} : { stopSequences: stop }),
    ...(seed === undefined ? {} : { seed }),
    ...(format === undefined ? {} : { responseMimeType: 'application/json' }),
    // Unlike the schemas of tools, this one may be any JSON Schema.
    ...(format?.type === 'json_schema' ? { responseJsonSchema: format.schema } : {}),
    ...(thinking === undefined || adaptation.noThinking ? {} : { thinkingConfig: { ...amountOf(model, thinking), includeThoughts: true } }),
  };
};

/** Models from 3 on take a level, of which all have these two; those before it a number, up to one of their own. */
const amountOf = (model: string, thinking: NonNullable<ModelRequest['thinking']>): object => {
  if (SIGNS.test(model)) return { thinkingLevel: effortOf(thinking) === 'low' ? 'low' : 'high' };
  return { thinkingBudget: Math.min(thinking.budgetTokens, model.includes('flash') ? 24_576 : 32_768) };
};

const choiceOf = ({ tools, parameters: { toolChoice: choice } = {} }: ModelRequest): object => {
  if (tools.length === 0 || choice === undefined) return {};
  const mode = choice === 'none' ? 'NONE' : 'ANY';
  return { toolConfig: { functionCallingConfig: { mode, ...(typeof choice === 'object' ? { allowedFunctionNames: [choice.name] } : {}) } } };
};

const toolsText = remembered((tools: readonly ToolSchema[]) =>
  listText([
    {
      functionDeclarations: tools.map(({ name, description, parameters }) => {
        const schema = geminiSchema(parameters);
        // A schema of an object without properties is refused; a tool that takes nothing has none.
        return { name, description, ...(schema.properties === undefined ? {} : { parameters: schema }) };
      }),
    },
  ]),
);

const messageText = remembered((message: ModelMessage) => listText(contentOf(message, false)));
const signedText = remembered((message: ModelMessage) => listText(contentOf(message, true)));

/** Empty texts and messages are refused, so they are left out. Results stand before what the person said. */
const contentOf = (message: ModelMessage, mustSign: boolean): unknown[] => {
  const wired = message.parts.map((part) => wirePart(part));
  const results = wired.filter((part) => part.type === 'tool_result');
  const others = wired.filter((part) => part.type !== 'tool_result' && !(part.type === 'text' && part.text === ''));
  const first = mustSign ? others.find((part) => part.type === 'tool_call') : undefined;
  const signature = signatureOf(message);
  const signed = signature === undefined ? undefined : others.findLast((part) => part.type === 'text');
  const parts = [...results, ...others].map((part) => (part === signed ? { ...partOf(part, false), thoughtSignature: signature } : partOf(part, part === first)));
  return parts.length === 0 ? [] : [{ role: message.role === 'assistant' ? 'model' : 'user', parts }];
};

/** Of the text. */
const signatureOf = ({ parts }: ModelMessage): string | undefined => parts.map((part) => ('state' in part ? part.state?.message?.thoughtSignature : undefined)).find((one) => typeof one === 'string');

const partOf = (part: ContentPart, mustSign: boolean): object => {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mediaType, data: part.data } };
    case 'tool_call': {
      const signature = part.state?.call?.thoughtSignature ?? part.signature ?? (mustSign ? UNSIGNED : undefined);
      return { functionCall: { id: part.id, name: part.name, args: part.args ?? {} }, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
    }
    case 'tool_result':
      return { functionResponse: { id: part.id, name: part.name, response: part.isError ? { error: part.content } : { output: part.content } } };
  }
};
