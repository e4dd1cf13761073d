/** Speaks with the daemon: JSON calls, and a message's stream that survives a dropped connection. */
{
  const KEY = 'svc-api-key';
  const FIRST_WAIT_MS = 500;
  const LONGEST_WAIT_MS = 8000;
  const GIVE_UP_MS = 120000;

  /** What went wrong, and what to do about it. `isLost`: nobody answered, so trying again may help. */
  class Problem extends Error {
    constructor(text, { hint = '', status = 0, code = '', isLost = false } = {}) {
      super(text);
      this.hint = hint;
      this.status = status;
      this.code = code;
      this.isLost = isLost;
    }
  }

  const key = {
    get: () => sessionStorage.getItem(KEY) ?? '',
    set: (value) => sessionStorage.setItem(KEY, value),
    drop: () => sessionStorage.removeItem(KEY),
  };

  const send = async (method, path, { body, headers = {}, signal } = {}) => {
    const all = { ...headers };
    if (key.get() !== '') all.authorization = `Bearer ${key.get()}`;
    if (body !== undefined) all['content-type'] = 'application/json';
    let response;
    try {
      response = await fetch(path, { method, headers: all, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: 'same-origin' });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem('The daemon cannot be reached.', { hint: 'Is it running? In a terminal: svc start', isLost: true });
    }
    if (response.ok) return response;
    const answer = await response.json().catch(() => ({}));
    throw new Problem(answer.error ?? `The daemon answered ${response.status}.`, {
      hint: hintFor(response) || answer.hint || '',
      status: response.status,
      code: answer.code ?? '',
      isLost: response.status === 503,
    });
  };

  const hintFor = (response) => {
    const seconds = response.headers.get('retry-after');
    if (response.status === 429) return seconds ? `Wait ${seconds} s, then send it again.` : 'Wait a moment, then send it again.';
    const id = response.headers.get('x-request-id');
    return response.status === 500 && id ? `In a terminal: svc logs --request ${id}` : '';
  };

  const call = async (method, path, options) => (await send(method, path, options)).json();

  /** Server-sent events from a response body, as {event, data, id}. */
  async function* events(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text = (text + value).replaceAll('\r\n', '\n');
      const parts = text.split('\n\n');
      text = parts.pop();
      for (const part of parts) {
        const found = { event: 'message', data: [], id: undefined };
        for (const line of part.split('\n')) {
          const colon = line.indexOf(':');
          if (colon === 0) continue; // a comment keeps the connection open
          const name = colon < 0 ? line : line.slice(0, colon);
          const field = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
          if (name === 'data') found.data.push(field);
          else if (name === 'event') found.event = field;
          else if (name === 'id') found.id = field;
        }
        if (found.data.length > 0) yield { ...found, data: JSON.parse(found.data.join('\n')) };
      }
    }
  }

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /**
   * Sends a message and gives every frame of its run once, the last being `done` or `error`. The same `runKey`
   * attaches to a run that began before, so a lost connection, or a reloaded page, never sends a message twice.
   */
  async function* stream(agentId, message, runKey, onLost) {
    let lastId;
    let lostAt = 0;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const headers = { accept: 'text/event-stream', 'idempotency-key': runKey, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
        const response = await send('POST', `/api/agents/${agentId}/message/stream`, { body: { message }, headers });
        for await (const frame of events(response)) {
          if (lostAt > 0) onLost(false);
          lostAt = 0;
          wait = FIRST_WAIT_MS;
          if (frame.id !== undefined) lastId = frame.id;
          yield frame;
          if (frame.event === 'done' || frame.event === 'error') return;
        }
      } catch (error) {
        // A Problem with a status is the daemon's own refusal; a TypeError is the browser's word for a broken body.
        if (error instanceof Problem ? !error.isLost : !(error instanceof TypeError)) throw error;
      }
      lostAt ||= Date.now();
      onLost(true);
      if (Date.now() - lostAt > GIVE_UP_MS) throw new Problem('The connection was lost.', { hint: 'The answer may still be on its way: reload this page, or look with svc status.' });
      await pause(wait);
    }
  }

  globalThis.svcDaemon = {
    Problem,
    key,
    stream,
    status: () => call('GET', '/api/status'),
    agents: async () => (await call('GET', '/api/agents')).agents,
    session: (agentId) => call('GET', `/api/agents/${agentId}/session`),
    stop: (agentId) => call('POST', `/api/agents/${agentId}/stop`),
    spawn: (manifest) => call('POST', '/api/agents', { body: { manifest_toml: manifest } }),
  };
}
