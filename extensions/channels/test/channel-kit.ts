/** A daemon with channels, a model on its wire, and what tests of adapters ask of them. */
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';

export interface Delivery {
  readonly id: string;
  readonly direction: string;
  readonly channel: string;
  readonly chat: string;
  readonly thread: string | null;
  readonly status: string;
  readonly message: string;
  readonly reason: string | null;
  readonly session_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
}

export interface ChannelKit {
  readonly world: ModelKernel;
  readonly owner: TestHttp;
  configure(name: string, fields: object): Promise<unknown>;
  channel(name: string): Promise<Record<string, unknown>>;
  inState(name: string, state: string): Promise<unknown>;
  deliveries(query?: string): Promise<Delivery[]>;
  /** The delivery of an incoming message, when it has this status. */
  incoming(message: string, status: string): Promise<Delivery>;
  /** How often the model was asked with this text. */
  asked(text: string): number;
  /** Allows who asked with the code in this text. */
  allow(text: string): Promise<void>;
}

/** What `look` gives, once it gives something; fails after 20 s with what never came. */
export const until = async <T>(look: () => Promise<T | undefined | false> | T | undefined | false, what: string): Promise<T> => {
  for (let tries = 0; tries < 800; tries += 1) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`it never came: ${what}`);
};

/** Answers by their number, and late what ends with "take your time". */
export const numberedAnswers: Script = ({ body, index }) =>
  JSON.stringify(body.messages.at(-1).content).endsWith('take your time"') ? { text: 'too late', delayMs: 4_000 } : { text: `answer ${index}` };

export const bootChannels = async (key: string, { config = '', script }: { readonly config?: string; readonly script?: Script } = {}): Promise<ChannelKit> => {
  const world = await bootWithModel(script, { config: `api_key = "${key}"\n${OPEN_RATE}${config}`, key });
  const owner = world.http;
  const channel = async (name: string) => (await owner.expect(200, 'GET', `/api/channels/${name}`)).body;
  const deliveries = async (query = ''): Promise<Delivery[]> => (await owner.expect(200, 'GET', `/api/channels/deliveries${query}`)).body.deliveries;
  return {
    world,
    owner,
    configure: (name, fields) => owner.expect(200, 'POST', `/api/channels/${name}/configure`, { fields }),
    channel,
    inState: (name, state) => until(async () => ((await channel(name)).state === state ? true : undefined), `${name} is ${state}`),
    deliveries,
    incoming: (message, status) => until(async () => (await deliveries('?direction=inbound')).find((one) => one.message === message && one.status === status), `"${message}" is ${status}`),
    asked: (text) => world.model.requests.filter(({ body }) => JSON.stringify(body).includes(text)).length,
    allow: async (text) => {
      const [, code = ''] = /code: (\w{8})/.exec(text) ?? [];
      await owner.expect(200, 'POST', '/api/channels/senders/allow', { code });
    },
  };
};
