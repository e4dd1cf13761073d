/** What bodies and answers of several operations have in common. */
import { documented, ONE_LINE, type TextForm, TextOf, textForm, Type, UuidText } from '@svc/api';
import { AVATAR, COLOR } from '../identity.js';

export const closed = { additionalProperties: false };

/** A bad id has an error of its own, `invalid_agent_id`. */
export const AgentParams = Type.Object({ id: UuidText('Agent id') });

/** A whole manifest (1 MiB) as a JSON string, where quotes and line ends take two bytes. */
export const MAX_MANIFEST_BODY_BYTES = 2 * 1_048_576 + 65_536;

/** Characters of texts whose length is answered with 413. */
export const LIMITS = { name: 256, new_name: 256, description: 4_096, system_prompt: 65_536 } as const;
/** Beside this, it has no invisible characters and does not begin with `_operator:`. */
export const AGENT_NAME = textForm('\\S', { maxLength: LIMITS.name });

/** What of a manifest a request may name beside its text. */
export const DescribingFields = {
  name: Type.Optional(TextOf(AGENT_NAME, { description: 'At most 256 characters' })),
  description: Type.Optional(Type.String({ ...documented({ maxLength: LIMITS.description }), description: 'At most 4,096 characters' })),
  system_prompt: Type.Optional(Type.String({ ...documented({ maxLength: LIMITS.system_prompt }), description: 'At most 65,536 characters; the same as model.system_prompt' })),
};

/** A change says something beside the revision that it is based on. */
const BESIDE_REVISION = { revision: { minProperties: 2 } };
export const SOME_CHANGE = { minProperties: 1, dependentSchemas: BESIDE_REVISION };
/** The same where the text of a whole manifest can be sent, which stands alone. */
export const SOME_CHANGE_OR_TEXT = { minProperties: 1, dependentSchemas: { ...BESIDE_REVISION, manifest_toml: { propertyNames: { enum: ['manifest_toml', 'revision'] } } } };

export const ManifestText = Type.String({ description: 'The text of an agent.toml, at most 1 MiB' });
export const ModelText = Type.String({ minLength: 1, pattern: '\\S', maxLength: 256, description: 'A model id or alias of the catalog, `PROVIDER/MODEL`, `PROVIDER:MODEL`, or `default`' });
export const ProviderText = Type.String({ minLength: 1, pattern: '\\S', maxLength: 256, description: "The model's provider; by default, the one in the catalog" });
export const Revision = Type.Integer({ minimum: 0, description: 'The revision this change is based on. Refused with 409 if the agent has changed since' });
export const Warnings = Type.Array(Type.String(), { description: 'Manifest keys without effect here, and grants that allow more than they seem to' });

const look = (maxLength: number, description: string, form: TextForm = ONE_LINE) => Type.Optional(Type.Union([TextOf(form, { maxLength }), Type.Null()], { description }));

export const IdentityFields = {
  emoji: look(64, 'Shown next to the name'),
  avatar_url: look(65_536, 'An http or https address, or a picture as a data URL', AVATAR),
  color: look(16, '#rrggbb or #rgb', COLOR),
  archetype: look(256, 'researcher, coder, assistant, writer, devops, support, analyst, or your own word'),
  vibe: look(256, 'professional, friendly, technical, creative, concise, mentor, or your own word'),
  greeting_style: look(256, 'warm, formal, playful, brief, or your own word'),
};
