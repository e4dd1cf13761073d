/** Where newer catalogs come from, and how they prove who wrote them. */
import { type Plain, Type, defineConfig } from '@svc/api';

/** An http or https URL without user name or fragment; empty where there is none. */
const URL_PATTERN = '^(https?://[^\\s@#/][^\\s@#]*)?$';

const ModelsConfig = Type.Object(
  {
    catalog_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: 'URL of newer catalogs, as JSON. Empty, the default: updates are off and the built-in catalog is used. Plain http requires `catalog_public_key`',
    }),
    catalog_public_key: Type.String({
      default: '',
      pattern: '^([A-Za-z0-9+/]{43}=)?$',
      description: 'The Ed25519 key that catalogs must be signed with: 32 bytes in base64. Empty: signatures are not checked',
    }),
    catalog_signature_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: 'URL of the detached signature: 64 bytes, raw or base64. Empty: `catalog_url` with `.sig` appended to its path',
    }),
    catalog_sha256_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: "URL of the catalog's SHA-256, as `sha256sum` writes it. Empty: not checked",
    }),
  },
  { additionalProperties: false },
);
export type ModelsConfig = Plain<typeof ModelsConfig>;

export const ModelsSection = defineConfig('models', ModelsConfig);
