/** An agent file of Letta, and a memory folder of its command line. */
import { put } from './write.js';

const at = (minute: number): string => new Date(Date.UTC(2025, 6, 1, 9, minute)).toISOString();

export const AGENT_FILE = {
  agents: [
    {
      id: 'agent-0',
      name: 'Muse',
      system: 'You are Muse.',
      llm_config: { model: 'gpt-4o', model_endpoint_type: 'openai' },
      block_ids: ['block-0', 'block-1'],
      tool_ids: ['tool-0'],
      messages: [
        { id: 'message-0', role: 'system', content: [{ type: 'text', text: 'You are Muse.' }], created_at: at(0) },
        { id: 'message-1', role: 'user', content: [{ type: 'text', text: 'tell me of the albatross' }], created_at: at(1) },
        {
          id: 'message-2',
          role: 'assistant',
          content: [{ type: 'text', text: 'They want a story.' }],
          tool_calls: [{ id: 'call-9', type: 'function', function: { name: 'send_message', arguments: '{"message": "It flies far."}' } }],
          created_at: at(2),
        },
        { id: 'message-3', role: 'tool', tool_call_id: 'call-9', name: 'send_message', content: [{ type: 'text', text: '{"status": "OK"}' }], created_at: at(3) },
      ],
    },
  ],
  blocks: [
    { id: 'block-0', label: 'human', value: 'Her name is Ines.' },
    { id: 'block-1', label: 'persona', value: 'A poet.' },
  ],
  tools: [{ id: 'tool-0', name: 'delete_everything', source_code: 'import os\nos.system("touch /tmp/svc-letta-ran")' }],
  files: [{ id: 'file-0', file_name: 'poems.txt' }],
};

export const writeLetta = async (root: string): Promise<void> => {
  await put(root, 'muse.af', AGENT_FILE);
  await put(root, 'broken.af', '{ not json');
  await put(root, 'agents/agent-7/memory/system/human.md', '---\ndescription: About the person\nlimit: 5000\n---\nPlays the oboe.');
  await put(root, 'agents/agent-7/memory/system/persona.md', 'Terse.');
};
