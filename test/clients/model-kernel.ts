/** A daemon whose model is a server in this process that speaks a provider's wire. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { type ProviderServer, type Script, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';

export interface ModelKernel {
  readonly kernel: TestKernel;
  readonly http: TestHttp;
  readonly model: ProviderServer;
  /** The agent that is there from the first start. */
  readonly agent: { readonly id: string; readonly name: string; readonly session_id: string };
}

/** Retries within milliseconds, so that a test of them takes no longer. */
export const QUICK_LLM = '[llm]\nretry_base_ms = 1\nmax_retries = 2\nmax_wait_ms = 50\n';
export const MODEL_KEY = 'sk-model-key-of-the-tests-0001';

/** Config that sends every model call to `url`. */
export const modelConfig = (url: string, llm = QUICK_LLM): string => `[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${url}/v1"\n${llm}`;

const servers = new Set<ProviderServer>();

/** `options.config` is put before the sections about the model: keys of the top level may stand in it. */
export const bootWithModel = async (script?: Script | ScriptedAnswer | readonly ScriptedAnswer[], options: TestKernelOptions & { llm?: string } = {}): Promise<ModelKernel> => {
  const model = await startOpenAiServer(script);
  servers.add(model);
  const { llm, ...rest } = options;
  const kernel = await bootTestKernel({ ...rest, config: `${options.config ?? OPEN_RATE}\n${modelConfig(model.url, llm)}`, env: { OPENAI_API_KEY: MODEL_KEY, ...options.env } });
  const { body } = await kernel.http.expect(200, 'GET', '/api/agents');
  return { kernel, http: kernel.http, model, agent: body.agents[0] };
};

/** Stops the kernels first: a run that hangs on a model must not outlive its test. */
export const stopModelKernels = async (): Promise<void> => {
  try {
    await stopTestKernels();
  } finally {
    await Promise.all([...servers].map((server) => server.close()));
    servers.clear();
  }
};

/**
 * `bootWithModel` for the claims of one file, in one daemon: each finds the first agent as a first start makes it, no other one,
 * and a model that nobody asked anything. Whoever gives options (`{}`: none) has a daemon of their own, and so has whoever asks
 * again before they stopped the first. Call it in `describe`.
 */
export const useModelKernel = (): typeof bootWithModel => {
  let shared: ModelKernel | undefined;
  let manifest: string | undefined;
  let isTaken = false;
  afterEach(async () => {
    isTaken = false;
    await stopTestKernels(shared?.kernel);
  });
  after(async () => {
    shared = undefined;
    await stopModelKernels();
  });
  return async (script, options) => {
    if (options !== undefined || isTaken) return bootWithModel(script, options);
    isTaken = true;
    if (shared) await makeNew(shared, script, manifest);
    else {
      shared = await bootWithModel(script);
      manifest = (await shared.http.expect(200, 'GET', `/api/agents/${shared.agent.id}`)).body.manifest_toml;
    }
    const giveBack = async (): Promise<void> => {
      isTaken = false;
    };
    return { ...shared, kernel: { ...shared.kernel, stop: giveBack }, agent: (await shared.http.expect(200, 'GET', '/api/agents')).body.agents[0] };
  };
};

/** Runs that a claim left end with their agent. */
const makeNew = async ({ http, model }: ModelKernel, script: Parameters<typeof bootWithModel>[0], manifest: string | undefined): Promise<void> => {
  for (const { id } of (await http.expect(200, 'GET', '/api/agents')).body.agents) await http.expect(200, 'DELETE', `/api/agents/${id}?erase=true`);
  model.beginAnew(script);
  await http.expect(201, 'POST', '/api/agents', { manifest_toml: manifest });
};

/** Waits until `ready` says so; the runner's own limit ends a wait that is in vain. */
export const until = async (ready: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 5));
};
