/** What every client is put through; each says for itself how it does that. */
import { strict as assert } from 'node:assert';

export const URL_OF_SVC = process.env.SVC_URL;
export const BASE_URL = `${URL_OF_SVC}/v1`;
export const MODEL = 'svc:assistant:stateless';
export const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const FAR_IMAGE = 'https://example.org/a.png';
/** One conversation as a client that keeps it sends it. */
export const CONVERSATION = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: 'hi' },
  { role: 'user', content: 'how many turns?' },
];

const CHECKS = {
  chat: (said) => assert.equal(said, 'four'),
  stream: (said) => assert.equal(said, 'one two three'),
  history: (said) => assert.equal(said, '3 turns'),
  image: (said) => assert.equal(said, 'a pixel'),
  /** The text of what the client throws: it says why. */
  error: (said) => assert.match(said, /An image cannot be taken/),
  abort: async () => assert.ok(await allEnded(), 'the run went on'),
};

/** `flows` gives what each flow came to. Prints one line of JSON for each. */
export async function run(flows) {
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      await check(await flows[name]());
      console.log(JSON.stringify({ flow: name, ok: true }));
    } catch (error) {
      console.log(
        JSON.stringify({
          flow: name,
          ok: false,
          why: String(error?.message ?? error)
            .split('\n')[0]
            .slice(0, 200),
        }),
      );
    }
  }
}

export const thrown = async (work) => {
  try {
    await work();
  } catch (error) {
    return `${error?.message ?? error} ${JSON.stringify(error?.error ?? error?.responseBody ?? '')}`;
  }
  throw new Error('nothing was thrown');
};

/** Who hangs up ends the run two seconds later; until then it is seen. */
async function allEnded() {
  for (let look = 0; look < 40; look++) {
    const status = await (await fetch(`${URL_OF_SVC}/api/status`)).json();
    if (status.active_agent_count === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return false;
}
