/** The tool with which an agent tells its owner something. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import type { Notices } from './notices.js';

const MAX_REASON = 200;
const MAX_SUMMARY = 2_000;

export const notifyOwner = (notices: Pick<Notices, 'send'>): AnyTool =>
  defineTool({
    name: 'notify_owner',
    description: 'Tells the person who owns you something outside this conversation, such as that you need a decision, or that long work is done. Nobody else sees it. Use it sparingly.',
    params: Type.Object({
      reason: Type.String({ minLength: 1, maxLength: MAX_REASON, description: 'Why, in a few words' }),
      summary: Type.String({ minLength: 1, maxLength: MAX_SUMMARY, description: 'What they should know' }),
    }),
    // It changes nothing, and whom it reaches is nobody's choice.
    risk: 'read',
    openWorld: false,
    replay: 'keyed',
    parallel: false,
    run: async (said, call) => JSON.stringify({ status: 'sent', notice_id: await notices.send(call, said) }),
  });
