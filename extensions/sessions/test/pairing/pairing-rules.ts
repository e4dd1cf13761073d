/**
 * What each protocol refuses in a conversation, written from its documentation and its errors alone: nothing here knows how a body is made.
 * Each gives the violations of a request's body; none means that the provider would take it.
 */
// biome-ignore lint/suspicious/noExplicitAny: bodies as they stand on the wire
type Json = any;

export type Rules = (body: Json) => readonly string[];

const HALF_PAIR = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** https://platform.openai.com/docs/api-reference/chat/create; `id` is what the server takes as the id of a call. */
const chatRules =
  (id: RegExp): Rules =>
  ({ messages }) => {
    const found: string[] = [];
    const rest = messages.filter(({ role }: Json) => role !== 'system');
    if (rest.length === 0) found.push('there is no message');
    if (rest[0]?.role !== 'user') found.push(`the first message is of ${rest[0]?.role}`);
    let open: string[] = [];
    const all = new Set<string>();
    for (const [at, message] of rest.entries()) {
      if (message.role === 'tool') {
        if (!open.includes(message.tool_call_id)) found.push(`${at}: a result of ${message.tool_call_id}, which nobody called just before`);
        if (typeof message.content !== 'string') found.push(`${at}: a result that is no text`);
        open = open.filter((one) => one !== message.tool_call_id);
        continue;
      }
      if (open.length > 0) found.push(`${at}: ${open.length} calls have no result before the next message`);
      open = [];
      if (message.role === 'user' && (message.content === '' || message.content?.length === 0)) found.push(`${at}: an empty message`);
      if (message.role !== 'assistant') continue;
      if (!message.tool_calls && !message.content) found.push(`${at}: an answer with neither text nor calls`);
      for (const call of message.tool_calls ?? []) {
        if (!id.test(call.id)) found.push(`${at}: the id ${call.id}`);
        if (all.has(call.id)) found.push(`${at}: the id ${call.id} stands twice`);
        if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name)) found.push(`${at}: the name ${call.function.name}`);
        if (typeof JSON.parse(call.function.arguments) !== 'object') found.push(`${at}: arguments that are no object`);
        all.add(call.id);
        open.push(call.id);
      }
    }
    if (open.length > 0) found.push(`${open.length} calls have no result at the end`);
    return found;
  };

/** https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use */
const messagesRules: Rules = ({ messages }) => {
  const found: string[] = [];
  if (messages.length === 0) found.push('there is no message');
  if (messages[0]?.role !== 'user') found.push('the first message is not of the user');
  const all = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    if (!Array.isArray(content) || content.length === 0) found.push(`${at}: an empty message`);
    const before = (messages[at - 1]?.content ?? []).filter(({ type }: Json) => type === 'tool_use').map(({ id }: Json) => id);
    const results = content.filter(({ type }: Json) => type === 'tool_result').map(({ tool_use_id }: Json) => tool_use_id);
    if (role === 'user' && before.some((id: string) => !results.includes(id))) found.push(`${at}: a call without its result straight after it`);
    if (results.some((id: string) => !before.includes(id)) || new Set(results).size !== results.length) found.push(`${at}: a result that belongs to no call of the message before`);
    if (
      content.findIndex(({ type }: Json) => type !== 'tool_result') !== -1 &&
      content.findLastIndex(({ type }: Json) => type === 'tool_result') > content.findIndex(({ type }: Json) => type !== 'tool_result')
    )
      found.push(`${at}: a result behind other content`);
    if (role === 'assistant' && messages[at - 1]?.role === 'assistant' && before.length > 0) found.push(`${at}: a call that an answer follows`);
    for (const block of content) {
      if (block.type === 'text' && block.text.trim() === '') found.push(`${at}: a text of blanks`);
      if (block.type !== 'tool_use') continue;
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) found.push(`${at}: the id ${block.id}`);
      if (all.has(block.id)) found.push(`${at}: the id ${block.id} stands twice`);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(block.name)) found.push(`${at}: the name ${block.name}`);
      if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input)) found.push(`${at}: an input that is no object`);
      all.add(block.id);
    }
  }
  if (messages.at(-1)?.content.some(({ type }: Json) => type === 'tool_use')) found.push('calls without results at the end');
  return found;
};

/** https://ai.google.dev/gemini-api/docs/function-calling: as many responses as calls, in the turn straight after them. */
const contentsRules: Rules = ({ contents }) => {
  const found: string[] = [];
  if (contents.length === 0) found.push('there is no content');
  if (contents[0]?.role !== 'user') found.push('the first content is not of the user');
  for (const [at, { parts }] of contents.entries()) {
    if (parts.length === 0) found.push(`${at}: no parts`);
    const calls = parts.flatMap(({ functionCall }: Json) => (functionCall ? [functionCall] : []));
    const responses = parts.flatMap(({ functionResponse }: Json) => (functionResponse ? [functionResponse] : []));
    const asked = (contents[at - 1]?.parts ?? []).flatMap(({ functionCall }: Json) => (functionCall ? [functionCall.id] : []));
    if (responses.length !== asked.length || responses.some(({ id }: Json) => !asked.includes(id))) found.push(`${at}: ${responses.length} responses to ${asked.length} calls`);
    if (calls.length > 0 && at === contents.length - 1) found.push('calls without responses at the end');
    for (const { name, args } of calls) {
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)) found.push(`${at}: the name ${name}`);
      if (typeof args !== 'object' || args === null || Array.isArray(args)) found.push(`${at}: arguments that are no object`);
    }
    for (const part of parts) if (part.text === '') found.push(`${at}: an empty text`);
  }
  return found;
};

/** Every text of every body. */
const unicodeRules: Rules = (body) => {
  const bad = (value: Json): boolean => (typeof value === 'string' ? HALF_PAIR.test(value) : typeof value === 'object' && value !== null && Object.values(value).some(bad));
  return bad(body) ? ['half of a surrogate pair'] : [];
};

const both =
  (first: Rules, second: Rules): Rules =>
  (body) => [...first(body), ...second(body)];

export const RULES: Readonly<Record<'openai' | 'mistral' | 'anthropic' | 'gemini', Rules>> = {
  openai: both(chatRules(/^.{1,40}$/), unicodeRules),
  mistral: both(chatRules(/^[a-zA-Z0-9]{9}$/), unicodeRules),
  anthropic: both(messagesRules, unicodeRules),
  gemini: both(contentsRules, unicodeRules),
};
