/** Agent cards of the official protocol: of 1.0, of 0.3, and one that both kinds of clients read. None names an agent. */

export interface CardFacts {
  /** Such as `https://svc.example.com`. */
  readonly base: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
}

const MODES = ['text/plain'];
const SKILLS = [{ id: 'ask', name: 'Ask an agent', description: 'Takes a message in text and answers it.', tags: ['chat'] }];

/** A client takes the first of a binding that it knows. */
const interfacesOf = ({ base }: CardFacts) => [
  { url: `${base}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { url: `${base}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  { url: `${base}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
];

const newCard = (facts: CardFacts) => ({
  name: facts.name,
  description: facts.description,
  version: facts.version,
  supportedInterfaces: interfacesOf(facts),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: MODES,
  defaultOutputModes: MODES,
  skills: SKILLS,
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
});

const oldCard = (facts: CardFacts) => ({
  name: facts.name,
  description: facts.description,
  version: facts.version,
  protocolVersion: '0.3.0',
  url: `${facts.base}/a2a`,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
  defaultInputModes: MODES,
  defaultOutputModes: MODES,
  skills: SKILLS,
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  security: [{ bearer: [] }],
});

/** As `A2A-Version` asks; without it, what clients of both versions read. */
export const cardOf = (facts: CardFacts, version: string | undefined): object => {
  if (version?.startsWith('1.')) return newCard(facts);
  return { ...oldCard(facts), supportedInterfaces: interfacesOf(facts) };
};
