/** What bodies and answers of several operations have in common. */
import { Type, UuidText } from '@svc/api';

export const closed = { additionalProperties: false };

/** A bad id has an error of its own, `invalid_agent_id`. */
export const AgentParams = Type.Object({ id: UuidText('Agent id') });

/** A whole manifest (1 MiB) as a JSON string, where quotes and line ends take two bytes. */
export const MAX_MANIFEST_BODY_BYTES = 2 * 1_048_576 + 65_536;

export const ManifestText = Type.String({ description: 'The text of an agent.toml, at most 1 MiB' });
export const ModelText = Type.String({ minLength: 1, maxLength: 256, description: 'A model id or alias of the catalog, `PROVIDER/MODEL`, `PROVIDER:MODEL`, or `default`' });
export const ProviderText = Type.String({ minLength: 1, maxLength: 256, description: "The model's provider; by default, the one in the catalog" });
export const Revision = Type.Integer({ minimum: 0, description: 'The revision this change is based on. Refused with 409 if the agent has changed since' });
export const Warnings = Type.Array(Type.String(), { description: 'Manifest keys without effect here, and grants that allow more than they seem to' });

const look = (maxLength: number, description: string) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }));

export const IdentityFields = {
  emoji: look(64, 'Shown next to the name'),
  avatar_url: look(65_536, 'An http or https address, or a picture as a data URL'),
  color: look(16, '#rrggbb or #rgb'),
  archetype: look(256, 'researcher, coder, assistant, writer, devops, support, analyst, or your own word'),
  vibe: look(256, 'professional, friendly, technical, creative, concise, mentor, or your own word'),
  greeting_style: look(256, 'warm, formal, playful, brief, or your own word'),
};
