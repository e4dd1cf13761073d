export const RESPONSE_EXAMPLES = {
  'Begin a conversation': { model: 'svc:assistant', input: 'What is a quokka?', instructions: 'Answer in one sentence.' },
  'Continue it': { model: 'svc:assistant', previous_response_id: 'resp_0192f3a45b6c7d8e9f0a1b2c3d4e5f60_0', input: 'Where does it live?', stream: true },
  'Bring a tool': {
    model: 'svc:assistant:stateless',
    input: [{ role: 'user', content: 'How is the weather in Oslo?' }],
    tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }],
  },
};
