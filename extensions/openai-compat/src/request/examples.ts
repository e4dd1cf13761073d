/** Bodies that a person could send, by what they are for. */
export const CHAT_EXAMPLES = {
  'Ask an agent in its conversation': { model: 'svc:assistant', messages: [{ role: 'user', content: 'What did we decide yesterday?' }] },
  'Edit and regenerate, as chat UIs do: the messages are all there is': {
    model: 'svc:assistant:stateless',
    messages: [
      { role: 'system', content: 'Answer in one sentence.' },
      { role: 'user', content: 'What is a quokka?' },
      { role: 'assistant', content: 'A small marsupial.' },
      { role: 'user', content: 'Where does it live?' },
    ],
    stream: true,
    stream_options: { include_usage: true },
  },
  'JSON with a schema, for one of several people': {
    model: 'svc:assistant',
    user: 'ada',
    messages: [{ role: 'user', content: 'Name three cities in Norway.' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'cities',
        strict: true,
        schema: { type: 'object', properties: { cities: { type: 'array', items: { type: 'string' } } }, required: ['cities'], additionalProperties: false },
      },
    },
    temperature: 0,
    seed: 7,
  },
};
