/** What agent_send needs of whoever reaches agents of other daemons: runs declares the service, and an area that knows runs provides it. */
import { Actor, type Service, Type, defineService, method } from '@svc/api';

export const PeerAgents = defineService('peer-agents', '1.0.0', {
  /** `to` is `name@node`. What goes wrong is said in `content`. */
  send: method(
    [Actor, Type.Object({ from: Type.String({ description: 'Name of the agent that asks' }), to: Type.String(), message: Type.String() })],
    Type.Object({ content: Type.String(), isError: Type.Boolean(), source: Type.String({ description: 'Who answered' }) }),
    { what: 'sends messages to agents of other daemons', changes: true },
  ),
});
export type PeerAgentsService = Service<typeof PeerAgents>;
