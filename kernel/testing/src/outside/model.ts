/** A language model for tests: a server that speaks the protocol of OpenAI, answers what it is told to, and keeps what it was asked. */
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';

/** One question to the model, as the daemon put it. */
export interface Asked {
  readonly system: string;
  /** As the protocol writes them, without the system prompt. */
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content?: unknown }>;
  /** Names of the tools that it may call. */
  readonly tools: readonly string[];
}

export interface TestModel {
  /** Text for `config` of `bootTestKernel`: every agent asks this model. */
  readonly config: string;
  /** Oldest first. */
  readonly asked: readonly Asked[];
  /** The next answer is this text. */
  say(text: string): void;
  /** The next answer is a call of this tool. */
  call(tool: string, args: Readonly<Record<string, unknown>>): void;
  stop(): Promise<void>;
}

type Answer = { readonly text: string } | { readonly toolCalls: readonly [{ readonly name: string; readonly args: unknown }] };

export async function startModel(): Promise<TestModel> {
  const answers: Answer[] = [];
  const asked: Asked[] = [];
  const server = await startOpenAiServer(({ body }) => {
    const messages: Asked['messages'] = body.messages ?? [];
    asked.push({
      system: messages.flatMap(({ role, content }) => (role === 'system' ? [String(content)] : [])).join('\n'),
      messages: messages.filter(({ role }) => role !== 'system'),
      tools: (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
    });
    const answer = answers.shift();
    return answer ?? { status: 400, message: 'the test told this model nothing to say: call say() or call() first' };
  });
  return {
    config: `[default_model]\nprovider = "test-model"\nmodel = "test"\nbase_url = "${server.url}/v1"\n`,
    asked,
    say: (text) => void answers.push({ text }),
    call: (name, args) => void answers.push({ toolCalls: [{ name, args }] }),
    stop: () => server.close(),
  };
}
