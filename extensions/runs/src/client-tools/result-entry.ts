import type { EntryDraft } from '@svc/ext-sessions/contract';

/** What a client's tool gave is from outside: nobody here knows who wrote it. */
export const resultEntry = (runId: string, callId: string, tool: string, content: string): EntryDraft => ({
  kind: 'tool_result',
  runId,
  callId,
  tool,
  content,
  isError: false,
  status: 'completed',
  origin: { labels: ['ExternalNetwork'], source: `the client's tool ${tool}` },
});
